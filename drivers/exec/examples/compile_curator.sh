#!/bin/sh
# Compiles CuratorMutex.java, for more than a few clients and for tests. The arguments of java are in a file then: from the
# project's folder, the program is `java @.build/exec/curator`. Does nothing when that file is newer than the source.
#
# Each client is a JVM, and most of what a JVM does is to load the same classes again: 0.7 s of processor time for a session
# with one grant. So the classes are also stored as the JVM has them in memory (-XX:ArchiveClassesAtExit): 0.3 s.
set -eu
cd "$(dirname "$0")/../../.."
source=drivers/exec/examples/CuratorMutex.java out=.build/exec
mkdir -p "$out/classes"
exec 9>"$out/lock"
flock 9 # of two tests that start at the same time, the second finds all done
[ ! "$out/curator" -nt "$source" ] || exit 0
javac -d "$out/classes" -cp '/usr/share/java/*' "$source"
jar cf "$out/curator.jar" -C "$out/classes" . # the JVM archives no classes of folders
path=$out/curator.jar
for jar in curator-recipes curator-framework curator-client zookeeper guava jackson-databind jackson-core jackson-annotations \
    slf4j-api slf4j-nop netty-handler netty-common netty-transport netty-buffer failureaccess; do
    [ ! -e "/usr/share/java/$jar.jar" ] || path=$path:/usr/share/java/$jar.jar # newer versions of guava need the last one
done
# The classes that a session needs: one that finds no server. The port is nobody's.
rm -f "$out/curator.jsa"
echo '{"do":"open","lease":10000}' | LOCKBENCH_URL=zookeeper://127.0.0.1:1 java -XX:ArchiveClassesAtExit="$out/curator.jsa" \
    -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$path" CuratorMutex >"$out/curator.log" 2>&1 ||
    echo "no archive of Curator's classes, so its program starts slowly: see $out/curator.log" >&2
echo "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:SharedArchiveFile=$out/curator.jsa -cp $path CuratorMutex" >"$out/curator.new"
mv "$out/curator.new" "$out/curator"
