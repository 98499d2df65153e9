/* check_table: a check for a terminal, in 100 columns: the sentences, the matrix of locks and
 * faults with one sign a cell, and below it what is worse than claimed, each with the command that
 * repeats it. Evidence is in the page. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "report/check/check_parts.h"
#include "report/doc/screen.h"

#define NAME_MAX 30 /* of a lock */
#define HEAD_MAX 18 /* rows of a fault's name, which is written downwards */
#define FINDINGS_MAX 12
#define SILENT_MAX 6

/* One code point of a text, or a space beyond its end. */
static void put_point(const struct screen *screen, const char *text, int index) {
    char point[8] = " ";
    int at = 0;
    for (; *text; text++) {
        if (((unsigned char)*text & 0xC0) == 0x80) continue;
        if (at++ < index) continue;
        size_t length = 1;
        while (length < 4 && ((unsigned char)text[length] & 0xC0) == 0x80) length++;
        memcpy(point, text, length);
        point[length] = '\0';
        break;
    }
    screen_put(screen, point, 1, TONE_PLAIN);
}

/* The names end right above their column. */
static void write_heads(const struct screen *screen, const struct check_view *view, int from,
                        int to, int name_width) {
    int tall = 0;
    for (int c = from; c < to; c++) {
        int width = screen_width(view->check->faults[view->column[c]].name);
        if (width > tall) tall = width;
    }
    if (tall > HEAD_MAX) tall = HEAD_MAX;
    for (int line = 0; line < tall; line++) {
        screen_put(screen, line == tall - 1 ? "lock" : "", -name_width, TONE_PLAIN);
        for (int c = from; c < to; c++) {
            const char *name = view->check->faults[view->column[c]].name;
            int width = screen_width(name), skip = width < tall ? tall - width : 0;
            fputc(' ', screen->out);
            if (line < skip) {
                fputc(' ', screen->out);
            } else {
                put_point(screen, name, line - skip);
            }
        }
        fputc('\n', screen->out);
    }
}

static void write_row(const struct screen *screen, const struct check_view *view, int lock,
                      int from, int to, int name_width) {
    screen_put(screen, view->check->locks[lock].name, -name_width, TONE_PLAIN);
    fputc(' ', screen->out);
    for (int c = from; c < to; c++) {
        const struct check_cell *cell = check_view_cell(view, lock, view->column[c]);
        const char *mark = cell ? check_mark(cell) : "";
        enum tone tone = cell ? check_tone(view, cell) : TONE_PLAIN;
        screen_put(screen, cell ? check_sign(cell) : "-", 1, tone);
        screen_put(screen, *mark || c + 1 == to ? mark : " ", 0, tone);
    }
    fputc('\n', screen->out);
}

/* As many faults side by side as there is room for, then the next ones below. */
static void write_matrix(const struct screen *screen, const struct check_view *view) {
    int name_width = 4;
    for (int r = 0; r < view->row_count; r++) {
        int width = screen_width(view->check->locks[view->row[r]].name);
        if (width > name_width) name_width = width;
    }
    if (name_width > NAME_MAX) name_width = NAME_MAX;
    int room = (SCREEN_WIDTH - 1 - name_width) / 2;
    for (int from = 0; from < view->column_count; from += room) {
        int to = from + room < view->column_count ? from + room : view->column_count;
        int family = -1;
        fputc('\n', screen->out);
        write_heads(screen, view, from, to, name_width);
        for (int r = 0; r < view->row_count; r++) {
            int own = (int)check_family_of(&view->check->locks[view->row[r]]);
            if (own != family)
                screen_say(screen, 0, TONE_BEST, "%s", check_family_title((enum check_family)own));
            family = own;
            write_row(screen, view, view->row[r], from, to, name_width);
        }
    }
    fputc('\n', screen->out);
    screen_say(
        screen, 0, TONE_PLAIN,
        ".  safe   E expired   S stuck   V violated   ? inconclusive   x failed   - not run");
    screen_say(screen, 0, TONE_PLAIN,
               "!  worse than the lock claims, or a control that was not caught   + better");
}

static void write_cell(const struct screen *screen, const struct check_view *view,
                       const struct check_cell *cell) {
    char *text = check_cell_sentence(view, cell), *recovery = check_recovery_sentence(cell),
         *store = check_store_sentence(cell);
    if (text) screen_say(screen, 2, check_tone(view, cell), "- %s", text);
    if (recovery && *recovery) screen_say(screen, 4, TONE_PLAIN, "  %s", recovery);
    if (store && *store) screen_say(screen, 4, TONE_PLAIN, "  %s", store);
    if (cell->command) screen_say(screen, 4, TONE_PLAIN, "  again: %s", cell->command);
    free(text);
    free(recovery);
    free(store);
}

static void write_list(const struct screen *screen, const struct check_view *view,
                       const char *title, const struct check_cell *const *cells, int count,
                       int most) {
    if (count == 0) return;
    fputc('\n', screen->out);
    screen_say(screen, 0, TONE_BEST, "%s", title);
    for (int i = 0; i < count && i < most; i++) write_cell(screen, view, cells[i]);
    if (count > most)
        screen_say(screen, 2, TONE_PLAIN, "and %d more: --md, --html and --csv have them",
                   count - most);
}

/* What the figures rest on; the rest is in the page. */
static void write_foot(const struct screen *screen, const struct check_view *view) {
    const struct check *check = view->check;
    fputc('\n', screen->out);
    if (check->seeds) {
        char *seeds = json_dumps(check->seeds, JSON_COMPACT);
        if (seeds)
            screen_say(screen, 2, TONE_PLAIN, "seeds %.*s", (int)strlen(seeds) - 2, seeds + 1);
        free(seeds);
    }
    if (check->skip_count > 0)
        screen_say(screen, 2, TONE_PLAIN, "left out: %d, for reasons that --html and --json have",
                   check->skip_count);
    if (check->command) screen_say(screen, 2, TONE_PLAIN, "again: %s", check->command);
    screen_say(
        screen, 2, TONE_PLAIN,
        "safe is: none seen in n grants, so with 95 %% confidence fewer than 3 in n (bound95 in --csv, "
        "--json)");
}

int check_write_table(const struct check_view *view, bool color, FILE *out, struct lb_err *err) {
    struct screen screen = {.out = out, .color = color};
    struct words *words = check_words_make(view, err);
    if (!words) return -1;
    for (int i = 0; i < words->count; i++)
        screen_say(&screen, 2, words->lines[i].tone, "%s", words->lines[i].text);
    words_free(words);
    if (view->row_count > 0) write_matrix(&screen, view);
    write_list(&screen, view, "Worse than claimed", view->finding, view->finding_count,
               FINDINGS_MAX);
    write_list(&screen, view, "No verdict", view->silent, view->silent_count, SILENT_MAX);
    write_foot(&screen, view);
    return 0;
}
