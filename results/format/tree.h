/* tree: reads values from a JSON result that is not trusted. Each value is checked, and an error
 * names its path.
 *
 * Nothing is guessed: a figure of the wrong type, a negative or an infinite one is an error, never
 * a zero. An absent value, or a null, is NAN, NULL or false. For the readers of run.json,
 * check.json and capacity.json. */
#ifndef RESULTS_FORMAT_TREE_H
#define RESULTS_FORMAT_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/base/err.h"
#include "results/format/field.h"

struct tree_place {
    const char *file;
    struct lb_err *err;
    char where[96]; /* ".stages[3]" */
};

/* Sets the error "FILE: WHERE.PATH WHAT". Returns -1. */
int tree_bad(struct tree_place *place, const char *path, const char *what);
/* The same for a word that this build does not know, or for none (NULL). Returns -1. */
int tree_bad_word(struct tree_place *place, const char *path, const char *word);

/* The value at a dotted path; NULL if the value, or an object on the way, is absent or null. */
json_t *tree_at(const json_t *object, const char *path);
/* The text of a member of a checked object; "" if it is absent or no text. */
const char *tree_word(const json_t *object, const char *name);

/* Reads a regular file of at most a gigabyte; the caller frees the text. NULL with err, which says
 * what the file should be ("a run") and what to name instead. */
char *tree_file(const char *path, const char *kind, const char *hint, size_t *ret_length,
                struct lb_err *err);

/* True if both paths lead to the same file that is there. */
bool tree_same_file(const char *a, const char *b);

/* True if a folder has a file with this name, or a file is called so. */
bool tree_is(const char *path, const char *name);

/* The JSON object in a text. NULL with err, which says where the text is not sound, or what it
 * should be ("a result of ..."). */
json_t *tree_parse(const char *text, size_t length, const char *file, const char *kind,
                   struct lb_err *err);

/* The struct of a document: malloced, and freed by tree_free. Takes over root, which may be NULL: then err is set. path
 * is for messages and for the struct. NULL with err. */
void *tree_document(const struct result_document *document, json_t *root, const char *path,
                    struct lb_err *err);
/* The same of a file, or of the document's file in a folder. */
void *tree_read(const struct result_document *document, const char *path, struct lb_err *err);
/* NULL is allowed. Everything that was borrowed from the result becomes invalid. */
void tree_free(const struct result_document *document, void *result);

#endif
