/* check_file: finds the file of a check and tells it from that of a run. See check_read.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/format/check_read.h"
#include "results/format/tree.h"

#define FILE_NAME "check.json"

struct check *check_read(const char *path, struct lb_err *err) {
    struct check *check = NULL;
    size_t length;
    char *file = tree_path(path, FILE_NAME, err);
    char *text =
        file ? tree_file(file, "a check", "a check's folder or its " FILE_NAME, &length, err)
             : NULL;
    if (text) check = check_parse(text, length, file, err);
    free(text);
    free(file);
    return check;
}

/* True if a JSON text begins with the members of a check. The text need not be complete: a check
 * that was cut off is recognised as a check, and its error says so. */
static bool says_check(const char *text) {
    const char *at = strstr(text, "\"schema\"");
    if (!at) return false;
    at += strlen("\"schema\"");
    at += strspn(at, " \t\r\n:");
    return strncmp(at, "\"lockbench.check/", strlen("\"lockbench.check/")) == 0;
}

bool check_is(const char *path) {
    struct stat status;
    struct lb_err ignored = {0};
    size_t length;
    bool is = false;
    char *file = tree_path(path, FILE_NAME, &ignored);
    if (!file) return false;
    if (strcmp(file, path) != 0) {
        is = stat(file, &status) == 0; /* a folder */
    } else {
        const char *slash = strrchr(path, '/');
        char *text = tree_file(file, "a check", FILE_NAME, &length, &ignored);
        is = text ? says_check(text) || strcmp(slash ? slash + 1 : path, FILE_NAME) == 0 : false;
        free(text);
    }
    free(file);
    return is;
}
