/* wire_frame: finds the ends of messages, in protocols whose messages begin with their length: RESP (Redis),
 * PostgreSQL's answers, and four bytes of length (ZooKeeper). It does not guess: if a chunk is not a whole
 * number of messages, no message is found. */
#define _GNU_SOURCE
#include <string.h>

#include "bench/servers/wire_impl.h"

/* The end of the line that begins at `at`, after its CR LF; 0 = there is none. */
static size_t line_end(const char *data, size_t len, size_t at) {
    const char *end = at < len ? memmem(data + at, len - at, "\r\n", 2) : NULL;
    return end ? (size_t)(end - data) + 2 : 0;
}

/* The decimal number that fills [at, end - CR LF); -1 = there is none, or it is negative. */
static int64_t number_in(const char *data, size_t at, size_t end) {
    int64_t value = 0;
    if (at + 2 >= end || end - at > 12) return -1;
    for (; at < end - 2; at++) {
        if (data[at] < '0' || data[at] > '9') return -1;
        value = value * 10 + (data[at] - '0');
    }
    return value;
}

/* The end of the RESP value at `at`; 0 = there is no value, or it is incomplete. Nested values are counted
 * instead of using recursion. */
static size_t resp_end(const char *data, size_t len, size_t at) {
    int64_t values = 1;
    while (values > 0) {
        if (at >= len) return 0;
        char type = data[at];
        size_t end = line_end(data, len, at + 1);
        if (!end || !strchr("+-:_,#($=!*~>%|", type)) return 0;
        int64_t count = number_in(data, at + 1, end);
        values--;
        at = end;
        if (strchr("$=!", type) && count >= 0) {
            at += (size_t)count + 2;
            if (at > len || data[at - 2] != '\r' || data[at - 1] != '\n') return 0;
        } else if (strchr("*~>", type) && count > 0) {
            values += count;
        } else if (strchr("%|", type) && count > 0) {
            values += 2 * count + (type == '|'); /* an attribute comes before its value */
        }
    }
    return at;
}

/* The end of a message with a length of four bytes, most significant first, after `skip` bytes.
 * With a type before it, as in PostgreSQL, the length counts itself. */
static size_t length_end(const char *data, size_t len, size_t at, size_t skip) {
    const unsigned char *bytes = (const unsigned char *)data + at;
    if (len - at < skip + 4) return 0;
    if (skip == 1 &&
        !((bytes[0] >= 'A' && bytes[0] <= 'Z') || (bytes[0] >= 'a' && bytes[0] <= 'z') ||
          (bytes[0] >= '1' && bytes[0] <= '3') || bytes[0] == 'n'))
        return 0;
    bytes += skip;
    size_t size =
        (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
    if (skip == 1 && size < 4) return 0;
    size += skip == 1 ? 1 : 4;
    return size <= len - at ? at + size : 0;
}

static size_t message_end(const char *data, size_t len, size_t at, int framing) {
    return framing == 0   ? resp_end(data, len, at)
           : framing == 1 ? length_end(data, len, at, 1)
                          : length_end(data, len, at, 0);
}

bool frame_find(const char *data, size_t len, size_t at, size_t *ret_begin, size_t *ret_end) {
    for (int framing = 0; framing < 3; framing++) {
        size_t begin = 0, end = 0, found_begin = 0, found_end = 0;
        while (begin < len && (end = message_end(data, len, begin, framing)) > begin) {
            if (begin <= at && at < end) {
                found_begin = begin;
                found_end = end;
            }
            begin = end;
        }
        if (begin != len || !found_end) continue;
        *ret_begin = found_begin;
        *ret_end = found_end;
        return true;
    }
    return false;
}
