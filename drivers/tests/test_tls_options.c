/* test_tls_options: which options of TLS are refused before a connection is tried, and in which words. */
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
