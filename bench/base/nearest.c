/* nearest: see nearest.h. It does not look for candidates itself: the caller offers them. */
#include "bench/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 60 /* longer names are not offered, so that the rows fit on the stack */

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static bool same_letter(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Three rows of the usual table are enough, because a swap looks two rows back. */
static int distance_of(const char *a, const char *b) {
    int rows[3][NAME_MAX_LEN + 1];
    int a_len = (int)strlen(a), b_len = (int)strlen(b);
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= b_len; j++) above[j] = j;
    for (int i = 1; i <= a_len; i++) {
        row[0] = i;
        for (int j = 1; j <= b_len; j++) {
            int changed = above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = smaller(changed, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1])) {
                row[j] = smaller(row[j], before[j - 2] + 1);
            }
        }
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_len];
}

void nearest_init(struct nearest *nearest, const char *typed) {
    *nearest = (struct nearest){.typed = typed};
}

void nearest_offer(struct nearest *nearest, const char *name) {
    size_t typed_len = strlen(nearest->typed), name_len = strlen(name);
    if (typed_len == 0 || typed_len > NAME_MAX_LEN || name_len > NAME_MAX_LEN) return;
    int distance = distance_of(nearest->typed, name);
    /* A part of a name, left out or typed alone ("setnx" for "redis-setnx"), is meant as often as a
     * slip of the keyboard; it ranks after any slip that is near enough. */
    int allowed = typed_len <= 4 ? 1 : (int)(typed_len + 2) / 4 + 1;
    if (distance > allowed) {
        if (typed_len < 3 || (!strstr(name, nearest->typed) && !strstr(nearest->typed, name)))
            return;
        distance += NAME_MAX_LEN;
    }
    if (*nearest->best && nearest->distance <= distance) return;
    snprintf(nearest->best, sizeof nearest->best, "%s", name);
    nearest->distance = distance;
}

const char *nearest_hint(const struct nearest *nearest, char *text, size_t size) {
    text[0] = '\0';
    if (*nearest->best) snprintf(text, size, ", did you mean '%s'?", nearest->best);
    return text;
}
