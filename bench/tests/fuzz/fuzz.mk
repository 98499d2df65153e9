# Targets for the code that reads strangers' bytes. A driver's own code runs with a fuzzed server in the place of sockets,
# engine and clock; for etcd also in the place of libcurl.
FUZZ := $(sort $(filter-out $(foreach folder,$(LEFT_OUT),bench/tests/fuzz/fuzz_$(folder)%),$(wildcard bench/tests/fuzz/fuzz_*.c)))
FUZZ_SERVER := $(patsubst %,$(B)/bench/tests/fuzz/%.o,fuzzed_server lock_life)
$(B)/objects.a: $(OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^
$(foreach name,etcd memcached nats redis,$(B)/bench/tests/fuzz/fuzz_$(name) $(B)/bench/tests/fuzz/replay_$(name)): FUZZ_DRIVERS := $(FUZZ_SERVER) -Wl,--wrap=clock_gettime \
    $(filter-out %/drivers/sock.o,$(filter $(B)/drivers/%,$(OBJ)))
$(B)/bench/tests/fuzz/fuzz_etcd $(B)/bench/tests/fuzz/replay_etcd: FUZZ_DRIVERS := $(filter-out %/etcd/http.o,$(FUZZ_DRIVERS))
$(FUZZ:%.c=$(B)/%): $(B)/%: $(B)/%.o $(FUZZ_SERVER) $(B)/objects.a
	$(LINK) -fsanitize=fuzzer $< $(FUZZ_DRIVERS) $(B)/objects.a $(LIBS)
# The same targets without the fuzzer, for the test that repeats the seeds.
$(B)/bench/tests/fuzz/replay_%: $(B)/bench/tests/fuzz/fuzz_%.o $(B)/bench/tests/fuzz/replay.o $(FUZZ_SERVER) $(B)/objects.a
	$(LINK) $< $(B)/bench/tests/fuzz/replay.o $(FUZZ_DRIVERS) $(B)/objects.a $(LIBS)
REPLAYS := $(subst /fuzz_,/replay_,$(FUZZ:%.c=$(B)/%))
$(B)/bench/tests/test_fuzz_seeds: | $(REPLAYS)
