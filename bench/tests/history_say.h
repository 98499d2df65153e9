/* history_say: histories told in words, and files of them (bench/tests/histories). Header only, since each test is one
 * program.
 *
 * A history is a list of steps with ; between. Its times are in tell_unit_ns.
 *   CLIENT[/KEY] got ASKED FROM [LEASE_END]; held, reads ASKED FROM TO: got it, as a reader, and released it
 *   CLIENT[/KEY] tried ASKED ENDED busy|timeout|unknown
 *   CLIENT[/KEY] released|lost|unknown TO [ANSWERED]; learned TO: it knew of the loss, and did not call release
 *   CLIENT renewed AT LEASE_END
 *   FIRST+COUNT stalled|cut FROM TO, or killed AT: so many clients
 *   mutex, reentrant, rwlock, semaphore PERMITS: what the lock is, before all others; mutex if none is told
 *   cuts NS: how long a session lives after a cut; error NS: of the hosts' clocks; partial: the end is missing;
 *   dropped RECORDS
 * Words behind the times: token N, depth N, permits N, shared, over, old, refused (OPLOG_OVER, _OLD_TOKEN,
 * _REFUSED_TOKEN).
 *
 * A file has # comments; == a title; `with` steps that come before those of each history below the same title; and the
 * histories: steps on one line or several, then = and the figures that it must have, with | between. */
#ifndef BENCH_TESTS_HISTORY_SAY_H
#define BENCH_TESTS_HISTORY_SAY_H

#include "bench/oplog/judge.h"
#include "bench/tests/unit.h"

#define CLIENTS 8
#define SESSION 1000

static struct book book;
static struct lb_err err;
static double tell_unit_ns = 1;
static bool tell_partial;
static uint64_t tell_dropped;

static inline void begin_mutex(void) {
    struct oplog_rules rules = {
        .model = OPLOG_MUTEX, .bound = 1, .clients = CLIENTS, .session_ns = SESSION, .cut_ns = 0};
    err.code = 0;
    assert_int_equal(book_begin(&book, &rules, &err), 0);
    tell_partial = false;
    tell_dropped = 0;
}

static inline void add(struct oplog_record record) {
    assert_int_equal(book_add(&book, &record, 1, &err), 0);
}

/* What the words behind the times say of the record. */
static inline void tell_options(struct oplog_record *record, char *rest) {
    static const char *const flags[] = {"shared", "uncalled", "learned", "over", "old", "refused"};
    for (char *word; (word = strsep(&rest, " "));) {
        uint64_t number = rest ? strtoull(rest, NULL, 10) : 0;
        int flag = 0, outcome = 0;
        while (flag < 6 && strcmp(word, flags[flag]) != 0) flag++;
        while (outcome < OPLOG_OUTCOMES &&
               strcmp(word, oplog_outcome_name((enum oplog_outcome)outcome)) != 0)
            outcome++;
        if (flag < 6)
            record->flags |= (uint8_t)(1 << flag);
        else if (outcome < OPLOG_OUTCOMES)
            record->outcome = (uint8_t)outcome;
        else if (strcmp(word, "token") == 0)
            record->token = number;
        else if (strcmp(word, "depth") == 0)
            record->depth = (uint8_t)number;
        else if (strcmp(word, "permits") == 0)
            record->permits = (uint32_t)number;
        else if (*word < '0' || *word > '9') /* the number of the word before */
            fail_msg("what is '%s'?", word);
    }
}

static inline void tell_client(char *step) {
    static const char *const mishaps[] = {"stalled", "cut", "killed"};
    static const char known[] =
        " learned renewed reads held got tried lost unknown released stalled cut killed ";
    char told[30];
    int64_t at_ns[3] = {0};
    char *rest = step, *who = strsep(&rest, " "), *verb = strsep(&rest, " ");
    int times = 0;
    snprintf(told, sizeof told, " %s ", verb ? verb : "?");
    if (!strstr(known, told)) fail_msg("what is '%s'?", verb);
    for (; rest && times < 3 && (*rest == 'n' || (*rest >= '0' && *rest <= '9')); times++) {
        char *word = strsep(&rest, " ");
        at_ns[times] = *word == 'n' ? LB_NEVER : (int64_t)(atof(word) * tell_unit_ns);
    }
    struct oplog_record record = {.kind = OPLOG_RELEASE,
                                  .client = (uint32_t)atoi(who),
                                  .key = strpbrk(who, "/+") ? (uint32_t)atoi(strpbrk(who, "/+") + 1)
                                                            : 0,
                                  .begin_ns = at_ns[0],
                                  .end_ns = times > 1 ? at_ns[1] : at_ns[0],
                                  .lease_end_ns = LB_NEVER};
    bool reads = strcmp(verb, "reads") == 0, holds = reads || strcmp(verb, "held") == 0;
    if (strcmp(verb, "learned") == 0) {
        record.outcome = OPLOG_LOST;
        record.flags = OPLOG_LEARNED;
    } else if (strcmp(verb, "renewed") == 0) {
        record.kind = OPLOG_RENEWAL;
        record.lease_end_ns = at_ns[1];
        record.end_ns = at_ns[0];
    } else if (holds || strcmp(verb, "got") == 0 || strcmp(verb, "tried") == 0) {
        record.kind = OPLOG_ACQUIRE;
        record.flags = reads ? OPLOG_SHARED : 0;
        if (times == 3 && !holds) record.lease_end_ns = at_ns[2];
    } else if (strcmp(verb, "lost") == 0 || strcmp(verb, "unknown") == 0) {
        record.outcome = *verb == 'l' ? OPLOG_LOST : OPLOG_UNKNOWN;
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(verb, mishaps[i]) == 0) record.kind = (uint8_t)(OPLOG_STALL + i);
    }
    if (rest) tell_options(&record, rest);
    add(record);
    record.kind = OPLOG_RELEASE;
    record.begin_ns = record.end_ns = at_ns[2];
    if (holds && at_ns[2]) add(record);
}

static inline void tell_setting(const char *step) {
    static const char *const models[] = {"mutex", "reentrant", "rwlock", "semaphore"};
    char name[20];
    long number = 0;
    assert_true(sscanf(step, "%19s %ld", name, &number) >= 1);
    for (int i = 0; i < OPLOG_MODELS; i++) {
        if (strcmp(name, models[i]) != 0) continue;
        book.rules.model = i;
        book.rules.bound = number ? (uint32_t)number : 1;
        return;
    }
    if (strcmp(name, "partial") == 0)
        tell_partial = true;
    else if (strcmp(name, "dropped") == 0)
        tell_dropped = (uint64_t)number;
    else if (strcmp(name, "error") == 0)
        book.rules.error_ns = number;
    else if (strcmp(name, "cuts") == 0)
        book.rules.cut_ns = number ? number : LB_NEVER;
    else
        fail_msg("what is '%s'?", step);
}

/* own: takes the steps that only its test knows, and returns true; may be NULL. */
static inline void tell(const char *story, bool (*own)(char *step)) {
    char text[1500], *rest = text;
    assert_true((size_t)snprintf(text, sizeof text, "%s", story) < sizeof text);
    for (char *step; (step = strsep(&rest, ";"));) {
        step += strspn(step, " ");
        for (size_t end = strlen(step); end > 0 && step[end - 1] == ' ';) step[--end] = '\0';
        if (!*step || (own && own(step))) continue;
        if (*step >= '0' && *step <= '9')
            tell_client(step);
        else
            tell_setting(step);
    }
}

/* Each of the figures, "lost 1 | trials 100,250", is one of all, "|trials 100,250|lost 1|...". */
static inline void assert_figures(const char *all, const char *figures) {
    char wanted[100], copy[300], *rest = copy;
    snprintf(copy, sizeof copy, "%s", figures);
    for (char *one; (one = strsep(&rest, "|"));) {
        char name[20], value[60];
        assert_int_equal(sscanf(one, "%19s %59s", name, value), 2);
        snprintf(wanted, sizeof wanted, "|%s %s|", name, value);
        if (!strstr(all, wanted)) fail_msg("not '%s' in %s", wanted, all);
    }
}

/* Has each history of a file checked. */
static inline void check_file(const char *name,
                              void (*check)(const char *story, const char *figures)) {
    char path[100], line[400], with[sizeof line] = "", story[1500] = "";
    snprintf(path, sizeof path, "bench/tests/histories/%s.txt", name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    int checked = 0;
    while (fgets(line, sizeof line, file)) {
        assert_non_null(strchr(line, '\n'));
        line[strcspn(line, "\n")] = '\0';
        /* a history ends with its figures, before another one begins */
        if (strncmp(line, "==", 2) == 0 || strncmp(line, "with ", 5) == 0) assert_false(*story);
        char *figures = strncmp(line, "==", 2) == 0 ? NULL : strchr(line, '=');
        if (strncmp(line, "== ", 3) == 0) {
            print_message("%s\n", line);
            with[0] = '\0';
        } else if (strncmp(line, "with ", 5) == 0) {
            snprintf(with, sizeof with, "%s;", line + 5);
        } else if (*line && *line != '#') {
            size_t used = strlen(story);
            if (figures) *figures++ = '\0';
            snprintf(story + used, sizeof story - used, "%s%s;", used ? "" : with, line);
            if (!figures) continue;
            print_message("%s\n", story);
            check(story, figures);
            checked++;
            story[0] = '\0';
        }
    }
    fclose(file);
    assert_false(*story);
    assert_true(checked > 10);
}

#endif
