/* tls: see tls.h. */
#include "drivers/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/driver.h"
#include "drivers/facts.h"

bool lb_tls_is_set(const struct lb_tls *tls) {
    return tls->ca || tls->cert || tls->key || tls->verify != LB_TLS_AUTO;
}

struct lb_tls lb_tls_of(const struct lb_tls *options, const char *server_ca) {
    struct lb_tls tls = *options;
    if (!tls.ca) tls.ca = server_ca;
    if (tls.verify == LB_TLS_AUTO) tls.verify = LB_TLS_FULL;
    return tls;
}

const char *lb_tls_key(const struct lb_tls *tls) {
    return tls->key ? tls->key : tls->cert;
}

/* Whether a line of a PEM file has these words. A file that can't be read has none. */
static bool pem_has(const char *path, const char *words) {
    char line[256];
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file)) found = strstr(line, words) != NULL;
    if (file) fclose(file);
    return found;
}

/* The libraries that read the key would say "unsupported" or nothing, or ask the terminal for a passphrase. */
static int check_key(const struct lb_tls *tls, const char *backend, struct lb_err *err) {
    const char *path = lb_tls_key(tls), *option = tls->key ? "tls_key" : "tls_cert";
    if (!path) return 0;
    if (!pem_has(path, "PRIVATE KEY-----"))
        return err_set(err, LB_EXIT_USAGE,
                       tls->key ? "%s.%s: %s: there is no private key in it (PEM)"
                                : "%s.%s: %s: there is no private key in it: set %s.tls_key to "
                                  "the file that has it",
                       backend, option, path, backend);
    if (!pem_has(path, "ENCRYPTED")) return 0;
    return err_set(err, LB_EXIT_USAGE,
                   "%s.%s: %s: the private key has a passphrase, for which nobody is asked: give "
                   "a key without one (openssl pkey -in FILE -out FILE)",
                   backend, option, path);
}

int lb_tls_check(const struct lb_tls *tls, bool encrypted, const char *backend, const char *asked,
                 struct lb_err *err) {
    const struct {
        const char *option, *path;
    } files[] = {{"tls_ca", tls->ca}, {"tls_cert", tls->cert}, {"tls_key", tls->key}};
    const int certificates = 2; /* that come first among the files */
    if (!encrypted && lb_tls_is_set(tls))
        return err_set(err, LB_EXIT_USAGE,
                       "%s: tls_... is set, but the URL asks for no encryption: write %s", backend,
                       asked);
    if (tls->key && !tls->cert)
        return err_set(err, LB_EXIT_USAGE,
                       "%s.tls_key is set, but %s.tls_cert is not: give the certificate, too",
                       backend, backend);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i].path && access(files[i].path, R_OK) != 0)
            return err_set(err, LB_EXIT_USAGE, "%s.%s: can't read %s: %s", backend, files[i].option,
                           files[i].path, strerror(errno));
    }
    for (int i = 0; i < certificates; i++) {
        if (files[i].path && !pem_has(files[i].path, "CERTIFICATE-----"))
            return err_set(err, LB_EXIT_USAGE, "%s.%s: %s: there is no certificate in it (PEM)",
                           backend, files[i].option, files[i].path);
    }
    return check_key(tls, backend, err);
}

const char *lb_tls_advice(const char *message) {
    static const struct {
        const char *words, *advice;
    } known[] = {
        {"expired", ": the server needs a new certificate"},
        {"not yet valid", ": compare the clocks of both hosts"},
        {"local issuer", ": set tls_ca to the authority that signed the server's certificate"},
        {"self-signed", ": set tls_ca to the authority that signed the server's certificate"},
        {"self signed", ": set tls_ca to the authority that signed the server's certificate"},
        {"unable to get issuer", ": set tls_ca to all authorities of the server's certificate"},
        {"alternative certificate subject", ": write a host of the certificate in the URL"},
        {"does not match", ": write a host of the certificate in the URL"},
        {"IP address mismatch", ": write a host of the certificate in the URL"},
        {"ostname mismatch", ": write a host of the certificate in the URL"},
        {"certificate required", ": the server asks for a client certificate: set tls_cert"},
        {"alert certificate unknown",
         ": the server does not trust the client certificate of tls_cert"},
        {"alert unknown ca", ": the server does not trust the client certificate of tls_cert"},
        {"alert bad certificate", ": the server asks for a client certificate: set tls_cert"},
        {"alert handshake", ": the server may ask for a client certificate: set tls_cert"},
        {"SSL_ERROR_SYSCALL", ": does the server speak TLS at this port?"},
        {"Subject checks failed", ": write a host of the certificate in the URL"},
        {"suddenly disconnected", ": does the server speak TLS at this port?"},
        {"unexpected eof", ": does the server speak TLS at this port?"},
        {"wrong version number", ": the server does not speak TLS at this port"},
        {"key values mismatch", ": tls_key is not the key of tls_cert"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(message, known[i].words)) return known[i].advice;
    }
    return "";
}

void lb_facts_encryption(struct lb_facts *facts, const struct lb_tls *tls, const char *protocol,
                         const char *cipher) {
    static const char *const verified[] = {[LB_TLS_FULL] = "host name and authority",
                                           [LB_TLS_CA] = "authority",
                                           [LB_TLS_NONE] = "nothing"};
    bool encrypted = protocol && *protocol;
    lb_fact(facts, "tls", "%s", encrypted ? protocol : "no");
    if (!encrypted) return;
    if (cipher && *cipher) lb_fact(facts, "tls_cipher", "%s", cipher);
    lb_fact(facts, "tls_verified", "%s", verified[lb_tls_of(tls, NULL).verify]);
    lb_fact(facts, "tls_client_certificate", "%s", tls->cert ? "yes" : "no");
}

void lb_tls_words(const struct lb_facts *facts, char *text, size_t size) {
    const char *protocol = lb_facts_value(facts, "tls"),
               *verified = lb_facts_value(facts, "tls_verified");
    if (size > 0) text[0] = '\0';
    if (!protocol || strcmp(protocol, "no") == 0) return;
    snprintf(text, size, "%s, %s verified", protocol, verified ? verified : "nothing");
}
