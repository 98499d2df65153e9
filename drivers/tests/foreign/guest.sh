#!/bin/bash
# What a story of a guest on a server asks for: a run at $URL that is ended at a random moment, and what the server holds then.
#   guest.sh keep: makes things of other people's; list: all that the server holds
#   guest.sh end SIGNAL: the exit code of a run of one of $LOCKS; of all of them that ends by itself, if SIGNAL is 0. $SEED, which it
#   prints, chooses the lock and the moment
#   guest.sh after: the same as list, after `lockbench clean` if the run could not tidy up itself
# shellcheck disable=SC2059,SC2153,SC2016 # lines are formats; the story's names; NATS's dollars
set -m # or a run in the background would not hear Ctrl-C
program=$(realpath "$LOCKBENCH_PROGRAM") && cd "$DIR" || exit
# Speaks to the server's port by hand: the answer up to a line.
say() { # lines, the last line
    exec 3<>"/dev/tcp/127.0.0.1/$PORT"
    [ "$KIND" != MEMCACHED ] || { printf 'set login 0 0 42\r\nlockbench %s\r\n' "$SECRET" >&3; read -r -u 3; }
    printf "$1" >&3
    timeout 20 sed -E "/$2/q" <&3 | tr -d '\r'
}
nats() { say "CONNECT {\"verbose\":false,\"user\":\"lockbench\",\"pass\":\"$SECRET\"}\\r\\nSUB me 1\\r\\nPUB \$JS.API.STREAM.$1\\r\\n" "$2"; }
etcd() { ETCDCTL_API=3 etcdctl --endpoints="127.0.0.1:$PORT" "$@"; }
mariadb_says() { mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P "$PORT" -u root -e "$1"; }
list() {
    case $KIND in
    REDIS) for port in $PORTS; do redis-cli -p "$port" --scan; done 2>/dev/null | grep -v ^ERR | sort -u ;;
    ETCD) etcd get --prefix --keys-only ''; etcd lease list ;;
    ZOO) say mntr 'no such line' | grep -e znode_count -e ephemerals_count ;;
    NATS) nats 'NAMES me 0\r\n' stream_names_response | grep -o '"streams":.*' ;;
    PG) psql -XAtq "$URL" -c "select relkind, relname from pg_class where relnamespace = 'public'::regnamespace order by 1, 2" ;;
    MY) mariadb_says 'show databases; select table_schema, table_name from information_schema.tables where table_schema not in ("information_schema", "performance_schema", "sys", "mysql")' ;;
    MEMCACHED) say 'lru_crawler metadump all\r\n' '^(END|BUSY)' | grep exp=-1 | grep -o 'key=[^ ]*' ;;
    FILE) ls -A guests ;;
    esac
}
keep() {
    case $KIND in
    REDIS) for port in $PORTS; do
        for pair in 'lockbench-mine 1' 'orders/7 2' 'lockbench-1234567-0 3' 'redisson_lock_token:{orders} 4' '{orders}:timeout 5'; do
            # shellcheck disable=SC2086
            redis-cli -c -p "$port" set $pair
        done
    done ;;
    ETCD) etcd put lockbench-mine 1 ;;
    NATS) nats 'CREATE.KV_lockbench_mine me 64\r\n{"name":"KV_lockbench_mine","subjects":["$KV.lockbench_mine.>"]}' stream_create_response ;;
    PG) psql -q "$URL" -c 'create table lockbench_mine (name text); create table other (name text); create sequence lockbench_seq' ;;
    MY) mariadb_says 'create database mine; create table mine.lockbench_row (name int)' ;;
    MEMCACHED) say 'set mine 0 0 1\r\n1\r\n' STORED ;;
    FILE) mkdir guests && touch guests/mine.lock guests/lockbench-mine.lock ;;
    esac >/dev/null 2>&1
}
end() {
    RANDOM=${SEED:=$RANDOM}
    echo "guest.sh end $1 with SEED=$SEED" >&4
    IFS=, read -ra locks <<<"$LOCKS"
    [ "$1" = 0 ] || locks=("${locks[RANDOM % ${#locks[@]}]}")
    "$program" run "${WORK:-contended}" --lock "$(IFS=,; echo "${locks[*]}")" --url "$BACKEND=$URL" --set run.duration=300ms \
        --set run.warmup=50ms --set load.clients=4 --set load.hold=5ms --no-page --out run >/dev/null 2>err &
    run=$!
    [ "$1" = 0 ] || { sleep "$(printf 0.%03d $((50 + RANDOM % 950)))"; kill "-$1" "$run"; }
    wait "$run"
    code=$?
    rm -rf run told
    # The janitor of a run that was killed writes what is left, a moment after the program's end.
    for ((i = 0; code == 137 && i < 500; i++)); do
        grep -q ': will be made there: ' err || break
        grep -q 'left on ' err && grep -q '`lockbench clean --url ' err && touch told && break
        sleep 0.02
    done
    echo "$code"
}
clean() { "$program" clean --url "$BACKEND=$URL" >/dev/null; }
case $1 in
end) end "$2" 4>&2 2>/dev/null ;;
clean) clean && echo cleaned ;;
after)
    if [ -e told ] || [ "$BACKEND" = nats ]; then clean; fi
    list 2>&1
    ;;
keep) keep ;;
*) list 2>&1 ;;
esac
