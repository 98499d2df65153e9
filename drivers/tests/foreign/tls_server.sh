#!/bin/bash
# Servers with certificates and accounts, told line by line; their kind is the argument. "start N CERTIFICATE [MORE]" ends the Nth one,
# and answers with the new one's port; MORE is for its settings, "none" is no certificate. They die with this script.
kind=$1 certs=$DIR/certs word=Secret1Word as=(setpriv --pdeathsig KILL)
declare -A pids
chmod 755 "$DIR" # servers that run as accounts of their own must get through
made=$DIR/$kind.new
# shellcheck source=server.sh
. "${0%/*}/server.sh"
# Settings of one server: with a certificate, or without.
redis() {
    if [ "$cert" = none ]; then
        echo "port $port"
    else
        printf '%s\n' "port 0" "tls-port $port" "tls-cert-file $certs/$cert.pem" "tls-key-file $certs/$cert.key" \
            "tls-ca-cert-file $certs/ca.pem" "tls-auth-clients optional"
    fi
    printf '%s\n' "bind 127.0.0.1" "dir $dir" 'save ""' "user default on >$word ~* &* +@all" "user worker on >$word ~* &* +@all" "$more"
}
sentinel() {
    printf '%s\n' "bind 127.0.0.1" "port $port" "dir $dir" "user default on >SentinelWord ~* &* +@all" \
        "user worker on >SentinelWord ~* &* +@all" "sentinel monitor mymaster 127.0.0.1 $more 1" "sentinel auth-pass mymaster $word"
}
nats() {
    printf '%s\n' "listen: \"127.0.0.1:$port\"" "jetstream { store_dir: \"$dir/data\" }"
    if [ "$cert" = none ]; then
        echo "$more"
    else
        echo "tls { cert_file: \"$certs/$cert.pem\", key_file: \"$certs/$cert.key\", ca_file: \"$certs/ca.pem\" $more }"
        echo "authorization { user: worker, password: $word }"
    fi
}
etcd_accounts() { # the user's role reaches the prefix of our keys, and nothing else
    ctl() {
        ETCDCTL_API=3 etcdctl --endpoints "https://localhost:$port" --cacert "$certs/ca.pem" --cert "$certs/client.pem" --key "$certs/client.key" "$@"
    }
    until ctl endpoint health; do kill -0 "${pids[$number]}" || return; sleep 0.1; done
    ctl user add root:x
    ctl user add "me:$word"
    ctl role add ours
    ctl role grant-permission ours --prefix=true readwrite lockbench
    ctl user grant-role me ours
    ctl user grant-role root root
    ctl auth enable
}
postgres() {
    cp "$certs/ca.pem" "$dir"
    [ "$cert" = none ] || cp "$certs/$cert".* "$dir"
    if [ "$(id -u)" = 0 ]; then # which it refuses to run as
        who=$(id -nu postgres 2>/dev/null || echo nobody)
        chown -R "$who" "$dir"
        as=(setpriv --reuid "$who" --clear-groups --pdeathsig KILL)
    fi
    command -v postgres >/dev/null || PATH=$PATH:$(echo /usr/lib/postgresql/*/bin | sed 's/.* //')
    cd "$dir" || exit
    once data "${as[@]}" initdb -D data --username postgres --auth trust --no-sync
    printf '%s\n' "hostssl all certified 127.0.0.1/32 scram-sha-256 clientcert=verify-ca" \
        "$([ "$cert" = none ] && echo host || echo hostssl) all all 127.0.0.1/32 scram-sha-256" >data/pg_hba.conf
    printf '%s\n' "create role me login password '$word'" "create role certified login password '$word'" |
        "${as[@]}" postgres --single -D data -c fsync=off postgres
    [ "$cert" = none ] || more="-c ssl=on -c ssl_cert_file=$dir/$cert.pem -c ssl_key_file=$dir/$cert.key -c ssl_ca_file=$dir/ca.pem"
    kill -0 $$ || exit # the script died meanwhile, and would end nobody any more
    # shellcheck disable=SC2086 # words
    exec "${as[@]}" postgres -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
        -c dynamic_shared_memory_type=mmap $more
}
mariadb() {
    once "$dir/data" mariadb-install-db --no-defaults --user=root --datadir="$dir/data" --skip-test-db --skip-name-resolve \
        --auth-root-authentication-method=normal
    cat >"$dir/accounts.sql" <<END
create user me@'127.0.0.1' identified by '$word';
create user encrypted@'127.0.0.1' identified by '$word' require ssl;
create user certified@'127.0.0.1' identified by '$word' require x509;
grant all on lockbench.* to me@'127.0.0.1';
grant all on lockbench.* to certified@'127.0.0.1';
END
    [ "$cert" = none ] && more=--skip-ssl || more="--ssl-cert=$certs/$cert.pem --ssl-key=$certs/$cert.key --ssl-ca=$certs/ca.pem $more"
    kill -0 $$ || exit
    # shellcheck disable=SC2086
    exec "${as[@]}" mariadbd --no-defaults --user=root --datadir="$dir/data" --tmpdir="$dir" --port="$port" --bind-address=127.0.0.1 \
        --socket=m.sock --pid-file=m.pid --skip-name-resolve --init-file="$dir/accounts.sql" $more
}
etcd() {
    local scheme=http peer
    peer=$(free_port)
    [ "$cert" = none ] || scheme=https more="--cert-file $certs/$cert.pem --key-file $certs/$cert.key --client-cert-auth --trusted-ca-file $certs/ca.pem --auth-token-ttl 2"
    # shellcheck disable=SC2086
    exec "${as[@]}" etcd --name n --data-dir "$dir/data" --listen-client-urls "$scheme://127.0.0.1:$port" \
        --advertise-client-urls "$scheme://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$peer" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "n=http://127.0.0.1:$peer" --unsafe-no-fsync --logger zap $more
}
serve() {
    case $kind in
    redis | sentinel) $kind >"$dir/conf" && exec "${as[@]}" redis-server "$dir/conf" $([ "$kind" = redis ] || echo --sentinel) ;;
    nats) nats >"$dir/conf" && PATH=$PATH:/usr/sbin exec "${as[@]}" nats-server -c "$dir/conf" ;;
    memcached)
        echo "worker:$word" >"$dir/users"
        chmod 644 "$dir/users" "$certs"/*.key
        [ "$cert" = none ] || more="-Y $dir/users -Z -o ssl_chain_cert=$certs/$cert.pem,ssl_key=$certs/$cert.key,ssl_ca_cert=$certs/ca.pem$more"
        # A change of its user would end the signal at this script's death: so it comes first.
        [ "$(id -u)" != 0 ] || as=(setpriv --reuid nobody --clear-groups --pdeathsig KILL)
        # shellcheck disable=SC2086
        exec "${as[@]}" memcached -l 127.0.0.1 -p "$port" -U 0 $more
        ;;
    # Somebody who took MariaDB's place and offers no TLS, so that the login comes unencrypted.
    liar) exec "${as[@]}" /usr/bin/python3 drivers/tests/foreign/tls_liar.py "$port" "$dir/heard" ;;
    *) $kind ;;
    esac
}
echo ready
while read -r _ number cert more; do
    dir=$DIR/$kind$number pid=${pids[$number]}
    [ -z "$pid" ] || { kill -KILL "$pid" && wait "$pid" 2>/dev/null; }
    rm -rf "$dir"
    mkdir -m 755 "$dir"
    port=$(free_port)
    serve >>"$dir.log" 2>&1 &
    pids[$number]=$!
    until (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ! kill -0 "${pids[$number]}"; do sleep 0.05; done
    # It listens before it lets anybody in.
    [ "$kind" != postgres ] || until pg_isready -q -h 127.0.0.1 -p "$port" || ! kill -0 "${pids[$number]}"; do sleep 0.1; done
    case $kind,$cert in etcd,server | etcd,byname) etcd_accounts >>"$dir.log" 2>&1 ;; esac
    echo "$port"
done
