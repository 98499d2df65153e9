# The file locks beside the real programs: flock(1), another process's fcntl(F_SETLK), on the file that the documentation names.
program they /usr/bin/python3 drivers/tests/foreign/file_lock.py
define HELD $PLACE/$K.lock
with file-flock

# The second time theirs is killed.
== each excludes the other
with file-flock WAY=flock
with file-ofd WAY=fcntl
needs command -v flock >/dev/null | util-linux
key L
ours acquire -> ok
sh test -f $HELD; echo $? -> 0
they take $WAY $HELD -> busy
they take $WAY $PLACE/$L.lock -> held
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
