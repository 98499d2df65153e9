/* test_peer: what drivers say, and make of answers that no real server gives on demand: odd, cut, late or missing. The cases are
 * in drivers/tests/peers; lines before a file's first case begin each of its cases:
 *
 *     == a promise                  a case begins
 *     row A | B | C                 the case is played with {A}, {B} and {C}, once for each such line
 *     rows 1 65                     the same with the numbers from 1 to 65
 *     define NAME TEXT              {NAME} is TEXT; {PORT0} to {PORT3} are the peers'
 *     lock NAME; url URL; set NAME=VALUE
 *     with key=k lease=10s wait=1s hold=1s connect=1s cutoff=20ms keep renew settle settle_after setup
 *                                   the session acquires and, if it is granted, renews (renew), holds, releases (unless keep)
 *     peer N; alone                 what follows is the Nth peer's (0 at first); the peer's steps so far are gone
 *     < TEXT                        it waits for that
 *     > TEXT; $ TEXT                and answers that; $: as a bulk string of Redis, behind what it answers already
 *     piece N; bytes N; closes; resets; again STEPS TIMES
 *                                   the last answer is in pieces of N bytes, is cut after N, is the end; steps once more
 *     acquired OUTCOME; released, renewed, settled; commands N; token N; lasts 10s (the last lease, from before it was asked for)
 *     ends; over                    that lease does, or has
 *     refused TEXT                  there is no session, with this in the error
 *     error TEXT; lacks TEXT; exit N
 *     seen TEXT; unseen TEXT; count N TEXT
 *                                   the peer was sent that, behind what the last `seen` found; not at all; so often
 *
 * In a TEXT \r, \n, \\ and \xHH are as in C, \s is a blank, and \{6000 x} are 6,000 x. */
#define _GNU_SOURCE
#include <ctype.h>
#include <glob.h>

#include "drivers/registry.h"
#include "drivers/tests/fake_peer.h"
#include "drivers/tests/fake_session.h"

#define PEERS 4
#define STEPS_MAX 40
#define TEXT_MAX 20000
#define DEFINED_MAX 60

static struct line {
    const char *file;
    int number;
    char *text;
} lines[3000];
static int line_count;

/* A case: its lines, and those of its file's head. */
static struct peer_case { int head, head_end, begin, end; } cases[190];
static int case_count;

/* The case that runs. */
static struct {
    const struct line *line;
    const char *row;
    struct arena arena;
    char *names[DEFINED_MAX], *values[DEFINED_MAX];
    int defined, sets, peer;
    const char *set[6];
    struct peer_step steps[PEERS][STEPS_MAX];
    int step_count[PEERS];
    struct fake_peer *peers[PEERS];
    char *seen[PEERS];
    size_t found; /* behind what the last `seen` found */
    struct fake_session fake;
    bool played;
} now;

#define FAIL(format, ...)                                                                          \
    fail_msg("%s:%d: %s (%s): " format, now.line->file, now.line->number, now.line->text,          \
             now.row ? now.row : "", __VA_ARGS__)

/* ---- texts ---- */

static void define(const char *name, size_t len, const char *value) {
    if (now.defined == DEFINED_MAX) FAIL("more than %d names", DEFINED_MAX);
    char *copy = arena_alloc(&now.arena, len + 1);
    memcpy(copy, name, len);
    now.names[now.defined] = copy;
    now.values[now.defined++] = (char *)(uintptr_t)arena_text(&now.arena, value);
}

static const char *defined(const char *name) {
    for (int i = now.defined - 1; i >= 0; i--)
        if (strcmp(now.names[i], name) == 0) return now.values[i];
    FAIL("{%s} is not defined", name);
    return "";
}

/* The byte that an escape or a letter stands for. */
static char byte_of(const char **text) {
    unsigned value = 0;
    char c = *(*text)++;
    if (c != '\\') return c;
    c = *(*text)++;
    if (c != 'x') return c == 'r' ? '\r' : c == 'n' ? '\n' : c == 's' ? ' ' : c;
    sscanf(*text, "%2x", &value);
    *text += 2;
    return (char)value;
}

static size_t expand_into(char *out, const char *text) {
    size_t len = 0;
    while (*text && len < TEXT_MAX / 2) {
        char name[24];
        int used = 0, count;
        if (sscanf(text, "{%23[A-Z0-9_]}%n", name, &used) == 1 && used > 0) {
            len += expand_into(out + len, defined(name));
            text += used;
        } else if (sscanf(text, "\\{%d %n", &count, &used) == 1 && used > 0) {
            text += used;
            char c = byte_of(&text);
            memset(out + len, c, (size_t)count);
            len += (size_t)count;
            text += *text == '}';
        } else {
            out[len++] = byte_of(&text);
        }
    }
    out[len] = '\0';
    return len;
}

/* Lives as long as the case. */
static char *expanded(const char *text, size_t *ret_len) {
    static char out[TEXT_MAX];
    size_t len = expand_into(out, text);
    char *copy = arena_alloc(&now.arena, len + 1);
    memcpy(copy, out, len + 1);
    if (ret_len) *ret_len = len;
    return copy;
}

static int64_t duration(const char *text) {
    struct lb_err err = {0};
    int64_t ns = 0;
    if (text_duration(text, 0, INT64_MAX, &ns, &err) != 0) FAIL("%s", err.text);
    return ns;
}

/* ---- the script ---- */

static struct peer_step *last_step(void) {
    int count = now.step_count[now.peer];
    if (count == 0) FAIL("%s", "there is no step yet");
    return &now.steps[now.peer][count - 1];
}

static struct peer_step *new_step(void) {
    if (now.step_count[now.peer] == STEPS_MAX) FAIL("more than %d steps", STEPS_MAX);
    struct peer_step *step = &now.steps[now.peer][now.step_count[now.peer]++];
    *step = (struct peer_step){0};
    return step;
}

static void add_answer(const char *text) {
    struct peer_step *step = now.step_count[now.peer] ? last_step() : NULL;
    if (!step || step->say) step = new_step();
    step->say = expanded(text, &step->say_len);
}

static void add_bulk(const char *text) {
    struct peer_step *step = last_step();
    size_t len, before = step->say ? step->say_len : 0;
    char head[24], *bulk = expanded(text, &len);
    size_t head_len = (size_t)snprintf(head, sizeof head, "$%zu\r\n", len);
    char *all = arena_alloc(&now.arena, before + head_len + len + 3);
    if (before) memcpy(all, step->say, before);
    memcpy(all + before, head, head_len);
    memcpy(all + before + head_len, bulk, len);
    memcpy(all + before + head_len + len, "\r\n", 3);
    step->say = all;
    step->say_len = before + head_len + len + 2;
}

static void set_up(char *words) {
    struct fake_session *fake = &now.fake;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        if (value) *value++ = '\0';
        int64_t *time_ns = strcmp(word, "lease") == 0     ? &fake->lease_ns
                           : strcmp(word, "wait") == 0    ? &fake->wait_ns
                           : strcmp(word, "hold") == 0    ? &fake->hold_ns
                           : strcmp(word, "connect") == 0 ? &fake->connect_ns
                           : strcmp(word, "cutoff") == 0  ? &fake->cut_off_ns
                                                          : NULL;
        bool *flag = strcmp(word, "renew") == 0          ? &fake->renew
                     : strcmp(word, "settle") == 0       ? &fake->settle
                     : strcmp(word, "settle_after") == 0 ? &fake->settle_after
                     : strcmp(word, "setup") == 0        ? &fake->setup
                                                         : NULL;
        if (time_ns && value)
            *time_ns = duration(expanded(value, NULL));
        else if (flag)
            *flag = true;
        else if (strcmp(word, "keep") == 0)
            fake->release = false;
        else if (strcmp(word, "key") == 0 && value)
            fake->key = expanded(value, NULL);
        else
            FAIL("there is no '%s'", word);
    }
}

/* Whether the line is of a script; follows it. */
static bool prepare(const char *word, char *rest) {
    char *value = rest + strcspn(rest, " ");
    if (strcmp(word, "define") == 0) {
        define(rest, (size_t)(value - rest), value + (*value != '\0'));
    } else if (strcmp(word, "lock") == 0) {
        now.fake.lock = registry_lock(expanded(rest, NULL));
    } else if (strcmp(word, "url") == 0) {
        snprintf(now.fake.url, sizeof now.fake.url, "%s", rest);
    } else if (strcmp(word, "set") == 0) {
        now.set[now.sets++] = rest;
    } else if (strcmp(word, "with") == 0) {
        set_up(rest);
    } else if (strcmp(word, "peer") == 0) {
        now.peer = atoi(rest);
        now.found = 0;
    } else if (strcmp(word, "alone") == 0) {
        now.step_count[now.peer] = 0;
    } else if (strcmp(word, "<") == 0) {
        new_step()->await = expanded(rest, NULL);
    } else if (strcmp(word, ">") == 0) {
        add_answer(rest);
    } else if (strcmp(word, "$") == 0) {
        add_bulk(rest);
    } else if (strcmp(word, "piece") == 0) {
        last_step()->piece = (size_t)atoi(expanded(rest, NULL));
    } else if (strcmp(word, "bytes") == 0) {
        last_step()->say_len = (size_t)atoi(expanded(rest, NULL));
    } else if (strcmp(word, "closes") == 0) {
        last_step()->then = PEER_CLOSES;
    } else if (strcmp(word, "resets") == 0) {
        last_step()->then = PEER_RESETS;
    } else if (strcmp(word, "again") == 0) {
        int steps = atoi(rest), count = steps * atoi(value);
        for (int i = 0; i < count; i++) {
            struct peer_step *step = new_step();
            *step = step[-steps];
        }
    } else {
        return false;
    }
    return true;
}

/* ---- the play, and what came of it ---- */

/* The peers are there from the beginning, since scripts may name their ports. */
static void begin(const char *row) {
    arena_done(&now.arena);
    memset(&now, 0, sizeof now);
    now.row = row;
    now.fake = (struct fake_session){.key = "k", .lease_ns = 10 * LB_S_NS, .release = true};
    for (int i = 0; i < PEERS; i++) {
        char name[16], port[12];
        now.peers[i] = fake_peer_start(now.steps[i], STEPS_MAX);
        snprintf(name, sizeof name, "PORT%d", i);
        snprintf(port, sizeof port, "%d", fake_peer_port(now.peers[i]));
        define(name, strlen(name), port);
    }
    char *columns = strdup(row ? row : ""), *rest = columns, letter[] = "A";
    for (char *end; row && rest; letter[0]++) {
        if ((end = strstr(rest, " | "))) *end = '\0';
        define(letter, 1, rest);
        rest = end ? end + strlen(" | ") : NULL;
    }
    free(columns);
}

static void end_play(void) {
    for (int i = 0; i < PEERS; i++) {
        if (now.peers[i]) now.seen[i] = fake_peer_stop(now.peers[i]);
        now.peers[i] = NULL;
    }
}

static void run_session(bool refused) {
    if (now.played) return;
    now.played = true;
    const struct lb_backend *backend = now.fake.lock->backend;
    if (lb_unavailable(backend)) {
        end_play();
        skip_for("%s", lb_unavailable(backend));
    }
    snprintf(now.fake.url, sizeof now.fake.url, "%.120s", expanded(now.fake.url, NULL));
    now.fake.sets = now.set;
    for (int i = 0; i < now.sets; i++) now.set[i] = expanded(now.set[i], NULL);
    for (int i = 0; i < PEERS; i++)
        while (now.step_count[i] < STEPS_MAX)
            now.steps[i][now.step_count[i]++] = (struct peer_step){.await = "nothing"};
    alarm(60);
    fake_run(&now.fake);
    alarm(0);
    end_play();
    if ((now.fake.connected != 0) != refused)
        FAIL("%s session: %s", refused ? "a" : "no", now.fake.err.text);
}

static void expect(const char *word, char *rest) {
    const struct fake_session *fake = &now.fake;
    const char *outcome = strcmp(word, "acquired") == 0   ? lb_outcome_name(fake->acquired)
                          : strcmp(word, "released") == 0 ? lb_outcome_name(fake->released)
                          : strcmp(word, "renewed") == 0  ? lb_outcome_name(fake->renewed)
                          : strcmp(word, "settled") == 0  ? lb_outcome_name(fake->settled)
                                                          : NULL;
    const char *seen = now.seen[now.peer], *wanted = expanded(rest, NULL), *at = seen;
    if (outcome) {
        if (strcmp(outcome, wanted) != 0) FAIL("%s: %s", outcome, fake->err.text);
    } else if (strcmp(word, "refused") == 0 || strcmp(word, "error") == 0) {
        if (!strstr(fake->err.text, wanted) || !fake->err.code) FAIL("it says: %s", fake->err.text);
    } else if (strcmp(word, "lacks") == 0) {
        if (strstr(fake->err.text, wanted)) FAIL("it says: %s", fake->err.text);
    } else if (strcmp(word, "exit") == 0) {
        if (fake->err.code != atoi(wanted)) FAIL("%d: %s", fake->err.code, fake->err.text);
    } else if (strcmp(word, "commands") == 0) {
        if (fake->commands != strtoull(wanted, NULL, 10)) FAIL("%d", (int)fake->commands);
    } else if (strcmp(word, "token") == 0) {
        if (fake->grant.token != strtoull(wanted, NULL, 10))
            FAIL("%llu", (unsigned long long)fake->grant.token);
    } else if (strcmp(word, "lasts") == 0) {
        int64_t from_ns = fake->grant.lease_end_ns - duration(wanted);
        if (from_ns < fake->renew_sent_ns || from_ns > lb_now())
            FAIL("%lld ns more", (long long)(from_ns - fake->renew_sent_ns));
    } else if (strcmp(word, "ends") == 0 || strcmp(word, "over") == 0) {
        if (fake->grant.lease_end_ns > (*word == 'e' ? LB_NEVER - 1 : lb_now())) FAIL("%s", "no");
    } else if (strcmp(word, "seen") == 0) {
        if (!(at = strstr(seen + now.found, wanted))) FAIL("missing in: %s", seen + now.found);
        now.found = (size_t)(at - seen) + strlen(wanted);
    } else if (strcmp(word, "unseen") == 0) {
        if (strstr(seen, wanted)) FAIL("it is in: %s", seen);
    } else if (strcmp(word, "count") == 0) {
        int count = 0;
        for (const char *part = strchr(wanted, ' ') + 1; (at = strstr(at, part)); at++) count++;
        if (count != atoi(wanted)) FAIL("%d times in: %s", count, seen);
    } else {
        FAIL("'%s' is no line of a case", word);
    }
}

static void follow(const struct line *line) {
    char *text = arena_alloc(&now.arena, strlen(line->text) + 1), *rest;
    strcpy(text, line->text);
    rest = text + strcspn(text, " ");
    if (*rest) *rest++ = '\0';
    now.line = line;
    if (strncmp(text, "row", 3) == 0 || prepare(text, rest)) return;
    run_session(strcmp(text, "refused") == 0);
    expect(text, rest);
}

static void play(const struct peer_case *one, const char *row) {
    begin(row);
    for (int i = one->head; i < one->head_end; i++) follow(&lines[i]);
    for (int i = one->begin; i < one->end; i++) follow(&lines[i]);
    if (!now.played) FAIL("%s", "it expects nothing");
    for (int i = 0; i < PEERS; i++) free(now.seen[i]);
}

static void play_case(void **state) {
    const struct peer_case *one = *state;
    int rows = 0, from, to;
    for (int i = one->begin; i < one->end; i++) {
        char row[16];
        if (sscanf(lines[i].text, "rows %d %d", &from, &to) == 2) {
            for (; from <= to; from++, rows++) {
                snprintf(row, sizeof row, "%d", from);
                play(one, row);
            }
        } else if (strncmp(lines[i].text, "row ", 4) == 0) {
            play(one, lines[i].text + 4);
            rows++;
        }
    }
    if (rows == 0) play(one, NULL);
}

static void load(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    struct peer_case part = {.head = line_count, .head_end = -1};
    assert_non_null(file);
    for (int number = 1; getline(&text, &size, file) > 0; number++) {
        text[strcspn(text, "\n")] = '\0';
        if (!*text || *text == '#') continue;
        if (strncmp(text, "== ", 3) != 0) {
            lines[line_count++] = (struct line){strdup(path), number, strdup(text)};
            continue;
        }
        if (part.head_end < 0)
            part.head_end = line_count;
        else
            cases[case_count - 1].end = line_count;
        part.begin = line_count;
        cases[case_count] = part;
        unit_tests[unit_test_count++] =
            (struct CMUnitTest){strdup(text + 3), play_case, NULL, NULL, &cases[case_count++]};
    }
    assert_true(part.head_end >= 0); /* a file has cases */
    assert_true(case_count < (int)(sizeof cases / sizeof *cases) &&
                line_count < (int)(sizeof lines / sizeof *lines));
    cases[case_count - 1].end = line_count;
    free(text);
    fclose(file);
}

/* To read the system's certificates at each opening would take most of the time, and nobody here has one. */
FIXTURE(no_certificates) {
    return setenv("SSL_CERT_FILE", "/dev/null", 1);
}

FIXTURE(tear_down) {
    arena_done(&now.arena);
    return 0;
}

int main(void) {
    glob_t files;
    if (glob("drivers/tests/peers/*.peer", 0, NULL, &files) != 0) return 1;
    for (size_t i = 0; i < files.gl_pathc; i++) load(files.gl_pathv[i]);
    globfree(&files);
    return run_all_tests(no_certificates, tear_down);
}
