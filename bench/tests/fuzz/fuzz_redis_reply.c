/* fuzz_redis_reply: replies of a Redis server that may be none, in pieces: whatever comes, what was kept lies within the
 * connection's own memory, or is redis_ok, and ends with a NUL. The first byte is the size of the pieces. */
#include "bench/tests/fuzz/fuzz.h"
#include "drivers/redis/redis_impl.h"

static void look_at(const struct redis_conn *conn, const struct redis_value *value) {
    bool inside =
        value->text >= conn->text && value->text + value->len < conn->text + sizeof conn->text;
    if (value->len > 0 && !inside && value->text != redis_ok) abort();
    if (value->text[value->len] != '\0') abort();
}

static void look_at_reply(const struct redis_conn *conn, const struct redis_reply *reply) {
    if (reply->count < 0 || reply->count > REDIS_ELEMENTS_MAX || reply->count > reply->total)
        abort();
    look_at(conn, &reply->value);
    for (int i = 0; i < reply->count; i++) look_at(conn, &reply->element[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct redis_conn *conn = calloc(1, sizeof *conn);
    redisReader *reader = redisReaderCreateWithFunctions(&redis_reply_functions);
    if (!conn || !reader) abort();
    reader->privdata = conn;
    size_t piece = data[0] ? data[0] : size;
    conn->filling = &conn->reply[0];
    for (size_t at = 1; at < size; at += piece) {
        size_t part = size - at < piece ? size - at : piece;
        void *object = NULL;
        if (redisReaderFeed(reader, (const char *)data + at, part) != REDIS_OK) break;
        int failed;
        while ((failed = redisReaderGetReply(reader, &object)) == REDIS_OK && object) {
            look_at_reply(conn, &conn->reply[0]);
            conn->text_used = 0;
            conn->reply[0].count = conn->reply[0].total = 0;
        }
        if (failed != REDIS_OK) break;
    }
    redisReaderFree(reader);
    free(conn);
    return 0;
}
