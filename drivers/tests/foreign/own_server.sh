#!/bin/bash
# A server whose account `me` has few rights, told line by line: the kind of server and its folder are the arguments.
# "start RIGHTS" ends the last one, and answers with the new one's port. It dies with this script.
kind=$1 dir=$2 word=Secret1Word
as=(setpriv --pdeathsig KILL)
made=$dir.new
# shellcheck source=server.sh
. "${0%/*}/server.sh"
serve() {
    case $kind in
    redis)
        printf '%s\n' "bind 127.0.0.1" "port $port" "dir $dir" 'save ""' "user me on >$word $rights" \
            ${primary:+"replicaof 127.0.0.1 $primary"} >"$dir/conf"
        "${as[@]}" redis-server "$dir/conf" &
        ;;
    postgres) # refuses to run as root
        chmod 755 "$dir/.." "$dir"
        if [ "$(id -u)" = 0 ]; then
            who=$(id -nu postgres 2>/dev/null || echo nobody)
            chown -R "$who" "$dir"
            as=(setpriv --reuid "$who" --clear-groups --pdeathsig KILL)
        fi
        command -v initdb >/dev/null || PATH=$(echo /usr/lib/postgresql/*/bin | sed 's/.* //'):$PATH
        cd "$dir" || exit
        once data "${as[@]}" initdb -D data --username postgres --auth trust --no-sync
        printf '%s\n' "create role me login password '$word'" "$rights" |
            "${as[@]}" postgres --single -D data -c fsync=off postgres
        "${as[@]}" postgres -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
            -c dynamic_shared_memory_type=mmap &
        ;;
    mariadb)
        once "$dir/data" mariadb-install-db --no-defaults --user=root --datadir="$dir/data" --skip-test-db --skip-name-resolve \
            --auth-root-authentication-method=normal
        printf '%s;\n' "create database locks" "create user me@'127.0.0.1' identified by '$word'" \
            "$rights to me@'127.0.0.1'" >"$dir/accounts.sql"
        "${as[@]}" mariadbd --no-defaults --user=root --datadir="$dir/data" --tmpdir="$dir" --port="$port" \
            --bind-address=127.0.0.1 --socket=m.sock --pid-file=m.pid --skip-name-resolve --init-file="$dir/accounts.sql" --skip-ssl &
        ;;
    etcd)
        peer=$(free_port)
        "${as[@]}" etcd --data-dir "$dir/data" --listen-client-urls "http://127.0.0.1:$port" \
            --advertise-client-urls "http://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$peer" \
            --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer" --unsafe-no-fsync &
        ;;
    nats)
        printf '%s\n' "listen: \"127.0.0.1:$port\"" "jetstream { store_dir: \"$dir\" }" \
            "authorization { users: [{ user: me, password: \"$word\", permissions: { $rights } }] }" >"$dir/conf"
        PATH=$PATH:/usr/sbin "${as[@]}" nats-server -c "$dir/conf" &
        ;;
    esac
    pid=$!
}
echo ready
while read -r _ rights; do
    [ -z "$pid" ] || { kill -KILL "$pid" && wait "$pid" 2>/dev/null; }
    rm -rf "$dir"
    mkdir "$dir"
    port=$(free_port)
    serve >>"$dir.log" 2>&1
    until (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ! kill -0 "$pid"; do sleep 0.05; done
    [ "$kind" != postgres ] || until pg_isready -q -h 127.0.0.1 -p "$port" || ! kill -0 "$pid"; do sleep 0.05; done
    echo "$port"
done
