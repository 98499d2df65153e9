/* test_hdr: V2 text there and back, byte for byte as HdrHistogram's Java writes it, and texts whose
 * header, lengths or counts are false. */

#include <math.h>
#include <zlib.h>

#include "bench/base/rng.h"
#include "bench/base/text.h"
#include "bench/tests/unit.h"
#include "results/format/hdr.h"

#define HEADER_BYTES 40

static char *encode(const struct hist *h) {
    struct lb_err err = {0};
    char *text = hdr_encode(h, &err);
    if (!text) fail_msg("%s", err.text);
    return text;
}

static struct hist *decode(const char *text) {
    struct lb_err err = {0};
    struct hist *h = hdr_decode(text, &err);
    if (!h) fail_msg("%s", err.text);
    return h;
}

static void assert_same_counts(const struct hist *a, const struct hist *b) {
    assert_int_equal(a->digits, b->digits);
    assert_int_equal(a->highest, b->highest);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->counts, b->counts, (size_t)a->length * sizeof *a->counts);
}

/* ---- sound texts ---- */

TEST(test_round_trip) {
    struct lb_rng rng;
    rng_seed(&rng, 5, 0);
    static const int64_t highests[] = {2, 100000, 60000000000, HIST_HIGHEST_NS, INT64_MAX};
    for (int digits = 1; digits <= 5; digits++) {
        for (size_t r = 0; r < sizeof highests / sizeof *highests; r++) {
            struct hist *h = hist_new(digits, highests[r]);
            assert_non_null(h);
            for (int i = 0; i < 3000; i++) {
                int64_t value = (int64_t)(rng_u64(&rng) >> (1 + rng_below(&rng, 63)));
                hist_record(h, value <= highests[r] ? value : value % highests[r]);
            }
            char *text = encode(h);
            assert_memory_equal(text, "HISTFAAA", 8);
            /* With such a wide range the sum of the values overflows, so the text is refused. */
            if (highests[r] == INT64_MAX) {
                struct lb_err err = {0};
                assert_null(hdr_decode(text, &err));
                assert_non_null(strstr(err.text, "add up"));
                free(text);
                hist_free(h);
                continue;
            }
            struct hist *back = decode(text);
            assert_same_counts(h, back);
            assert_int_equal(back->min, hist_slot_low(h, hist_slot(h, h->min)));
            assert_int_equal(back->max, hist_slot_high(h, hist_slot(h, h->max)));
            assert_true(back->first == h->first && back->last == h->last);
            for (double q = 0; q < 1; q += 0.01) {
                int64_t ours = hist_quantile(h, q);
                assert_int_equal(hist_quantile(back, q), hist_slot_high(h, hist_slot(h, ours)));
            }
            hist_free(back);
            free(text);
            hist_free(h);
        }
    }
}

TEST(test_counts_of_each_length) {
    static const int64_t counts[] = {
        0,        1, 63, 64, 8191, 8192, INT64_C(1) << 54, (INT64_C(1) << 55) - 1, INT64_C(1) << 55,
        INT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct hist *h = hist_new(3, 1000);
        assert_non_null(h);
        if (counts[i] > 0) hist_record(h, 1);
        h->counts[1] = h->count = counts[i];
        char *text = encode(h);
        struct hist *back = decode(text);
        assert_same_counts(h, back);
        hist_free(back);
        free(text);
        hist_free(h);
    }
}

/* Texts written by HdrHistogram 2.1.11 (Java), and what that library says is in them. */
TEST(test_texts_of_the_java_library) {
    struct hist *h = decode("HISTFAAAACF4nJNpmSzMwMDAyAABzFAayGd2M9ixgMH+A1QEAFKmBEw=");
    assert_int_equal(h->count, 0);
    assert_int_equal(h->highest, HIST_HIGHEST_NS);
    hist_free(h);

    h = decode("HISTFAAAADR4nJNpmSzMwMAAwiDADKUZgUw3gx0LGOw/QASYGJiYdq5jvMGycD4jU39cw6Hr+gDaDAsg");
    assert_int_equal(h->count, 50000304);
    assert_int_equal(hist_quantile(h, 0.5), 60028878847);
    assert_int_equal(h->max, 60028878847);
    assert_true(h->counts[0] == 1 && h->counts[1] == 0 && h->counts[2] == 1 && h->counts[3] == 1);
    assert_int_equal(h->counts[hist_slot(h, 1000000)], 300);
    assert_true(fabs(hist_mean(h) / 6.0011736786643074e10 - 1) < 1e-12);
    hist_free(h);

    h = decode("HISTFAAAACZ4nJNpmSzMwMDAxQABTFCakYGB2c1gxwIG+w9QkT//oQAAp2oNSA==");
    assert_int_equal(h->digits, 2);
    assert_int_equal(h->count, INT64_MAX - 1);
    hist_free(h);

    struct lb_err err = {0}; /* lowest value 1000 */
    assert_null(hdr_decode("HISTFAAAACR4nJNpmSzMwMDAzAABUJr5BRC7GexYwGD/ASLS7swEAG/uBgQ=", &err));
    assert_non_null(strstr(err.text, "another kind"));
}

/* ---- bytes: the payload inside a text, and texts around a payload ---- */

static size_t unpack(const char *text, uint8_t *out, size_t room) {
    uint8_t bytes[1024];
    size_t characters = strlen(text);
    assert_true(characters <= sizeof bytes);
    ptrdiff_t length = base64_decode(bytes, text, characters);
    assert_true(length > 8);
    uLongf unpacked = room;
    assert_int_equal(uncompress(out, &unpacked, bytes + 8, (uLong)length - 8), Z_OK);
    return unpacked;
}

/* What the Java library's encodeIntoByteBuffer gave for the same values. The deflated form depends
 * on zlib's version and level; this does not. Slots 0, 2, 3 are single, 1 is a single zero, then
 * runs of zeros. */
TEST(test_payload_is_that_of_the_java_library) {
    static const uint8_t expected[] = {
        0x1c, 0x84, 0x93, 0x13, 0,    0,    0,    0x13, 0,    0,    0,    0,    0,    0,    0,
        3,    0,    0,    0,    0,    0,    0,    0,    1,    0,    0,    0x03, 0x46, 0x30, 0xb8,
        0xa0, 0,    0x3f, 0xf0, 0,    0,    0,    0,    0,    0,    0x02, 0x00, 0x02, 0x02, 0xb9,
        0xae, 0x01, 0xd8, 0x04, 0xa1, 0x9f, 0x01, 0x02, 0x8f, 0x5e, 0x80, 0xc2, 0xd7, 0x2f};
    struct hist *h = hist_new(3, HIST_HIGHEST_NS);
    assert_non_null(h);
    hist_record(h, 0);
    hist_record(h, 2);
    hist_record(h, 3);
    for (int i = 0; i < 300; i++) hist_record(h, 1000000);
    hist_record(h, 1000000000);
    hist_record(h, 59999999999);
    h->counts[hist_slot(h, 59999999999)] = 50000000;

    uint8_t raw[256];
    char *text = encode(h);
    assert_int_equal(unpack(text, raw, sizeof raw), sizeof expected);
    assert_memory_equal(raw, expected, sizeof expected);
    free(text);
    hist_free(h);
}

/* A text around any inner bytes. stated < 0: the true deflated length. Freed by the caller. */
static char *text_around(const uint8_t *raw, size_t length, uint32_t cookie, int64_t stated) {
    uLongf packed = compressBound(length);
    uint8_t *bytes = malloc(8 + packed);
    assert_non_null(bytes);
    assert_int_equal(compress2(bytes + 8, &packed, raw, length, 9), Z_OK);
    uint32_t words[2] = {cookie, stated < 0 ? (uint32_t)packed : (uint32_t)stated};
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(words[i / 4] >> (24 - 8 * (i % 4)));
    char *text = malloc(base64_length(8 + packed) + 1);
    assert_non_null(text);
    base64_encode(text, bytes, 8 + packed);
    free(bytes);
    return text;
}

static void put(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
}

/* The header of a sound histogram: three digits up to an hour. */
static void put_header(uint8_t *raw, uint32_t payload) {
    put(raw, 0x1c849313, 4);
    put(raw + 4, payload, 4);
    put(raw + 8, 0, 4);
    put(raw + 12, 3, 4);
    put(raw + 16, 1, 8);
    put(raw + 24, (uint64_t)HIST_HIGHEST_NS, 8);
    put(raw + 32, UINT64_C(0x3ff0000000000000), 8);
}

static void assert_refused(const char *what, const char *text, const char *word) {
    struct lb_err err = {0};
    struct hist *h = hdr_decode(text, &err);
    if (h) fail_msg("%s: was taken as sound", what);
    if (err.code != LB_EXIT_USAGE) fail_msg("%s: code %d, \"%s\"", what, err.code, err.text);
    if (!strstr(err.text, word)) fail_msg("%s: \"%s\" does not say \"%s\"", what, err.text, word);
}

/* One field of a sound header changed. */
TEST(test_headers_that_lie) {
    static const struct {
        const char *what;
        int at, bytes;
        uint64_t value;
        const char *word;
    } cases[] = {
        {"V1 cookie", 0, 4, 0x1c849301, "another kind"},
        {"fewer counts stated", 4, 4, 1, "states 1 bytes"},
        {"more counts stated", 4, 4, 3, "states 3 bytes"},
        {"no counts stated", 4, 4, 0, "states 0 bytes"},
        {"negative length", 4, 4, 0xffffffff, "but has 2"},
        {"shifted", 8, 4, 5, "another kind"},
        {"no digits", 12, 4, 0, "digits"},
        {"six digits", 12, 4, 6, "digits"},
        {"negative digits", 12, 4, 0xfffffffe, "digits"},
        {"lowest 0", 16, 8, 0, "another kind"},
        {"lowest 1000", 16, 8, 1000, "another kind"},
        {"highest 1", 24, 8, 1, "highest"},
        {"highest negative", 24, 8, UINT64_C(1) << 63, "highest"},
        {"scaled", 32, 8, UINT64_C(0x4000000000000000), "another kind"},
        {"ratio is no number", 32, 8, UINT64_C(0x7ff8000000000000), "another kind"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t raw[HEADER_BYTES + 2] = {0};
        put_header(raw, 2);
        raw[HEADER_BYTES] = raw[HEADER_BYTES + 1] = 2;
        put(raw + cases[i].at, cases[i].value, cases[i].bytes);
        char *text = text_around(raw, sizeof raw, 0x1c849314, -1);
        assert_refused(cases[i].what, text, cases[i].word);
        free(text);
    }
}

/* Counts for 33 792 slots (three digits, an hour), hand-made. */
TEST(test_counts_that_lie) {
    static const struct {
        const char *what;
        int length;
        uint8_t bytes[40];
        const char *word; /* NULL: sound */
    } cases[] = {
        {"two counts", 2, {2, 2}, NULL},
        {"no counts at all", 0, {0}, NULL},
        {"a run to the last slot", 4, {0xfd, 0x8f, 0x04, 0x02}, NULL},
        {"a run over every slot", 3, {0xff, 0x8f, 0x04}, NULL},
        {"one slot too many", 5, {0xfd, 0x8f, 0x04, 0x02, 0x02}, "beyond its own range"},
        {"a zero too many", 5, {0xfd, 0x8f, 0x04, 0x02, 0x00}, "beyond its own range"},
        {"a run one too long", 3, {0x81, 0x90, 0x04}, "beyond its own range"},
        {"the longest run there is",
         9,
         {255, 255, 255, 255, 255, 255, 255, 255, 255},
         "beyond its own range"},
        {"a run of 2^32", 5, {0xff, 0xff, 0xff, 0xff, 0x1f}, "beyond its own range"},
        {"cut within a count", 1, {0x80}, "cut short"},
        {"cut within the ninth byte", 8, {255, 255, 255, 255, 255, 255, 255, 255}, "cut short"},
        {"zero in two bytes", 2, {0x80, 0x00}, "overlong"},
        {"one in nine bytes", 9, {0x82, 128, 128, 128, 128, 128, 128, 128, 0}, "overlong"},
        {"the greatest count in slot 0", 9, {0xfe, 255, 255, 255, 255, 255, 255, 255, 255}, NULL},
        {"and one more", 10, {0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 2}, "add up"},
        {"a sum of 2^63 times 3", 10, {5, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255}, "add up"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t raw[HEADER_BYTES + 40];
        put_header(raw, (uint32_t)cases[i].length);
        memcpy(raw + HEADER_BYTES, cases[i].bytes, (size_t)cases[i].length);
        char *text = text_around(raw, HEADER_BYTES + (size_t)cases[i].length, 0x1c849314, -1);
        if (cases[i].word) {
            assert_refused(cases[i].what, text, cases[i].word);
        } else {
            hist_free(decode(text));
        }
        free(text);
    }
}

/* The outer length is true, but the deflated stream ends before its checksum, or before the text
 * does. */
TEST(test_streams_of_another_length) {
    static const char sound[] = "HISTFAAAACF4nJNpmSzMwMDAyAABzFAayGd2M9ixgMH+A1QEAFKmBEw=";
    static const int lengths[] = {41 - 1, 41 - 4, 41 + 1, 41 + 5};
    uint8_t bytes[64] = {0};
    char text[100];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(bytes, 0, sizeof bytes);
        assert_int_equal(base64_decode(bytes, sound, sizeof sound - 1), 41);
        put(bytes + 4, (uint64_t)lengths[i] - 8, 4);
        base64_encode(text, bytes, (size_t)lengths[i]);
        assert_refused(text, text, "does not inflate");
    }
}

/* 60 MB of zero counts, deflated to 60 KB: more than the largest histogram has. */
TEST(test_zip_bomb) {
    size_t length = 60 << 20;
    uint8_t *raw = calloc(1, length);
    assert_non_null(raw);
    put_header(raw, (uint32_t)(length - HEADER_BYTES));
    char *text = text_around(raw, length, 0x1c849314, -1);
    assert_refused("a bomb", text, "does not inflate");
    free(text);
    free(raw);
}

/* Every text with one byte of the sound one changed, cut or doubled is refused or is sound; nothing
 * else. (That no byte out of bounds is read is for the sanitizers to say.) */
TEST(test_every_single_change) {
    struct hist *h = hist_new(2, 100000);
    assert_non_null(h);
    for (int i = 0; i < 100; i++) hist_record(h, i * i);
    char *text = encode(h);
    size_t length = strlen(text);
    size_t refused = 0;
    for (size_t i = 0; i < length; i++) {
        char *bad = strdup(text);
        assert_non_null(bad);
        for (int c = 1; c < 256; c += 5) {
            bad[i] = (char)c;
            struct lb_err err = {0};
            struct hist *back = hdr_decode(bad, &err);
            assert_true((back == NULL) == (err.code == LB_EXIT_USAGE));
            refused += back == NULL;
            hist_free(back);
        }
        bad[i] = '\0';
        assert_refused("cut", bad, "damaged");
        free(bad);
    }
    assert_true(refused > length * 51 * 9 / 10);
    free(text);
    hist_free(h);
}

TEST_MAIN(NULL, NULL)
