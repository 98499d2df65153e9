/* story: see story.h. */
#define _GNU_SOURCE
#include "drivers/tests/story.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <regex.h>
#include <sys/socket.h>

#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"
#include "drivers/tests/live_help.h"

#define MOST 400
#define ANSWER_MAX 8192

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

/* Servers and programs, which stay. */
static struct started {
    char *name; /* a topology, or a command */
    struct arena arena;
    struct place *place;
    struct foreign program;
} started[40];
static int started_count;

/* The case that runs. */
static struct {
    const struct story *story;
    const struct line *line;
    struct trial *trial;
    struct actor *actors[8];
    char names[8][24];
    bool has_key[8];
    int actor_count, key_count;
    int told;    /* losses, before a fiber woke that had slept through `away` */
    bool stated; /* the line says what the answer is, or where it goes */
    struct trial_key keys[8];
    char key_names[8][24];
} now;

#define FAIL(...) trial_fail(now.trial, __VA_ARGS__)

/* ---- texts ---- */

/* The text with $NAME and ${NAME} as they are in the environment; valid until the next but one call. */
static const char *expanded(const char *text) {
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
    wanted = expanded(wanted);
    if (strcmp(answer, wanted) == 0) return true;
    if (!is_number) return false;
    if (sscanf(wanted, "%99s to %99s", low, high) == 2 && sum(low, &least) && sum(high, &most))
        return number >= least && number <= most;
    if (wanted[0] == '>' && sum(wanted + 1, &least)) return number > least;
    return sum(wanted, &least) && number == least;
}

static int64_t duration(const char *text) {
    struct lb_err err = {0};
    int64_t ns = 0;
    if (text_duration(text, 0, INT64_MAX, &ns, &err) != 0) FAIL("%s", err.text);
    return ns;
}

/* For what takes as long as a failover. */
static int64_t long_soon(void) {
    return trial_soon() + 60 * LB_S_NS;
}

/* ---- what is not ours ---- */

/* What the shell prints, its lines with blanks between. Blocks our loop for some milliseconds. */
static void ask_shell(const char *command, char *answer) {
    FILE *out = popen(command, "r");
    size_t len = out ? fread(answer, 1, ANSWER_MAX - 1, out) : 0;
    int status = out ? pclose(out) : -1;
    bool unfound =
        WIFEXITED(status) && WEXITSTATUS(status) >= 126; /* the command, or no right to run it */
    while (len > 0 && answer[len - 1] == '\n') len--;
    answer[len] = '\0';
    for (char *at = answer; (at = strchr(at, '\n'));) *at = ' ';
    if (unfound) snprintf(answer, ANSWER_MAX, "the shell can't run '%.200s'", command);
}

static struct started *find_started(const char *name) {
    for (int i = 0; i < started_count; i++)
        if (strcmp(started[i].name, name) == 0) return &started[i];
    return NULL;
}

static struct started *add_started(const char *name) {
    assert_true(started_count < (int)(sizeof started / sizeof *started));
    started[started_count] = (struct started){.name = strdup(name)};
    return &started[started_count++];
}

/* The next line of a program; ours go on meanwhile. */
static void hear(const struct foreign *program, char *answer) {
    struct pollfd wait = {.fd = program->from, .events = POLLIN};
    for (int64_t until_ns = trial_soon(); poll(&wait, 1, 0) == 0 && lb_now() < until_ns;)
        trial_sleep_until(lb_now() + LB_MS_NS);
    snprintf(answer, ANSWER_MAX, "%s", poll(&wait, 1, 0) > 0 ? foreign_hear(program) : "(nothing)");
}

static struct foreign *program_of(const char *command) {
    char answer[ANSWER_MAX], line[ANSWER_MAX];
    snprintf(line, sizeof line, "exec %s", expanded(command));
    struct started *program = find_started(line);
    if (program && program->program.pid > 0) return &program->program;
    if (!program) program = add_started(line);
    foreign_start(&program->program, (const char *const[]){"sh", "-c", line, NULL});
    hear(&program->program, answer);
    if (strcmp(answer, "ready") != 0) FAIL("'%s' does not start: %s", command, answer);
    return &program->program;
}

static void use_program(struct foreign *program, char *words, char *answer) {
    struct pollfd wait = {.fd = program->from, .events = POLLIN};
    bool tells = strncmp(words, "tell ", 5) == 0;
    answer[0] = '\0';
    if (strcmp(words, "is silent") == 0) {
        if (poll(&wait, 1, 0) > 0) FAIL("it says '%s'", foreign_hear(program));
        return;
    }
    if (strcmp(words, "dies") == 0) { /* the next line starts another one */
        foreign_end(program);
        program->pid = 0;
        return;
    }
    if (strcmp(words, "says") != 0) {
        char text[ANSWER_MAX];
        int len = snprintf(text, sizeof text, "%s\n", expanded(tells ? words + 5 : words));
        if (write(program->to, text, (size_t)len) != len) FAIL("the program is gone");
    }
    if (!tells) hear(program, answer);
}

/* ---- ours ---- */

static struct trial_key *key_of(const char *name) {
    for (int i = 0; i < now.key_count; i++)
        if (strcmp(now.key_names[i], name) == 0) return &now.keys[i];
    FAIL("there is no key %s", name);
    return &now.keys[0];
}

static void make_key(const char *name, const char *text) {
    struct trial_key *key = &now.keys[now.key_count];
    *key = *text ? trial_key_named(text, strlen(text)) : trial_key();
    snprintf(now.key_names[now.key_count++], sizeof now.key_names[0], "%s", name);
    setenv(name, key->name, 1);
    char number[40], number_name[40];
    snprintf(number, sizeof number, "%llu", (unsigned long long)key->number);
    snprintf(number_name, sizeof number_name, "%.20s_NUMBER", name);
    setenv(number_name, number, 1);
    snprintf(number, sizeof number, "%u", key->index);
    snprintf(number_name, sizeof number_name, "%.20s_INDEX", name);
    setenv(number_name, number, 1);
}

/* The index of a client, which is made when it is named first. */
static int actor_of(const char *name) {
    int i = 0;
    while (i < now.actor_count && strcmp(now.names[i], name) != 0) i++;
    if (i < now.actor_count) return i;
    snprintf(now.names[i], sizeof now.names[0], "%.20s", name);
    bool far = now.trial->far && strncmp(name, "far", 3) == 0;
    now.actors[i] = far ? actor_far(now.trial) : actor_new(now.trial);
    now.has_key[i] = false;
    return now.actor_count++;
}

/* "lease=60s held=1" */
static void set_up(int which, char *words) {
    struct actor *ours = now.actors[which];
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        if (!value) FAIL("no '=' in '%s'", word);
        if (!value) return;
        *value++ = '\0';
        struct trial_key keys[2];
        char *second = strchr(value, ',');
        if (second) *second++ = '\0';
        if (strcmp(word, "lease") == 0) {
            ours->request.lease_ns = duration(value);
        } else if (strcmp(word, "keys") == 0) {
            keys[0] = *key_of(value);
            keys[1] = *key_of(second);
            actor_use_keys(ours, keys, 2);
            now.has_key[which] = true;
        } else if (strcmp(word, "key") == 0) {
            actor_use_key(ours, key_of(value));
            now.has_key[which] = true;
        } else if (strcmp(word, "shared") == 0) {
            ours->request.shared = atoi(value);
        } else {
            uint32_t *member = strcmp(word, "held") == 0      ? &ours->request.held
                               : strcmp(word, "permits") == 0 ? &ours->request.permits
                               : strcmp(word, "bound") == 0   ? &ours->request.bound
                               : strcmp(word, "client") == 0  ? &ours->request.client
                                                              : NULL;
            if (!member) FAIL("a client has no '%s'", word);
            if (member) *member = (uint32_t)atoi(value);
        }
    }
}

/* Acquires during a failover: a session that breaks is opened again, as the core does. A session that is open stays: it may find
 * the new primary by itself. */
static void acquire_somehow(struct actor *ours) {
    for (int64_t until_ns = long_soon(); lb_now() < until_ns && !trial_failed(now.trial);) {
        bool is_open = ours->connected || actor_open(ours);
        if (is_open && actor_take(ours, lb_now() + LB_S_NS) == LB_OK) return;
        actor_close(ours);
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    }
    FAIL("no lock after the failover: %s", ours->session.err.text);
}

/* A client on another's session, which is its arg. */
static void guest_acquire(struct actor *ours) {
    struct actor *host = ours->arg;
    ours->outcome =
        host->session.lock->algorithm->acquire(&host->session, &ours->request, &ours->grant);
}

static void guest_release(struct actor *ours) {
    struct actor *host = ours->arg;
    ours->outcome =
        host->session.lock->algorithm->release(&host->session, &ours->request, &ours->grant);
}

static enum lb_outcome do_now(struct actor *ours, void (*job)(struct actor *ours)) {
    actor_do(ours, job);
    return ours->outcome;
}

/* Sleeps while the process stands still. Whoever lost its session meanwhile must have been told before. */
static void note_losses(void *unused) {
    (void)unused;
    lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    now.told = 0;
    for (int i = 0; i < now.actor_count; i++) now.told += atomic_load(&now.actors[i]->losses);
}

/* Acquires, and lets the whole process stand still, as if stopped, when so many requests are on their way. */
static enum lb_outcome acquire_away(struct actor *ours, const char *words) {
    char text[20] = "";
    unsigned requests = 0;
    if (sscanf(words, "%19s %u", text, &requests) != 2) FAIL("'%s' is no time and number", words);
    for (int tries = 0; tries < 200; tries++) { /* until it is not answered at once */
        uint64_t sent = ours->session.commands + requests;
        actor_begin_take(ours, trial_soon());
        while (ours->session.commands < sent && actor_is_busy(ours)) lb_yield();
        if (actor_is_busy(ours) || ours->outcome != LB_OK || actor_release(ours) != LB_OK) break;
    }
    if (!actor_is_busy(ours))
        FAIL("its requests are answered too fast, or: %s", ours->session.err.text);
    struct lb_fiber *sleeper = lb_start_fiber("sleeper", note_losses, NULL);
    lb_yield();
    int64_t until_ns = lb_now() + duration(text);
    while (lb_now() < until_ns) poll(NULL, 0, (int)((until_ns - lb_now()) / LB_MS_NS) + 1);
    lb_join(sleeper);
    return actor_end(ours);
}

/* Waits that end while the client prepares its request, which takes it less than a microsecond. The last ones ask only once, and do
 * not hide what one before has left. */
static void wait_in_vain(struct actor *ours) {
    for (int wait_ns = 2000; wait_ns > 0; wait_ns -= 4) {
        ours->request.deadline_ns = lb_now() + wait_ns;
        actor_job_acquire(ours);
        if (ours->outcome != LB_BUSY && ours->outcome != LB_TIMEOUT) return;
    }
    ours->outcome = LB_TIMEOUT;
}

static int peer_port(int fd) {
    struct sockaddr_in peer = {0};
    return getpeername(fd, (struct sockaddr *)&peer, &(socklen_t){sizeof peer}) == 0
               ? ntohs(peer.sin_port)
               : -1;
}

/* What a client's call gives, or what is known of the client. */
static void call(int which, const char *verb, char *rest, char *answer) {
    struct actor *ours = now.actors[which];
    enum lb_outcome outcome = LB_OUTCOMES;
    answer[0] = '\0';
    if (!now.has_key[which] && strcmp(verb, "has") != 0) actor_use_key(ours, &now.keys[0]);
    now.has_key[which] = now.has_key[which] || strcmp(verb, "has") != 0;
    if (strcmp(verb, "acquire") == 0)
        outcome = actor_take(ours, trial_soon());
    else if (strcmp(verb, "try") == 0)
        outcome = actor_take(ours, TRIAL_TRY);
    else if (strcmp(verb, "wait") == 0)
        outcome = actor_take(ours, lb_now() + duration(rest));
    else if (strcmp(verb, "release") == 0)
        outcome = ours->arg ? do_now(ours, guest_release) : actor_release(ours);
    else if (strcmp(verb, "away") == 0)
        outcome = acquire_away(ours, rest);
    else if (strcmp(verb, "wait_in_vain") == 0)
        outcome = do_now(ours, wait_in_vain);
    else if (strcmp(verb, "renew") == 0)
        outcome = actor_renew(ours, duration(rest));
    else if (strcmp(verb, "settle") == 0)
        outcome = actor_settle(ours);
    else if (strcmp(verb, "ping") == 0)
        outcome = actor_ping(ours);
    else if (strcmp(verb, "end") == 0)
        outcome = actor_end(ours);
    if (outcome != LB_OUTCOMES) {
        snprintf(answer, ANSWER_MAX, "%s", lb_outcome_name(outcome));
        if (!now.stated) FAIL("'%s' has no outcome that is wanted", verb);
    } else if (strcmp(verb, "begin") == 0) {
        ours->request.deadline_ns = !*rest                      ? trial_soon()
                                    : strcmp(rest, "ever") == 0 ? LB_NEVER
                                                                : lb_now() + duration(rest);
        actor_begin(ours, ours->arg ? guest_acquire : actor_job_acquire);
    } else if (strcmp(verb, "waits") == 0) {
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
        if (!actor_is_busy(ours)) FAIL("it does not wait: %s", lb_outcome_name(ours->outcome));
    } else if (strcmp(verb, "has") == 0) {
        set_up(which, rest);
    } else if (strcmp(verb, "free") == 0) {
        actor_begin(ours, actor_job_release);
    } else if (strcmp(verb, "on") == 0) {
        ours->arg = now.actors[actor_of(rest)];
    } else if (strcmp(verb, "at") == 0) {
        snprintf(answer, ANSWER_MAX, "%d", peer_port(ours->session.traffic_fd));
    } else if (strcmp(verb, "redial") == 0) {
        actor_close(ours);
        bool open = actor_open(ours);
        snprintf(answer, ANSWER_MAX, "%d", open ? peer_port(ours->session.traffic_fd) : -1);
    } else if (strcmp(verb, "breaks") == 0) {
        shutdown(ours->session.traffic_fd, SHUT_RDWR);
    } else if (strcmp(verb, "losses") == 0) {
        snprintf(answer, ANSWER_MAX, "%d", atomic_load(&ours->losses));
    } else if (strcmp(verb, "token") == 0) {
        snprintf(answer, ANSWER_MAX, "%llu", (unsigned long long)ours->grant.token);
    } else if (strcmp(verb, "commands") == 0) {
        snprintf(answer, ANSWER_MAX, "%llu", (unsigned long long)ours->session.commands);
    } else if (strcmp(verb, "wakeups") == 0) {
        snprintf(answer, ANSWER_MAX, "%llu", (unsigned long long)ours->session.wakeups);
    } else if (strcmp(verb, "error") == 0) {
        snprintf(answer, ANSWER_MAX, "%s", ours->session.err.text);
    } else if (strcmp(verb, "close") == 0) {
        actor_close(ours);
    } else if (strcmp(verb, "open") == 0) {
        snprintf(answer, ANSWER_MAX, "%s", actor_open(ours) ? "ok" : ours->err.text);
    } else if (strcmp(verb, "ends") == 0) {
        snprintf(answer, ANSWER_MAX, "%lld", (long long)ours->grant.lease_end_ns);
    } else if (strcmp(verb, "somehow") == 0) {
        acquire_somehow(ours);
    } else if (strcmp(verb, "arm") == 0) {
        if (actor_arm(ours) != 0) FAIL("%s", ours->err.text);
    } else if (strcmp(verb, "disarm") == 0) {
        if (actor_disarm(ours) != 0) FAIL("%s", ours->err.text);
    } else {
        FAIL("a client can't '%s'", verb);
    }
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

/* "kill 0", "restart 0", "stop 0", "go 0" */
static void change_server(const char *words, char *answer) {
    struct topo *topo = now.trial->place->topo;
    struct lb_err err = {0};
    char verb[16];
    int node = 0, rc = -1;
    if (strcmp(words, "leader") == 0) {
        snprintf(answer, ANSWER_MAX, "%d", topo_leader(topo, &err));
        return;
    }
    if (sscanf(words, "%15s %d", verb, &node) != 2)
        FAIL("'%s' is nothing for a server", words);
    else if (strcmp(verb, "kill") == 0)
        rc = topo_kill(topo, node, &err);
    else if (strcmp(verb, "restart") == 0)
        rc = topo_restart(topo, node, &err);
    else if (strcmp(verb, "promote") == 0)
        rc = topo_act(topo, "promote", strchr(words, 32) + 1, NULL, 0, &err);
    else if (strcmp(verb, "stop") == 0)
        rc = topo_signal(topo, node, SIGSTOP);
    else if (strcmp(verb, "go") == 0)
        rc = topo_signal(topo, node, SIGCONT);
    if (rc != 0) FAIL("server %s: %s", words, err.text);
}

/* "cut after 1", "heal", "struck" */
static void change_wire(const char *words, char *answer) {
    struct wire_fault cut = {.kind = WIRE_MIDWAY, .then = WIRE_THEN_CUT};
    if (sscanf(words, "cut after %lu", &cut.bytes) == 1)
        conform_strike(now.trial, cut);
    else if (strcmp(words, "heal") == 0)
        conform_heal(now.trial);
    else
        snprintf(answer, ANSWER_MAX, "%d", conform_struck(now.trial));
}

/* Does what a line says, without its "-> ANSWER". */
static void act(char *text, char *answer) {
    char command[ANSWER_MAX], *rest = text + strcspn(text, " ");
    const char *tool, *program;
    if (*rest) *rest++ = '\0';
    if (strcmp(text, "sh") == 0) {
        ask_shell(rest, answer);
    } else if ((tool = defined("tool", text))) {
        snprintf(command, sizeof command, "%s %s", tool, rest);
        ask_shell(command, answer);
    } else if ((program = defined("program", text))) {
        use_program(program_of(program), rest, answer);
    } else if (strcmp(text, "server") == 0) {
        change_server(expanded(rest), answer);
    } else if (strcmp(text, "cutoff") == 0) {
        atomic_store(&now.trial->cutoff_ns, strcmp(rest, "now") == 0 ? lb_now() : LB_NEVER);
    } else if (strcmp(text, "told") == 0) {
        snprintf(answer, ANSWER_MAX, "%d", now.told);
    } else if (strcmp(text, "fact") == 0) {
        const char *value = lb_facts_value(&now.trial->place->facts, rest);
        snprintf(answer, ANSWER_MAX, "%s", value ? value : "");
    } else if (strcmp(text, "guarantee") == 0) {
        snprintf(answer, ANSWER_MAX, "%s",
                 place_guarantee(now.trial->place, now.trial->lock->lock));
    } else if (strcmp(text, "connects") == 0) {
        now.trial->connect_ns = duration(rest);
    } else if (strcmp(text, "sessions") == 0) {
        now.trial->session_lease_ns = duration(rest);
    } else if (strcmp(text, "wire") == 0) {
        change_wire(expanded(rest), answer);
    } else if (strcmp(text, "sleep") == 0) {
        trial_sleep_until(lb_now() + duration(rest));
    } else if (strcmp(text, "key") == 0) {
        char *words = rest + strcspn(rest, " ");
        if (*words) *words++ = '\0';
        make_key(rest, words);
    } else if (strcmp(text, "define") == 0) {
        char *value = rest + strcspn(rest, " ");
        if (*value) *value++ = '\0';
        setenv(rest, expanded(value), 1);
    } else {
        char *more = rest + strcspn(rest, " ");
        if (*more) *more++ = '\0';
        if (strcmp(rest, "begin") == 0) more = (char *)(uintptr_t)expanded(more);
        int which = actor_of(expanded(text));
        bool holds = strcmp(rest, "holds") == 0; /* the rest is a line */
        if (trial_failed(now.trial)) return;
        now.stated |= holds;
        call(which, holds ? "acquire" : rest, more, answer);
        if (!holds) return;
        if (strcmp(answer, "ok") != 0) FAIL("it gets %s", answer);
        char line[ANSWER_MAX];
        snprintf(line, sizeof line, "%s", more);
        act(line, answer);
        call(which, "release", more, command);
        if (strcmp(command, "ok") != 0) FAIL("its release gives %s", command);
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
    int64_t until_ns = soon ? long_soon() : 0;
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
        now.stated = wanted || name;
        act(text, answer);
        if (!wanted && name) setenv(name, answer, 1);
        fits = !wanted || is_wanted(answer, wanted);
        if (!fits && soon) trial_sleep_until(lb_now() + LB_MS_NS);
    } while (!fits && lb_now() < until_ns && !trial_failed(now.trial));
    if (!fits) FAIL("'%s', not '%s'", answer, expanded(wanted));
}

static void script(struct trial *trial) {
    now.trial = trial;
    now.actor_count = now.key_count = 0;
    make_key("K", "");
    for (int i = now.story->head; i < now.story->head_end && !trial_failed(trial); i++)
        follow(&lines[i]);
    for (int i = now.story->begin; i < now.story->end && !trial_failed(trial); i++)
        follow(&lines[i]);
}

/* ---- cases ---- */

static void check_needs(int from, int to) {
    for (int i = from; i < to; i++) {
        char command[1000];
        if (sscanf(lines[i].text, "needs %999[^|]", command) != 1) continue;
        if (system(command) != 0) skip_for("missing: install%s", strchr(lines[i].text, '|') + 1);
    }
}

static void run_before(int from, int to) {
    char answer[ANSWER_MAX];
    for (int i = from; i < to; i++)
        if (strncmp(lines[i].text, "before ", 7) == 0) ask_shell(lines[i].text + 7, answer);
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
}

static void play(void **state) {
    char with[200], why[400], name[200], *word, *rest = NULL;
    const char *topology = NULL, *sets[8] = {NULL};
    int set_count = 0;
    struct lb_err err = {0};
    struct arena arena = {0};
    struct plan_lock planned;
    now.story = *state;
    snprintf(with, sizeof with, "%s", now.story->with);
    const struct lb_lock *lock = registry_lock(strtok_r(with, " ", &rest));
    assert_non_null(lock);
    while ((word = strtok_r(NULL, " ", &rest))) {
        char *value = strchr(word, '=');
        if (strcmp(word, "on") == 0) topology = strtok_r(NULL, " ", &rest);
        if (!value) continue;
        if (islower(*word)) {
            sets[set_count++] = word;
        } else {
            *value++ = '\0';
            setenv(word, value, 1);
        }
    }
    check_needs(now.story->head, now.story->head_end);
    check_needs(now.story->begin, now.story->end);
    if (conform_lacks(lock, topology, why, sizeof why)) skip_for("%s", why);
    if (!lock->backend->topologies)
        snprintf(name, sizeof name, "%s", now.story->with);
    else
        snprintf(name, sizeof name, "%s %s %s", lock->backend->name,
                 topology ? topology : lb_topologies(lock)[0], sets[0] ? sets[0] : "");
    if (conform_lock(lock, sets, &arena, &planned, &err) != 0) fail_msg("%s", err.text);
    struct started *server = find_started(name);
    if (!server) {
        struct place *place = conform_open(&planned, topology, &err);
        if (!place) fail_msg("%s", err.text);
        server = add_started(name);
        server->place = place;
        server->arena = arena; /* the place's options */
        arena = (struct arena){0};
    }
    tell_shells(server->place);
    run_before(now.story->head, now.story->head_end);
    run_before(now.story->begin, now.story->end);
    struct trial trial = {.lock = &planned, .place = server->place};
    for (int i = now.story->begin; i < now.story->end && !trial.far; i++)
        if (strncmp(lines[i].text, "wire ", 5) == 0 &&
            !(trial.far = conform_open_far(&planned, server->place, &err)))
            fail_msg("%s", err.text);
    trial_run(&trial, script);
    place_close(trial.far);
    if (trial.failure[0])
        fail_msg("%s:%d: %s\n%s", now.line->file, now.line->number, now.line->text, trial.failure);
    arena_done(&arena);
}

FIXTURE(end_all) {
    for (int i = 0; i < started_count; i++) {
        if (started[i].program.pid > 0) foreign_end(&started[i].program);
        place_close(started[i].place);
        arena_done(&started[i].arena);
        free(started[i].name);
    }
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
            title = strdup(text + 3);
            part.begin = line_count;
            continue;
        }
        lines[line_count++] = (struct line){strdup(path), number, strdup(text)};
    }
    part.end = line_count;
    add_cases(title ? title : path, part);
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
