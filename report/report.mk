# The charts: bundled from report/src with npm's packages, then taken into the program by assets.c. Without node they are
# empty, of an old date: nothing is built again for them until node is there.
REPORT_JS := $(shell find report/src -name '*.js') report/package.json report/package-lock.json report/bundle.sh
$(B)/report/bundle.js: $(REPORT_JS)
	@CI=$(CI) sh report/bundle.sh $(@D)
$(B)/report/page/assets.o: DEFS += -DREPORT_MADE='"$(B)/report"'
$(B)/report/page/assets.o: report/page/page.css $(B)/report/bundle.js
