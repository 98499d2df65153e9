/* test_tls_options: which options of TLS are refused before a connection is tried, and in which words; the advice about
 * a connection that failed. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/registry.h"
#include "drivers/tests/fake_session.h"
#include "drivers/tls.h"

static char folder[] = "/tmp/lockbench-tls-XXXXXX";
static char certificate[64], key[64], both[64], locked[64], other[64], nowhere[64];

#define LOCKED "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE\n-----END ENCRYPTED PRIVATE KEY-----\n"

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_refused(struct lb_tls tls, const char *why) {
    struct lb_err err = {0};
    int result = lb_tls_check(&tls, true, "redis", "rediss://", &err);
    if (!why) {
        if (result != 0) fail_msg("refused: %s", err.text);
        return;
    }
    assert_int_equal(result, -1);
    if (!strstr(err.text, why)) fail_msg("no \"%s\" in: %s", why, err.text);
}

TEST(what_is_whole_is_taken) {
    assert_refused((struct lb_tls){0}, NULL);
    assert_refused((struct lb_tls){.cert = certificate, .key = key}, NULL);
    assert_refused((struct lb_tls){.cert = both}, NULL); /* one file for the two */
}

TEST(a_part_that_is_missing_is_told) {
    assert_refused((struct lb_tls){.key = key}, "redis.tls_cert is not");
    assert_refused((struct lb_tls){.ca = nowhere}, "redis.tls_ca: can't read");
    assert_refused((struct lb_tls){.cert = certificate},
                   "no private key in it: set redis.tls_key to the file that has it");
    assert_refused((struct lb_tls){.cert = both, .key = certificate}, "redis.tls_key: ");
    assert_refused((struct lb_tls){.cert = key, .key = key}, "redis.tls_cert: ");
    assert_refused((struct lb_tls){.ca = key}, "no certificate in it");
}

/* A library that reads such a key would ask for the passphrase on the terminal, and wait. */
TEST(a_passphrase_is_not_asked_for) {
    assert_refused((struct lb_tls){.cert = certificate, .key = locked}, "has a passphrase");
}

/* Before any connection: there is no server at these URLs. */
TEST(a_mistake_has_one_code_in_every_backend) {
    static const struct {
        const char *backend, *lock, *url;
    } all[] = {{"redis", "redis-setnx", "rediss://127.0.0.1:1"},
               {"memcached", "memcached-add", "memcacheds://127.0.0.1:1"},
               {"nats", "nats-kv", "tls://127.0.0.1:1"},
               {"etcd", "etcd-mutex", "etcds://127.0.0.1:1"},
               {"postgres", "pg-advisory", "postgres://me:a@127.0.0.1:1/a?sslmode=verify-full"},
               {"mariadb", "mysql-getlock", "mysqls://me:a@127.0.0.1:1/a"}};
    const struct {
        const char *ca, *cert, *key, *says;
    } mistakes[] = {{nowhere, NULL, NULL, "can't read"},
                    {key, NULL, NULL, "no certificate in it"},
                    {NULL, certificate, NULL, "no private key in it"},
                    {NULL, certificate, locked, "passphrase"},
                    {NULL, certificate, other, "tls_key is not the key of tls_cert"}};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++) {
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
            char text[3][100];
            const char *sets[4] = {NULL},
                       *values[] = {mistakes[i].ca, mistakes[i].cert, mistakes[i].key};
            for (int k = 0, n = 0; k < 3; k++) {
                static const char *const names[] = {"tls_ca", "tls_cert", "tls_key"};
                if (!values[k]) continue;
                snprintf(text[n], sizeof text[n], "%s=%s", names[k], values[k]);
                sets[n] = text[n];
                n++;
            }
            struct fake_session fake = {
                .lock = registry_lock(all[b].lock), .key = "k", .sets = sets};
            if (!fake.lock->backend->connector) continue;
            snprintf(fake.url, sizeof fake.url, "%s", all[b].url);
            fake_run(&fake);
            if (fake.err.code != LB_EXIT_USAGE || !strstr(fake.err.text, mistakes[i].says))
                fail_msg("%s: code %d: %s", all[b].backend, fake.err.code, fake.err.text);
        }
    }
}

/* An option that is set already is not to be set, and an alert of the server is about the client's certificate. */
TEST(advice_is_true_of_the_options_that_are_given) {
    static const struct lb_tls none, with_ca = {.ca = "ca.pem"}, with_cert = {.cert = "me.pem"};
    static const struct {
        const char *message;
        const struct lb_tls *tls;
        const char *advice;
    } cases[] = {
        {"unable to get local issuer certificate", &none,
         "this machine trusts signed the server's"},
        {"unable to get local issuer certificate", &none, "(set tls_ca)"},
        {"unable to get local issuer certificate", &with_ca,
         ": no authority in ca.pem (tls_ca) signed the server's certificate"},
        {"self-signed certificate in certificate chain", &with_ca, "no authority in ca.pem"},
        {"certificate signature failure", &with_ca, "no authority in ca.pem"},
        {"certificate has expired", &none, ": the server needs a new certificate"},
        {"sslv3 alert certificate expired", &with_cert,
         ": the client certificate of tls_cert has expired"},
        {"ssl/tls alert bad certificate", &none, "set tls_cert"},
        {"ssl/tls alert bad certificate", &with_cert, "does not trust the client certificate"},
        {"sslv3 alert handshake failure", &none, "set tls_cert"},
        {"sslv3 alert handshake failure", &with_cert, "may not trust the client certificate"},
        {"tlsv1 alert protocol version", &none, "does not speak TLS 1.2 or newer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *advice = lb_tls_advice(cases[i].message, cases[i].tls);
        if (!strstr(advice, cases[i].advice)) fail_msg("%s%s", cases[i].message, advice);
        if (cases[i].tls->ca && strstr(advice, "set tls_ca")) fail_msg("%s", advice);
    }
    assert_string_equal(lb_tls_advice("something else", NULL), "");
}

FIXTURE(make_files) {
    if (!mkdtemp(folder)) return -1;
    snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    snprintf(both, sizeof both, "%s/both.pem", folder);
    snprintf(nowhere, sizeof nowhere, "%s/nowhere.pem", folder);
    snprintf(locked, sizeof locked, "%s/locked.pem", folder);
    snprintf(other, sizeof other, "%s/other.pem", folder);
    write_text(locked, LOCKED);
    char command[500];
    snprintf(command, sizeof command,
             "cd %s && for name in key other; do openssl req -x509 -newkey ec -pkeyopt "
             "ec_paramgen_curve:P-256 -nodes -subj /CN=a -keyout $name.pem -out cert.pem "
             "2>/dev/null; [ $name = other ] || { cat key.pem cert.pem >both.pem; "
             "cp cert.pem first; }; done; mv first cert.pem",
             folder);
    return system(command);
}

FIXTURE(remove_files) {
    unlink(certificate);
    unlink(key);
    unlink(both);
    unlink(locked);
    unlink(other);
    return rmdir(folder);
}

TEST_MAIN(make_files, remove_files)
