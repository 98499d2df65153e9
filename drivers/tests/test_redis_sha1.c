/* test_redis_sha1: the digest against known answers (FIPS 180-4's examples, and what Redis
 * answers). */
#include "bench/tests/unit.h"
#include "drivers/redis/redis_impl.h"

static void expect(const char *text, const char *digest) {
    char hex[41];
    sha1_hex(text, strlen(text), hex);
    assert_string_equal(hex, digest);
}

TEST(test_known_answers) {
    expect("", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    expect("abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
           "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    expect("return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"); /* SCRIPT LOAD "return 1" */
}

/* Every way that the last block can be filled. */
TEST(test_lengths) {
    static const struct {
        size_t len;
        const char *digest;
    } cases[] = {{55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"},
                 {56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"},
                 {63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5"},
                 {64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"},
                 {65, "11655326c708d70319be2610e8a57d9a5b959d3b"},
                 {1000, "291e9a6c66994949b57ba5e650361e98fc36b1ba"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1001], hex[41];
        memset(text, 'a', sizeof text);
        sha1_hex(text, cases[i].len, hex);
        assert_string_equal(hex, cases[i].digest);
    }
}

TEST_MAIN(NULL, NULL)
