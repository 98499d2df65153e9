/* sha1: the digest by which EVALSHA names a script (FIPS 180-4). Do not use it for security. */
#ifndef DRIVERS_REDIS_SHA1_H
#define DRIVERS_REDIS_SHA1_H

#include <stddef.h>

/* Writes 40 hex digits and a NUL. */
void sha1_hex(const void *data, size_t len, char out[41]);

#endif
