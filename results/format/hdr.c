/* hdr: see hdr.h. It refuses the older encodings V0 and V1, which no tool has written since 2015,
 * and never trusts a length in the text: each is checked against what is there before memory is
 * taken for it. */
#include "results/format/hdr.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bench/base/text.h"

#define COOKIE_V2 UINT32_C(0x1c849313) /* 0x1c849303, word size nibble 1: variable length counts */
#define COOKIE_V2_DEFLATED UINT32_C(0x1c849314)
#define RATIO_ONE UINT64_C(0x3ff0000000000000) /* the double 1.0: values are stored as they are */
#define OUTER_BYTES 8                          /* cookie, length of the deflated part */
#define INNER_BYTES 40                         /* cookie, lengths and geometry, before the counts */
#define VARINT_BYTES 9                         /* of the greatest count */
#define DEFLATE_RATIO 1032       /* no deflate stream unpacks to more than this for each byte */
#define RAW_BYTES_MAX (56 << 20) /* of the largest histogram there is */

/* ---- big-endian integers, and counts as ZigZag LEB128 of at most nine bytes ---- */

static uint8_t *put_u32(uint8_t *at, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) *at++ = (uint8_t)(value >> shift);
    return at;
}

static uint8_t *put_u64(uint8_t *at, uint64_t value) {
    return put_u32(put_u32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static uint32_t get_u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t get_u64(const uint8_t *at) {
    return (uint64_t)get_u32(at) << 32 | get_u32(at + 4);
}

/* Seven bits a byte, lowest first; the ninth byte, if it comes to that, carries eight. */
static uint8_t *put_signed(uint8_t *at, int64_t value) {
    uint64_t left = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (int i = 1; i < VARINT_BYTES && left >> 7; i++) {
        *at++ = (uint8_t)(left | 0x80);
        left >>= 7;
    }
    *at++ = (uint8_t)left;
    return at;
}

/* Returns NULL if the bytes end inside the number, or if it has a shorter form. */
static const uint8_t *get_signed(const uint8_t *at, const uint8_t *end, int64_t *ret_value) {
    uint64_t value = 0;
    for (int i = 0; i < VARINT_BYTES; i++) {
        if (at == end) return NULL;
        uint8_t byte = *at++;
        int goes_on = i < VARINT_BYTES - 1 && byte & 0x80;
        value |= (uint64_t)(goes_on ? byte & 0x7f : byte) << (7 * i);
        if (goes_on) continue;
        if (byte == 0 && i > 0) return NULL;
        break;
    }
    *ret_value = (int64_t)(value >> 1 ^ (0 - (value & 1)));
    return at;
}

/* ---- writing ---- */

/* The counts up to the last that is not zero; a run of k > 1 zeros is written as -k. An empty
 * histogram is one zero, as HdrHistogram writes it. */
static uint8_t *put_counts(uint8_t *at, const struct hist *h) {
    int32_t last = h->last;
    while (last >= 0 && h->counts[last] == 0) last--;
    if (last < 0) return put_signed(at, 0);
    int32_t zeros = 0;
    for (int32_t slot = 0; slot <= last; slot++) {
        if (h->counts[slot] == 0) {
            zeros++;
            continue;
        }
        if (zeros > 0) at = put_signed(at, zeros > 1 ? -(int64_t)zeros : 0);
        zeros = 0;
        at = put_signed(at, h->counts[slot]);
    }
    return at;
}

char *hdr_encode(const struct hist *h, struct lb_err *err) {
    char *text = NULL;
    uint8_t *packed = NULL;
    size_t slots = h->last < 0 ? 1 : (size_t)h->last + 1;
    uint8_t *raw = malloc(INNER_BYTES + slots * VARINT_BYTES);
    if (!raw) goto out;

    uint8_t *end = put_counts(raw + INNER_BYTES, h);
    uint8_t *at = put_u32(raw, COOKIE_V2);
    at = put_u32(at, (uint32_t)(end - raw - INNER_BYTES));
    at = put_u32(at, 0); /* normalizing offset: values are not shifted */
    at = put_u32(at, (uint32_t)h->digits);
    at = put_u64(at, 1); /* lowest value told apart from 0 */
    at = put_u64(at, (uint64_t)h->highest);
    put_u64(at, RATIO_ONE);

    uLongf packed_bytes = compressBound((uLong)(end - raw));
    packed = malloc(OUTER_BYTES + packed_bytes);
    if (!packed || compress(packed + OUTER_BYTES, &packed_bytes, raw, (uLong)(end - raw)) != Z_OK)
        goto out;
    put_u32(put_u32(packed, COOKIE_V2_DEFLATED), (uint32_t)packed_bytes);

    text = malloc(base64_length(OUTER_BYTES + packed_bytes) + 1);
    if (text) base64_encode(text, packed, OUTER_BYTES + packed_bytes);
out:
    free(packed);
    free(raw);
    if (!text) err_set(err, LB_EXIT_MACHINE, "out of memory while writing a histogram");
    return text;
}

/* ---- reading: each step checks what the next one relies on ---- */

#define damaged(err, ...) err_set((err), LB_EXIT_USAGE, "histogram text is damaged: " __VA_ARGS__)
#define foreign(err, ...)                                                                          \
    err_set((err), LB_EXIT_USAGE, "histogram text is of another kind: " __VA_ARGS__)

static int check_outer(const uint8_t *bytes, ptrdiff_t length, struct lb_err *err) {
    if (length < OUTER_BYTES) return damaged(err, "it is cut short");
    uint32_t cookie = get_u32(bytes);
    if (cookie != COOKIE_V2_DEFLATED) {
        return foreign(err,
                       "it starts with 0x%08x, not with the 0x%08x of a deflated HdrHistogram V2",
                       cookie, COOKIE_V2_DEFLATED);
    }
    uint32_t stated = get_u32(bytes + 4);
    if (stated != (uint64_t)length - OUTER_BYTES) {
        return damaged(err, "it states %u deflated bytes, but has %td", stated,
                       length - OUTER_BYTES);
    }
    return 0;
}

/* An empty histogram of the geometry in the inner header. */
static struct hist *hist_of_header(const uint8_t *header, struct lb_err *err) {
    if (get_u32(header) != COOKIE_V2) {
        foreign(err, "its inside starts with 0x%08x, not with the 0x%08x of HdrHistogram V2",
                get_u32(header), COOKIE_V2);
        return NULL;
    }
    uint32_t digits = get_u32(header + 12);
    int64_t lowest = (int64_t)get_u64(header + 16), highest = (int64_t)get_u64(header + 24);
    uint32_t shift = get_u32(header + 8);
    uint64_t ratio = get_u64(header + 32);
    if (shift != 0 || ratio != RATIO_ONE || lowest != 1) {
        foreign(err, "only whole values from 1 on, neither shifted nor scaled, can be read");
        return NULL;
    }
    if (digits < 1 || digits > 5 || highest < 2) {
        damaged(err, "%u digits, or a highest value of %lld, are impossible", digits,
                (long long)highest);
        return NULL;
    }
    struct hist *h = hist_new((int)digits, highest);
    if (!h) err_set(err, LB_EXIT_MACHINE, "out of memory while reading a histogram");
    return h;
}

static int read_counts(struct hist *h, const uint8_t *at, const uint8_t *end, struct lb_err *err) {
    int64_t slot = 0;
    while (at < end) {
        int64_t value;
        at = get_signed(at, end, &value);
        if (!at) return damaged(err, "a count is cut short or overlong");
        uint64_t slots = value < 0 ? 0 - (uint64_t)value : 1;
        if (slots > (uint64_t)(h->length - slot))
            return damaged(err, "it has counts beyond its own range");
        if (value > 0) {
            int32_t here = (int32_t)slot;
            uint64_t waited;
            h->counts[here] = value;
            if (here < h->first) h->first = here;
            h->last = here;
            if (__builtin_add_overflow(h->count, value, &h->count) ||
                __builtin_mul_overflow((uint64_t)value, (uint64_t)hist_slot_middle(h, here),
                                       &waited) ||
                __builtin_add_overflow(h->sum, waited, &h->sum)) {
                return damaged(err, "its counts add up to more than can be");
            }
        }
        slot += (int64_t)slots;
    }
    if (h->count > 0) {
        h->min = hist_slot_low(h, h->first);
        h->max = hist_slot_high(h, h->last);
    }
    return 0;
}

/* The bytes inside a text, malloced; *ret_count of them. NULL with err. */
static uint8_t *inflated(const uint8_t *packed, size_t count, size_t *ret_count,
                         struct lb_err *err) {
    size_t most = count * DEFLATE_RATIO < RAW_BYTES_MAX ? count * DEFLATE_RATIO : RAW_BYTES_MAX;
    uLongf raw_count = most;
    uLong used = (uLong)count;
    uint8_t *raw = malloc(most + 1);
    int rc = raw ? uncompress2(raw, &raw_count, packed, &used) : Z_MEM_ERROR;
    *ret_count = raw_count;
    if (rc == Z_OK && used == count && raw_count >= INNER_BYTES) return raw;
    free(raw);
    if (rc == Z_MEM_ERROR) {
        err_set(err, LB_EXIT_MACHINE, "out of memory while reading a histogram");
    } else {
        damaged(err, "it does not inflate to a histogram");
    }
    return NULL;
}

static struct hist *read_inner(const uint8_t *raw, size_t count, struct lb_err *err) {
    uint32_t stated = get_u32(raw + 4);
    struct hist *h = hist_of_header(raw, err);
    if (!h) return NULL;
    int failed = 0;
    if (stated != count - INNER_BYTES)
        failed =
            damaged(err, "it states %u bytes of counts, but has %zu", stated, count - INNER_BYTES);
    if (!failed) failed = read_counts(h, raw + INNER_BYTES, raw + count, err);
    if (!failed) return h;
    hist_free(h);
    return NULL;
}

struct hist *hdr_decode(const char *text, struct lb_err *err) {
    struct hist *h = NULL;
    uint8_t *raw = NULL;
    size_t raw_count, characters = strlen(text);
    uint8_t *bytes = malloc(characters / 4 * 3 + 1);
    if (!bytes) {
        err_set(err, LB_EXIT_MACHINE, "out of memory while reading a histogram");
        return NULL;
    }
    ptrdiff_t length = base64_decode(bytes, text, characters);
    if (length < 0) {
        damaged(err, "it is not base64");
        goto out;
    }
    if (check_outer(bytes, length, err) != 0) goto out;
    raw = inflated(bytes + OUTER_BYTES, (size_t)length - OUTER_BYTES, &raw_count, err);
    if (raw) h = read_inner(raw, raw_count, err);
out:
    free(raw);
    free(bytes);
    return h;
}
