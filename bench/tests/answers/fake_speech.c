/* fake_speech: as much of RESP, memcached's meta commands and NATS's client protocol as the locks
 * redis-setnx, memcached-add and nats-kv need. It decides nothing about grants. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tests/answers/fake_inside.h"

/* The length of the line that text begins with, its end included; 0 = it is not all there. */
static size_t line_length(const char *text, size_t len) {
    const char *end = memmem(text, len, "\r\n", 2);
    return end ? (size_t)(end - text) + 2 : 0;
}

static size_t write_text(char *out, const char *text) {
    size_t len = strlen(text);
    memcpy(out, text, len);
    return len;
}

static void copy_word(char *into, size_t size, const char *word, size_t len) {
    if (len >= size) len = size - 1;
    memcpy(into, word, len);
    into[len] = '\0';
}

/* ---- RESP: arrays of bulk strings ---- */

/* Reads an array's words; at most four are kept. The bytes of the array; 0 = not all there. */
static size_t resp_words(const char *text, size_t len, const char **words, size_t *lengths,
                         int *ret_count) {
    size_t at = line_length(text, len);
    if (at == 0) return 0;
    int count = atoi(text + 1);
    for (int i = 0; i < count; i++) {
        size_t head = line_length(text + at, len - at);
        if (head == 0) return 0;
        size_t word = strtoul(text + at + 1, NULL, 10);
        if (len - at < head + word + 2) return 0;
        if (i < 4) {
            words[i] = text + at + head;
            lengths[i] = word;
        }
        at += head + word + 2;
    }
    *ret_count = count;
    return at;
}

static size_t resp_parse(const char *text, size_t len, struct fake_command *ret_command) {
    const char *words[4] = {"", "", "", ""};
    size_t lengths[4] = {0};
    int count = 0;
    size_t used = resp_words(text, len, words, lengths, &count);
    if (used == 0) return 0;
    copy_word(ret_command->verb, sizeof ret_command->verb, words[0], lengths[0]);
    const char *verb = ret_command->verb;
    int key = 0;
    ret_command->kind = FAKE_OTHER;
    if (strcmp(verb, "PING") == 0) ret_command->kind = FAKE_PING;
    if (strcmp(verb, "SET") == 0) {
        ret_command->kind = FAKE_ACQUIRE;
        key = 1;
    } else if (strncmp(verb, "EVAL", 4) == 0) {
        ret_command->kind = FAKE_RELEASE;
        key = 3;
    }
    if (key) copy_word(ret_command->key, sizeof ret_command->key, words[key], lengths[key]);
    return used;
}

static size_t resp_answer(const struct fake_command *command, enum fake_outcome outcome,
                          uint64_t number, char *out) {
    static const char *const answers[] = {
        [FAKE_GRANTED] = "+OK\r\n",
        [FAKE_BUSY] = "$-1\r\n",
        [FAKE_RELEASED] = ":1\r\n",
        [FAKE_LOST] = ":0\r\n",
    };
    static const char facts[] = "redis_version:7.0.0\r\n";
    (void)number;
    if (outcome != FAKE_DONE) return write_text(out, answers[outcome]);
    if (command->kind == FAKE_PING) return write_text(out, "+PONG\r\n");
    if (strcmp(command->verb, "INFO") == 0)
        return (size_t)sprintf(out, "$%zu\r\n%s\r\n", sizeof facts - 1, facts);
    if (strcmp(command->verb, "CONFIG") == 0) return write_text(out, "*0\r\n");
    if (strcmp(command->verb, "SCAN") == 0) return write_text(out, "*2\r\n$1\r\n0\r\n*0\r\n");
    return write_text(out, "+OK\r\n");
}

/* ---- memcached: meta commands ---- */

static size_t memcached_parse(const char *text, size_t len, struct fake_command *ret_command) {
    size_t used = line_length(text, len);
    if (used == 0) return 0;
    copy_word(ret_command->verb, sizeof ret_command->verb, text, strcspn(text, " \r"));
    const char *key = text + strcspn(text, " \r");
    key += *key == ' ';
    copy_word(ret_command->key, sizeof ret_command->key, key, strcspn(key, " \r"));
    ret_command->kind = FAKE_OTHER;
    if (strcmp(ret_command->verb, "mn") == 0) ret_command->kind = FAKE_PING;
    if (strcmp(ret_command->verb, "md") == 0) ret_command->kind = FAKE_RELEASE;
    if (strcmp(ret_command->verb, "ms") != 0) return used;
    ret_command->kind = FAKE_ACQUIRE;
    size_t value = strtoul(key + strcspn(key, " \r"), NULL, 10) + 2;
    return len - used < value ? 0 : used + value;
}

static size_t memcached_answer(const struct fake_command *command, enum fake_outcome outcome,
                               uint64_t number, char *out) {
    if (outcome == FAKE_GRANTED)
        return (size_t)sprintf(out, "HD c%llu\r\n", (unsigned long long)number);
    if (outcome == FAKE_BUSY) return write_text(out, "NS\r\n");
    if (outcome == FAKE_RELEASED) return write_text(out, "HD\r\n");
    if (outcome == FAKE_LOST) return write_text(out, "NF\r\n");
    if (command->kind == FAKE_PING) return write_text(out, "MN\r\n");
    if (strcmp(command->verb, "version") == 0) return write_text(out, "VERSION 1.6.0\r\n");
    return write_text(out, strcmp(command->verb, "mg") == 0 ? "EN\r\n" : "END\r\n");
}

/* ---- NATS: lines, and messages with headers ---- */

/* "PUB subject reply size" or "HPUB subject reply header-size size", with what follows it. */
static size_t nats_publish(const char *text, size_t len, size_t head,
                           struct fake_command *ret_command) {
    char line[400], *words[5] = {0}, *rest = line;
    int count = 0;
    copy_word(line, sizeof line, text, head - 2);
    for (char *word; count < 5 && (word = strsep(&rest, " "));) words[count++] = word;
    if (count < 4) return head;
    size_t body = strtoul(words[count - 1], NULL, 10);
    if (len - head < body + 2) return 0;
    snprintf(ret_command->key, sizeof ret_command->key, "%s", words[1]);
    snprintf(ret_command->reply_to, sizeof ret_command->reply_to, "%s", words[2]);
    ret_command->kind = FAKE_OTHER;
    if (strncmp(words[1], "$KV.", 4) == 0) {
        bool deletes = memmem(text + head, body, "KV-Operation: DEL", 17) != NULL;
        ret_command->kind = deletes ? FAKE_RELEASE : FAKE_ACQUIRE;
    } else if (strstr(words[1], ".DIRECT.GET.")) {
        ret_command->kind = FAKE_LOOK;
    }
    return head + body + 2;
}

static size_t nats_parse(const char *text, size_t len, struct fake_command *ret_command) {
    size_t head = line_length(text, len);
    if (head == 0) return 0;
    ret_command->kind = FAKE_SILENT;
    if (strncmp(text, "PING", 4) == 0) ret_command->kind = FAKE_PING;
    if (strncmp(text, "PUB ", 4) != 0 && strncmp(text, "HPUB ", 5) != 0) return head;
    return nats_publish(text, len, head, ret_command);
}

static size_t nats_answer(const struct fake_command *command, enum fake_outcome outcome,
                          uint64_t number, char *out) {
    static const char missing[] = "NATS/1.0 404 Message Not Found\r\n\r\n";
    static const char refused[] =
        "{\"error\":{\"code\":400,\"err_code\":10071,\"description\":\"wrong last sequence\"}}";
    char body[200];
    if (command->kind == FAKE_PING) return write_text(out, "PONG\r\n");
    if (command->kind == FAKE_LOOK) {
        return (size_t)sprintf(out, "HMSG %s 1 %zu %zu\r\n%s\r\n", command->reply_to,
                               sizeof missing - 1, sizeof missing - 1, missing);
    }
    if (outcome == FAKE_BUSY || outcome == FAKE_LOST)
        snprintf(body, sizeof body, "%s", refused);
    else
        snprintf(body, sizeof body, "{\"stream\":\"KV\",\"seq\":%llu}", (unsigned long long)number);
    return (size_t)sprintf(out, "MSG %s 1 %zu\r\n%s\r\n", command->reply_to, strlen(body), body);
}

const struct fake_speech fake_speeches[FAKE_PROTOCOLS] = {
    [FAKE_RESP] = {.parse = resp_parse, .answer = resp_answer},
    [FAKE_MEMCACHED] = {.parse = memcached_parse, .answer = memcached_answer},
    [FAKE_NATS] = {.greeting =
                       "INFO {\"version\":\"2.9.0\",\"jetstream\":true,\"headers\":true}\r\n",
                   .parse = nats_parse,
                   .answer = nats_answer},
};
