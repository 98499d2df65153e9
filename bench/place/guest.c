/* guest: see guest.h. */
#include "bench/place/guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/text.h"
#include "bench/engine/loop.h"
#include "bench/servers/janitor.h"
#include "drivers/key_names.h"
#include "drivers/registry.h"
#include "drivers/url.h"

#define OPEN_NS (10 * LB_S_NS) /* for a session */
#define COMMAND_MAX 600
#define NAMES_SPARE (COMMAND_MAX + 80) /* room that the names in a line leave */
#define LIST_MAX 4096                  /* of names of what keys share */
#define SAMPLE_KEY LB_MARK "XXXXXXXX-N"

/* ---- one visit ---- */

/* Through a session of a lock without functions, for which it prepares nothing. NULL with err. */
static struct place *open_place(const struct place_url *at, struct lb_cleaning *cleaning,
                                struct arena *arena, struct lb_err *err) {
    static const struct lb_algorithm nothing = {.session_bytes = 0};
    const struct lb_lock nobody = {
        .name = at->backend->name, .backend = at->backend, .algorithm = &nothing};
    struct plan_lock lock = {.lock = &nobody, .backend_options = at->options};
    if (lb_unavailable(at->backend)) {
        err_set(err, LB_EXIT_MACHINE, "%s: %s (install: %s)", at->backend->name,
                lb_unavailable(at->backend), at->backend->install);
        return NULL;
    }
    if (at->backend->program_speaks) {
        const struct lb_backend *own = registry_backend_of_url(at->url);
        err_set(err, LB_EXIT_USAGE,
                "%s: only the client program speaks to the server: name the server by its own "
                "backend, --url %s=URL",
                at->backend->name, own ? own->name : "BACKEND");
        return NULL;
    }
    if (!lock.backend_options)
        lock.backend_options = options_new(lb_backend_options(at->backend),
                                           at->backend->connector->options_bytes, arena, err);
    if (!lock.backend_options) return NULL;
    return place_open(&(struct place_ask){.lock = &lock, .url = at->url, .cleaning = cleaning},
                      err);
}

int guest_look(const struct place_url *at, char *text, size_t size, bool *ret_unfit,
               struct lb_err *err) {
    struct arena arena = {0};
    struct place *place = open_place(at, NULL, &arena, err);
    if (place) {
        const char *version = lb_facts_value(&place->facts, "version"),
                   *tls = lb_facts_value(&place->facts, "tls");
        *ret_unfit = *place->facts.unfit != '\0';
        snprintf(text, size, "%s%s%s; %s%s%s", place->facts.unfit, *ret_unfit ? "; " : "",
                 version ? version : "its version is not told", place->durability,
                 tls ? "; TLS: " : "", tls ? tls : "");
    }
    place_close(place);
    arena_done(&arena);
    return place ? 0 : -1;
}

int guest_clean(const struct place_url *at, struct lb_cleaning *cleaning, struct lb_err *err) {
    struct arena arena = {0};
    struct place *place = open_place(at, cleaning, &arena, err);
    place_close(place);
    arena_done(&arena);
    return place ? 0 : -1;
}

/* ---- what will be made ---- */

int guest_check_prefix(const struct plan *plan, const struct plan_lock *lock, struct lb_err *err) {
    const char *prefix = plan->key_prefix;
    static struct lb_names names; /* large for a stack */
    char key[PLAN_KEY_PREFIX_MAX + sizeof SAMPLE_KEY];
    snprintf(key, sizeof key, "%s" SAMPLE_KEY, prefix);
    if (!*prefix || !lb_names_of(lock->lock, lock->options, plan->leases_ns[0], key, &names))
        return 0;
    for (int i = 0; i < names.count; i++) {
        const char *name = names.item[i].text;
        if ((*name && name[strspn(name, "0123456789")] == '\0') ||
            strncmp(name, prefix, strlen(prefix)) == 0)
            continue;
        return err_set(
            err, LB_EXIT_USAGE,
            "%s: load.key_prefix = %s can't be kept: it makes the %s '%.200s'; leave the lock "
            "out, or give the account a database or a folder of its own in the URL",
            lock->lock->name, prefix, names.item[i].what, name);
    }
    return 0;
}

/* Adds a name to the line, unless it is there already. False when there is no room. */
static bool add_name(char line[GUEST_LINE_MAX], size_t from, const char *what, const char *name) {
    char text[LB_NAME_TEXT_MAX + 80];
    size_t used = strlen(line);
    snprintf(text, sizeof text, "%s %s", what, name);
    if (strstr(line + from, text)) return true;
    if (used + strlen(text) + NAMES_SPARE > GUEST_LINE_MAX) return false;
    stpcpy(stpcpy(line + used, used > from ? "; " : ""), text);
    return true;
}

/* Adds the names of one lock. False when there is no room. */
static bool add_lock(char line[GUEST_LINE_MAX], size_t from, const struct plan *plan,
                     const struct plan_lock *lock) {
    char made[PLAN_KEY_PREFIX_MAX + sizeof SAMPLE_KEY];
    snprintf(made, sizeof made, "%s" SAMPLE_KEY, plan->key_prefix);
    const char *key = plan->key_names.count > 0 ? plan->key_names.item[0] : made;
    static struct lb_names names; /* large for a stack */
    bool room = true;
    if (!lb_names_of(lock->lock, lock->options, plan->leases_ns[0], key, &names)) return true;
    for (int i = 0; i < names.count && room; i++)
        room = add_name(line, from, names.item[i].what, names.item[i].text);
    return room;
}

/* Adds " OPTION NAMEVALUE", quoted for a shell, if there is room. */
static void add_option(char text[COMMAND_MAX], const char *option, const char *name,
                       const char *value) {
    char word[700], *quoted = NULL;
    size_t size, used = strlen(text);
    snprintf(word, sizeof word, "%s%s", name, value);
    FILE *out = open_memstream(&quoted, &size);
    if (!out) return;
    fprintf(out, " %s ", option);
    shell_quote(out, word);
    if (fclose(out) == 0 && used + strlen(quoted) < COMMAND_MAX) stpcpy(text + used, quoted);
    free(quoted);
}

/* Writes the command that removes what runs of this plan leave there, or that only looks for it. Where clients are
 * programs, it names the server by its own backend. */
static const char *write_command(const struct place_url *at, const struct plan *plan, bool looks,
                                 char text[COMMAND_MAX]) {
    char word[300], renamed[400], shown[256];
    const char *url = at->word ? at->word : word;
    snprintf(word, sizeof word, "%s=%s", at->backend->name,
             url_public(at->url, shown, sizeof shown));
    const struct lb_backend *own =
        at->backend->program_speaks ? registry_backend_of_url(at->url) : NULL;
    if (own) {
        snprintf(renamed, sizeof renamed, "%s%s", own->name, strchr(url, '='));
        url = renamed;
    }
    snprintf(text, COMMAND_MAX, "lockbench clean%s", looks ? " --dry-run" : "");
    add_option(text, "--url", "", url);
    const struct lb_option *option = at->options ? lb_backend_options(at->backend) : NULL;
    for (; option && option->name; option++) { /* without these the server can't be reached */
        char value[300], name[100];
        if (!place_tls_is_set(option, at->options, value, sizeof value)) continue;
        snprintf(name, sizeof name, "%s.%s=", at->backend->name, option->name);
        add_option(text, "--set", name, value);
    }
    if (*plan->key_prefix) add_option(text, "--key-prefix", "", plan->key_prefix);
    for (int i = 0; i < plan->key_names.count; i++)
        add_option(text, "--key", "", plan->key_names.item[i]);
    return text;
}

void guest_foretell(const struct place_url *at, const struct plan *plan,
                    char line[GUEST_LINE_MAX]) {
    char url[256];
    bool room = true;
    snprintf(line, GUEST_LINE_MAX,
             "%s: will be made there: ", url_public(at->url, url, sizeof url));
    size_t from = strlen(line);
    for (int i = 0; i < plan->lock_count && room; i++) {
        if (plan->locks[i].lock->backend == at->backend)
            room = add_lock(line, from, plan, &plan->locks[i]);
    }
    size_t used = strlen(line);
    if (!room)
        snprintf(line + used, GUEST_LINE_MAX - used, "; … (`lockbench list LOCK --key KEY`)");
}

/* Says that something is left there, and the command that removes it. */
static void say_left(const struct place_url *at, const struct plan *plan, const char *what,
                     char line[GUEST_LINE_MAX]) {
    char url[256], command[COMMAND_MAX];
    snprintf(line, GUEST_LINE_MAX, "left on %s: %.400s; `%s` removes it",
             url_public(at->url, url, sizeof url), what, write_command(at, plan, false, command));
}

/* Says that it is not known whether something is left there, and the command that looks for it. */
static void say_unsure(const struct place_url *at, const struct plan *plan, const char *why,
                       char line[GUEST_LINE_MAX]) {
    char url[256], command[COMMAND_MAX];
    snprintf(line, GUEST_LINE_MAX,
             "could not ask %s whether keys are left there (%.400s); to look: `%s`",
             url_public(at->url, url, sizeof url), why, write_command(at, plan, true, command));
}

/* ---- a run's stay ---- */

struct guest {
    struct place_url at;
    const struct plan *plan;
    char before[LIST_MAX], left[LIST_MAX]; /* names, each with a line feed before and after it */
    char unsure[512];                      /* why it is not known what is left; "" = it is */
    bool kept;                             /* keys that the user named */
    char words[GUEST_LINE_MAX];            /* that the janitor would say */
};

static bool is_listed(const char *list, const char *name) {
    char line[600];
    snprintf(line, sizeof line, "\n%s\n", name);
    return strstr(list, line) != NULL;
}

static bool note_before(void *arg, const char *what, const char *name) {
    struct guest *guest = arg;
    (void)what;
    size_t used = strlen(guest->before);
    snprintf(guest->before + used, LIST_MAX - used, "%s%s\n", used ? "" : "\n", name);
    return false;
}

static bool is_own(void *arg, const char *what, const char *name) {
    const struct guest *guest = arg;
    (void)what;
    return !is_listed(guest->before, name);
}

static bool note_left(void *arg, const char *what, const char *name) {
    struct guest *guest = arg;
    size_t used = strlen(guest->left);
    if (!is_listed(guest->before, name))
        snprintf(guest->left + used, LIST_MAX - used, "%s%s %s", used ? ", " : "", what, name);
    return false;
}

static int ask_shared(struct guest *guest, enum lb_clean_scope scope,
                      bool (*found)(void *arg, const char *what, const char *name),
                      struct lb_err *err) {
    struct lb_cleaning cleaning = {.scope = scope, .found = found, .arg = guest};
    if (guest->at.backend->program_speaks) return 0; /* it shares nothing with other keys there */
    return guest_clean(&guest->at, &cleaning, err);
}

static struct guest *guest_of(const struct guests *guests, const struct lb_backend *backend) {
    for (int i = 0; i < guests->count; i++) {
        if (guests->item[i]->at.backend == backend) return guests->item[i];
    }
    return NULL;
}

static void tell_line(const struct guests *guests, const char *line) {
    if (guests->tell) guests->tell(guests->arg, line);
}

int guests_arrive(struct guests *guests, const struct place_url *at, const struct plan *plan,
                  struct lb_err *err) {
    char line[GUEST_LINE_MAX];
    if (guest_of(guests, at->backend) || guests->count == GUESTS_MAX) return 0;
    struct guest *guest = calloc(1, sizeof *guest);
    if (!guest) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *guest = (struct guest){.at = *at, .plan = plan};
    if (janitor_start(err) != 0 || ask_shared(guest, LB_CLEAN_SHARED, note_before, err) != 0) {
        free(guest);
        return -1;
    }
    guests->item[guests->count++] = guest;
    say_left(at, plan, "data that this run made, because the run was cut off", guest->words);
    janitor_words(JANITOR_ADD, guest->words);
    guest_foretell(at, plan, line);
    tell_line(guests, line);
    return 0;
}

static void note_unsure(struct guest *guest, const char *why) {
    if (!guest->unsure[0]) snprintf(guest->unsure, sizeof guest->unsure, "%s", why);
}

void guests_note(struct guests *guests, const struct lb_backend *backend, const char *unsure,
                 bool kept) {
    struct guest *guest = guest_of(guests, backend);
    if (!guest) return;
    if (unsure) note_unsure(guest, unsure);
    guest->kept |= kept;
}

static void tell_warning(const struct guests *guests, const char *line, json_t *warnings) {
    tell_line(guests, line);
    json_array_append_new(warnings, json_string(line));
}

static void leave_server(struct guests *guests, struct guest *guest, json_t *warnings) {
    char line[GUEST_LINE_MAX];
    struct lb_err err = {0};
    if (ask_shared(guest, LB_CLEAN_EMPTY, is_own, &err) != 0 ||
        ask_shared(guest, LB_CLEAN_SHARED, note_left, &err) != 0)
        note_unsure(guest, err.text);
    if (guest->kept) note_left(guest, "keys", "(you named them, so they were not removed)");
    if (guest->left[0]) {
        say_left(&guest->at, guest->plan, guest->left, line);
        tell_warning(guests, line, warnings);
    }
    if (guest->unsure[0]) {
        say_unsure(&guest->at, guest->plan, guest->unsure, line);
        tell_warning(guests, line, warnings);
    }
    janitor_words(JANITOR_DROP, guest->words);
    free(guest);
}

void guests_leave(struct guests *guests, json_t *warnings) {
    for (int i = 0; i < guests->count; i++) leave_server(guests, guests->item[i], warnings);
    guests->count = 0;
}
