/* text: see text.h. The decimal point is always a dot, since the program never calls setlocale. */
#include "bench/option/text.h"

#include <ctype.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/base/nearest.h"

int text_int(const char *text, int64_t min, int64_t max, int64_t *ret, struct lb_err *err) {
    const char *digits = text + (*text == '-');
    size_t len = strspn(digits, "0123456789");
    if (len == 0 || digits[len]) {
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is not a whole number", text);
    }
    /* 19 digits may overflow. All ranges are far smaller, so any such number is out of range. */
    int64_t value = len > 18 ? INT64_MAX : strtoll(digits, NULL, 10);
    if (*text == '-') value = -value;
    if (value < min || value > max) {
        return err_set(err, LB_EXIT_USAGE, "%.40s is not between %lld and %lld", text,
                       (long long)min, (long long)max);
    }
    *ret = value;
    return 0;
}

int text_real(const char *text, double min, double max, double *ret, struct lb_err *err) {
    char *end = NULL;
    double value = NAN;
    /* strtod also takes "nan", "inf", hexadecimal and leading blanks. */
    if (*text && text[strspn(text, "0123456789.eE+-")] == '\0') value = strtod(text, &end);
    if (!end || *end || isnan(value)) {
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is not a number", text);
    }
    if (!(value >= min && value <= max)) {
        char low[32], high[32];
        return err_set(err, LB_EXIT_USAGE, "%.40s is not between %s and %s", text,
                       real_text(min, low, sizeof low), real_text(max, high, sizeof high));
    }
    *ret = value;
    return 0;
}

static const struct unit {
    const char *name;
    int64_t ns;
} units[] = {
    {"ns", 1},
    {"us", LB_US_NS},
    {"\xc2\xb5s", LB_US_NS}, /* the micro sign */
    {"\xce\xbcs", LB_US_NS}, /* the Greek letter */
    {"ms", LB_MS_NS},
    {"s", LB_S_NS},
    {"m", 60 * LB_S_NS},
    {"h", 3600 * LB_S_NS},
};

static const struct unit *find_unit(const char *name) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].name, name) == 0) return &units[i];
    }
    return NULL;
}

int text_duration(const char *text, int64_t min_ns, int64_t max_ns, int64_t *ret_ns,
                  struct lb_err *err) {
    /* The number as mantissa / 10^decimals, so that "0.1ms" is exact. */
    const char *at = text;
    int64_t mantissa = 0, scale = 1;
    int digits = 0;
    bool negative = *at == '-', point = false;
    for (at += negative; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        mantissa = mantissa * 10 + (*at - '0');
        if (point) scale *= 10;
        if (++digits > 15) return err_set(err, LB_EXIT_USAGE, "'%.40s' has too many digits", text);
    }
    if (digits == 0) {
        return err_set(
            err, LB_EXIT_USAGE,
            "'%.40s' is not a duration; write a number and ns, us, ms, s, m or h, like 250us",
            text);
    }
    while (*at == ' ') at++;
    const struct unit *unit = find_unit(at);
    if (!unit && *at == '\0' && mantissa == 0) unit = &units[0];
    if (!unit && *at == '\0') {
        return err_set(err, LB_EXIT_USAGE, "'%.40s' lacks its unit; write %.40sms or %.40ss, say",
                       text, text, text);
    }
    if (!unit) {
        return err_set(err, LB_EXIT_USAGE, "'%.40s' has no unit of ns, us, ms, s, m or h", text);
    }
    __int128 scaled = (__int128)mantissa * unit->ns;
    if (scaled % scale)
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is finer than a nanosecond", text);
    scaled /= scale;
    if (negative) scaled = -scaled;
    if (scaled < min_ns || scaled > max_ns) {
        char low[32], high[32];
        return err_set(err, LB_EXIT_USAGE, "%.40s is not between %s and %s", text,
                       duration_text(min_ns, low, sizeof low),
                       duration_text(max_ns, high, sizeof high));
    }
    *ret_ns = (int64_t)scaled;
    return 0;
}

/* Writes a duration in the largest unit that needs at most three decimals; minutes and hours as
 * whole numbers. */
char *duration_text(int64_t ns, char *text, size_t size) {
    if (ns == 0) {
        snprintf(text, size, "0");
        return text;
    }
    int64_t magnitude = ns < 0 ? -ns : ns;
    for (size_t i = sizeof units / sizeof *units; i-- > 0;) {
        int64_t unit = units[i].ns;
        bool whole = unit > LB_S_NS || unit == 1;
        if (magnitude < unit || magnitude % (whole ? unit : unit / 1000)) continue;
        if (units[i].name[0] & 0x80) continue;
        int64_t thousandths = whole ? 0 : magnitude % unit / (unit / 1000);
        char decimals[8] = "";
        if (thousandths) {
            int len = snprintf(decimals, sizeof decimals, ".%03d", (int)thousandths);
            while (decimals[len - 1] == '0') decimals[--len] = '\0';
        }
        snprintf(text, size, "%s%lld%s%s", ns < 0 ? "-" : "", (long long)(magnitude / unit),
                 decimals, units[i].name);
        return text;
    }
    return text;
}

int text_bool(const char *text, bool *ret, struct lb_err *err) {
    static const char *const words[][2] = {
        {"yes", "no"}, {"true", "false"}, {"on", "off"}, {"1", "0"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (int no = 0; no < 2; no++) {
            if (strcmp(text, words[i][no]) == 0) {
                *ret = no == 0;
                return 0;
            }
        }
    }
    return err_set(err, LB_EXIT_USAGE, "'%.40s' is neither yes nor no", text);
}

int text_choice(const char *text, const char *choices, int *ret_index, struct lb_err *err) {
    struct nearest nearest;
    char name[64], list[200], hint[100];
    int index = 0;
    nearest_init(&nearest, text);
    for (const char *at = choices; text_item(&at, name, sizeof name); index++) {
        if (strcmp(text, name) == 0) {
            *ret_index = index;
            return 0;
        }
        nearest_offer(&nearest, name);
    }
    return err_set(err, LB_EXIT_USAGE, "'%.40s' is not one of %s%s", text,
                   text_choices(choices, list, sizeof list),
                   nearest_hint(&nearest, hint, sizeof hint));
}

char *text_choice_name(const char *choices, int index, char *name, size_t size) {
    const char *at = choices;
    for (int i = 0; i <= index; i++) {
        if (!text_item(&at, name, size)) snprintf(name, size, "?");
    }
    return name;
}

char *text_choices(const char *choices, char *list, size_t size) {
    char name[64];
    size_t used = 0;
    for (const char *at = choices; used < size && text_item(&at, name, sizeof name);) {
        const char *joint = used == 0 ? "" : at ? ", " : " or ";
        used += (size_t)snprintf(list + used, size - used, "%s%s", joint, name);
    }
    return list;
}

char *real_text(double value, char *text, size_t size) {
    if (value == floor(value) && fabs(value) < 0x1p53) {
        snprintf(text, size, "%.0f", value);
        return text;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

int text_trim(const char *text, size_t len, char *trimmed, size_t size) {
    while (len > 0 && isspace((unsigned char)*text)) text++, len--;
    while (len > 0 && isspace((unsigned char)text[len - 1])) len--;
    if (len >= size) return -1;
    memmove(trimmed, text, len); /* trimmed may be text itself */
    trimmed[len] = '\0';
    return 0;
}

bool text_item(const char **list, char *item, size_t size) {
    if (!*list) return false;
    size_t len = strcspn(*list, ",");
    /* one that does not fit begins with a comma, so that every reader refuses it */
    if (text_trim(*list, len, item, size)) snprintf(item, size, ",%s", *list);
    *list = (*list)[len] ? *list + len + 1 : NULL;
    return true;
}

/* arena: one malloc for each piece: plans are small and made once, so pools would
 * save nothing. */

struct arena_block {
    struct arena_block *older;
    alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t bytes) {
    struct arena_block *block = calloc(1, sizeof *block + bytes);
    if (!block) return NULL;
    block->older = arena->newest;
    arena->newest = block;
    return block->bytes;
}

const char *arena_text(struct arena *arena, const char *text) {
    if (!text) return NULL;
    size_t size = strlen(text) + 1;
    char *copy = arena_alloc(arena, size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

void arena_done(struct arena *arena) {
    while (arena->newest) {
        struct arena_block *block = arena->newest;
        arena->newest = block->older;
        free(block);
    }
}
