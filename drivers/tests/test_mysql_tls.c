/* test_mysql_tls: MariaDB over TLS with accounts, against real servers: what is right grants, and each wrong
 * certificate, password or URL ends with one line that says what to do. Never unencrypted instead.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "drivers/tests/tls_help.h"

enum { SERVER, EXPIRED, WRONGHOST, PLAIN, BYNAME, LIAR };

#define URL "mysqls://" ACCOUNT "localhost:%d"
#define URL_CERTIFIED "mysqls://certified:" TLS_SECRET "@localhost:%d"
#define URL_BY_NUMBER "mysqls://" ACCOUNT "127.0.0.1:%d"

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
    static const struct tls_case cases[] = {
        {"by address", SERVER, URL_BY_NUMBER, SIGNED, 0, {"\"tls\": \"TLSv1.", BOTH_VERIFIED}},
        /* the certificate has the name alone, and libmariadb connects to the address */
        {"by name",
         BYNAME,
         "mariadbs://" ACCOUNT "localhost:%d",
         SIGNED,
         0,
         {"\"tls\": \"TLSv1.", BOTH_VERIFIED}},
        {"client certificate",
         SERVER,
         "mysqls://certified:" TLS_SECRET "@127.0.0.1:%d",
         FILES,
         0,
         {CERTIFIED}},
        {"authority alone", WRONGHOST, URL, SIGNED " tls_verify=ca", 0, {AUTHORITY_VERIFIED}},
        {"nothing verified", EXPIRED, URL, OTHER_CA " tls_verify=none", 0, {NOTHING_VERIFIED}},
        {"unencrypted", SERVER, "mysql://" ACCOUNT "localhost:%d", NULL, 0, {"\"tls\": \"no\""}},
    };
    TLS_RUN("mariadb", "mysql-getlock", cases);
}

TEST(what_is_wrong_has_its_line) {
    static const struct tls_case cases[] = {
        {"other authority", SERVER, URL, OTHER_CA, 2, {NOT_SIGNED}},
        {"other authority, host not looked at",
         SERVER,
         URL,
         OTHER_CA " tls_verify=ca",
         2,
         {NOT_SIGNED}},
        {"the machine's authorities", SERVER, URL, NULL, 2, {"set tls_ca"}},
        {"the machine's authorities, host not looked at",
         SERVER,
         URL,
         "tls_verify=ca",
         1,
         {"needs mariadb.tls_ca"}},
        {"other host", WRONGHOST, URL, FILES, 2, {"the URL's host is not in the certificate"}},
        {"an address that is not in it",
         BYNAME,
         URL_BY_NUMBER,
         FILES,
         2,
         {"the URL's host is not in the certificate"}},
        {"expired", EXPIRED, URL, FILES, 2, {"expired"}},
        {"no client certificate", SERVER, URL_CERTIFIED, SIGNED, 1, {"set tls_cert"}},
        {"a stranger's certificate", SERVER, URL_CERTIFIED, STRANGER, 2, {"tls_cert"}},
        {"wrong password",
         SERVER,
         "mysqls://me:" TLS_SECRET "x@localhost:%d",
         FILES,
         1,
         {"check the user and password"}},
        {"plain URL, account with TLS",
         SERVER,
         "mysql://encrypted:" TLS_SECRET "@localhost:%d",
         NULL,
         1,
         {"write mysqls://"}},
        {"plain URL, server with TLS",
         BYNAME,
         "mysql://" ACCOUNT "localhost:%d",
         NULL,
         1,
         {"write mysqls://"}},
        {"plain server", PLAIN, URL, FILES, 2, {"ssl_cert, ssl_key"}},
        {"plain server, nothing verified", PLAIN, URL, "tls_verify=none", 2, {"ssl_cert, ssl_key"}},
        {"options without TLS",
         PLAIN,
         "mysql://" ACCOUNT "localhost:%d",
         FILES,
         1,
         {"write mysqls://"}},
        {"a parameter",
         SERVER,
         URL "/?ssl-mode=none",
         FILES,
         1,
         {"the text behind '?' is not used"}},
    };
    TLS_RUN("mariadb", "mysql-getlock", cases);
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
    static const struct tls_case cases[] = {
        {"authority alone",
         LIAR,
         URL_BY_NUMBER,
         SIGNED " tls_verify=ca",
         2,
         {"does not speak TLS"}},
        {"nothing verified", LIAR, URL_BY_NUMBER, "tls_verify=none", 2, {"does not speak TLS"}},
    };
    /* Several times: the greeting may be there before anybody waits for it. */
    for (int i = 0; i < 5; i++) TLS_RUN("mariadb", "mysql-getlock", cases);
    char *heard = cli_read(cli_path("server%d/heard", LIAR));
    assert_string_equal(heard, "");
    free(heard);
}

/* `verify` on this server, as its user runs it. */
TEST(verify_passes) {
    tls_verify("mariadb", "mysql-getlock", BYNAME, URL, SIGNED, TLS_CONFORMS);
}

TEST_MAIN(start_servers, tls_teardown)
