/* workfile: see workfile.h. */
#include "bench/workload/workfile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/nearest.h"
#include "bench/base/text.h"
#include "bench/option/text.h"

#define LINE_MAX_BYTES 4096
#define NAME_MAX_BYTES 48 /* of a section or a key */

struct reader {
    const char *path;
    FILE *file;
    char line[LINE_MAX_BYTES + 1];
    int line_number;
    char section[NAME_MAX_BYTES + 1]; /* "" before the first */
    struct arena *arena;
    struct settings *settings;
};

static int refuse_line(const struct reader *reader, const char *why, struct lb_err *err) {
    return err_set(err, LB_EXIT_USAGE, "%s:%d: %s", reader->path, reader->line_number, why);
}

/* Reads the next line without its line break. 1; 0 at the end of the file; -1 with err. Not
 * getline: a device (/dev/zero) may have no line break, and then getline takes all memory. */
static int read_line(struct reader *reader, struct lb_err *err) {
    size_t len = 0;
    int c;
    errno = 0;
    reader->line_number++;
    while ((c = getc(reader->file)) != EOF && c != '\n') {
        if ((c < 0x20 && !isspace(c)) || c == 0x7f)
            return refuse_line(reader, "a control character: this is not a workload file", err);
        if (len == LINE_MAX_BYTES)
            return refuse_line(reader, "the line is longer than 4096 characters", err);
        reader->line[len++] = (char)c;
    }
    reader->line[len] = '\0';
    if (ferror(reader->file))
        return err_set(err, LB_EXIT_USAGE, "%s: %s", reader->path, strerror(errno));
    return c != EOF || len > 0;
}

/* Removes the comment, the byte order mark, and blanks at both ends. */
static void clean_line(char *line) {
    char *from = line;
    if (strncmp(from, "\xef\xbb\xbf", 3) == 0) from += 3;
    from += strspn(from, " \t\r\n");
    for (char *at = from; *at; at++) {
        bool starts = at == from || isblank((unsigned char)at[-1]);
        if (starts && (*at == ';' || *at == '#')) {
            *at = '\0';
            break;
        }
    }
    text_trim(from, strlen(from), line, strlen(from) + 1);
}

static int read_section(struct reader *reader, struct lb_err *err) {
    const char *line = reader->line, *end = strchr(line, ']');
    char name[NAME_MAX_BYTES + 1];
    if (!end || end[1] || text_trim(line + 1, (size_t)(end - line - 1), name, sizeof name) ||
        !*name)
        return refuse_line(reader, "a section is written [name], alone on its line", err);
    memcpy(reader->section, name, sizeof name);
    return 0;
}

static int read_setting(struct reader *reader, struct lb_err *err) {
    size_t len = strcspn(reader->line, "=:");
    char key[NAME_MAX_BYTES + 1], value[LINE_MAX_BYTES + 1], why[160];
    if (!reader->line[len] || text_trim(reader->line, len, key, sizeof key) || !*key)
        return refuse_line(reader, "expected [section], key = value, or a comment after ; or #",
                           err);
    if (!reader->section[0]) return refuse_line(reader, "a key before the first [section]", err);
    const struct setting *old = settings_find(reader->settings, reader->section, key);
    if (old) {
        snprintf(why, sizeof why, "%s.%s stands already in line %d; remove one", reader->section,
                 key, old->line);
        return refuse_line(reader, why, err);
    }
    text_trim(reader->line + len + 1, strlen(reader->line + len + 1), value, sizeof value);
    struct setting setting = {reader->section, key, value, reader->path, reader->line_number, NULL};
    return settings_add(reader->settings, reader->arena, &setting, err);
}

int workfile_read(const char *path, struct arena *arena, struct settings *settings,
                  struct lb_err *err) {
    struct reader reader = {.path = path, .arena = arena, .settings = settings};
    int failed = 0, got = 1;
    reader.file = fopen(path, "re");
    if (!reader.file) return err_set(err, LB_EXIT_USAGE, "%s: %s", path, strerror(errno));
    while (!failed && (got = read_line(&reader, err)) > 0) {
        clean_line(reader.line);
        if (reader.line[0] == '[') {
            failed = read_section(&reader, err);
        } else if (reader.line[0]) {
            failed = read_setting(&reader, err);
        }
    }
    fclose(reader.file);
    return failed || got < 0 ? -1 : 0;
}

const struct setting *settings_find(const struct settings *settings, const char *section,
                                    const char *key) {
    const struct setting *found = NULL;
    for (const struct setting *setting = settings->first; setting; setting = setting->next) {
        if (strcmp(setting->section, section) == 0 && strcmp(setting->key, key) == 0)
            found = setting;
    }
    return found;
}

int settings_add(struct settings *settings, struct arena *arena, const struct setting *setting,
                 struct lb_err *err) {
    for (const char *at = setting->value; *at; at++) {
        char source[300];
        if (*at == '\t' || !utf8_is_control(at)) continue;
        return err_set(err, LB_EXIT_USAGE, "%s: a control character in the value",
                       setting_source(setting, source, sizeof source));
    }
    struct setting *copy = arena_alloc(arena, sizeof *copy);
    if (copy)
        *copy = (struct setting){.section = arena_text(arena, setting->section),
                                 .key = arena_text(arena, setting->key),
                                 .value = arena_text(arena, setting->value),
                                 .file = arena_text(arena, setting->file),
                                 .line = setting->line};
    if (!copy || !copy->section || !copy->key || !copy->value || (setting->file && !copy->file))
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *(settings->last ? &settings->last->next : &settings->first) = copy;
    settings->last = copy;
    settings->count++;
    return 0;
}

char *setting_source(const struct setting *setting, char *text, size_t size) {
    if (setting->line == 0) {
        snprintf(text, size, "--set %.48s.%.48s", setting->section, setting->key);
    } else {
        snprintf(text, size, "%.120s:%d: %.48s.%.48s", setting->file, setting->line,
                 setting->section, setting->key);
    }
    return text;
}

/* workloads: it reads names and summaries only; plan_load checks the
 * rest of a file. */

#define ENDING ".ini"
#define CHECK "check/" /* the scenarios of `lockbench check`, in a folder of their own */

static bool ends_in_ini(const char *name) {
    size_t len = strlen(name), ending = strlen(ENDING);
    return len > ending && strcmp(name + len - ending, ENDING) == 0;
}

static int is_workload(const struct dirent *entry) {
    return entry->d_name[0] != '.' && ends_in_ini(entry->d_name);
}

static int describe_workload(struct workload_file *file, struct arena *arena, struct lb_err *err) {
    struct settings settings = {0};
    struct lb_err wrong = {0};
    file->summary = "";
    if (workfile_read(file->path, arena, &settings, &wrong)) {
        file->wrong = arena_text(arena, wrong.text);
        return file->wrong ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    const struct setting *summary = settings_find(&settings, "workload", "summary");
    if (summary) file->summary = summary->value;
    return 0;
}

/* Adds the workloads of one folder. Their names begin with prefix. A missing folder has none if
 * there is a prefix. */
static int add_folder(const char *folder, const char *prefix, struct workload_list *list,
                      struct lb_err *err) {
    struct dirent **entries = NULL;
    int result = -1, count = scandir(folder, &entries, is_workload, alphasort);
    if (count < 0) {
        if (*prefix && errno == ENOENT) return 0;
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", folder, strerror(errno));
    }
    int wanted = list->count + count;
    struct workload_file *grown = arena_alloc(&list->arena, sizeof *grown * (size_t)(wanted + 1));
    if (grown && list->count > 0) memcpy(grown, list->item, sizeof *grown * (size_t)list->count);
    list->item = grown ? grown : list->item;
    for (int i = 0; grown && i < count; i++) {
        struct workload_file *file = &list->item[list->count];
        const char *entry = entries[i]->d_name;
        char text[PATH_MAX];
        snprintf(text, sizeof text, "%s%.*s", prefix, (int)(strlen(entry) - strlen(ENDING)), entry);
        file->name = arena_text(&list->arena, text);
        int len = snprintf(text, sizeof text, "%s/%s", folder, entry);
        if (len >= (int)sizeof text) continue;
        file->path = arena_text(&list->arena, text);
        if (!file->name || !file->path) break;
        if (describe_workload(file, &list->arena, err)) goto out;
        list->count++;
    }
    if (list->count < wanted) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    result = 0;
out:
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    return result;
}

int workloads_find(const char *folder, struct workload_list *ret_list, struct lb_err *err) {
    char check[PATH_MAX];
    *ret_list = (struct workload_list){0};
    if (add_folder(folder, "", ret_list, err)) return -1;
    if (snprintf(check, sizeof check, "%s/check", folder) >= (int)sizeof check) return 0;
    return add_folder(check, CHECK, ret_list, err);
}

void workloads_done(struct workload_list *list) {
    arena_done(&list->arena);
}

/* There is none of this name: which one was meant, and which there are. */
static int refuse_name(const char *folder, const char *name, struct lb_err *err) {
    struct workload_list list;
    struct nearest nearest;
    char names[380] = "", hint[100];
    int result = workloads_find(folder, &list, err);
    nearest_init(&nearest, name);
    for (int i = 0; result == 0 && i < list.count; i++) {
        size_t used = strlen(names);
        nearest_offer(&nearest, list.item[i].name);
        if (strchr(list.item[i].name, '/')) continue; /* there are too many of them to list */
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", list.item[i].name);
    }
    if (result == 0)
        err_set(err, LB_EXIT_USAGE, "no workload '%.60s'%s (there are: %s; or give a file's path)",
                name, nearest_hint(&nearest, hint, sizeof hint), names);
    workloads_done(&list);
    return -1;
}

int workload_path(const char *folder, const char *name, char *ret_path, size_t size,
                  struct lb_err *err) {
    bool is_path =
        ends_in_ini(name) || (strchr(name, '/') && strncmp(name, CHECK, sizeof CHECK - 1) != 0);
    char path[PATH_MAX];
    if (strlen(folder) + strlen(name) + sizeof "/" ENDING > (size < PATH_MAX ? size : PATH_MAX))
        return err_set(err, LB_EXIT_USAGE, "%.60s...: the name is too long", name);
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ENDING);
    const char *own = strncmp(name, CHECK, sizeof CHECK - 1) == 0 ? name + sizeof CHECK - 1 : name;
    bool there = *own && *own != '.' && !strchr(own, '/') && access(path, F_OK) == 0;
    if (!is_path && !there) return refuse_name(folder, name, err);
    snprintf(ret_path, size, "%s", is_path ? name : path);
    return 0;
}
