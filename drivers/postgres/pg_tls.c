/* pg_tls: encryption as libpq takes it. If neither the URL nor an option asks for TLS, libpq's own
 * rule holds (sslmode=prefer: TLS if the server has it, with no verification), and the facts say
 * so. If one of them asks for TLS, there is no connection without it. */
#include "drivers/postgres/pg_impl.h"

#include "drivers/facts.h"

static const char *const modes[] = {
    [LB_TLS_FULL] = "verify-full", [LB_TLS_CA] = "verify-ca", [LB_TLS_NONE] = "require"};

/* Adds a keyword, or refuses it where the URL says something else. A NULL value adds nothing. */
static int add_option(struct pg_conninfo *info, const char *keyword, const char *value,
                      const char *option, struct lb_err *err) {
    const char *said = pg_conninfo_value(info, keyword);
    if (!value) return 0;
    if (said && strcmp(said, value) != 0)
        return err_set(
            err, LB_EXIT_USAGE,
            "postgres: the URL says %s=%s, but postgres.%s asks for %s=%s: leave one of them out",
            keyword, said, option, keyword, value);
    if (!said) pg_conninfo_add(info, keyword, value);
    return 0;
}

int pg_conninfo_tls(struct pg_conninfo *info, const struct lb_tls *options, const char *server_ca,
                    struct lb_err *err) {
    struct lb_tls tls = lb_tls_of(options, server_ca);
    bool is_set = lb_tls_is_set(options);
    if (lb_tls_check(options, true, "postgres", "sslmode=verify-full", err) != 0) return -1;
    if (is_set && add_option(info, "sslmode", modes[tls.verify], "tls_verify", err) != 0) return -1;
    if (server_ca && !is_set && pg_conninfo_value(info, "sslrootcert")) tls.ca = NULL;
    /* With a root certificate libpq verifies also where it was asked not to. */
    if (tls.verify == LB_TLS_NONE) tls.ca = NULL;
    if (add_option(info, "sslrootcert", tls.ca, "tls_ca", err) != 0) return -1;
    if (add_option(info, "sslcert", tls.cert, "tls_cert", err) != 0) return -1;
    return add_option(info, "sslkey", lb_tls_key(&tls), "tls_key", err);
}

/* The value of a keyword in the whole configuration of a connection; NULL = none. */
static const char *value_in(const PQconninfoOption *list, const char *keyword) {
    for (; list && list->keyword; list++) {
        if (strcmp(list->keyword, keyword) == 0) return list->val && *list->val ? list->val : NULL;
    }
    return NULL;
}

/* libpq does not tell why it refuses a certificate. */
static const char *libpq_unverified(const struct lb_tls *tls) {
    static _Thread_local char text[420];
    snprintf(text, sizeof text,
             ": no authority in %.300s signed the server's certificate, or it has expired",
             tls->ca ? tls->ca : "~/.postgresql/root.crt");
    return text;
}

static const char *advice_for(const char *message, const struct lb_tls *tls) {
    static const struct {
        const char *words, *advice;
    } known[] = {
        {"requires a valid client certificate", ": set tls_cert to one that the server trusts"},
        {"no encryption", ": if the server asks for TLS, write ?sslmode=verify-full or set tls_ca"},
        {"does not support SSL", ": switch TLS on at the server"},
    };
    if (strstr(message, "certificate verify failed")) return libpq_unverified(tls);
    if (strstr(message, "root certificate file")) /* tells the name of the file that it lacks */
        return tls->ca ? "" : ": set tls_ca to the authority that signed the server's certificate";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(message, known[i].words)) return known[i].advice;
    }
    return lb_tls_advice(message, tls);
}

const char *pg_tls_advice(const char *message, PGconn *conn) {
    PQconninfoOption *list = PQconninfo(conn); /* with what came from service files and PGSSL... */
    struct lb_tls tls = {.ca = value_in(list, "sslrootcert"), .cert = value_in(list, "sslcert")};
    const char *advice = advice_for(message, &tls);
    PQconninfoFree(list);
    return advice;
}

void pg_tls_facts(PGconn *conn, struct lb_facts *facts) {
    PQconninfoOption *list = PQconninfo(conn);
    const char *mode = value_in(list, "sslmode");
    struct lb_tls tls = {.verify = LB_TLS_NONE, .cert = value_in(list, "sslcert")};
    if (mode && strcmp(mode, modes[LB_TLS_FULL]) == 0) tls.verify = LB_TLS_FULL;
    if (mode && strcmp(mode, modes[LB_TLS_CA]) == 0) tls.verify = LB_TLS_CA;
    bool encrypted = PQsslInUse(conn);
    lb_facts_encryption(facts, &tls, encrypted ? PQsslAttribute(conn, "protocol") : NULL,
                        encrypted ? PQsslAttribute(conn, "cipher") : NULL);
    PQconninfoFree(list);
}
