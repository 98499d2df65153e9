#!/bin/sh
# etcdctl lock, told line by line what to do; the server's port is the argument. "lock KEY" answers with the key's name and an
# empty line when it is granted, "unlock" with "freed".
echo ready
while read -r word key; do
    case $word in
    lock)
        etcdctl --endpoints="127.0.0.1:$1" lock "$key" &
        pid=$!
        ;;
    unlock)
        kill -TERM "$pid"
        wait "$pid"
        echo freed
        ;;
    esac
done
