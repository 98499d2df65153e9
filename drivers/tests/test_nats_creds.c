/* test_nats_creds: clients that come to a real NATS server with a credentials file: the right one grants; each wrong one
 * ends with one line that says what to do, and no line has its seed.
 * Needs: servers. */
#define _GNU_SOURCE
#include "drivers/tests/nats_jwt.h"
#include "drivers/tests/tls_help.h"

static struct jwt_key user, other;

static void write_creds(const char *name, const char *jwt, const char *seed) {
    char text[2 * JWT_TEXT_BYTES];
    jwt_creds(jwt, seed, text, sizeof text);
    cli_write(cli_path("certificates/%s", name), text);
}

/* A server whose operator and accounts are JWTs, and the credentials of a user. */
static void start_server(void) {
    static const char limits
        [] =
            "{\"limits\":{\"subs\":-1,\"data\":-1,\"payload\":-1,\"imports\":-1,\"exports\":-1,\"wildcards\":true,"
            "\"conn\":-1,\"leaf\":-1,\"mem_storage\":-1,\"disk_storage\":-1,\"streams\":-1,\"consumer\":-1},"
            "\"type\":\"account\",\"version\":2}",
  no_jetstream[] =
        "{\"limits\":{\"subs\":-1,\"data\":-1,\"payload\":-1,\"imports\":-1,\"exports\":-1,"
        "\"wildcards\":true,\"conn\":-1,\"leaf\":-1},\"type\":\"account\",\"version\":2}",
  any[] =
        "{\"pub\":{},\"sub\":{},\"subs\":-1,\"data\":-1,\"payload\":-1,\"type\":\"user\",\"version\":2}";
    static char operator_jwt[JWT_TEXT_BYTES], account_jwt[JWT_TEXT_BYTES],
        system_jwt[JWT_TEXT_BYTES], user_jwt[JWT_TEXT_BYTES], script[4 * JWT_TEXT_BYTES];
    struct jwt_key operator= jwt_key(JWT_OPERATOR, 1), account = jwt_key(JWT_ACCOUNT, 2);
    struct jwt_key system_account = jwt_key(JWT_ACCOUNT, 3);
    user = jwt_key(JWT_USER, 4);
    other = jwt_key(JWT_USER, 5);
    jwt_make(&operator, & operator, "{\"type\":\"operator\",\"version\":2}", operator_jwt);
    jwt_make(&operator, & account, limits, account_jwt);
    jwt_make(&operator, & system_account, no_jetstream, system_jwt);
    jwt_make(&account, &user, any, user_jwt);
    write_creds("right", user_jwt, user.seed);
    write_creds("wrong-seed", user_jwt, other.seed);
    write_creds("no-seed", user_jwt, "");
    jwt_make(&other, &user, any, user_jwt);
    write_creds("wrong-issuer", user_jwt, user.seed);
    EVP_PKEY_free(operator.pair);
    EVP_PKEY_free(account.pair);
    EVP_PKEY_free(system_account.pair);
    snprintf(
        script, sizeof script,
        "PATH=$PATH:/usr/sbin; cat >$DIR/conf <<END\nlisten: \"127.0.0.1:$PORT\"\n"
        "jetstream { store_dir: \"$DIR/data\" }\noperator: %s\nsystem_account: %s\nresolver: MEMORY\n"
        "resolver_preload: { %s: %s, %s: %s }\nEND\nexec nats-server -c $DIR/conf",
        operator_jwt, system_account.name, account.name, account_jwt, system_account.name,
        system_jwt);
    tls_start(0, "", script);
}

static void assert_no_seed(const char *path) {
    char *text = cli_read(path);
    assert_null(strstr(text, user.seed));
    free(text);
}

TEST(credentials_let_in_whom_they_name) {
    start_server();
    tls_play("nats", "nats-kv", "nats credentials");
    assert_no_seed(cli_path("out/run.json")); /* of the last one, which is let in */
}

TEST_MAIN(tls_setup, tls_teardown)
