#!/bin/sh
# Compiles CuratorMutex.java, for more than a few clients and for tests. Writes the arguments of java into a file, so that
# the program is `java @.build/exec/curator`, run in the project's folder. Does nothing if that file is newer than the source.
#
# Each client is a JVM. A session with one grant takes 0.7 s of processor time, most of it to load classes. So the script also
# stores the loaded classes in an archive (-XX:ArchiveClassesAtExit); with the archive the session takes 0.3 s.
set -eu
cd "$(dirname "$0")/../../.."
source=drivers/exec/examples/CuratorMutex.java out=.build/exec
mkdir -p "$out/classes"
exec 9>"$out/lock"
flock 9 # if two tests start at the same time, the second one waits and finds the work done
[ ! "$out/curator" -nt "$source" ] || exit 0
javac -d "$out/classes" -cp '/usr/share/java/*' "$source"
jar cf "$out/curator.jar" -C "$out/classes" . # the JVM archives no classes of folders
path=$out/curator.jar
for jar in curator-recipes curator-framework curator-client zookeeper guava jackson-databind jackson-core jackson-annotations \
    slf4j-api slf4j-nop netty-handler netty-common netty-transport netty-buffer failureaccess; do
    [ ! -e "/usr/share/java/$jar.jar" ] || path=$path:/usr/share/java/$jar.jar # newer versions of guava need the last one
done
# The archive gets the classes that a session needs, from a session that finds no server (no server has this port).
rm -f "$out/curator.jsa"
echo '{"do":"open","lease":10000}' | LOCKBENCH_URL=zookeeper://127.0.0.1:1 java -XX:ArchiveClassesAtExit="$out/curator.jsa" \
    -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$path" CuratorMutex >"$out/curator.log" 2>&1 ||
    echo "no archive of Curator's classes, so its program starts slowly: see $out/curator.log" >&2
echo "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:SharedArchiveFile=$out/curator.jsa -cp $path CuratorMutex" >"$out/curator.new"
mv "$out/curator.new" "$out/curator"
