/* list_page: every lock as a block of Markdown; drivers/LOCKS.md has the output. The page does not
 * depend on the machine. */
#include <string.h>

#include "bench/cli/list_about.h"
#include "drivers/registry.h"

#define PAGE_COLUMNS 118

/* Writes text word by word after `column` columns; further lines are indented by two. */
static void write_wrapped(const char *text, size_t column, FILE *out) {
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column + 1 + length > PAGE_COLUMNS) {
            fputs("\n ", out);
            column = 1;
        }
        fprintf(out, " %.*s", (int)length, text);
        column += 1 + length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void write_item(const char *name, const char *text, FILE *out) {
    if (!text || !*text) return;
    write_wrapped(text, (size_t)fprintf(out, "- %s:", name), out);
}

/* The scenarios in which a lock may show this verdict at worst. */
static void write_scenarios(const struct lb_lock *lock, enum lb_expect worst, FILE *out) {
    char name[40], text[1024] = "";
    size_t length = 0;
    for (int i = 0; i < LB_SCENARIOS; i++) {
        if (lb_expected(lock, (enum lb_scenario)i)->worst != worst) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "",
                                   lb_scenario_name((enum lb_scenario)i));
    }
    snprintf(name, sizeof name, "%s at worst in", lb_expect_name(worst));
    write_item(name, text, out);
}

static void write_lock(const struct lb_lock *lock, FILE *out) {
    char text[1024];
    fprintf(out, "\n### %s\n", lock->name);
    write_item("algorithm", lock->summary, out);
    for (const struct about_fact *fact = about_facts; fact->name; fact++)
        write_item(fact->name, fact->text(lock, text, sizeof text), out);
    write_item("key `k` on the server", about_key_text(lock, "k", text, sizeof text), out);
    for (int worst = LB_EXPECT_SAFE; worst <= LB_EXPECT_VIOLATED; worst++)
        write_scenarios(lock, (enum lb_expect)worst, out);
}

void about_page(FILE *out) {
    const struct lb_backend *last = NULL;
    bool controls = false;
    fputs(
        "# The locks\n\n"
        "Written by `make table` from the tables of the drivers; do not edit. `lockbench list NAME` "
        "tells more: options,\nclaims, servers, packages, and the reason for each verdict below.\n\n"
        "- requests: for acquire + release of an uncontended key, as the conformance suite counts "
        "them.\n"
        "- safe, expired, stuck, violated: the worst that a lock may show in the scenarios of "
        "`lockbench check`\n  ([what they mean](../bench/CHECK.md)). Scenarios that are not named are "
        "not stated, and are not run.\n",
        out);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if ((lock->caps & LB_CAP_CONTROL) && !controls) {
            fputs("\n## Controls: broken on purpose, so that the checks are seen to catch them\n",
                  out);
            controls = true;
        } else if (!controls && lock->backend != last) {
            fprintf(out, "\n## %s: %s\n", lock->backend->name, lock->backend->summary);
        }
        last = lock->backend;
        write_lock(lock, out);
    }
}
