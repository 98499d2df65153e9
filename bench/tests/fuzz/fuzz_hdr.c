/* fuzz_hdr: hdr_decode on anything.
 *
 * No mutation finds its way through a checksum, so of an input whose first byte is odd the rest is
 * deflated and wrapped as a text's inside; otherwise the rest is the text. What decodes must encode
 * to the same counts. */
#include <zlib.h>

#include "bench/base/text.h"
#include "bench/tests/fuzz/fuzz.h"
#include "results/format/hdr.h"

static char *wrap(const uint8_t *inner, size_t size) {
    uLongf packed = compressBound(size);
    uint8_t *bytes = malloc(8 + packed);
    if (!bytes || compress2(bytes + 8, &packed, inner, size, 1) != Z_OK) abort();
    memcpy(bytes, "\x1c\x84\x93\x14", 4);
    for (int i = 0; i < 4; i++) bytes[4 + i] = (uint8_t)(packed >> (24 - 8 * i));
    char *text = malloc(base64_length(8 + packed) + 1);
    if (!text) abort();
    base64_encode(text, bytes, 8 + packed);
    free(bytes);
    return text;
}

static void check(const struct hist *h) {
    struct lb_err err = {0};
    int64_t count = 0;
    for (int32_t slot = h->first; slot <= h->last; slot++) count += h->counts[slot];
    if (count != h->count || (count > 0 && h->min > h->max)) abort();
    for (int quarter = 0; quarter <= 4; quarter++) {
        int64_t value = hist_quantile(h, quarter / 4.0);
        if (count > 0 && (value < h->min || value > h->max)) abort();
    }
    if (!(hist_mean(h) >= 0)) abort();

    char *text = hdr_encode(h, &err);
    struct hist *back = text ? hdr_decode(text, &err) : NULL;
    if (!back || back->count != h->count || back->sum != h->sum || back->first != h->first ||
        back->last != h->last) {
        abort();
    }
    hist_free(back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct lb_err err = {0};
    char *text = data[0] & 1 ? wrap(data + 1, size - 1) : strndup((const char *)data + 1, size - 1);
    if (!text) abort();
    struct hist *h = hdr_decode(text, &err);
    if (h)
        check(h);
    else
        expect_reason(&err);
    hist_free(h);
    free(text);
    return 0;
}
