# The file locks beside the real programs: flock(1), another process's fcntl(F_SETLK), dotlockfile(1), on the file that the
# documentation names. Lock files that are stale, and those that are not.
program they /usr/bin/python3 drivers/tests/foreign/file_lock.py
define HELD $PLACE/$K.$END
with file-lockfile END=lockfile

# The second time theirs is killed.
== each excludes the other
with file-flock WAY=flock END=lock
with file-ofd WAY=fcntl END=lock
with file-lockfile WAY=dotlockfile END=lockfile
needs command -v flock >/dev/null && command -v dotlockfile >/dev/null | util-linux and liblockfile-bin
key L
ours acquire -> ok
sh test -f $HELD; echo $? -> 0
they take $WAY $HELD -> busy
they take $WAY $PLACE/$L.$END -> held
they free -> gone
ours release -> ok
they take $WAY $HELD -> held
ours try -> busy
ours wait 100ms -> timeout
ours begin
ours waits
they tell free
ours end -> ok
they says -> gone
ours release -> ok
they take $WAY $HELD -> held
ours begin
ours waits
they tell kill
ours end -> ok
they says -> gone
ours release -> ok

# Names that would look alike as file names.
== names have files of their own
with file-flock
key A a/b
key B a_b
key C a%2Fb
key D a%2fb
key E a//b
a has key=A
a try -> ok
b has key=B
b try -> ok
c has key=C
c try -> ok
d has key=D
d try -> ok
e has key=E
e try -> ok
sh test -f $PLACE/a_b.lock; echo $? -> 0
a release -> ok
b release -> ok
c release -> ok
d release -> ok
e release -> ok

# The first client's setup removes the files of sessions that died. A pid that lives, but began at another time, is not that owner;
# another host's can't be judged.
== stale files are removed, and others are left
sh sh -c 'echo $$' => DEAD
sh echo $PPID => ALIVE
sh hostname => HOST
sh touch $PLACE/.lockbench-$DEAD-0-$HOST.owner $PLACE/.lockbench-$ALIVE-9999-$HOST.owner ->
sh echo $DEAD $HOST 1 >$HELD ->
ours try -> ok
sh cd $PLACE; ls -A | grep -e "-$DEAD-0-" -e '-9999-' -> .lockbench-$ALIVE-9999-$HOST.owner
ours release -> ok
sh echo $ALIVE $HOST 1 >$HELD ->
ours try -> ok
ours release -> ok
sh echo $DEAD elsewhere.example 1 >$HELD ->
ours wait 200ms -> timeout
sh rm $HELD $PLACE/.lockbench-$ALIVE-9999-$HOST.owner ->
