/* tree: see tree.h. */
#define _GNU_SOURCE
#include "results/format/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT_MAX 9007199254740992.0 /* 2^53: beyond it a double is no count */
/* Times are also sums over clients: 2,000,000 clients have 1.7e20 ns in the longest window, a day. */
#define NS_MAX 1e21
int tree_bad(struct tree_place *place, const char *path, const char *what) {
    return err_set(place->err, LB_EXIT_USAGE, "%s: %s%s%s %s", place->file, place->where,
                   *path ? "." : "", path, what);
}

int tree_bad_word(struct tree_place *place, const char *path, const char *word) {
    if (!word) return tree_bad(place, path, "is missing");
    return err_set(place->err, LB_EXIT_USAGE, "%s: %s.%s is \"%.60s\", which is not known here",
                   place->file, place->where, path, word);
}

json_t *tree_at(const json_t *object, const char *path) {
    char part[64];
    for (const char *dot; object && (dot = strchr(path, '.')); path = dot + 1) {
        size_t length = (size_t)(dot - path);
        if (length >= sizeof part) return NULL;
        memcpy(part, path, length);
        part[length] = '\0';
        object = json_object_get(object, part);
    }
    json_t *value = json_object_get(object, path);
    return json_is_null(value) ? NULL : value;
}

static int read_number(struct tree_place *place, const json_t *object, const char *path,
                       double least, double most, double *ret_figure) {
    const json_t *value = tree_at(object, path);
    *ret_figure = NAN;
    if (!value) return 0;
    if (!json_is_number(value)) return tree_bad(place, path, "is not a number");
    double figure = json_number_value(value);
    if (!isfinite(figure) || figure < least)
        return tree_bad(place, path, "is negative or not finite");
    if (figure > most) return tree_bad(place, path, "is absurdly large");
    *ret_figure = figure;
    return 0;
}

static int read_figure(struct tree_place *place, const json_t *object, const char *path,
                       double *ret_figure) {
    return read_number(place, object, path, 0, COUNT_MAX, ret_figure);
}

/* A number in the place of a text ("keys": 1) is replaced by its text in the tree, which owns the
 * text. */
static int read_text(struct tree_place *place, json_t *object, const char *path,
                     const char **ret_text) {
    json_t *value = tree_at(object, path);
    *ret_text = NULL;
    if (!value) return 0;
    if (json_is_number(value) && !strchr(path, '.')) {
        char text[40];
        snprintf(text, sizeof text, "%.15g", json_number_value(value));
        if (json_object_set_new(object, path, json_string(text))) {
            return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
        }
        value = json_object_get(object, path);
    }
    if (!json_is_string(value)) return tree_bad(place, path, "is not a text");
    *ret_text = json_string_value(value);
    return 0;
}

const char *tree_word(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static int read_flag(struct tree_place *place, const json_t *object, const char *path,
                     bool *ret_flag) {
    const json_t *value = tree_at(object, path);
    *ret_flag = false;
    if (!value) return 0;
    if (!json_is_boolean(value)) return tree_bad(place, path, "is not true or false");
    *ret_flag = json_is_true(value);
    return 0;
}

static int read_branch(struct tree_place *place, const json_t *object, const char *path,
                       json_type type, const json_t **ret_branch) {
    const json_t *value = tree_at(object, path);
    *ret_branch = NULL;
    if (value && json_typeof(value) != type) {
        return tree_bad(place, path, type == JSON_ARRAY ? "is not an array" : "is not an object");
    }
    *ret_branch = value;
    return 0;
}

/* An array of numbers only, none of them negative, so that the code that draws them need not
 * check. */
static int read_numbers(struct tree_place *place, const json_t *object, const char *path,
                        const json_t **ret_array) {
    if (read_branch(place, object, path, JSON_ARRAY, ret_array)) return -1;
    for (size_t i = 0; i < json_array_size(*ret_array); i++) {
        const json_t *item = json_array_get(*ret_array, i);
        if (!json_is_number(item) || json_number_value(item) < 0)
            return tree_bad(place, path, "has a bad number");
    }
    return 0;
}

static int read_objects(struct tree_place *place, const json_t *object, const char *path,
                        size_t most, const json_t **ret_array) {
    if (read_branch(place, object, path, JSON_ARRAY, ret_array)) return -1;
    if (most > 0 && json_array_size(*ret_array) > most)
        return err_set(place->err, LB_EXIT_USAGE,
                       "%s: %s.%s has %zu elements; at most %zu can be read", place->file,
                       place->where, path, json_array_size(*ret_array), most);
    for (size_t i = 0; i < json_array_size(*ret_array); i++) {
        if (json_is_object(json_array_get(*ret_array, i))) continue;
        char element[64];
        snprintf(element, sizeof element, "%.40s[%zu]", path, i);
        return tree_bad(place, element, "is not an object");
    }
    return 0;
}

static int read_figure_or_never(struct tree_place *place, const json_t *object, const char *path,
                                double *ret_figure) {
    const char *text = json_string_value(tree_at(object, path));
    if (!text || strcmp(text, RESULT_NEVER) != 0)
        return read_figure(place, object, path, ret_figure);
    *ret_figure = INFINITY;
    return 0;
}

/* true is 1 and false is 0, for a member that must also say "not known". */
static int read_yes_no(struct tree_place *place, const json_t *object, const char *path,
                       double *ret_figure) {
    bool flag;
    *ret_figure = NAN;
    if (!tree_at(object, path)) return 0;
    if (read_flag(place, object, path, &flag)) return -1;
    *ret_figure = flag;
    return 0;
}

/* True if a text is one of the words, which blanks separate. */
static bool is_one_of(const char *words, const char *text) {
    size_t length = strlen(text);
    for (const char *word = words; *word; word += strspn(word, " ")) {
        size_t end = strcspn(word, " ");
        if (end == length && strncmp(word, text, length) == 0) return true;
        word += end;
    }
    return false;
}

static int read_known_text(struct tree_place *place, json_t *object,
                           const struct result_field *field, const char **ret_text) {
    const char *text;
    if (read_text(place, object, field->path, &text)) return -1;
    if (text && field->closed && !is_one_of(field->words, text))
        return tree_bad_word(place, field->path, text);
    *ret_text = text;
    return 0;
}

static int read_fields(struct tree_place *place, json_t *object, const struct result_field *field,
                       void *into);

/* Reads the structs of a list, which tree_free frees, also after an error. */
static int read_list(struct tree_place *place, const json_t *object,
                     const struct result_field *field, char *into) {
    const json_t *array;
    char where[sizeof place->where];
    if (read_objects(place, object, field->path, field->most, &array)) return -1;
    int count = (int)json_array_size(array);
    char *list = calloc((size_t)count + 1, field->item_bytes);
    if (!list) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    memcpy(into + field->offset, &list, sizeof list);
    memcpy(into + field->count_offset, &count, sizeof count);
    snprintf(where, sizeof where, "%s", place->where);
    for (int i = 0; i < count; i++, list += field->item_bytes) {
        snprintf(place->where, sizeof place->where, "%.40s.%.40s[%d]", where, field->path, i);
        if (read_fields(place, json_array_get(array, (size_t)i), result_field_items(field), list))
            return -1;
    }
    snprintf(place->where, sizeof place->where, "%s", where);
    return 0;
}

static int tree_field(struct tree_place *place, json_t *object, const struct result_field *field,
                      void *into) {
    void *at = (char *)into + field->offset;
    switch (field->kind) {
    case RESULT_TEXT:
        return read_known_text(place, object, field, at);
    case RESULT_TEXT_OR_COUNT:
    case RESULT_HDR:
        return read_text(place, object, field->path, at);
    case RESULT_FLAG:
        return read_flag(place, object, field->path, at);
    case RESULT_NS:
        return read_number(place, object, field->path, 0, NS_MAX, at);
    case RESULT_COUNT:
    case RESULT_REAL:
    case RESULT_REAL_NS:
        return read_figure(place, object, field->path, at);
    case RESULT_NS_OR_NEVER:
        return read_figure_or_never(place, object, field->path, at);
    case RESULT_SIGNED:
        return read_number(place, object, field->path, -COUNT_MAX, COUNT_MAX, at);
    case RESULT_YES_NO:
        return read_yes_no(place, object, field->path, at);
    case RESULT_OBJECT:
    case RESULT_OPTIONAL:
    case RESULT_LATENCY: {
        const json_t *ignored;
        return read_branch(place, object, field->path, JSON_OBJECT, &ignored);
    }
    case RESULT_TEXTS:
        return read_branch(place, object, field->path, JSON_ARRAY, at);
    case RESULT_NUMBERS:
        return read_numbers(place, object, field->path, at);
    case RESULT_OBJECTS:
        return read_objects(place, object, field->path, field->most, at);
    case RESULT_FREE:
        return read_branch(place, object, field->path, JSON_OBJECT, at);
    case RESULT_ROWS:
        return read_list(place, object, field, into);
    case RESULT_ANY:
        *(const json_t **)at = tree_at(object, field->path);
        return 0;
    }
    return 0;
}

static int read_fields(struct tree_place *place, json_t *object, const struct result_field *field,
                       void *into) {
    for (; field->path; field++) {
        if (tree_field(place, object, field, into)) return -1;
    }
    return 0;
}

json_t *tree_parse(const char *text, size_t length, const char *file, const char *kind,
                   struct lb_err *err) {
    json_error_t where;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (!root) {
        enum json_error_code code = json_error_code(&where);
        const char *hint = code == json_error_premature_end_of_input ? ": the file ends too early"
                           : code == json_error_end_of_input_expected
                               ? ": something follows its end"
                               : "";
        err_set(err, LB_EXIT_USAGE, "%s:%d: is not sound JSON%s (%s)", file, where.line, hint,
                where.text);
        return NULL;
    }
    if (json_is_object(root)) return root;
    json_decref(root);
    err_set(err, LB_EXIT_USAGE, "%s: is not a result of %s (no JSON object)", file, kind);
    return NULL;
}

static int check_schema(struct tree_place *place, const json_t *root,
                        const struct result_document *document) {
    const char *schema = document->schema, *kind = document->kind;
    const char *said = json_string_value(json_object_get(root, "schema"));
    size_t name_length = (size_t)(strchr(schema, '/') - schema) + 1;
    if (!said || strncmp(said, schema, name_length) != 0) {
        return err_set(place->err, LB_EXIT_USAGE, "%s: is not a result of %s (no .schema \"%s\")",
                       place->file, kind, schema);
    }
    if (strcmp(said, schema) == 0) return 0;
    const char *version = json_string_value(tree_at(root, "tool.version"));
    return err_set(place->err, LB_EXIT_USAGE,
                   "%s: lockbench %.40s wrote it (schema %.60s), and this one reads %s: measure "
                   "again, or use that lockbench",
                   place->file, version ? version : "of an unknown version", said, schema);
}

/* --- files --- */

#define FILE_BYTES_MAX ((off_t)1 << 30)

/* A whole regular file; a pipe or a device would have no end. */
char *tree_file(const char *path, const char *kind, const char *hint, size_t *ret_length,
                struct lb_err *err) {
    struct stat status;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err_set(err, LB_EXIT_USAGE, "%s: cannot be read as %s (%s): name %s", path, kind,
                strerror(errno), hint);
        return NULL;
    }
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size > FILE_BYTES_MAX) {
        err_set(err, LB_EXIT_USAGE, "%s: is not a regular file of at most 1 GiB", path);
        goto out;
    }
    text = malloc((size_t)status.st_size + 1);
    if (!text) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    size_t length = 0;
    while (length < (size_t)status.st_size) {
        ssize_t got = read(fd, text + length, (size_t)status.st_size - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
            free(text);
            text = NULL;
            goto out;
        }
        if (got == 0) break;
        length += (size_t)got;
    }
    text[length] = '\0';
    *ret_length = length;
out:
    close(fd);
    return text;
}

bool tree_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns PATH/NAME if path is a folder, else path; malloced. NULL with err. */
static char *tree_path(const char *path, const char *name, struct lb_err *err) {
    struct stat status;
    char *file = NULL;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    const char *slash = *path && path[strlen(path) - 1] == '/' ? "" : "/";
    int rc = folder ? asprintf(&file, "%s%s%s", path, slash, name) : asprintf(&file, "%s", path);
    if (rc >= 0) return file;
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    return NULL;
}

bool tree_is(const char *path, const char *name) {
    struct stat status;
    struct lb_err ignored = {0};
    char *file = tree_path(path, name, &ignored);
    const char *slash = file ? strrchr(file, '/') : NULL;
    bool named = file && strcmp(slash ? slash + 1 : file, name) == 0;
    bool is = named && stat(file, &status) == 0;
    free(file);
    return is;
}

/* --- documents --- */

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

void *tree_document(const struct result_document *document, json_t *root, const char *path,
                    struct lb_err *err) {
    struct tree_place place = {.file = path, .err = err};
    if (!root) return NULL;
    struct result_head head = {.path = strdup(path), .dir = folder_of(path), .root = root};
    void *result = calloc(1, document->bytes);
    if (!result || !head.path || !head.dir) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        free(head.path);
        free(head.dir);
        free(result);
        json_decref(root);
        return NULL;
    }
    memcpy(result, &head, sizeof head);
    if (check_schema(&place, root, document) == 0 &&
        read_fields(&place, root, document->fields, result) == 0 &&
        document->check(&place, result) == 0)
        return result;
    tree_free(document, result);
    return NULL;
}

void *tree_read(const struct result_document *document, const char *path, struct lb_err *err) {
    char hint[100], *file = tree_path(path, document->file, err);
    void *result = NULL;
    size_t length;
    snprintf(hint, sizeof hint, "the folder of a %s, or its %s", document->kind, document->file);
    char *text = file ? tree_file(file, "a result", hint, &length, err) : NULL;
    if (text)
        result =
            tree_document(document, tree_parse(text, length, file, document->kind, err), file, err);
    free(text);
    free(file);
    return result;
}

static void free_lists(const struct result_field *fields, const void *of) {
    for (; fields->path; fields++) {
        int count;
        char *list = result_field_list(fields, of, &count);
        for (int i = 0; i < count; i++)
            free_lists(result_field_items(fields), list + (size_t)i * fields->item_bytes);
        free(list);
    }
}

void tree_free(const struct result_document *document, void *result) {
    struct result_head head;
    if (!result) return;
    memcpy(&head, result, sizeof head);
    free_lists(document->fields, result);
    json_decref(head.root);
    free(head.path);
    free(head.dir);
    free(result);
}
