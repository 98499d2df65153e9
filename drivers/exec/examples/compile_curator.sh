#!/bin/sh
# Compiles CuratorMutex.java into .build/exec, for tests; does nothing when that is newer. A program of one source file can
# be run as it is, but then each start compiles it again.
set -eu
cd "$(dirname "$0")"
out=../../../.build/exec
mkdir -p "$out"
[ "$out/CuratorMutex.class" -nt CuratorMutex.java ] || javac -d "$out" -cp '/usr/share/java/*' CuratorMutex.java
