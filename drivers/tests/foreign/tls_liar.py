"""A server that greets as MariaDB does, offers no TLS, and writes down what it hears: its port and the file are the arguments."""
import socket
import sys

at = socket.create_server(("127.0.0.1", int(sys.argv[1])))
says = b"\x0a11.4.2\0" + 4 * b"\1" + b"12345678\0\xff\xf7\x21\2\0\xff\x81\x15" + 10 * b"\0" + b"123456789012\0mysql_native_password\0"
while True:
    peer = at.accept()[0]
    peer.settimeout(20)
    heard = b""
    try:
        peer.sendall(len(says).to_bytes(4, "little") + says)
        heard = peer.recv(4096)
    except OSError:
        pass
    open(sys.argv[2], "ab").write(heard)
