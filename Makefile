# lockbench. `make help` lists what can be asked for; V=1 shows the commands.
VARIANT ?= release
B := .build/$(VARIANT)
CC ?= cc
PKG_CONFIG ?= pkg-config
Q := $(if $(V),,@)
.DEFAULT_GOAL := all

# The stamps of an attempt are stored one by one. Read in pairs, as gcc would, they have to wait for the stores.
CFLAGS_release := -O2 -fno-tree-slp-vectorize
CFLAGS_asan := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
CFLAGS_tsan := -O1 -fsanitize=thread
CFLAGS_fuzz := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
WARN += $(if $(filter-out false,$(CI)),-Werror)
# What sanitizers add hides lengths of texts that the compiler knows without them.
WARN += $(if $(filter asan tsan,$(VARIANT)),-Wno-format-truncation)
# Position independent, since the tests load one shared object. Nobody replaces its functions, so the program pays nothing.
OWN_CFLAGS = -std=gnu11 -g -fno-omit-frame-pointer -fPIC -fno-semantic-interposition $(WARN) $(CFLAGS_$(VARIANT))
# CPPFLAGS, CFLAGS and LDFLAGS belong to whoever builds: they come from the environment or from make's arguments.
# A line for each folder: the first file of this make says it.
COMPILE = $(Q)mkdir -p $(@D) && { { read -r make <$(@D)/.cc; } 2>/dev/null; [ "$$make" = $$PPID ] || { echo $$PPID >$(@D)/.cc; echo "  cc   $(<D)/"; }; } && $(CC) $(OWN_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LAST_CFLAGS) -c -o $@ $<
LINK = $(Q)mkdir -p $(@D) && echo "  link $(@:$(CURDIR)/%=%)" && $(CC) $(OWN_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@

# bench/probe looks for the libraries: again when one was installed or removed, which changes one of these folders.
PROBED := $(wildcard $(addsuffix /pkgconfig,/usr/share /usr/local/share $(addprefix /usr/,lib lib/* local/lib local/lib/*)) \
    $(addprefix /usr/,bin include lib lib/*-linux-gnu local/bin local/include local/lib))
keep = $(shell mkdir -p $(dir $(1)) && echo "$(2)" | cmp -s - $(1) || echo "$(2)" >$(1))# a file that changes with its text
WITH := CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' PKG_CONFIG='$(PKG_CONFIG)'
$(call keep,.build/with,$(WITH) $(PKG_CONFIG_PATH) $(PKG_CONFIG_LIBDIR))
.build/config.mk: bench/probe .build/with $(PROBED)
	@$(WITH) bench/probe >$@.new && mv $@.new $@
include .build/config.mk
MPI := $(if $(wildcard bench/tools/hosts),$(MPI))
# A backend whose library is missing: `lockbench list` says so and what to install. Its table is in
# drivers/backends.c.
INCS := -I. -I$(B) $(INCS)
LEFT_OUT_SRC := $(wildcard $(LEFT_OUT:%=drivers/%/*.c))
LEFT_OUT_TESTS := $(wildcard $(LEFT_OUT_WORDS:%=drivers/tests/test_*%*.c))

# Each folder of bench/tools can be removed; its cmd_*.c are a command and print, so the tests' library is without them.
CLI := $(sort $(wildcard bench/cli/*.c bench/tools/*/cmd_*.c))
SRC := $(sort $(filter-out $(CLI) bench/tests/% drivers/tests/% report/tests/% bench/servers/%_shim.c $(LEFT_OUT_SRC), \
         $(wildcard bench/*/*.c bench/tools/*/*.c drivers/*.c drivers/*/*.c results/format/*.c results/stats/*.c report/*.c report/*/*.c)))
SHIMS := $(patsubst bench/servers/%.c,$(B)/%.so,$(wildcard bench/servers/*_shim.c))
TESTS := $(sort $(filter-out $(LEFT_OUT_TESTS),$(wildcard bench/tests/test_*.c drivers/tests/test_*.c results/format/tests/test_*.c results/stats/tests/test_*.c report/tests/test_*.c)))
# A test that takes minutes of real time, and needs a machine that does not stand still, has a target of its own.
TRUTHS := bench/tests/test_truths
OBJ := $(SRC:%.c=$(B)/%.o)
# The objects that the drivers' tests share: locks that are broken on purpose, a fake server.
$(patsubst %.c,$(B)/%,$(filter drivers/tests/%,$(TESTS))): $(patsubst %.c,$(B)/%.o,$(filter-out $(TESTS) $(LEFT_OUT_TESTS),$(wildcard drivers/tests/*.c)))
ifeq ($(filter etcd,$(LEFT_OUT)),)
OBJ += $(B)/drivers/etcd/etcd.pb-c.o
$(patsubst %.c,$(B)/%.o,$(wildcard drivers/etcd/*.c drivers/tests/*etcd*.c)): | $(B)/drivers/etcd/etcd.pb-c.h
endif
# What each lock may show at worst under faults, from the text files of the backends.
OBJ += $(B)/drivers/expected.o
$(B)/drivers/expected.c: drivers/expected.awk drivers/scenario.def $(wildcard drivers/*/expected.txt)
	$(Q)mkdir -p $(@D) && awk -f drivers/expected.awk $(filter-out %.awk,$^) >$@.new && mv $@.new $@
$(B)/drivers/expected.o: $(B)/drivers/expected.c $(B)/flags
	$(COMPILE) $(INCS)
# The assembler includes the Lua scripts: REDIS_SCRIPT in drivers/redis/redis.h.
$(patsubst %.c,$(B)/%.o,$(wildcard drivers/redis/*.c)): $(wildcard drivers/redis/lua/*.lua)
# Optimization at link time (CFLAGS=-flto) does not know the names that the assembler defines.
$(patsubst %.c,$(B)/%.o,$(wildcard drivers/redis/*.c) report/page/assets.c): LAST_CFLAGS := -fno-lto

all: lockbench ## build ./lockbench (the default)
lockbench: $(B)/lockbench
	$(Q)ln -sf $< $@
	$(if $(LEFT_OUT),@echo "  left out for want of their client libraries: $(strip $(LEFT_OUT)); ./lockbench list says what to install")
# Also linked again when a file was removed.
$(call keep,$(B)/linked,$(CLI) $(OBJ))
$(B)/lockbench: $(B)/linked $(CLI:%.c=$(B)/%.o) $(OBJ) | $(SHIMS)
	$(LINK) $(filter %.o,$^) $(LIBS)
# The program for several hosts: the same objects, linked with MPI, if MPI is installed.
ifneq ($(MPI),)
all: lockbench-hosts
lockbench-hosts: $(B)/lockbench-hosts
	$(Q)ln -sf $< $@
$(B)/bench/tools/hosts/mpi/main.o: DEFS += $(MPI_INCS)
$(B)/lockbench-hosts: $(B)/linked $(patsubst %.c,$(B)/%.o,$(wildcard bench/tools/hosts/mpi/*.c)) $(filter-out %/cli/main.o,$(CLI:%.c=$(B)/%.o)) $(OBJ) | $(SHIMS)
	$(LINK) $(filter %.o,$^) $(LIBS) $(MPI_LIBS)
else
lockbench-hosts:
	@echo "lockbench-hosts needs MPI, which is not here: install libopenmpi-dev and openmpi-bin (or libmpich-dev and mpich), then run make hosts" >&2; exit 2
endif
# With another compiler, other flags, or a library that was missing before, all files are compiled again.
FLAGS := $(filter-out -Werror,$(lastword $(CC)) $(OWN_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(DEFS) $(INCS))
$(call keep,$(B)/flags,$(FLAGS))
# `lockbench --version` prints the commit: from git, or, in a tree that git exported, from the file bench/commit. Git has
# to be told that root may read a clone of another account, or `make install` by root would leave the commit out.
GIT := git -c safe.directory='*'
COMMIT := $(shell { [ -e .git ] && $(GIT) describe --always --dirty --abbrev=12 --exclude='*' && $(GIT) log -1 --format=%cs; } 2>/dev/null || sed '/Format/d; s/^\([^ ]\{12\}\)[^ ]*/\1/' bench/commit)
$(call keep,$(B)/commit,$(COMMIT))
$(B)/bench/cli/version.o: DEFS += -DLB_COMMIT='"$(word 1,$(COMMIT))"' -DLB_COMMIT_DATE='"$(word 2,$(COMMIT))"'
$(B)/bench/cli/version.o: $(B)/commit
ifneq ($(NEEDED),)
$(B)/flags: needed
needed:
	@echo "lockbench needs $(NEEDED), which pkg-config does not find here: compose/install run says what to install, or installs it" >&2; exit 2
endif
$(B)/%.o: %.c $(B)/flags
	$(COMPILE) $(DEFS) $(INCS) -MMD -MP
$(B)/%.pb-c.o: $(B)/%.pb-c.c $(B)/flags
	$(COMPILE) $(INCS)
$(B)/%.pb-c.c $(B)/%.pb-c.h: %.proto
	$(Q)mkdir -p $(@D) && protoc-c --c_out=$(B) $<
# Tests are a third of what is compiled, and wait more than they compute: -O1 compiles faster.
$(B)/bench/tests/%.o $(B)/drivers/tests/%.o $(B)/report/tests/%.o $(B)/results/format/tests/%.o $(B)/results/stats/tests/%.o: CFLAGS_release := -O1
# The libraries that are loaded into servers, so that their clocks can be stepped and their fsyncs counted. Without a
# sanitizer, whose library would have to be loaded first.
$(SHIMS): $(B)/%_shim.so: bench/servers/%_shim.c bench/servers/shim.h
	$(Q)mkdir -p $(@D) && echo "  link $@" && $(CC) -std=gnu11 -I. -O2 -g $(WARN) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $< -ldl
# All of the program but its commands, for the tests: when a file has changed, this library is linked again, and no test
# is. Unlike an archive, a shared object has also the files that only weak symbols refer to.
LIB := $(CURDIR)/$(B)/liblockbench.so
$(LIB): $(B)/linked $(OBJ)
	$(LINK) -shared $(filter %.o,$^) $(LIBS)
$(B)/%: $(B)/%.o | $(LIB) $(SHIMS)
	$(LINK) $^ $(LIB) -Wl,-rpath,$(dir $(LIB)) -lcmocka $(LIBS)
# Tests without servers whose time is not the machine's: bench/tests/virtual_clock.h.
VIRTUAL := $(addprefix bench/tests/test_,fault_clients faults history_stage loop primitives session stage stall store ticks virtual_clock wall) $(addprefix drivers/tests/test_,backoff gate sql_lock)
$(VIRTUAL:%=$(B)/%): $(B)/bench/tests/virtual_clock.o
$(B)/bench/tests/virtual_clock.o: LAST_CFLAGS := -fno-sanitize=all
# Known answers (make answers); test_answers runs their short form.
ANSWERS := $(patsubst %.c,$(B)/%.o,$(wildcard bench/tests/answers/*.c))
$(B)/bench/tests/answers/main: $(ANSWERS)
$(B)/bench/tests/test_answers: $(filter-out %/main.o,$(ANSWERS))
include bench/tests/fuzz/fuzz.mk
include report/report.mk
# The reference of all result files.
$(B)/results/reference: $(B)/results/reference.o $(OBJ)
	$(LINK) $^ $(LIBS)
.build/FIELDS.md: $(B)/results/reference
	$(Q)$< >$@.new && mv $@.new $@
$(B)/results/format/tests/test_reference: | .build/FIELDS.md
-include $(shell find $(B) -name '*.d' 2>/dev/null)
.SECONDARY:

# Installing and building are two makes, because a Makefile looks for libraries when it is read.
BUILD := $(MAKE) --no-print-directory -j$(shell nproc)
run: ## install what is missing, build, compare a lock of each backend on real servers, write results/latest/report.html
	@compose/install run
	@$(BUILD) lockbench
	@./lockbench run compare
hosts: ## build lockbench-hosts, the program for a run whose clients are on several hosts: bench/HOSTS.md
	@compose/install hosts
	@$(BUILD) lockbench-hosts
check: ## put every lock through a pause, a killed holder, a server's restart and a cut wire: results/latest/summary.md
	@compose/install run
	@$(BUILD) lockbench
	@./lockbench check
# T=WORD: the programs with the word in their folder or name; the conformance suite itself chooses among its parts.
ALL_TESTS := $(filter-out $(TRUTHS),$(TESTS:%.c=%))
CHOSEN := $(if $(T),$(sort drivers/tests/test_conform $(foreach t,$(ALL_TESTS),$(if $(findstring $(T),$t),$t))),$(ALL_TESTS))
export T
# The list of programs depends on the libraries, so a make that begins after their installation is asked for it.
PRINT_CHOSEN := $(MAKE) -s --no-print-directory print-chosen
print-chosen:
	@echo $(CHOSEN)
chosen: $(B)/lockbench $(if $(MPI),$(B)/lockbench-hosts) $(CHOSEN:%=$(B)/%) $(if $(filter %/test_fuzz_seeds,$(CHOSEN)),$(REPLAYS))
	@$(foreach t,$(LEFT_OUT_TESTS:%.c=%),echo "SKIP $(t): it needs a client library that is missing";)true
quick: ## the tests that need no server and no minutes: in a minute after a build. T=WORD: only those with WORD in their folder or name
	@compose/install quick
	@$(BUILD) lockbench chosen
	@QUICK=1 bench/tests/run $(B) $$($(PRINT_CHOSEN))
test: ## all tests: the quick ones, then those with real servers, every driver. T=WORD as for quick
	@compose/install test
	@$(BUILD) lockbench chosen
	@bench/tests/run $(B) $$($(PRINT_CHOSEN))
truths: ## the known truths of these locks under faults, each over five seeds: 8 minutes, on a machine with nothing else to do
	@compose/install test
	@$(BUILD) lockbench $(B)/$(TRUTHS)
	@bench/tests/run $(B) $(TRUTHS)
tests: $(TESTS:%.c=$(B)/%) $(REPLAYS)
asan: ## all tests under AddressSanitizer and UBSan
	@compose/install test
	@$(BUILD) VARIANT=asan chosen
	@bench/tests/run .build/asan $$($(PRINT_CHOSEN))
THREADED := $(addprefix bench/tests/test_,loop recorder stage primitives session faults store) drivers/tests/test_conform
tsan: ## the tests of threads under ThreadSanitizer
	@compose/install test
	@$(BUILD) VARIANT=tsan .build/tsan/lockbench $(THREADED:%=.build/tsan/%)
	@bench/tests/run .build/tsan $(THREADED)
sanitized: ## what CI runs of asan (even days) and tsan (odd days): another part each day, all of them within a month
	@day=$$(date +%j | sed 's/^0*//'); $(MAKE) --no-print-directory $$([ $$((day % 2)) = 0 ] && echo asan || echo tsan) PART=$$((day / 2 % 15))/15
FUZZ_SECONDS ?= 600
fuzz: ## the readers of result files, URLs, workloads and servers' answers on generated inputs, FUZZ_SECONDS (600) each
	@compose/install fuzz
	@$(BUILD) VARIANT=fuzz CC=clang $(FUZZ:%.c=.build/fuzz/%)
	@bench/tests/fuzz/run .build/fuzz/bench/tests/fuzz $(FUZZ_SECONDS)
mutants: ## put each known mistake into a copy of the tree: do the tests notice it? T=WORD; an hour
	@compose/install test
	@CC='$(CC)' bench/tests/mutants $(T)
answers: ## figures whose truth is known beside what lockbench says of them, bench/ANSWERS.md: 20 minutes, with nothing else to do
	@compose/install run
	@$(BUILD) lockbench $(B)/bench/tests/answers/main
	@LOCKBENCH_PROGRAM=$(B)/lockbench $(B)/bench/tests/answers/main --page $(B)/answers.md
	@sed -n '/^## The comparison itself/,$$p' bench/ANSWERS.md >>$(B)/answers.md && mv $(B)/answers.md bench/ANSWERS.md
ROUNDS ?= idle burner sinking one twice aimed changed equal slower10 slower20 unused
answers-rounds: ## the end of that page: known things put to a comparison in rounds, two hours, with nothing else to do. ROUNDS='idle=3 twice=40'
	@compose/install run
	@$(BUILD) lockbench
	@mkdir -p $(B)/rounds && node bench/tests/answers/rounds.mjs $(B)/lockbench $(B)/rounds $(ROUNDS)
	@sed '/^## The comparison itself/,$$d' bench/ANSWERS.md >$(B)/answers.md
	@node bench/tests/answers/rounds.mjs $(B)/lockbench $(B)/rounds --page >>$(B)/answers.md && mv $(B)/answers.md bench/ANSWERS.md
bench: ## the tool's own cost, as ratios against other programs. FIGURE=null, redis, floor or postgres, or 'redis 16'
	@compose/install test
	@$(BUILD) lockbench $(B)/bench/tests/perf/floor
	@bench/tests/perf/run $(B) $(FIGURE)
lint lint-quick: ## format, clang-tidy, cppcheck, includes, the limits of bench/budget, Lua. lint-quick: clang-tidy on changed files only
	@compose/install lint
	@$(BUILD) lockbench $(B)/drivers/etcd/etcd.pb-c.h
	@bench/lint $(if $(filter lint-quick,$@),--changed) $(B) '$(DEFS) $(INCS) $(MPI_INCS)'
table: $(B)/lockbench ## write the page of all locks, drivers/LOCKS.md
	@$< list --table > $(B)/locks.md && mv $(B)/locks.md drivers/LOCKS.md
fields: .build/FIELDS.md ## write the reference of all result files, results/FIELDS.md
	@cp $< results
man: lockbench ## write the man pages, by help2man from --help, to .build/man
	@mkdir -p .build/man
	@bench/man .build/man $(B)/lockbench
INSTALLED = '$(DESTDIR)$(or $(PREFIX),/usr/local)' $(B)/lockbench
install: lockbench $(if $(MPI),$(if $(wildcard $(B)/lockbench-hosts),lockbench-hosts)) ## copy the program (and lockbench-hosts, if it was built), its folders, man pages and completion to $(DESTDIR)$(PREFIX)
	@bench/install $(INSTALLED)
uninstall: ## delete what make install copied there, and no other file
	@bench/install --remove $(INSTALLED)
deb: ## make a Debian package of what is committed, .build/deb/lockbench_*.deb
	@compose/install deb
	@compose/deb
clean: ## remove what was built, not the results
	rm -rf .build lockbench lockbench-hosts
help:
	@sed -n 's/^\([a-z]*\)[a-z -]*:.*## \(.*\)/  \1: \2/p' $(firstword $(MAKEFILE_LIST))
.PHONY: all needed chosen print-chosen run hosts check quick test mutants answers tests asan tsan sanitized fuzz bench lint lint-quick table fields man install uninstall deb clean help
