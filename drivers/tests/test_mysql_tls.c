/* test_mysql_tls: MariaDB over TLS with accounts, against real servers: what is right grants, and each wrong
 * certificate, password or URL ends with one line that says what to do. Never unencrypted instead.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "drivers/tests/tls_help.h"

enum { SERVER, EXPIRED, WRONGHOST, PLAIN, BYNAME, LIAR };

#define URL "mysqls://" ACCOUNT "localhost:%d"

#define MARIADB(more)                                                                              \
    "mariadb-install-db --no-defaults --user=root --datadir=$DIR/data --skip-test-db "             \
    "--skip-name-resolve --auth-root-authentication-method=normal\n"                               \
    "cat >$DIR/accounts.sql <<END\n"                                                               \
    "create user me@'127.0.0.1' identified by '" TLS_SECRET "';\n"                                 \
    "create user encrypted@'127.0.0.1' identified by '" TLS_SECRET "' require ssl;\n"              \
    "create user certified@'127.0.0.1' identified by '" TLS_SECRET "' require x509;\n"             \
    "grant all on lockbench.* to me@'127.0.0.1';\n"                                                \
    "grant all on lockbench.* to certified@'127.0.0.1';\nEND\n"                                    \
    "exec mariadbd --no-defaults --user=root --datadir=$DIR/data --tmpdir=$DIR --port=$PORT "      \
    "--bind-address=127.0.0.1 --socket=m.sock --pid-file=m.pid --skip-name-resolve "               \
    "--init-file=$DIR/accounts.sql " more
#define MARIADB_TLS                                                                                \
    MARIADB("--ssl-cert=$CERTS/$CERT.pem --ssl-key=$CERTS/$CERT.key --ssl-ca=$CERTS/ca.pem")

static int start_servers(void **state) {
    if (tls_setup(state) != 0) return -1;
    tls_start(SERVER, "server", MARIADB_TLS);
    tls_start(EXPIRED, "expired", MARIADB_TLS);
    tls_start(WRONGHOST, "wronghost", MARIADB_TLS);
    tls_start(PLAIN, "", MARIADB("--skip-ssl"));
    tls_start(BYNAME, "byname", MARIADB_TLS " --require-secure-transport=on");
    return 0;
}

TEST(what_is_right_grants) {
    tls_play("mariadb", "mysql-getlock", "mariadb right");
}

TEST(what_is_wrong_has_its_line) {
    tls_play("mariadb", "mysql-getlock", "mariadb wrong");
}

/* Somebody who took the server's place and offers no TLS, so that the login comes unencrypted. */
#define NO_TLS_OFFERED                                                                                              \
    "exec python3 -c '\nimport os, socket\nat = socket.create_server((\"127.0.0.1\", int(os.environ[\"PORT\"])))\n" \
    "says = b\"\\x0a11.4.2\\0\" + 4 * b\"\\1\" + b\"12345678\\0\\xff\\xf7\\x21\\2\\0\\xff\\x81\\x15\"\n"            \
    "says += 10 * b\"\\0\" + b\"123456789012\\0mysql_native_password\\0\"\n"                                        \
    "while True:\n"                                                                                                 \
    "    peer = at.accept()[0]\n    peer.settimeout(20)\n    heard = b\"\"\n    try:\n"                             \
    "        peer.sendall(len(says).to_bytes(4, \"little\") + says)\n        heard = peer.recv(4096)\n"             \
    "    except OSError:\n        pass\n"                                                                           \
    "    open(os.environ[\"DIR\"] + \"/heard\", \"ab\").write(heard)\n'"

TEST(nothing_is_said_to_a_server_that_offers_no_tls) {
    tls_start(LIAR, "", NO_TLS_OFFERED);
    /* Several times: the greeting may be there before anybody waits for it. */
    for (int i = 0; i < 5; i++) tls_play("mariadb", "mysql-getlock", "mariadb liar");
    char *heard = cli_read(cli_path("server%d/heard", LIAR));
    assert_string_equal(heard, "");
    free(heard);
}

/* `verify` on this server, as its user runs it. */
TEST(verify_passes) {
    tls_verify("mariadb", "mysql-getlock", BYNAME, URL, SIGNED, TLS_CONFORMS);
}

TEST_MAIN(start_servers, tls_teardown)
