/* nats_jwt: the settings of a NATS server whose clients log in with credentials files, and such a file: keys and JWTs
 * as NATS's tool nsc makes them (github.com/nats-io/jwt, version 2). Header only: the test of .creds uses it. */
#ifndef DRIVERS_TESTS_NATS_JWT_H
#define DRIVERS_TESTS_NATS_JWT_H

#include <openssl/evp.h>
#include <stdarg.h>
#include <string.h>

#include "bench/tests/unit.h"
#include "drivers/crc16.h"

#define JWT_KEY_BYTES 32
#define JWT_TEXT_BYTES 2048

/* The first byte of a public key says what it belongs to. */
enum jwt_who { JWT_OPERATOR = 14 << 3, JWT_ACCOUNT = 0, JWT_USER = 20 << 3, JWT_SEED = 18 << 3 };

struct jwt_key {
    EVP_PKEY *pair;
    char name[64], seed[64]; /* "U...", "SU..." */
};

static inline void jwt_base32(const unsigned char *bytes, size_t len, char *out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned buffer = 0, bits = 0;
    for (size_t i = 0; i < len; i++) {
        buffer = buffer << 8 | bytes[i];
        for (bits += 8; bits >= 5; bits -= 5) *out++ = letters[buffer >> (bits - 5) & 31];
    }
    if (bits > 0) *out++ = letters[buffer << (5 - bits) & 31];
    *out = '\0';
}

/* Base64 of URLs, without padding. Returns its end. */
static inline char *jwt_base64(const void *bytes, size_t len, char *out) {
    out += EVP_EncodeBlock((unsigned char *)out, bytes, (int)len);
    while (out[-1] == '=') *--out = '\0';
    return out;
}

static inline void jwt_url_letters(char *text) {
    for (char *c = text; *c; c++) *c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
}

/* Adds the checksum, the low byte first, and writes base32. */
static inline void jwt_seal(unsigned char *bytes, size_t len, char *out) {
    uint16_t crc = crc16(bytes, len);
    bytes[len] = (unsigned char)(crc & 0xff);
    bytes[len + 1] = (unsigned char)(crc >> 8);
    jwt_base32(bytes, len + 2, out);
}

/* A key pair that is the same in each test run: digit makes it another one. The caller frees `pair`. */
static inline struct jwt_key jwt_key(enum jwt_who who, int digit) {
    struct jwt_key key;
    unsigned char seed[2 + JWT_KEY_BYTES + 2], name[1 + JWT_KEY_BYTES + 2] = {(unsigned char)who};
    size_t len = JWT_KEY_BYTES;
    memset(seed + 2, digit, JWT_KEY_BYTES);
    seed[0] = (unsigned char)(JWT_SEED | who >> 5);
    seed[1] = (unsigned char)((who & 31) << 3);
    key.pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed + 2, JWT_KEY_BYTES);
    assert_non_null(key.pair);
    assert_int_equal(EVP_PKEY_get_raw_public_key(key.pair, name + 1, &len), 1);
    jwt_seal(seed, 2 + JWT_KEY_BYTES, key.seed);
    jwt_seal(name, 1 + JWT_KEY_BYTES, key.name);
    return key;
}

/* Makes a JWT in which the issuer states the JSON object `nats` about the subject. */
static inline void jwt_make(const struct jwt_key *issuer, const struct jwt_key *subject,
                            const char *nats, char jwt[JWT_TEXT_BYTES]) {
    static const char header[] = "{\"typ\":\"JWT\",\"alg\":\"ed25519-nkey\"}";
    char claims[JWT_TEXT_BYTES / 2];
    unsigned char signature[64];
    size_t signature_len = sizeof signature;
    int len = snprintf(
        claims, sizeof claims,
        "{\"jti\":\"1\",\"iat\":1600000000,\"iss\":\"%s\",\"name\":\"lockbench test\",\"sub\":\"%s\",\"nats\":%s}",
        issuer->name, subject->name, nats);
    char *end = jwt_base64(header, strlen(header), jwt);
    *end++ = '.';
    end = jwt_base64(claims, (size_t)len, end);
    jwt_url_letters(jwt);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit(context, NULL, NULL, NULL, issuer->pair), 1);
    assert_int_equal(EVP_DigestSign(context, signature, &signature_len, (unsigned char *)jwt,
                                    (size_t)(end - jwt)),
                     1);
    EVP_MD_CTX_free(context);
    *end++ = '.';
    jwt_base64(signature, signature_len, end);
    jwt_url_letters(end);
}

/* The text of a credentials file. */
static inline void jwt_creds(const char *jwt, const char *seed, char *out, size_t size) {
    snprintf(out, size,
             "-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
             "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n",
             jwt, seed);
}

#endif
