/* list: see list.h. */
#include "bench/cli/list.h"

#include <string.h>

#include "bench/workload/sections.h"
#include "drivers/registry.h"

bool list_wants_lock(const struct list *list, const struct lb_lock *lock) {
    return !list->only || strcmp(list->only, lock->name) == 0;
}

bool list_wants_backend(const struct list *list, const struct lb_backend *backend) {
    return !list->only || strcmp(list->only, backend->name) == 0;
}

bool list_wants_workload(const struct list *list, const struct workload_file *file) {
    return !list->only || strcmp(list->only, file->name) == 0;
}

/* Writes the capability bits in words, "try, wait, lease", at most size bytes. Returns text. */
static char *list_caps(unsigned caps, char *text, size_t size) {
    static const struct {
        unsigned bit;
        const char *name;
    } bits[] = {
        {LB_CAP_TRY, "try"},           {LB_CAP_WAIT, "wait"},
        {LB_CAP_LEASE, "lease"},       {LB_CAP_RENEW, "renew"},
        {LB_CAP_FENCE, "fence"},       {LB_CAP_FAIR, "fair"},
        {LB_CAP_SESSION, "session"},   {LB_CAP_BLOCKS_THREAD, "blocks-thread"},
        {LB_CAP_SHARED, "shared"},     {LB_CAP_REENTRANT, "reentrant"},
        {LB_CAP_MULTI, "multi"},       {LB_CAP_PERMITS, "permits"},
        {LB_CAP_SLOTS, "slots"},       {LB_CAP_SHARE, "share"},
        {LB_CAP_SPINS, "spins"},       {LB_CAP_CONTROL, "control"},
        {LB_CAP_BASELINE, "baseline"}, {LB_CAP_ATOMIC, "atomic"},
    };
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof bits / sizeof *bits && used < size; i++) {
        if (!(caps & bits[i].bit)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", bits[i].name);
    }
    return text;
}

static char *list_claims(unsigned claims, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (unsigned claim = 1; claim < LB_CLAIMS_END && used < size; claim <<= 1) {
        if (!(claims & claim)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                 lb_claim_name(claim));
    }
    return text;
}

static const char *why_no_backend(struct list *list, const struct lb_backend *backend,
                                  const char **ret_install) {
    return available_why_not(&list->available, backend, NULL, NULL, ret_install);
}

/* A heading for the locks of a backend. If the backend can't run here, the heading says what to
 * do. */
static void add_backend_group(struct list *list, const struct lb_backend *backend,
                              struct doc *doc) {
    const char *install, *reason = why_no_backend(list, backend, &install);
    doc_group(doc, reason ? TONE_WARN : TONE_PLAIN, "%s: %s", backend->name, backend->summary);
    if (reason) doc_span(doc, DOC_DETAIL, "not here: %s", reason);
    if (reason && install) doc_span(doc, DOC_DETAIL, "install: %s", install);
}

static void add_lock_table(struct list *list, struct doc *doc) {
    static const struct doc_column columns[] = {{.title = "lock"},
                                                {.title = "primitive"},
                                                {.title = "here"},
                                                {.title = "summary", .words = true},
                                                {0}};
    const char *install;
    const struct lb_backend *last = NULL;
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        bool here = !available_lock(&list->available, lock, &install);
        if (lock->backend != last) add_backend_group(list, lock->backend, doc);
        last = lock->backend;
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", lock->name);
        doc_cell(doc, "%s", lb_primitive_name(lock->primitive));
        doc_cell(doc, "%s", here ? "yes" : "no");
        doc_cell(doc, "%s", lock->summary);
    }
    doc_end(doc);
}

static void add_workload_table(const struct list *list, struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "workload"}, {.title = "question", .words = true}, {0}};
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", file->name);
        doc_cell(doc, "%s", file->wrong ? file->wrong : file->summary);
    }
    doc_end(doc);
}

void list_tables(struct list *list, struct doc *doc) {
    add_lock_table(list, doc);
    add_workload_table(list, doc);
    doc_heading(doc,
                "`lockbench list NAME` tells all about one; `lockbench list --keys` the keys of "
                "a workload file.");
}

static void add_term(struct doc *doc, const char *name, const char *value) {
    if (value && *value) doc_term(doc, name, "%s", value);
}

/* Adds the options of a table, with their help, defaults and allowed values. */
static void add_table(const struct lb_option *table, struct doc *doc) {
    doc_terms(doc);
    for (const struct lb_option *option = table; option->name; option++) {
        char allowed[256];
        doc_term(doc, option->name, "%s; default %s; %s", option->help,
                 option->def && *option->def ? option->def : "empty",
                 option_allowed(option, allowed, sizeof allowed));
    }
    doc_end(doc);
}

static void add_options(struct doc *doc, const char *section, const struct lb_option *table) {
    if (!table || !table->name) return;
    doc_heading(doc, "options (in a workload: [%s] KEY = VALUE; or --set %s.KEY=VALUE)", section,
                section);
    add_table(table, doc);
}

static void add_here(struct doc *doc, const char *reason, const char *install) {
    add_term(doc, "here", reason ? reason : "yes");
    if (reason) add_term(doc, "install", install);
}

/* Each topology that a lock can run on, the default first, and what this machine lacks for it. */
static void add_lock_topologies(struct list *list, const struct lb_lock *lock, struct doc *doc) {
    const char *const *names = lb_topologies(lock), *label = "runs on";
    for (; names && *names; names++, label = "") {
        const struct topo_info *info = available_info(&list->available, *names);
        const char *install,
            *reason = available_why_not(&list->available, lock->backend, *names, NULL, &install);
        doc_term(doc, label, "%s: %s", *names, info ? info->summary : reason);
        if (info && reason) doc_span(doc, DOC_PLAIN, "; not here: %s", reason);
        if (reason && install) doc_span(doc, DOC_PLAIN, "; install: %s", install);
    }
}

static void add_listed_lock(struct list *list, const struct lb_lock *lock, struct doc *doc) {
    char words[256];
    const char *install, *reason = available_lock(&list->available, lock, &install);
    doc_heading(doc, "lock %s: %s", lock->name, lock->summary);
    doc_terms(doc);
    add_term(doc, "backend", lock->backend->name);
    add_here(doc, reason, install);
    if (!lb_unavailable(lock->backend)) { /* no more is known of a lock that is not in this build */
        add_term(doc, "can", list_caps(lock->caps, words, sizeof words));
        add_term(doc, "claims",
                 *list_claims(lock->claims, words, sizeof words) ? words : "nothing");
        about_terms(lock, doc);
        add_term(doc, "durability", lock->durability_note);
        add_lock_topologies(list, lock, doc);
    }
    doc_end(doc);
    if (lb_unavailable(lock->backend)) return;
    add_options(doc, lock->name, lock->algorithm->options);
    about_causes(lock, doc);
    about_expected(lock, doc);
}

/* The topologies that the backend's locks can run on, its default left out. */
static void add_more_topologies(struct list *list, const struct lb_backend *backend,
                                struct doc *doc) {
    const char *seen[64], *label = "or on";
    int count = 0;
    if (!backend->topologies) return;
    for (int i = 0; registry_locks()[i]; i++) {
        if (registry_locks()[i]->backend != backend) continue;
        const char *const *names = lb_topologies(registry_locks()[i]);
        for (; names && *names && count < 64; names++) {
            bool known = strcmp(*names, backend->topologies[0]) == 0;
            for (int s = 0; s < count; s++) known |= strcmp(seen[s], *names) == 0;
            if (known) continue;
            seen[count++] = *names;
            const struct topo_info *info = available_info(&list->available, *names);
            doc_term(doc, label, "%s%s%s", *names, info ? ": " : "", info ? info->summary : "");
            label = "";
        }
    }
}

static void add_durabilities(const struct topo_info *info, struct doc *doc) {
    for (int i = 0; i < TOPO_DURABILITIES; i++) {
        bool offered = *info->durability[i].text != '\0';
        doc_term(doc, i ? "" : "durability", "%s: %s%s", topo_durability_names[i],
                 offered ? "" : "not offered; ",
                 offered ? info->durability[i].text : info->durability[i].refused);
    }
}

static void add_backend_locks(const struct lb_backend *backend, struct doc *doc) {
    const char *comma = "";
    doc_term(doc, "locks", "%s", "");
    for (int i = 0; registry_locks()[i]; i++) {
        if (registry_locks()[i]->backend != backend) continue;
        doc_span(doc, DOC_PLAIN, "%s%s", comma, registry_locks()[i]->name);
        comma = ", ";
    }
}

static void add_backend(struct list *list, const struct lb_backend *backend, struct doc *doc) {
    const char *install, *reason = why_no_backend(list, backend, &install);
    const struct topo_info *info =
        backend->topologies ? available_info(&list->available, backend->topologies[0]) : NULL;
    doc_heading(doc, "backend %s: %s", backend->name, backend->summary);
    doc_terms(doc);
    add_here(doc, reason, install);
    add_backend_locks(backend, doc);
    for (int i = 0; backend->schemes && backend->schemes[i]; i++)
        doc_term(doc, i ? "" : "use yours", "--url %s=%s://...", backend->name,
                 backend->schemes[i]);
    if (!backend->topologies)
        add_term(doc, "server", "none: it lives in this program or in a file");
    if (info) add_term(doc, "server", info->summary);
    add_more_topologies(list, backend, doc);
    if (info) add_durabilities(info, doc);
    doc_end(doc);
    add_options(doc, backend->name, lb_backend_options(backend));
}

void list_details(struct list *list, struct doc *doc) {
    for (int i = 0; registry_locks()[i]; i++) {
        if (list_wants_lock(list, registry_locks()[i]))
            add_listed_lock(list, registry_locks()[i], doc);
    }
    for (int i = 0; registry_backends()[i]; i++) {
        if (list_wants_backend(list, registry_backends()[i]))
            add_backend(list, registry_backends()[i], doc);
    }
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        if (!list_wants_workload(list, file)) continue;
        doc_heading(doc, "workload %s: %s", file->name, file->wrong ? file->wrong : file->summary);
        doc_say(doc, TONE_PLAIN, "file: %s", file->path);
        doc_say(doc, TONE_PLAIN,
                "`lockbench run %s --dry-run` prints it with every default filled.", file->name);
    }
}

void list_keys(struct doc *doc) {
    for (const struct section *section = sections(); section->name; section++) {
        doc_heading(doc, "[%s]", section->name);
        add_table(section->keys, doc);
    }
    doc_heading(doc, "[LOCK] and [BACKEND] sections hold their own options: `lockbench list NAME` "
                     "shows them.");
    doc_say(doc, TONE_PLAIN, "Each key can be set on the command line: --set load.clients=1,2,4");
}

/* Makes ["try", "wait"] of "try, wait". */
static json_t *words_json(char *text) {
    json_t *array = json_array();
    for (char *word; (word = strsep(&text, ","));) {
        word += strspn(word, " ");
        if (*word) json_array_append_new(array, json_string(word));
    }
    return array;
}

static json_t *topologies_json(const char *const *names) {
    json_t *array = json_array();
    for (; names && *names; names++) json_array_append_new(array, json_string(*names));
    return array;
}

static json_t *listed_lock_json(struct list *list, const struct lb_lock *lock) {
    char caps[256], claims[256];
    const char *install, *reason = available_lock(&list->available, lock, &install);
    return json_pack(
        "{s:s, s:s, s:s, s:b, s:s?, s:s?, s:s, s:o, s:o, s:s?, s:s?, s:s?, s:o, s:o, s:o, s:o}",
        "name", lock->name, "backend", lock->backend->name, "primitive",
        lb_primitive_name(lock->primitive), "available", !reason, "reason", reason, "install",
        install, "summary", lock->summary, "caps",
        words_json(list_caps(lock->caps, caps, sizeof caps)), "claims",
        words_json(list_claims(lock->claims, claims, sizeof claims)), "waits", lock->waits,
        "durability_note", lock->durability_note, "keeps", lock->keeps, "topologies",
        topologies_json(lb_topologies(lock)), "about", about_json(lock), "expected",
        about_expected_json(lock), "options", options_table_json(lock->algorithm->options));
}

static json_t *backend_json(struct list *list, const struct lb_backend *backend) {
    const char *install,
        *reason = available_why_not(&list->available, backend, NULL, NULL, &install);
    json_t *schemes = json_array();
    for (int i = 0; backend->schemes && backend->schemes[i]; i++) {
        json_array_append_new(schemes, json_string(backend->schemes[i]));
    }
    /* `install`: the packages that are missing for the backend; `packages`: all packages that the backend needs. */
    return json_pack("{s:s, s:b, s:s?, s:s?, s:s?, s:s, s:s?, s:o, s:o}", "name", backend->name,
                     "available", !reason, "reason", reason, "install", install, "packages",
                     backend->install, "summary", backend->summary, "topology",
                     backend->topologies ? backend->topologies[0] : NULL, "schemes", schemes,
                     "options", options_table_json(lb_backend_options(backend)));
}

/* True if the backend is asked for, or one of its locks. */
static bool backend_is_wanted(const struct list *list, const struct lb_backend *backend) {
    if (list_wants_backend(list, backend)) return true;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lock->backend == backend && list_wants_lock(list, lock)) return true;
    }
    return false;
}

json_t *list_json(struct list *list) {
    json_t *locks = json_array(), *backends = json_array(), *workloads = json_array();
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (list_wants_lock(list, lock)) json_array_append_new(locks, listed_lock_json(list, lock));
    }
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        if (backend_is_wanted(list, backend))
            json_array_append_new(backends, backend_json(list, backend));
    }
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        if (!list_wants_workload(list, file)) continue;
        json_array_append_new(workloads, json_pack("{s:s, s:s, s:s}", "name", file->name, "summary",
                                                   file->summary, "file", file->path));
    }
    return json_pack("{s:o, s:o, s:o}", "locks", locks, "backends", backends, "workloads",
                     workloads);
}
