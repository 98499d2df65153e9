/* story: see story.h. */
#define _GNU_SOURCE
#include "drivers/tests/story.h"

#include <ctype.h>
#include <regex.h>
#include <signal.h>

#include "bench/base/clock.h"
#include "bench/base/home.h"
#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"
#include "drivers/tests/story_verbs.h"

#define MOST 400
#define ANSWER_MAX STORY_ANSWER_MAX

struct line {
    const char *file;
    int number;
    char *text;
};

static struct line lines[4000];
static int line_count;

/* A case with one of its locks. */
static struct story {
    int head, head_end, begin, end;
    char with[200];
} stories[MOST];
static int story_count;

/* Servers, which stay for the cases that follow. */
static struct server {
    char *name; /* of the topology, and more that makes it another one */
    struct arena arena;
    struct place *place;
} servers[40];
#define SERVERS_MAX (sizeof servers / sizeof *servers)

/* The case that runs, and its line. */
static struct {
    const struct story *story;
    const struct line *line;
} now;

/* ---- texts ---- */

char *story_cut(char *text) {
    char *rest = text + strcspn(text, " ");
    if (*rest) *rest++ = '\0';
    return rest;
}

const char *story_expanded(const char *text) {
    static char texts[2][ANSWER_MAX];
    static int turn;
    char *out = texts[turn = !turn], *to = out, wall[24];
    snprintf(wall, sizeof wall, "%lld", (long long)(lb_wall_now() / LB_MS_NS));
    setenv("WALL", wall, 1);
    while (*text) {
        char name[40];
        int len = 0, braces = 0;
        if (sscanf(text, "${%39[A-Za-z_0-9]}%n", name, &len) == 1 && len > 0) braces = len;
        if (braces || sscanf(text, "$%39[A-Za-z_0-9]%n", name, &len) == 1) {
            const char *value = getenv(name);
            to += snprintf(to, ANSWER_MAX / 2, "%s", value ? value : "");
            text += len;
        } else {
            *to++ = *text++;
        }
        if (to - out > ANSWER_MAX / 2) break;
    }
    *to = '\0';
    return out;
}

/* "7+3-1"; false if it is no sum. */
static bool sum(const char *text, long long *ret) {
    char *end = NULL;
    *ret = 0;
    while (*text) {
        *ret += strtoll(text, &end, 10);
        if (end == text || (*end && *end != '+' && *end != '-')) return false;
        text = end;
    }
    return end != NULL;
}

/* Whether the text has a $NAME that is not in the environment. */
static bool lacks_name(const char *text) {
    char name[40];
    for (const char *at = text; (at = strchr(at, '$')); at++)
        if (sscanf(at, "${%39[A-Za-z_0-9]}", name) == 1 ||
            sscanf(at, "$%39[A-Za-z_0-9]", name) == 1)
            if (!getenv(name)) return true;
    return false;
}

static bool is_wanted(const char *answer, const char *wanted) {
    char low[100], high[100], *end;
    long long least, most, number = strtoll(answer, &end, 10);
    bool is_number = end != answer && !*end;
    size_t len = strlen(wanted);
    if (len > 1 && wanted[0] == '/' && wanted[len - 1] == '/') {
        regex_t regex;
        char *pattern = strndup(wanted + 1, len - 2);
        bool fits = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0 &&
                    regexec(&regex, answer, 0, NULL, 0) == 0;
        regfree(&regex);
        free(pattern);
        return fits;
    }
    if (lacks_name(wanted)) return false;
    wanted = story_expanded(wanted);
    if (strcmp(answer, wanted) == 0) return true;
    if (!is_number) return false;
    if (sscanf(wanted, "%99s to %99s", low, high) == 2 && sum(low, &least) && sum(high, &most))
        return number >= least && number <= most;
    if (wanted[0] == '>' && sum(wanted + 1, &least)) return number > least;
    return sum(wanted, &least) && number == least;
}

/* ---- lines ---- */

/* The definition "KIND WORD REST" of the head or the case; NULL if there is none. */
static const char *defined(const char *kind, const char *word) {
    const int parts[][2] = {{now.story->begin, now.story->end},
                            {now.story->head, now.story->head_end}};
    size_t kind_len = strlen(kind), word_len = strlen(word);
    for (int p = 0; p < 2; p++) {
        for (int i = parts[p][0]; i < parts[p][1]; i++) {
            const char *text = lines[i].text;
            if (strncmp(text, kind, kind_len) != 0 || text[kind_len] != ' ') continue;
            text += kind_len + 1;
            if (strncmp(text, word, word_len) == 0 && text[word_len] == ' ')
                return text + word_len + 1;
        }
    }
    return NULL;
}

static void act(char *text, char *answer);

/* "CLIENT acquire", "CLIENT holds LINE" */
static void act_for(const char *name, char *rest, char *answer) {
    char *more = story_cut(rest), line[ANSWER_MAX], released[ANSWER_MAX];
    if (strcmp(rest, "begin") == 0) more = (char *)(uintptr_t)story_expanded(more);
    int which = story_client(story_expanded(name));
    bool holds = strcmp(rest, "holds") == 0;
    if (trial_failed(scene.trial)) return;
    scene.stated |= holds;
    story_call(which, holds ? "acquire" : rest, more, answer);
    if (!holds) return;
    if (strcmp(answer, "ok") != 0) FAIL("it gets %s", answer);
    snprintf(line, sizeof line, "%s", more);
    act(line, answer);
    story_call(which, "release", more, released);
    if (strcmp(released, "ok") != 0) FAIL("its release gives %s", released);
}

/* Does what a line says, without its "-> ANSWER". */
static void act(char *text, char *answer) {
    char command[ANSWER_MAX], *rest = story_cut(text);
    const char *tool = defined("tool", text), *program = defined("program", text);
    if (strcmp(text, "sh") == 0) {
        story_shell(rest, answer);
    } else if (tool) {
        snprintf(command, sizeof command, "%s %s", tool, rest);
        story_shell(command, answer);
    } else if (program) {
        story_program(program, rest, answer);
    } else if (!story_word(text, rest, answer)) {
        act_for(text, rest, answer);
    }
}

static bool is_setting(const char *text) {
    static const char *const words[] = {"with ", "needs ", "tool ", "program ", "before "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0) return true;
    return false;
}

static void follow(const struct line *line) {
    char answer[ANSWER_MAX] = "", text[ANSWER_MAX], *wanted, *name;
    bool soon = strncmp(line->text, "soon ", 5) == 0, fits;
    int64_t began_ns = lb_now(), until_ns = soon ? story_long_soon() : 0;
    if (is_setting(line->text)) return;
    now.line = line;
    do {
        snprintf(text, sizeof text, "%s", line->text + (soon ? 5 : 0));
        size_t len = strlen(text);
        if (len > 3 && strcmp(text + len - 3, " ->") == 0) strcat(text, " "); /* no answer */
        wanted = strstr(text, " -> ");
        name = strstr(text, " => ");
        if (wanted) {
            *wanted = '\0';
            wanted += 4;
        } else if (name) {
            *name = '\0';
            name += 4;
        }
        scene.stated = wanted || name;
        act(text, answer);
        if (!wanted && name) setenv(name, answer, 1);
        fits = !wanted || is_wanted(answer, wanted);
        /* The less often the longer it takes: the shell may be asked. */
        if (!fits && soon) trial_sleep_until(lb_now() + LB_MS_NS + (lb_now() - began_ns) / 8);
    } while (!fits && lb_now() < until_ns && !trial_failed(scene.trial));
    if (!fits) FAIL("'%s', not '%s'", answer, story_expanded(wanted));
}

static void script(struct trial *trial) {
    scene.trial = trial;
    scene.actor_count = scene.key_count = 0;
    story_key("K", "");
    const struct story *story = now.story;
    for (int i = story->head; i < story->head_end && !trial_failed(trial); i++) follow(&lines[i]);
    for (int i = story->begin; i < story->end && !trial_failed(trial); i++) follow(&lines[i]);
}

/* ---- cases ---- */

static void check_needs(int from, int to) {
    for (int i = from; i < to; i++) {
        char command[1000];
        if (sscanf(lines[i].text, "needs %999[^|]", command) != 1) continue;
        const char *package = strchr(lines[i].text, '|');
        if (!package) fail_msg("no package behind: %s", lines[i].text);
        if (system(command) != 0) skip_for("missing: install%s", package + 1);
    }
}

static void run_before(int from, int to) {
    char answer[ANSWER_MAX];
    for (int i = from; i < to; i++)
        if (strncmp(lines[i].text, "before ", 7) == 0) story_shell(lines[i].text + 7, answer);
}

/* What shells need: the ports and the passwords of the servers, or the folder of what has none. */
static void tell_shells(const struct place *place) {
    char ports[200] = "", port[12], name[16];
    if (place->dir[0]) setenv("PLACE", place->dir, 1);
    if (!place->topo) return;
    topo_login(place->topo);
    for (int i = 0; i < topo_about(place->topo)->nodes; i++) {
        size_t used = strlen(ports);
        snprintf(port, sizeof port, "%d", topo_port(place->topo, i, 0));
        snprintf(ports + used, sizeof ports - used, "%s%s", used ? " " : "", port);
        snprintf(name, sizeof name, "PORT%d", i);
        setenv(name, port, 1);
        if (i == 0) setenv("PORT", port, 1);
        if (topo_about(place->topo)->ports < 2) continue;
        snprintf(port, sizeof port, "%d", topo_port(place->topo, i, 1));
        snprintf(name, sizeof name, "PEERS%d", i);
        setenv(name, port, 1);
    }
    setenv("PORTS", ports, 1);
    setenv("SECRET", topo_about(place->topo)->secret, 1);
    setenv("URL", place->urls[0], 1);
    if (topo_ca(place->topo)) setenv("CA", topo_ca(place->topo), 1);
}

/* "LOCK [on TOPOLOGY] [tls] [NAME=VALUE]" */
struct with {
    char text[200];
    const struct lb_lock *lock;
    const char *topology; /* NULL = the lock's first */
    bool tls;
    const char *sets[8];
};

static void read_with(const char *text, struct with *with) {
    char *word, *rest = NULL;
    int set_count = 0;
    *with = (struct with){0};
    snprintf(with->text, sizeof with->text, "%s", text);
    with->lock = registry_lock(strtok_r(with->text, " ", &rest));
    assert_non_null(with->lock);
    while ((word = strtok_r(NULL, " ", &rest))) {
        char *value = strchr(word, '=');
        if (strcmp(word, "on") == 0) {
            with->topology = strtok_r(NULL, " ", &rest);
        } else if (strcmp(word, "tls") == 0) {
            with->tls = true;
        } else if (islower(*word)) {
            with->sets[set_count++] = word;
        } else {
            assert_non_null(value);
            *value++ = '\0';
            setenv(word, value, 1);
        }
    }
}

/* As conform_open, and perhaps with TLS. */
static struct place *open_place(const struct with *with, const struct plan_lock *planned,
                                struct lb_err *err) {
    static const volatile sig_atomic_t no_interrupts;
    static char topologies[512];
    if (!with->tls) return conform_open(planned, with->topology, err);
    if (home_path("compose/local", topologies, sizeof topologies, err) != 0) return NULL;
    return place_open(&(struct place_ask){.lock = planned,
                                          .topology = with->topology,
                                          .topologies = topologies,
                                          .durability = "default",
                                          .tls = true,
                                          .interrupts = &no_interrupts},
                      err);
}

static struct server *find_server(const char *name) {
    for (size_t i = 0; i < SERVERS_MAX; i++)
        if (servers[i].name && strcmp(servers[i].name, name) == 0) return &servers[i];
    return NULL;
}

static struct server *add_server(const char *name) {
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        if (servers[i].name) continue;
        servers[i].name = strdup(name);
        return &servers[i];
    }
    fail_msg("more than %zu servers in a story", SERVERS_MAX);
    return NULL;
}

static void end_started(void) {
    story_end_programs();
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        place_close(servers[i].place);
        arena_done(&servers[i].arena);
        free(servers[i].name);
        servers[i] = (struct server){0};
    }
}

/* The case's servers, which may run already. Takes the arena of the options that it keeps. */
static struct server *server_of(const struct with *with, const struct plan_lock *planned,
                                struct arena *arena) {
    char name[250];
    struct lb_err err = {0};
    if (!with->lock->backend->topologies)
        snprintf(name, sizeof name, "%s", now.story->with);
    else
        snprintf(name, sizeof name, "%s %s%s %s", with->lock->backend->name,
                 with->topology ? with->topology : lb_topologies(with->lock)[0],
                 with->tls ? " tls" : "", with->sets[0] ? with->sets[0] : "");
    struct server *server = find_server(name);
    if (server) return server;
    struct place *place = open_place(with, planned, &err);
    if (!place) fail_msg("%s", err.text);
    server = add_server(name);
    server->place = place;
    server->arena = *arena;
    *arena = (struct arena){0};
    return server;
}

static bool has_wire(const struct story *story) {
    for (int i = story->begin; i < story->end; i++)
        if (strncmp(lines[i].text, "wire ", 5) == 0) return true;
    return false;
}

static void play(void **state) {
    const struct story *story = now.story = *state;
    char why[400];
    struct lb_err err = {0};
    struct arena arena = {0};
    struct plan_lock planned;
    struct with with;
    read_with(story->with, &with);
    check_needs(story->head, story->head_end);
    check_needs(story->begin, story->end);
    if (conform_lacks(with.lock, with.topology, why, sizeof why)) skip_for("%s", why);
    if (conform_lock(with.lock, with.sets, &arena, &planned, &err) != 0) fail_msg("%s", err.text);
    struct server *server = server_of(&with, &planned, &arena);
    tell_shells(server->place);
    run_before(story->head, story->head_end);
    run_before(story->begin, story->end);
    struct trial trial = {.lock = &planned, .place = server->place};
    if (has_wire(story) &&
        !(trial.far = conform_open_url(&planned, server->place->urls[0], true, &err)))
        fail_msg("%s", err.text);
    trial_run(&trial, script);
    place_close(trial.far);
    arena_done(&arena);
    if (!trial.failure[0]) return;
    end_started(); /* what a failed case has changed, the next one would meet */
    fail_msg("%s:%d: %s\n%s", now.line->file, now.line->number, now.line->text, trial.failure);
}

FIXTURE(end_all) {
    end_started();
    return system("rm -rf \"$DIR\"");
}

static void add_cases(const char *title, struct story part) {
    const int parts[][2] = {{part.begin, part.end}, {part.head, part.head_end}};
    int found = 0;
    for (int p = 0; p < 2 && !found; p++) {
        for (int i = parts[p][0]; i < parts[p][1]; i++) {
            if (strncmp(lines[i].text, "with ", 5) != 0) continue;
            char *name = NULL;
            struct story *story = &stories[story_count++];
            *story = part;
            snprintf(story->with, sizeof story->with, "%s", lines[i].text + 5);
            if (asprintf(&name, "%s (%s)", title, story->with) < 0) abort();
            unit_tests[unit_test_count++] = (struct CMUnitTest){name, play, NULL, NULL, story};
            found++;
        }
    }
    bool steps = false;
    for (int i = part.begin; i < part.end; i++) steps |= !is_setting(lines[i].text);
    if (found > 0 && steps) return;
    fprintf(stderr, "'%s' is with no lock, or has no step\n", title);
    exit(1);
}

static void load(const char *name) {
    char path[200], *text = NULL, *title = NULL;
    size_t size = 0;
    struct story part = {.head = line_count, .head_end = -1};
    snprintf(path, sizeof path, "drivers/tests/stories/%s.story", name);
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s is missing\n", path);
        exit(1);
    }
    for (int number = 1; getline(&text, &size, file) > 0; number++) {
        text[strcspn(text, "\n")] = '\0';
        if (!*text || *text == '#') continue;
        if (strncmp(text, "== ", 3) == 0) {
            part.end = line_count;
            if (title) add_cases(title, part);
            if (!title) part.head_end = line_count;
            free(title);
            title = strdup(text + 3);
            part.begin = line_count;
            continue;
        }
        lines[line_count++] = (struct line){strdup(path), number, strdup(text)};
    }
    part.end = line_count;
    add_cases(title ? title : path, part);
    free(title);
    free(text);
    fclose(file);
}

FIXTURE(make_folder) {
    static char folder[300];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/lockbench-story-XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) && setenv("DIR", folder, 1) == 0 ? 0 : -1;
}

int story_main(const char *names) {
    char *all = strdup(names), *rest = NULL;
    signal(SIGPIPE, SIG_IGN); /* of programs' pipes */
    for (char *name = strtok_r(all, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        load(name);
    free(all);
    return run_all_tests(make_folder, end_all);
}
