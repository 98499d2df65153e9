/* list: see list.h. The JSON is in list_json.c. */
#include "bench/cli/list.h"

#include <string.h>

#include "bench/cli/list_about.h"
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

struct bit {
    unsigned bit;
    const char *name;
};

static char *bits_text(const struct bit *bits, size_t count, unsigned set, char *text,
                       size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        if (!(set & bits[i].bit)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", bits[i].name);
    }
    return text;
}

char *list_caps(unsigned caps, char *text, size_t size) {
    static const struct bit bits[] = {
        {LB_CAP_TRY, "try"},           {LB_CAP_WAIT, "wait"},
        {LB_CAP_LEASE, "lease"},       {LB_CAP_RENEW, "renew"},
        {LB_CAP_FENCE, "fence"},       {LB_CAP_FAIR, "fair"},
        {LB_CAP_SESSION, "session"},   {LB_CAP_BLOCKS_THREAD, "blocks-thread"},
        {LB_CAP_SHARED, "shared"},     {LB_CAP_REENTRANT, "reentrant"},
        {LB_CAP_MULTI, "multi"},       {LB_CAP_PERMITS, "permits"},
        {LB_CAP_SLOTS, "slots"},       {LB_CAP_SHARE, "share"},
        {LB_CAP_SPINS, "spins"},       {LB_CAP_CONTROL, "control"},
        {LB_CAP_BASELINE, "baseline"},
    };
    return bits_text(bits, sizeof bits / sizeof *bits, caps, text, size);
}

char *list_claims(unsigned claims, char *text, size_t size) {
    static const struct bit bits[] = {
        {LB_CLAIM_EXCLUDES, "excludes"},
        {LB_CLAIM_SAFE_PAUSE, "safe-pause"},
        {LB_CLAIM_SAFE_FAILOVER, "safe-failover"},
        {LB_CLAIM_CRASH_RELEASE, "crash-release"},
    };
    return bits_text(bits, sizeof bits / sizeof *bits, claims, text, size);
}

static const char *why_not(struct list *list, const struct lb_backend *backend,
                           const char **ret_install) {
    return available_why_not(&list->available, backend, NULL, NULL, ret_install);
}

/* A line of a table, cut to the terminal; characters beyond ASCII are not counted twice. */
static void print_cut(const char *line, int columns, FILE *out) {
    int shown = 0;
    const char *at = line;
    for (; *at && (columns <= 0 || shown < columns); at++) {
        fputc(*at, out);
        bool more = ((unsigned char)at[1] & 0xc0) == 0x80;
        if (!more) shown++;
    }
    fputc('\n', out);
}

static int longer(int width, const char *name) {
    int len = (int)strlen(name);
    return len > width ? len : width;
}

static void table_locks(struct list *list, int columns, FILE *out) {
    int name = 4, backend = 7;
    char line[512];
    for (int i = 0; registry_locks()[i]; i++) {
        name = longer(name, registry_locks()[i]->name);
        backend = longer(backend, registry_locks()[i]->backend->name);
    }
    snprintf(line, sizeof line, "%-*s  %-*s  %-9s  here  summary", name, "lock", backend, "backend",
             "primitive");
    print_cut(line, columns, out);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        const char *install;
        snprintf(line, sizeof line, "%-*s  %-*s  %-9s  %-4s  %s", name, lock->name, backend,
                 lock->backend->name, lb_primitive_name(lock->primitive),
                 available_lock(&list->available, lock, &install) ? "no" : "yes", lock->summary);
        print_cut(line, columns, out);
    }
}

static void table_backends(struct list *list, int columns, FILE *out) {
    int name = 7;
    char line[512];
    for (int i = 0; registry_backends()[i]; i++) name = longer(name, registry_backends()[i]->name);
    snprintf(line, sizeof line, "%-*s  here  summary", name, "backend");
    print_cut(line, columns, out);
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        const char *install, *reason = why_not(list, backend, &install);
        snprintf(line, sizeof line, "%-*s  %-4s  %s", name, backend->name, reason ? "no" : "yes",
                 backend->summary);
        print_cut(line, columns, out);
        /* Never cut: it says what to do. */
        if (reason) {
            fprintf(out, "%*s        %s%s%s\n", name, "", reason, install ? "; install: " : "",
                    install ? install : "");
        }
    }
}

static void table_workloads(struct list *list, int columns, FILE *out) {
    int name = 8;
    char line[512];
    for (int i = 0; i < list->workloads.count; i++)
        name = longer(name, list->workloads.item[i].name);
    snprintf(line, sizeof line, "%-*s  question", name, "workload");
    print_cut(line, columns, out);
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        snprintf(line, sizeof line, "%-*s  %s", name, file->name,
                 file->wrong ? file->wrong : file->summary);
        print_cut(line, columns, out);
    }
}

void list_tables(struct list *list, int columns, FILE *out) {
    table_locks(list, columns, out);
    fputc('\n', out);
    table_backends(list, columns, out);
    fputc('\n', out);
    table_workloads(list, columns, out);
    fprintf(out,
            "\n`lockbench list NAME` tells all about one; `lockbench list --keys` the keys of a "
            "workload file.\n");
}

static void fact(const char *name, const char *value, FILE *out) {
    if (value && *value) fprintf(out, "  %-11s %s\n", name, value);
}

static void details_options(const char *section, const struct lb_option *table, FILE *out) {
    if (table && table->name)
        fprintf(out, "  options     (in a workload: [%s] KEY = VALUE; or --set %s.KEY=VALUE)\n",
                section, section);
    for (const struct lb_option *option = table; option && option->name; option++) {
        char allowed[256];
        fprintf(out, "    %-18s %s\n    %-18s default %s; %s\n", option->name, option->help, "",
                option->def && *option->def ? option->def : "empty",
                option_allowed(option, allowed, sizeof allowed));
    }
}

static void details_here(const char *reason, const char *install, FILE *out) {
    fact("here", reason ? reason : "yes", out);
    if (reason) fact("install", install, out);
}

/* Each topology that a lock can run on, the default first, and what this machine lacks for it. */
static void details_topologies(struct list *list, const struct lb_lock *lock, FILE *out) {
    const char *const *names = lb_topologies(lock), *label = "runs on";
    for (; names && *names; names++, label = "") {
        const struct topo_info *info = available_info(&list->available, *names);
        const char *install,
            *reason = available_why_not(&list->available, lock->backend, *names, NULL, &install);
        fprintf(out, "  %-11s %s: %s%s%s%s%s\n", label, *names, info ? info->summary : reason,
                info && reason ? "; not here: " : "", info && reason ? reason : "",
                reason && install ? "; install: " : "", reason && install ? install : "");
    }
}

static void details_lock(struct list *list, const struct lb_lock *lock, FILE *out) {
    char words[256];
    const char *install, *reason = available_lock(&list->available, lock, &install);
    fprintf(out, "lock %s: %s\n", lock->name, lock->summary);
    fact("backend", lock->backend->name, out);
    if (lb_unavailable(lock->backend)) { /* no more is known of it here */
        details_here(reason, install, out);
        return;
    }
    fact("primitive", lb_primitive_name(lock->primitive), out);
    details_here(reason, install, out);
    fact("can", list_caps(lock->caps, words, sizeof words), out);
    fact("claims", *list_claims(lock->claims, words, sizeof words) ? words : "nothing", out);
    fact("waits by", lock->waits, out);
    about_print(lock, out);
    fact("durability", lock->durability_note, out);
    details_topologies(list, lock, out);
    details_options(lock->name, lock->algorithm->options, out);
    about_print_expected(lock, out);
}

/* The topologies that the backend's locks can run on, its default left out. */
static void details_more_topologies(struct list *list, const struct lb_backend *backend,
                                    FILE *out) {
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
            fprintf(out, "  %-11s %s%s%s\n", label, *names, info ? ": " : "",
                    info ? info->summary : "");
            label = "";
        }
    }
}

static void details_backend(struct list *list, const struct lb_backend *backend, FILE *out) {
    static const char *const names[TOPO_DURABILITIES] = {"default", "none", "sync"};
    const char *install, *reason = why_not(list, backend, &install);
    fprintf(out, "backend %s: %s\n", backend->name, backend->summary);
    details_here(reason, install, out);
    fprintf(out, "  locks      ");
    const char *comma = "";
    for (int i = 0; registry_locks()[i]; i++) {
        if (registry_locks()[i]->backend != backend) continue;
        fprintf(out, "%s %s", comma, registry_locks()[i]->name);
        comma = ",";
    }
    fputc('\n', out);
    for (int i = 0; backend->schemes && backend->schemes[i]; i++) {
        fprintf(out, "  %-11s --url %s=%s://...\n", i ? "" : "use yours", backend->name,
                backend->schemes[i]);
    }
    const struct topo_info *info =
        backend->topologies ? available_info(&list->available, backend->topologies[0]) : NULL;
    if (!backend->topologies) fact("server", "none: it lives in this program or in a file", out);
    if (info) fact("server", info->summary, out);
    details_more_topologies(list, backend, out);
    for (int i = 0; info && i < TOPO_DURABILITIES; i++) {
        bool offered = *info->durability[i].text != '\0';
        fprintf(out, "  %-11s %s: %s%s\n", i ? "" : "durability", names[i],
                offered ? "" : "not offered; ",
                offered ? info->durability[i].text : info->durability[i].refused);
    }
    details_options(backend->name, lb_backend_options(backend), out);
}

void list_details(struct list *list, FILE *out) {
    for (int i = 0; registry_locks()[i]; i++) {
        if (list_wants_lock(list, registry_locks()[i]))
            details_lock(list, registry_locks()[i], out);
    }
    for (int i = 0; registry_backends()[i]; i++) {
        if (list_wants_backend(list, registry_backends()[i]))
            details_backend(list, registry_backends()[i], out);
    }
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        if (!list_wants_workload(list, file)) continue;
        fprintf(out, "workload %s: %s\n", file->name, file->wrong ? file->wrong : file->summary);
        fact("file", file->path, out);
        fprintf(out, "  `lockbench run %s --dry-run` prints it with every default filled.\n",
                file->name);
    }
}

void list_keys(FILE *out) {
    for (const struct section *section = sections(); section->name; section++) {
        fprintf(out, "%s[%s]\n", section == sections() ? "" : "\n", section->name);
        for (const struct lb_option *key = section->keys; key->name; key++) {
            char allowed[256];
            fprintf(out, "  %-11s %s\n  %-11s ", key->name, key->help, "");
            if (key->def && *key->def) fprintf(out, "default %s; ", key->def);
            fprintf(out, "%s\n", option_allowed(key, allowed, sizeof allowed));
        }
    }
    fprintf(
        out,
        "\n[LOCK] and [BACKEND] sections hold their own options: `lockbench list NAME` shows them.\n"
        "Each key can be set on the command line: --set load.clients=1,2,4\n");
}
