/* test_tls_options: which options of TLS are refused before a connection is tried, and in which words; the advice about
 * a connection that failed. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/tests/unit.h"
#include "drivers/tls.h"

static char folder[] = "/tmp/lockbench-tls-XXXXXX";
static char certificate[64], key[64], both[64], locked[64], nowhere[64];

#define CERTIFICATE "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
#define KEY "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"
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
    write_text(certificate, CERTIFICATE);
    write_text(key, KEY);
    snprintf(locked, sizeof locked, "%s/locked.pem", folder);
    write_text(both, KEY CERTIFICATE);
    write_text(locked, LOCKED);
    return 0;
}

FIXTURE(remove_files) {
    unlink(certificate);
    unlink(key);
    unlink(both);
    unlink(locked);
    return rmdir(folder);
}

TEST_MAIN(make_files, remove_files)
