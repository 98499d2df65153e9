/* test_redis_reply: hiredis' parser writing replies into the session: every type, nested, long, too
 * many, and however the bytes arrive. */
#include "bench/tests/unit.h"
#include "drivers/redis/redis_impl.h"

static struct redis_conn conn;

/* Feeds bytes, `piece` at a time; the replies that were completed. */
static int feed(redisReader *reader, const char *bytes, size_t len, size_t piece) {
    int replies = 0;
    for (size_t at = 0; at < len; at += piece) {
        void *object = NULL;
        size_t part = len - at < piece ? len - at : piece;
        assert_int_equal(redisReaderFeed(reader, bytes + at, part), REDIS_OK);
        assert_int_equal(redisReaderGetReply(reader, &object), REDIS_OK);
        replies += object != NULL;
    }
    return replies;
}

static redisReader *reader_new(void) {
    redisReader *reader = redisReaderCreateWithFunctions(&redis_reply_functions);
    assert_non_null(reader);
    reader->privdata = &conn;
    return reader;
}

/* As a session does before each command. */
static void begin(void) {
    conn.filling = &conn.reply[0];
    conn.reply[0].count = conn.reply[0].total = 0;
    conn.text_used = 0;
}

/* One reply, in pieces of every size; the last parse stays in conn. */
static void parse(const char *bytes) {
    size_t len = strlen(bytes);
    for (size_t piece = 1; piece <= len; piece = piece < 8 || piece == len ? piece + 1 : len) {
        redisReader *reader = reader_new();
        memset(&conn, 0x55, sizeof conn);
        begin();
        if (feed(reader, bytes, len, piece) != 1) fail_msg("'%s' in pieces of %zu", bytes, piece);
        redisReaderFree(reader);
    }
}

static const struct redis_value *element(int i) {
    return &conn.reply[0].element[i];
}

TEST(test_bytes_with_nul) {
    redisReader *reader = reader_new();
    begin();
    assert_int_equal(feed(reader, "$3\r\na\0b\r\n", 9, 1), 1);
    assert_int_equal(conn.reply[0].value.len, 3);
    assert_memory_equal(conn.reply[0].value.text, "a\0b", 4);
    redisReaderFree(reader);
}

/* Adds a value as the server sent it: "+OK ", ":7 ", "nil ". */
static void show(char *text, const struct redis_value *value) {
    static const char marks[] = {
        [REDIS_STATUS] = '+', [REDIS_ERROR] = '-', [REDIS_INTEGER] = ':', [REDIS_STRING] = '$'};
    char *end = text + strlen(text);
    if (value->type == REDIS_NIL) {
        sprintf(end, "nil%s ", value->text);
    } else if (value->type == REDIS_INTEGER) {
        sprintf(end, ":%lld ", value->integer);
    } else {
        sprintf(end, "%c%s ", marks[value->type], value->text);
        assert_int_equal(strlen(value->text), value->len);
    }
}

/* Nested arrays are flattened; the first number is the server's of the outer one. */
TEST(test_each_type) {
    static const char *const cases[][2] = {
        {"+OK\r\n", "+OK "},
        {"-ERR no such thing\r\n", "-ERR no such thing "},
        {":-42\r\n", ":-42 "},
        {":9223372036854775807\r\n", ":9223372036854775807 "},
        {"$-1\r\n", "nil "},
        {"*-1\r\n", "nil "},
        {"$0\r\n\r\n", "$ "},
        {"$11\r\na\r\nb +:-$*z\r\n", "$a\r\nb +:-$*z "},
        {"*0\r\n", "0 of 0: "},
        {"*5\r\n$3\r\nkey\r\n:7\r\n$-1\r\n+fine\r\n-ERR x\r\n",
         "5 of 5: $key :7 nil +fine -ERR x "},
        {"*3\r\n:1\r\n*2\r\n:2\r\n*2\r\n:3\r\n$1\r\nx\r\n:5\r\n", "5 of 3: :1 :2 :3 $x :5 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct redis_reply *reply = &conn.reply[0];
        char text[200] = "";
        parse(cases[i][0]);
        if (reply->value.type != REDIS_ARRAY) {
            show(text, &reply->value);
        } else {
            sprintf(text, "%d of %lld: ", reply->count, reply->value.integer);
            for (int k = 0; k < reply->count; k++) show(text, element(k));
        }
        assert_string_equal(text, cases[i][1]);
    }
}

TEST(test_more_elements_than_kept) {
    char bytes[2048];
    int used = snprintf(bytes, sizeof bytes, "*60\r\n");
    for (int i = 0; i < 60; i++)
        used += snprintf(bytes + used, sizeof bytes - (size_t)used,
                         i % 2 ? ":%d\r\n" : "$2\r\n%02d\r\n", i);
    parse(bytes);
    assert_int_equal(conn.reply[0].value.integer, 60);
    assert_int_equal(conn.reply[0].count, REDIS_ELEMENTS_MAX);
    assert_int_equal(conn.reply[0].total, 60);
    assert_string_equal(element(14)->text, "14");
    assert_int_equal(element(15)->integer, 15);
}

TEST(test_text_longer_than_kept) {
    static char bytes[3 * sizeof conn.text];
    size_t len = 2 * sizeof conn.text;
    int used = snprintf(bytes, sizeof bytes, "*3\r\n$%zu\r\n", len);
    memset(bytes + used, 'x', len);
    snprintf(bytes + used + len, sizeof bytes - (size_t)used - len, "\r\n$3\r\nabc\r\n:9\r\n");
    redisReader *reader = reader_new();
    struct {
        struct redis_conn before;
        char after[64];
    } *guarded = calloc(1, sizeof *guarded);
    memset(guarded->after, 0x77, sizeof guarded->after);
    reader->privdata = &guarded->before;
    guarded->before.filling = &guarded->before.reply[0];
    assert_int_equal(feed(reader, bytes, strlen(bytes), 4096), 1);
    const struct redis_reply *reply = &guarded->before.reply[0];
    assert_int_equal(reply->count, 3);
    assert_int_equal(reply->element[0].len, sizeof conn.text - 1); /* cut */
    assert_int_equal(strlen(reply->element[0].text), sizeof conn.text - 1);
    assert_string_equal(reply->element[1].text, ""); /* no room at all */
    assert_int_equal(reply->element[1].len, 0);
    assert_int_equal(reply->element[2].integer, 9); /* and what follows is right again */
    for (size_t i = 0; i < sizeof guarded->after; i++) assert_int_equal(guarded->after[i], 0x77);
    redisReaderFree(reader);
    free(guarded);
}

TEST(test_one_reply_after_another) {
    redisReader *reader = reader_new();
    for (int i = 0; i < 1000; i++) {
        char bytes[64];
        begin();
        int len = snprintf(bytes, sizeof bytes, i % 3 ? "$4\r\n%04d\r\n" : "*1\r\n:%d\r\n", i);
        assert_int_equal(feed(reader, bytes, (size_t)len, 5), 1);
        assert_int_equal(i % 3 ? atoi(conn.reply[0].value.text) : element(0)->integer, i);
    }
    redisReaderFree(reader);
}

TEST(test_no_redis_at_all) {
    static const char *const strange[] = {"HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "\r\n",
                                          "*99999999999999\r\n"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        redisReader *reader = reader_new();
        void *object = NULL;
        begin();
        redisReaderFeed(reader, strange[i], strlen(strange[i]));
        if (redisReaderGetReply(reader, &object) == REDIS_OK && object)
            fail_msg("took '%s'", strange[i]);
        redisReaderFree(reader);
    }
}

/* --- the digest of scripts, against the examples of FIPS 180-4 and what Redis answers --- */

static void expect(const char *text, const char *digest) {
    char hex[41];
    sha1_hex(text, strlen(text), hex);
    assert_string_equal(hex, digest);
}

TEST(test_sha1_known_answers) {
    expect("", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    expect("abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
           "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    expect("return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"); /* SCRIPT LOAD "return 1" */
}

/* Every way that the last block can be filled. */
TEST(test_sha1_lengths) {
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
