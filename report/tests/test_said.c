/* test_said: what reports say of small made-up runs and checks. The cases are in report/tests/said; their form:
 *
 *     usual ARRAY PATH=VALUE...   what each element of this array of the result has; before the first case: in all cases
 *     == a promise                a case begins
 *     run PATH=VALUE...           a run.json with these members; check: a check.json. Without the line a case has one run
 *     +ARRAY PATH=VALUE...        one more element of an array: +stages lock=a clients=2
 *     FORMATS: text ... more      each of these formats (commas between; all = full,md,html,json) has these parts in this
 *     FORMATS! text               order; or lacks it. summary: what a page shows of its verdict before a click;
 *                                 states: each lock and its state
 *     at PATH = VALUE             a member of the report as JSON; VALUE may be LOW to HIGH
 *     --                          the same promise once more, with another result
 *
 * A VALUE is JSON, or a word; $900 is a histogram of 900 values (hdr_texts.h). Blanks and ends of lines count as one blank.
 * Every result is also written in every format: no line of a terminal is too long, and nothing is "nan" or "(null)". */
#define _GNU_SOURCE
#include <glob.h>

#include "bench/tests/hdr_texts.h"
#include "report/check/check.h"
#include "report/run/words.h"
#include "report/tests/report_help.h"

#define FOLDER "report/tests/said/"
#define DOCUMENTS_MAX 4

static struct line {
    const char *file;
    int number;
    char *text;
} lines[2000];
static int line_count;

/* A case: its lines, and those of its file's head. */
static struct said { int head, head_end, begin, end; } cases[200];
static int case_count;

/* What the case that runs has made so far. */
static struct {
    const struct line *line;
    json_t *usual, *documents[DOCUMENTS_MAX];
    int document_count;
    bool is_check;
    struct report *report;
    struct check *check;
} now;

#define FAIL(format, ...) fail_msg("%s:%d: " format, now.line->file, now.line->number, __VA_ARGS__)

static const struct {
    const char *name, *text;
} histograms[] = {{"9", HDR_9},     {"10", HDR_10},   {"200", HDR_200},
                  {"500", HDR_500}, {"900", HDR_900}, {"5000", HDR_5000}};

static json_t *word_of(const char *from, size_t len) {
    for (size_t i = 0; *from == '$' && i < sizeof histograms / sizeof *histograms; i++)
        if (strlen(histograms[i].name) == len - 1 &&
            strncmp(histograms[i].name, from + 1, len - 1) == 0)
            return json_string(histograms[i].text);
    return json_stringn(from, len);
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
            value = word_of(from, len);
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

static json_t *new_document(const char *schema) {
    if (now.document_count == DOCUMENTS_MAX) FAIL("more than %d documents", DOCUMENTS_MAX);
    json_t *document = json_pack("{s:s}", "schema", schema);
    return now.documents[now.document_count++] = document;
}

static void begin_anew(void) {
    for (int i = 0; i < now.document_count; i++) json_decref(now.documents[i]);
    report_free(now.report);
    check_free(now.check);
    now.document_count = 0;
    now.report = NULL;
    now.check = NULL;
    now.is_check = false;
}

static void parse_documents(void) {
    struct lb_err err = {0};
    struct run **runs = calloc(DOCUMENTS_MAX, sizeof *runs);
    if (now.document_count == 0) new_document("lockbench.run/2");
    for (int i = 0; i < now.document_count; i++) {
        char *text = json_dumps(now.documents[i], JSON_COMPACT);
        if (now.is_check)
            now.check = check_parse(text, strlen(text), "check.json", &err);
        else
            runs[i] = run_parse(text, strlen(text), "run.json", &err);
        if (err.code) FAIL("%s", err.text);
        free(text);
    }
    if (now.is_check)
        free(runs);
    else
        now.report = report_make(runs, now.document_count, &err);
    if (err.code) FAIL("%s", err.text);
}

static char *rendered(enum report_format format) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    if (!now.check) return render(now.report, format, false);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(report_check_write(now.check, format, false, out, &err), 0);
    fclose(out);
    return text;
}

/* In each format the result is sound. */
static void assert_sound(void) {
    for (int format = 0; format < REPORT_FORMATS; format++) {
        if (now.check && format == REPORT_CSV) continue; /* is for runs */
        char *text = rendered((enum report_format)format), *script = strstr(text, "<script");
        if (script) *script = '\0';
        if (format == REPORT_TABLE || format == REPORT_FULL) assert_lines_fit(text);
        if (strstr(text, "nan") || strstr(text, "(null)"))
            FAIL("not a figure, or nothing: %s", text);
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
        [REPORT_CSV] = "csv",     [REPORT_JSON] = "json", [REPORT_HTML] = "html"};
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
    char *is = json_is_string(value)
                   ? strdup(json_string_value(value))
                   : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6) | JSON_COMPACT);
    bool same = sscanf(wanted, "%lf to %lf", &low, &high) == 2
                    ? json_number_value(value) >= low && json_number_value(value) <= high
                    : is && strcmp(is, wanted) == 0;
    if (!same) FAIL("it is %s in: %s", is ? is : "nothing", text);
    free(is);
    json_decref(root);
    free(text);
}

static void follow(char *text) {
    char *rest = text + strcspn(text, " ");
    bool is_made = now.report || now.check;
    if (*rest) *rest++ = '\0';
    if (strcmp(text, "--") == 0) {
        begin_anew();
    } else if (strcmp(text, "usual") == 0) {
        char *members = rest + strcspn(rest, " ");
        *members++ = '\0';
        put_all(usual_of(rest), members);
    } else if (!is_made && strcmp(text, "run") == 0) {
        put_all(new_document("lockbench.run/2"), rest);
    } else if (!is_made && strcmp(text, "check") == 0) {
        now.is_check = true;
        put_all(new_document("lockbench.check/2"), rest);
    } else if (!is_made && *text == '+') {
        if (now.document_count == 0) new_document("lockbench.run/2");
        json_t *document = now.documents[now.document_count - 1];
        json_t *array = json_object_get(document, text + 1),
               *element = json_deep_copy(usual_of(text + 1));
        if (!array) json_object_set_new(document, text + 1, array = json_array());
        put_all(element, rest);
        json_array_append_new(array, element);
    } else {
        size_t end = strlen(text) - 1;
        if (!is_made) {
            parse_documents();
            assert_sound();
        }
        if (strcmp(text, "at") == 0) {
            expect_at(rest);
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
        char *text = strdup(lines[i].text);
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
    return run_all_tests(NULL, NULL);
}
