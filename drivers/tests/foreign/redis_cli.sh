#!/bin/sh
# The lock of redis.io by redis-cli, told line by line what to do; see node_redlock.mjs. Its server's port is the argument.
cli() {
    redis-cli --raw -p "$port" "$@"
}
take() {
    [ "$(cli set "$1" by-hand NX PX "$2")" = OK ] && held=$1
}
if_held() { # a command on the key, if it is still this client's
    answer=$(cli eval "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call($1) else return 0 end" \
        1 "$held" by-hand "$2")
    [ "$answer" = 1 ] && echo ok || echo lost
}
port=$1
cli ping >/dev/null && echo ready
while read -r word key ms; do
    case $word in
    acquire) take "$key" "$ms" && echo ok || echo busy ;;
    wait)
        until take "$key" "$ms"; do sleep 0.02; done
        echo ok
        ;;
    extend) if_held "'pexpire', KEYS[1], ARGV[2]" "$key" ;;
    release) if_held "'del', KEYS[1]" "" ;;
    esac
done
