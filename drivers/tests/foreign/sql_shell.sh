#!/bin/sh
# The shell of a database, told statements line by line: pg or my, the server's port.
my() {
    mariadb --no-defaults --batch --skip-column-names --unbuffered --force --protocol=tcp -h 127.0.0.1 -P "$port" -u root "$@"
}
port=$2
case $1 in
pg)
    echo ready
    exec psql -XqAt -h 127.0.0.1 -p "$port" -U postgres postgres
    ;;
my)
    my -e "CREATE DATABASE IF NOT EXISTS lockbench" && echo ready
    my lockbench
    ;;
esac
