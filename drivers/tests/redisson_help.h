/* redisson_help: what the tests of Redisson's locks share: another client, played by hand over a
 * connection of its own, and connections that hear all that is published and see all commands.
 * Header only, since each test is a program.
 *
 * Debian has no Redisson. So the other client here types Redisson's scripts, as its sources have
 * them, and the state that ours leaves on the server is compared with what those sources say, field
 * by field. */
#ifndef DRIVERS_TESTS_REDISSON_HELP_H
#define DRIVERS_TESTS_REDISSON_HELP_H

#include "bench/conform/conform_place.h"
#include "bench/conform/conform_trial.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

#include <hiredis.h>
#include <time.h>

#define SHORT_S 5 /* for an answer or a message that must be there at once */

static struct arena arena;
static struct place *place;
static redisContext *hand, *ear, *eye; /* asks; has subscribed to everything; sees every command */

/* The holder's name of the client that is played by hand. */
#define THEM "8743c9c0-0795-4907-87fd-6c719a6b4586:1"

static inline long long wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Formats a text, which is valid until the eighth further call. */
__attribute__((format(printf, 1, 2))) static inline const char *text_of(const char *format, ...) {
    static char texts[8][4096];
    static int turn;
    char *text = texts[turn++ % 8];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof texts[0], format, args);
    va_end(args);
    return text;
}

/* --- the other client --- */

static inline void flatten(const redisReply *reply, char *out, size_t size) {
    size_t used = strlen(out);
    if (!reply) snprintf(out + used, size - used, "(no answer)");
    if (!reply) return;
    if (reply->type == REDIS_REPLY_NIL) snprintf(out + used, size - used, "(nil)");
    if (reply->type == REDIS_REPLY_INTEGER)
        snprintf(out + used, size - used, "%lld", reply->integer);
    if (reply->str) snprintf(out + used, size - used, "%s", reply->str);
    for (size_t i = 0; i < reply->elements; i++) {
        used = strlen(out);
        if (i > 0) snprintf(out + used, size - used, " ");
        flatten(reply->element[i], out, size);
    }
}

/* What a server answers to a command, as text: elements by spaces, nothing as (nil). Blocks a
 * moment. */
static inline const char *say_on(redisContext *context, const char *format, ...) {
    static char texts[8][4096];
    static int turn;
    char *text = texts[turn++ % 8];
    text[0] = '\0';
    va_list args;
    va_start(args, format);
    redisReply *reply = redisvCommand(context, format, args);
    va_end(args);
    flatten(reply, text, sizeof texts[0]);
    if (reply) freeReplyObject(reply);
    return text;
}
#define SAY(...) say_on(hand, __VA_ARGS__)

#define MUST_SAY(trial, wanted, ...)                                                               \
    do {                                                                                           \
        const char *said_ = SAY(__VA_ARGS__);                                                      \
        MUST((trial), strcmp(said_, (wanted)) == 0, "line %d: the server said '%s', not '%s'",     \
             __LINE__, said_, (wanted));                                                           \
    } while (0)

/* A number that the server says, between two bounds. */
#define MUST_LIE(trial, least, most, ...)                                                          \
    do {                                                                                           \
        long long number_ = strtoll(SAY(__VA_ARGS__), NULL, 10);                                   \
        MUST((trial), number_ >= (least) && number_ <= (most),                                     \
             "line %d: %lld is not between %lld and %lld", __LINE__, number_, (long long)(least),  \
             (long long)(most));                                                                   \
    } while (0)

/* Waits until the server gives this answer, for changes that come a moment later. */
#define MUST_SAY_SOON(trial, wanted, ...)                                                          \
    do {                                                                                           \
        int64_t until_ns_ = trial_soon();                                                          \
        while (strcmp(SAY(__VA_ARGS__), (wanted)) != 0 && lb_now() < until_ns_)                    \
            trial_sleep_until(lb_now() + LB_MS_NS);                                                \
        MUST_SAY((trial), (wanted), __VA_ARGS__);                                                  \
    } while (0)

/* All names on the server, sorted. */
static inline const char *all_names(void) {
    return SAY("EVAL %s 0",
               "local k=redis.call('keys','*') table.sort(k) return table.concat(k,' ')");
}
#define MUST_HAVE(trial, wanted)                                                                   \
    do {                                                                                           \
        const char *names_ = all_names();                                                          \
        MUST((trial), strcmp(names_, (wanted)) == 0, "line %d: there are '%s', not '%s'",          \
             __LINE__, names_, (wanted));                                                          \
    } while (0)

/* --- what is published, what is done --- */

static inline redisContext *dial(int port) {
    redisContext *context =
        redisConnectWithTimeout("127.0.0.1", port, (struct timeval){.tv_sec = SHORT_S});
    if (context && !context->err)
        freeReplyObject(redisCommand(context, "AUTH %s", getenv("REDISCLI_AUTH")));
    if (context && !context->err) redisSetTimeout(context, (struct timeval){.tv_sec = SHORT_S});
    return context;
}

/* Reads all that has come so far: sends something whose echo must come last. */
static inline const char *heard(void) {
    static char text[4096];
    text[0] = '\0';
    SAY("PUBLISH the-end x");
    for (;;) {
        redisReply *reply = NULL;
        if (redisGetReply(ear, (void **)&reply) != REDIS_OK) return "(nothing can be heard)";
        /* pmessage, pattern, channel, message */
        bool end = strcmp(reply->element[2]->str, "the-end") == 0;
        size_t used = strlen(text);
        if (!end)
            snprintf(text + used, sizeof text - used, "%s%s=%s", used ? " " : "",
                     reply->element[2]->str, reply->element[3]->str);
        freeReplyObject(reply);
        if (end) return text;
    }
}
#define MUST_HEAR(trial, ...)                                                                      \
    do {                                                                                           \
        const char *wanted_ = text_of(__VA_ARGS__);                                                \
        const char *heard_ = heard();                                                              \
        MUST((trial), strcmp(heard_, wanted_) == 0, "line %d: heard '%s', not '%s'", __LINE__,     \
             heard_, wanted_);                                                                     \
    } while (0)

/* The next line of MONITOR with this text in it; "" if the server has run no such command. */
static inline const char *seen(const char *part) {
    static char line[4096], last[40];
    static int calls;
    snprintf(last, sizeof last, "end-of-%d", calls++);
    SAY("ECHO %s", last);
    for (;;) {
        redisReply *reply = NULL;
        if (redisGetReply(eye, (void **)&reply) != REDIS_OK) return "";
        bool end = strstr(reply->str, last) != NULL;
        bool found = !end && strstr(reply->str, part) != NULL;
        snprintf(line, sizeof line, "%s", reply->str);
        freeReplyObject(reply);
        if (found) return line;
        if (end) return "";
    }
}

/* An empty server and three connections to it. */
static inline bool listen_in(void) {
    int port = topo_port(place->topo, 0, 0);
    hand = dial(port);
    ear = dial(port);
    eye = dial(port);
    if (!hand || hand->err || !ear || ear->err || !eye || eye->err) return false;
    return strcmp(SAY("FLUSHALL"), "OK") == 0 &&
           strncmp(say_on(ear, "PSUBSCRIBE *"), "psubscribe", 10) == 0 &&
           strcmp(say_on(eye, "MONITOR"), "OK") == 0;
}

static inline void listen_no_more(void) {
    redisFree(hand);
    redisFree(ear);
    redisFree(eye);
    hand = ear = eye = NULL;
}

/* "<uuid>:<thread>", random as java.util.UUID's, with an end or without. */
static inline bool is_holder(const char *text, const char *end) {
    static const char form[] = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx:";
    for (size_t i = 0; form[i]; i++) {
        const char *allowed = form[i] == 'x' ? "0123456789abcdef" : form[i] == 'y' ? "89ab" : "";
        if (form[i] == 'x' || form[i] == 'y' ? !text[i] || !strchr(allowed, text[i])
                                             : text[i] != form[i])
            return false;
    }
    text += sizeof form - 1;
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[0] != '0' && strcmp(text + digits, end) == 0;
}

/* --- running them --- */

/* topology NULL: the lock's first. */
static inline void run_redisson(const char *name, const char *topology,
                                void (*script)(struct trial *trial)) {
    const struct lb_lock *lock = registry_lock(name);
    struct plan_lock planned;
    struct lb_err err = {0};
    char why[512];
    if (conform_lacks(lock, topology, why, sizeof why)) skip_for("%s", why);
    if (conform_lock(lock, NULL, &arena, &planned, &err) != 0 ||
        !(place = conform_open(&planned, topology, &err))) {
        fail_msg("%s", err.text);
    }
    struct trial trial = {.lock = &planned, .place = place};
    if (listen_in())
        trial_run(&trial, script);
    else
        snprintf(trial.failure, sizeof trial.failure, "no connections by hand");
    listen_no_more();
    place_close(place);
    arena_done(&arena);
    if (trial.failure[0]) fail_msg("%s", trial.failure);
}

#define REDISSON_TEST_ON(topology, name, lock, script)                                             \
    TEST(name) {                                                                                   \
        run_redisson(lock, topology, script);                                                      \
    }
#define REDISSON_TEST(name, lock, script) REDISSON_TEST_ON("redis", name, lock, script)

#endif
