# The worked examples, done to a copy of the project: a lock is one file and one line (drivers/README.md), a topology is a script and
# its name (compose/README.md), a backend is a folder, a line and a script (drivers/tests/example). Nothing else is touched, and each
# is listed, runs and passes.
needs test -n "$LOCKBENCH_PROGRAM" | LOCKBENCH_PROGRAM, which the test runner sets
needs command -v cc >/dev/null && command -v make >/dev/null && command -v redis-server >/dev/null && pkg-config --exists hiredis | gcc, make, redis-server and libhiredis-dev
# What stands in a page, in `...` behind some words, and as the first block.
tool after after() { sed "1,/^## $2/d" "$1" | grep -o -m 1 "$3\`[^\`]*" | sed 's/.*`//'; }; after
tool block block() { sed "1,/^## $2/d" "$1" | sed '1,/^```[a-z]/d; /^```$/,$d'; }; block
# there COMMAND: ok, or the end of what it said. run LOCK: the same of a run; said WORDS: whether it said that.
tool there there() { cd $COPY && unset MAKEFLAGS MAKELEVEL MFLAGS LOCKBENCH_HOME LOCKBENCH_PROGRAM; "$@" >$DIR/said 2>&1 && echo ok || tail -n 30 $DIR/said; }; there
tool run run() { cd $COPY && rm -rf out && .build/$V/lockbench run contended --set load.clients=4 --set run.warmup=50ms --set run.duration=300ms --out out --lock "$@" >$DIR/said 2>&1 && grep -o "$1 excluded" $DIR/said || tail -n 30 $DIR/said; }; unset LOCKBENCH_HOME; run
tool said said() { grep -qF "$1" $DIR/said && echo yes || cat $DIR/said; }; said
with mem-mutex
sh basename $(dirname $LOCKBENCH_PROGRAM) => V
sh echo $PWD/.build/example-$V => COPY
# What was built comes along, programs excepted, so that make has little to do; and what the case before has added.
sh [ -e $DIR/copied ] && exit; rm -rf $COPY; mkdir -p $COPY; touch $DIR/copied; { find Makefile bench drivers workloads compose results/format results/stats report -name node_modules -prune -o -type f -print; find .build/$V -type f ! -perm -100; } | tar -cf - -T - | tar -xf - -C $COPY || echo wrong ->

# It tells every key that it makes. Its row is missing in the page until `make table`, and the tests say so; the backend's statements
# fit it, and the suite tries it because it is in the list.
== one file and one line make a lock
after drivers/README.md 'Adding a lock' 'the file, ' => FILE
after drivers/README.md 'Adding a lock' 'list.h`: ' => LINE
sh test -e $COPY/$FILE; echo $? -> 1
block drivers/README.md 'Adding a lock' >$COPY/$FILE ->
sh echo "$LINE" >>$COPY/drivers/list.h ->
there make VARIANT=$V .build/$V/lockbench .build/$V/drivers/tests/test_registry .build/$V/drivers/tests/test_expected .build/$V/drivers/tests/test_conform -> ok
sh grep -c warning: $DIR/said -> 0
run redis-counted -> redis-counted excluded
there .build/$V/lockbench list redis-counted --key orders -> ok
said '{orders}:count' -> yes
there .build/$V/drivers/tests/test_registry -> /make table/
there make -s VARIANT=$V table -> ok
there .build/$V/drivers/tests/test_registry -> ok
there .build/$V/drivers/tests/test_expected -> ok
there .build/$V/drivers/tests/test_conform redis-counted token -> ok
said redis-counted -> yes

# The class that results rank by, what `list` shows and what is installed come from the script.
== a script and its name make a topology, a folder, a line and a script a backend
after compose/README.md 'Adding a topology' 'the script, ' => FILE
after compose/README.md 'Adding a topology' 'table: ' => NAME
sh test -e $COPY/$FILE; echo $? -> 1
block compose/README.md 'Adding a topology' >$COPY/$FILE ->
there sh -c 'chmod +x $FILE && sed -i "s/\"redis-cluster\", NULL},/\"redis-cluster\", $NAME, NULL},/" $(grep -l "backend backend_redis = " drivers/*.c)' -> ok
there sh -c 'mkdir drivers/tiny && cp drivers/tests/example/tiny.c drivers/tiny/ && cp drivers/tests/example/tiny compose/local/' -> ok
sh echo 'LB_LOCK(tiny, tiny_lock)' >>$COPY/drivers/list.h ->
there make VARIANT=$V .build/$V/lockbench .build/$V/drivers/tests/test_conform -> ok
sh grep -c warning: $DIR/said -> 0
run redis-setnx --set servers.topology=redis-everysec -> redis-setnx excluded
said 'log, not flushed' -> yes
sh grep -c '"durability_class": *"log"' $COPY/out/run.json -> > 0
there .build/$V/lockbench list redis -> ok
said redis-everysec -> yes
run tiny-lock -> tiny-lock excluded
said 'in memory' -> yes
there .build/$V/drivers/tests/test_conform tiny-lock killed -> ok
said 'tiny-lock: killed clients stop nobody' -> yes
sh rm -rf $COPY ->
