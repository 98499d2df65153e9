/* test_said: what reports say of small made-up results. The cases are in report/tests/said; their form:
 *
 *     usual ARRAY PATH=VALUE...   what each element of this array of the result has; before the first case: in all cases
 *     == a promise                a case begins
 *     run PATH=VALUE...           a run.json with these members; check: a check.json. Without such a line a case has one run
 *     base PATH=VALUE...          a run.json with which `compare` begins; new: the one that it is compared with
 *     search PATH=VALUE...        a capacity.json
 *     options WORDS               of `compare`; or of `plan` on all searches. Without options the first search is reported
 *     +ARRAY PATH=VALUE...        one more element of an array: +stages lock=a clients=2
 *     +ARRAY*28x10 lock=a-#       28 elements, ten times; # is the number of each
 *     FORMATS: text ... more      each of these formats (commas between; all = full,md,html,json) has these parts in this
 *     FORMATS! text               order; or lacks it. summary: what a page shows of its verdict before a click;
 *                                 states: each lock and its state
 *     at PATH = VALUE             a member of the report as JSON; VALUE may be LOW to HIGH, or "nothing"
 *     exit = CODE                 of `compare` or `plan`
 *     --                          the same promise once more, with another result
 *
 * A VALUE is JSON, or a word; in it $900 is a histogram of 900 values (hdr_texts.h), $evil a text that no format may pass on
 * as it is. Blanks and ends of lines count as one blank.
 * Every result is also written in every format, and must be sound there (sound_help.h). */
#define _GNU_SOURCE
#include <glob.h>
#include <sys/stat.h>

#include "bench/tests/hdr_texts.h"
#include "report/run/words.h"
#include "report/tests/report_help.h"
#include "report/tests/sound_help.h"
#include "results/format/capacity_read.h"

#define FOLDER "report/tests/said/"
#define DOCUMENTS_MAX 4

static struct line {
    const char *file;
    int number;
    char *text;
} lines[3000];
static int line_count;

/* A case: its lines, and those of its file's head. */
static struct said { int head, head_end, begin, end; } cases[200];
static int case_count;

/* What is made of the documents. The program itself reads those of the last two, as files. */
enum kind { OF_RUNS, OF_CHECK, OF_COMPARISON, OF_SEARCHES };

static const struct {
    const char *line, *schema;
    enum kind kind;
} openings[] = {{"run", RUN_SCHEMA, OF_RUNS},
                {"check", CHECK_SCHEMA, OF_CHECK},
                {"base", RUN_SCHEMA, OF_COMPARISON},
                {"new", RUN_SCHEMA, OF_COMPARISON},
                {"search", CAPACITY_SCHEMA, OF_SEARCHES}};
#define OPENINGS (sizeof openings / sizeof *openings)

/* What the case that runs has made so far. */
static struct now {
    const struct line *line;
    json_t *usual, *documents[DOCUMENTS_MAX], *last; /* last: of documents; NULL: none yet */
    int document_count;
    enum kind kind;
    bool is_made;
    struct report *report;
    struct check *check;
    char *texts[REPORT_FORMATS]; /* of the formats that were asked for; NULL = not yet, or none */
    char options[200];
    int exit_code;
} now;

#define FAIL(format, ...) fail_msg("%s:%d: " format, now.line->file, now.line->number, __VA_ARGS__)

/* What stands for these words, as JSON; the longest first. */
static const struct {
    const char *word, *json;
} fills[] = {
    {"$5000", "\"" HDR_5000 "\""},
    {"$900", "\"" HDR_900 "\""},
    {"$500", "\"" HDR_500 "\""},
    {"$200", "\"" HDR_200 "\""},
    {"$10", "\"" HDR_10 "\""},
    {"$9", "\"" HDR_9 "\""},
    {"$evil",
     "\"\\u001b]0;owned\\u0007<img src=x onerror=alert(1)></script><script>alert(2)</script>"
     "|`*\\\"'&\\u009b31m=cmd()\\u202e\""},
};
#define FILLS (sizeof fills / sizeof *fills)

/* The line with what stands for its words; malloced. */
static char *filled(const char *line) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    while (*line) {
        size_t i = 0;
        while (i < FILLS && strncmp(line, fills[i].word, strlen(fills[i].word)) != 0) i++;
        if (i == FILLS) {
            fputc(*line++, out);
        } else {
            fputs(fills[i].json, out);
            line += strlen(fills[i].word);
        }
    }
    fclose(out);
    return text;
}

static void put(json_t *object, char *path, json_t *value) {
    for (char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        *dot = '\0';
        json_t *inner = json_object_get(object, path);
        if (!json_is_object(inner)) json_object_set_new(object, path, inner = json_object());
        object = inner;
    }
    json_object_set_new(object, path, value);
}

/* Sets the members "PATH=VALUE ..."; changes the text. */
static void put_all(json_t *object, char *text) {
    while (*(text += strspn(text, " "))) {
        char *from = strchr(text, '=');
        if (!from) FAIL("no '=' in: %s", text);
        *from++ = '\0';
        json_error_t at;
        json_t *value = json_loads(from, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &at);
        size_t len = value ? (size_t)at.position : strcspn(from, " ");
        if (!value || (from[len] && from[len] != ' ')) {
            json_decref(value);
            len = strcspn(from, " ");
            value = json_stringn(from, len);
        }
        put(object, text, value);
        text = from + len;
    }
}

static json_t *usual_of(const char *array) {
    json_t *usual = json_object_get(now.usual, array);
    if (!usual) json_object_set_new(now.usual, array, usual = json_object());
    return usual;
}

static void add_document(size_t opening, char *members) {
    if (now.document_count == DOCUMENTS_MAX) FAIL("more than %d documents", DOCUMENTS_MAX);
    now.last = json_pack("{s:s}", "schema", openings[opening].schema);
    now.documents[now.document_count++] = now.last;
    now.kind = openings[opening].kind;
    put_all(now.last, members);
}

/* "ARRAY", or "ARRAY*28x10" */
static void add_elements(char *head, const char *members) {
    int count = 1, rounds = 1;
    char *times = strchr(head, '*'), text[8192];
    if (times) {
        *times = '\0';
        sscanf(times + 1, "%dx%d", &count, &rounds);
    }
    if (!now.last) add_document(0, (char[]){""});
    json_t *array = json_object_get(now.last, head);
    if (!array) json_object_set_new(now.last, head, array = json_array());
    for (int i = 0; i < count * rounds; i++) {
        json_t *element = json_deep_copy(usual_of(head));
        char *to = text;
        for (const char *from = members; *from; from++)
            to += times && *from == '#' ? sprintf(to, "%d", i % count) : sprintf(to, "%c", *from);
        *to = '\0';
        put_all(element, text);
        json_array_append_new(array, element);
    }
}

static void begin_anew(void) {
    for (int i = 0; i < now.document_count; i++) json_decref(now.documents[i]);
    for (int i = 0; i < REPORT_FORMATS; i++) free(now.texts[i]);
    report_free(now.report);
    check_free(now.check);
    now = (struct now){.line = now.line, .usual = now.usual};
}

/* Each in a folder of its own, without those of the result before. */
static void store_documents(void) {
    for (int i = 0; i < DOCUMENTS_MAX; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s/%d", folder, i);
        mkdir(path, 0777);
        strcat(path, now.kind == OF_SEARCHES ? "/" CAPACITY_FILE : "/run.json");
        unlink(path);
        if (i < now.document_count)
            assert_int_equal(json_dump_file(now.documents[i], path, JSON_COMPACT), 0);
    }
}

static void parse_documents(void) {
    struct lb_err err = {0};
    struct run *run = NULL;
    for (int i = 0; i < now.document_count; i++) {
        char *text = json_dumps(now.documents[i], JSON_COMPACT);
        if (now.kind == OF_CHECK)
            now.check = check_parse(text, strlen(text), "check.json", &err);
        else
            run = run_parse(text, strlen(text), "run.json", &err);
        if (err.code) FAIL("%s", err.text);
        free(text);
    }
    if (run) now.report = report_make(run, &err);
    if (err.code) FAIL("%s", err.text);
}

static char *said_by_program(enum report_format format) {
    static const char *const flags[][REPORT_FORMATS] = {
        [OF_COMPARISON] = {[REPORT_TABLE] = "",
                           [REPORT_FULL] = "--full",
                           [REPORT_MD] = "--md",
                           [REPORT_JSON] = "--json"},
        [OF_SEARCHES] = {[REPORT_TABLE] = "", [REPORT_MD] = "--md", [REPORT_JSON] = "--json"}};
    const char *flag = flags[now.kind][format], *command = "compare $D/0 -- $D/1";
    if (now.kind == OF_SEARCHES) command = *now.options ? "plan $D" : "report $D/0";
    if (!flag) return NULL;
    char words[300];
    snprintf(words, sizeof words, "%s %s", now.options, flag);
    now.exit_code = run_lockbench(command, words);
    return content_of(now.exit_code == LB_EXIT_USAGE ? "err" : "out");
}

static char *render_anew(enum report_format format) {
    if (now.kind >= OF_COMPARISON) return said_by_program(format);
    if (!now.check) return render(now.report, format, false);
    return format == REPORT_HTML ? NULL : render_check(now.check, format);
}

/* Malloced; NULL: there is no such format of these documents. */
static char *rendered(enum report_format format) {
    if (!now.texts[format]) now.texts[format] = render_anew(format);
    return now.texts[format] ? strdup(now.texts[format]) : NULL;
}

/* In each format the result is sound. A run's page has its data in a script, too. */
static void assert_sound(void) {
    const char *code = now.kind == OF_RUNS ? asset_bundle : "";
    for (int format = 0; format < REPORT_FORMATS; format++) {
        char *text = rendered((enum report_format)format);
        if (text && now.exit_code != LB_EXIT_USAGE)
            assert_sound_text(text, (enum report_format)format, code, 2);
        free(text);
    }
}

/* What a page shows of its verdict before a click; in place. */
static char *summary(char *page) {
    char *from = strstr(page, "<details class=\"verdict"), *to = strstr(from, "</summary>");
    *to = '\0';
    memmove(page, from, strlen(from) + 1);
    return page;
}

/* "a clean, b violated" */
static char *states(void) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < now.report->lock_count; i++)
        fprintf(out, "%s%s %s", i ? ", " : "", now.report->locks[i].label,
                words_state(now.report->locks[i].state));
    fclose(out);
    return text;
}

static char *said_in(const char *name) {
    static const char *const names[] = {
        [REPORT_TABLE] = "table", [REPORT_FULL] = "full", [REPORT_MD] = "md",
        [REPORT_JSON] = "json",   [REPORT_HTML] = "html", [REPORT_QUIET] = "quiet"};
    if (strcmp(name, "summary") == 0) return one_line(summary(rendered(REPORT_HTML)));
    if (strcmp(name, "states") == 0) return states();
    for (int i = 0; i < REPORT_FORMATS; i++)
        if (strcmp(name, names[i]) == 0) return one_line(rendered((enum report_format)i));
    FAIL("no format is called '%s'", name);
    return NULL;
}

static void expect(char *formats, const char *wanted, bool there) {
    char all[] = "full,md,html,json";
    if (strcmp(formats, "all") == 0) formats = all;
    for (char *format = strtok(formats, ","); format; format = strtok(NULL, ",")) {
        char *text = said_in(format), *at = text, *parts = strdup(wanted);
        for (char *part = parts, *next; at && part; part = next) {
            next = strstr(part, " ... ");
            if (next) {
                *next = '\0';
                next += strlen(" ... ");
            }
            at = strstr(at, part);
            if (at) at += strlen(part);
        }
        if ((at != NULL) != there)
            FAIL("%s %s '%s': %.20000s", format, there ? "lacks" : "has", wanted, text);
        free(parts);
        free(text);
    }
}

/* "PATH = VALUE" */
static void expect_at(char *path) {
    char *wanted = strstr(path, " = "), *text = rendered(REPORT_JSON);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *value = root;
    double low, high;
    if (!wanted) FAIL("no ' = ' in: %s", path);
    *wanted = '\0';
    wanted += strlen(" = ");
    for (char *step = strtok(path, "."); step; step = strtok(NULL, "."))
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(step))
                                     : json_object_get(value, step);
    char *is = !value ? strdup("nothing")
               : json_is_string(value)
                   ? strdup(json_string_value(value))
                   : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6) | JSON_COMPACT);
    bool same = sscanf(wanted, "%lf to %lf", &low, &high) == 2
                    ? json_is_number(value) && json_number_value(value) >= low &&
                          json_number_value(value) <= high
                    : strcmp(is, wanted) == 0;
    if (!same) FAIL("it is %s in: %s", is, text);
    free(is);
    json_decref(root);
    free(text);
}

static void make(void) {
    if (!now.last) add_document(0, (char[]){""});
    if (now.kind >= OF_COMPARISON)
        store_documents();
    else
        parse_documents();
    assert_sound();
    now.is_made = true;
}

static void follow(char *text) {
    char *rest = text + strcspn(text, " ");
    size_t opening = 0;
    if (*rest) *rest++ = '\0';
    while (opening < OPENINGS && strcmp(text, openings[opening].line) != 0) opening++;
    if (strcmp(text, "--") == 0) {
        if (!now.is_made) FAIL("nothing is told of what stands above%s", "");
        begin_anew();
    } else if (strcmp(text, "usual") == 0) {
        char *members = rest + strcspn(rest, " ");
        *members++ = '\0';
        put_all(usual_of(rest), members);
    } else if (!now.is_made && opening < OPENINGS) {
        add_document(opening, rest);
    } else if (!now.is_made && strcmp(text, "options") == 0) {
        snprintf(now.options, sizeof now.options, "%s", rest);
    } else if (!now.is_made && *text == '+') {
        add_elements(text + 1, rest);
    } else {
        size_t end = strlen(text) - 1;
        if (!*rest) FAIL("nothing stands behind '%s'", text);
        if (!now.is_made) make();
        if (strcmp(text, "at") == 0) {
            expect_at(rest);
        } else if (strcmp(text, "exit") == 0) {
            if (*rest != '=' || now.exit_code != atoi(rest + 1))
                FAIL("the exit code is %d", now.exit_code);
        } else if (text[end] == ':' || text[end] == '!') {
            bool there = text[end] == ':';
            text[end] = '\0';
            expect(text, rest, there);
        } else {
            FAIL("'%s' is no line of a case", text);
        }
    }
}

static void play(int from, int to) {
    for (int i = from; i < to; i++) {
        char *text = filled(lines[i].text);
        now.line = &lines[i];
        follow(text);
        free(text);
    }
}

static void play_case(void **state) {
    const struct said *said = *state;
    begin_anew(); /* where the last one failed */
    now.usual = json_object();
    play(said->head, said->head_end);
    play(said->begin, said->end);
    if (!now.is_made) FAIL("nothing is told of what stands above%s", "");
    begin_anew();
    json_decref(now.usual);
}

static void load(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    int head = line_count, head_end = -1, number = 0;
    assert_non_null(file);
    for (ssize_t len; (len = getline(&text, &size, file)) > 0;) {
        number++;
        text[strcspn(text, "\n")] = '\0';
        if (!*text || *text == '#') continue;
        if (strncmp(text, "== ", 3) == 0) {
            assert_true(case_count < 200);
            if (head_end < 0) head_end = line_count;
            if (case_count > 0) cases[case_count - 1].end = line_count;
            cases[case_count] =
                (struct said){.head = head, .head_end = head_end, .begin = line_count};
            unit_tests[unit_test_count++] =
                (struct CMUnitTest){strdup(text + 3), play_case, NULL, NULL, &cases[case_count++]};
            continue;
        }
        assert_true(line_count < (int)(sizeof lines / sizeof *lines));
        lines[line_count++] = (struct line){strdup(path), number, strdup(text)};
    }
    if (case_count > 0) cases[case_count - 1].end = line_count;
    free(text);
    fclose(file);
}

int main(void) {
    glob_t files;
    if (glob(FOLDER "*.said", 0, NULL, &files) != 0) return 1;
    for (size_t i = 0; i < files.gl_pathc; i++) load(files.gl_pathv[i]);
    globfree(&files);
    return run_all_tests(make_folder, remove_folder);
}
