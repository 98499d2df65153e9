/* tls: see tls.h. */
#include "drivers/tls.h"

#include <errno.h>
#ifdef LB_OPENSSL
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif
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

#ifdef LB_OPENSSL

/* Gives OpenSSL no password for an encrypted key. Without this function OpenSSL would ask at the terminal. */
static int no_password(char *text, int size, int for_writing, void *arg) {
    (void)text;
    (void)size;
    (void)for_writing;
    (void)arg;
    return -1;
}

const char *lb_tls_reason(const char *otherwise) {
    unsigned long code = ERR_get_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return text ? text : otherwise;
}

int lb_tls_load(const struct lb_tls *tls, const char *backend, SSL_CTX *context,
                struct lb_err *err) {
    const char *ca = tls->ca;
    SSL_CTX_set_default_passwd_cb(context, no_password);
    int loaded = ca ? SSL_CTX_load_verify_locations(context, ca, NULL)
                    : SSL_CTX_set_default_verify_paths(context);
    if (loaded != 1)
        return err_set(err, LB_EXIT_USAGE, "%s.tls_ca: %s: %s", backend,
                       ca ? ca : "the machine's authorities",
                       lb_tls_reason("no certificate in it"));
    if (!tls->cert) return 0;
    if (SSL_CTX_use_certificate_chain_file(context, tls->cert) != 1)
        return err_set(err, LB_EXIT_USAGE, "%s.tls_cert: %s: %s", backend, tls->cert,
                       lb_tls_reason("no certificate in it"));
    if (SSL_CTX_use_PrivateKey_file(context, lb_tls_key(tls), SSL_FILETYPE_PEM) != 1) {
        const char *why = lb_tls_reason("no key in it");
        return err_set(err, LB_EXIT_USAGE, "%s.tls_key: %s: %s%s", backend, lb_tls_key(tls), why,
                       lb_tls_advice(why, tls));
    }
    return 0;
}

/* What libraries would find at the handshake. */
static int check_whole(const struct lb_tls *tls, const char *backend, struct lb_err *err) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    int failed = context ? lb_tls_load(tls, backend, context, err)
                         : err_set(err, LB_EXIT_MACHINE, "out of memory");
    SSL_CTX_free(context);
    return failed;
}

#else
#define check_whole(tls, backend, err) 0
#endif

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
    if (check_key(tls, backend, err) != 0) return -1;
    return encrypted ? check_whole(tls, backend, err) : 0;
}

const char *lb_tls_unsigned(const struct lb_tls *tls) {
    static _Thread_local char text[400];
    if (!tls || !tls->ca)
        return "no authority that this machine trusts signed the server's certificate (set tls_ca)";
    snprintf(text, sizeof text, "no authority in %.300s (tls_ca) signed the server's certificate",
             tls->ca);
    return text;
}

static const char *unsigned_advice(const struct lb_tls *tls) {
    static _Thread_local char text[420];
    snprintf(text, sizeof text, ": %s", lb_tls_unsigned(tls));
    return text;
}

const char *lb_tls_advice(const char *message, const struct lb_tls *tls) {
    static const char asks[] = ": the server asks for a client certificate: set tls_cert",
                      may_ask[] = ": the server may ask for a client certificate: set tls_cert",
                      distrusts[] =
                          ": the server does not trust the client certificate of tls_cert",
                      may_distrust[] =
                          ": the server may not trust the client certificate of tls_cert",
                      host[] = ": write a host of the certificate in the URL",
                      speaks[] = ": does the server speak TLS at this port?",
                      old[] = ": the server does not speak TLS 1.2 or newer",
                      late[] = ": the client certificate of tls_cert has expired";
    /* An alert comes from the server, so it is about the client's certificate: alerts come first. */
    static const struct {
        const char *words, *advice; /* advice NULL = unsigned_advice */
        const char *certified;      /* the advice where tls_cert is set; NULL = the same */
    } known[] = {
        {"certificate required", asks, distrusts},
        {"alert certificate expired", late, NULL},
        {"alert certificate unknown", distrusts, NULL},
        {"alert unknown ca", distrusts, NULL},
        {"alert bad certificate", asks, distrusts},
        {"alert handshake", may_ask, may_distrust},
        {"alert protocol version", old, NULL},
        {"unsupported protocol", old, NULL},
        {"expired", ": the server needs a new certificate", NULL},
        {"not yet valid", ": compare the clocks of both hosts", NULL},
        {"local issuer", NULL, NULL},
        {"self-signed", NULL, NULL},
        {"self signed", NULL, NULL},
        {"signature failure", NULL, NULL}, /* an authority of the same name, with another key */
        {"unable to get issuer", ": set tls_ca to all authorities of the server's certificate",
         NULL},
        {"alternative certificate subject", host, NULL},
        {"does not match", host, NULL},
        {"IP address mismatch", host, NULL},
        {"ostname mismatch", host, NULL},
        {"Subject checks failed", host, NULL},
        {"SSL_ERROR_SYSCALL", speaks, NULL},
        {"suddenly disconnected", speaks, NULL},
        {"unexpected eof", speaks, NULL},
        {"wrong version number", ": the server does not speak TLS at this port", NULL},
        {"key values mismatch", ": tls_key is not the key of tls_cert", NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!strstr(message, known[i].words)) continue;
        if (known[i].certified && tls && tls->cert) return known[i].certified;
        return known[i].advice ? known[i].advice : unsigned_advice(tls);
    }
    return "";
}

void lb_facts_encryption(struct lb_facts *facts, const struct lb_tls *tls, const char *protocol) {
    static const char *const verified[] = {[LB_TLS_FULL] = "host name and authority",
                                           [LB_TLS_CA] = "authority",
                                           [LB_TLS_NONE] = "nothing"};
    bool encrypted = protocol && *protocol;
    lb_fact(facts, "tls", "%s", encrypted ? protocol : "no");
    if (!encrypted) return;
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
