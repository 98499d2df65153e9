# shellcheck shell=bash
# For scripts that start servers: . "${0%/*}/server.sh". $made is the folder that once keeps.
free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
# Makes the data of an empty server by a command, and of each later server by a copy.
once() { # folder, command
    local data=$1
    shift
    if [ -d "$made" ]; then
        cp -a "$made" "$data"
    else
        "$@" && cp -a "$data" "$made"
    fi
}
