/* nkey: see nats.h. A seed is base32 of two bytes of prefix, 32 of the key, and a CRC16; a public key is base32 of one
 * byte of prefix, 32 of the key, and a CRC16, the low byte first. */
#define _GNU_SOURCE
#include "drivers/nats/nats.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/crc16.h"

#define KEY_BYTES 32
#define SEED_CHARS 58   /* (2 + 32 + 2 bytes) in base32 */
#define FILE_BYTES 8192 /* a larger file is no credentials file */
#define PREFIX_SEED (18 << 3)
#define PREFIX_USER (20 << 3)

struct nkey {
    bool jwt;
    unsigned char seed[KEY_BYTES];
    char identity[FILE_BYTES];
};

static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/* Reads a seed of a user. -1: the text is no such seed. */
static int from_seed(const char *text, unsigned char key[KEY_BYTES]) {
    unsigned char bytes[2 + KEY_BYTES + 2];
    unsigned buffer = 0, bits = 0;
    size_t used = 0;
    for (int i = 0; i < SEED_CHARS; i++) {
        const char *at = text[i] ? strchr(base32, text[i]) : NULL;
        if (!at) return -1;
        buffer = buffer << 5 | (unsigned)(at - base32);
        bits += 5;
        if (bits < 8) continue;
        bits -= 8;
        if (used < sizeof bytes) bytes[used++] = (unsigned char)(buffer >> bits);
    }
    bool good = used == sizeof bytes && (bytes[0] & 0xf8) == PREFIX_SEED &&
                ((bytes[0] & 7) << 5 | bytes[1] >> 3) == PREFIX_USER &&
                (bytes[34] | bytes[35] << 8) == crc16(bytes, 34);
    if (good) memcpy(key, bytes + 2, KEY_BYTES);
    explicit_bzero(bytes, sizeof bytes);
    return good ? 0 : -1;
}

#ifdef LB_OPENSSL

#include <openssl/evp.h>

static void to_base32(const unsigned char *bytes, size_t len, char *out) {
    unsigned buffer = 0, bits = 0;
    for (size_t i = 0; i < len; i++) {
        buffer = buffer << 8 | bytes[i];
        for (bits += 8; bits >= 5; bits -= 5) *out++ = base32[buffer >> (bits - 5) & 31];
    }
    if (bits > 0) *out++ = base32[buffer << (5 - bits) & 31];
    *out = '\0';
}

static EVP_PKEY *evp_key_of(const struct nkey *key) {
    return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, key->seed, KEY_BYTES);
}

/* Writes the public key. -1 if OpenSSL fails. */
static int name_public(struct nkey *key) {
    unsigned char bytes[1 + KEY_BYTES + 2] = {PREFIX_USER};
    size_t len = KEY_BYTES;
    EVP_PKEY *private = evp_key_of(key);
    int made = private ? EVP_PKEY_get_raw_public_key(private, bytes + 1, &len) : 0;
    EVP_PKEY_free(private);
    if (made != 1 || len != KEY_BYTES) return -1;
    uint16_t crc = crc16(bytes, 1 + KEY_BYTES);
    bytes[1 + KEY_BYTES] = (unsigned char)(crc & 0xff);
    bytes[2 + KEY_BYTES] = (unsigned char)(crc >> 8);
    to_base32(bytes, sizeof bytes, key->identity);
    return 0;
}

const char *nkey_sign(const struct nkey *key, const char *nonce, char out[NKEY_SIGNATURE_BYTES]) {
    unsigned char signature[64];
    size_t len = sizeof signature;
    EVP_PKEY *private = evp_key_of(key);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool done =
        private && context && EVP_DigestSignInit(context, NULL, NULL, NULL, private) == 1 &&
        EVP_DigestSign(context, signature, &len, (const unsigned char *)nonce, strlen(nonce)) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(private);
    out[0] = '\0';
    if (!done) return out;
    EVP_EncodeBlock((unsigned char *)out, signature, (int)len);
    for (char *c = out; *c; c++) {
        if (*c == '+') *c = '-';
        if (*c == '/') *c = '_';
        if (*c == '=') *c = '\0';
    }
    return out;
}

#else

static int name_public(struct nkey *key) {
    (void)key;
    return -1;
}

const char *nkey_sign(const struct nkey *key, const char *nonce, char out[NKEY_SIGNATURE_BYTES]) {
    (void)key;
    (void)nonce;
    out[0] = '\0';
    return out;
}

#endif

/* Reads the file's text, cut to the room and ended with NUL. 0, or -1 with err. */
static int read_file(const char *option, const char *path, char text[FILE_BYTES],
                     struct lb_err *err) {
    FILE *file = fopen(path, "r");
    if (!file) return err_set(err, LB_EXIT_USAGE, "nats.%s: %s: %s", option, path, strerror(errno));
    size_t len = fread(text, 1, FILE_BYTES - 1, file);
    fclose(file);
    text[len] = '\0';
    return 0;
}

/* The line after the one that begins a section. NULL: there is none. */
static const char *line_of_section(const char *text, const char *begin, size_t *ret_len) {
    const char *at = strstr(text, begin);
    if (!at) return NULL;
    at += strcspn(at, "\n");
    at += strspn(at, "\r\n");
    *ret_len = strcspn(at, "\r\n");
    return *ret_len > 0 ? at : NULL;
}

/* Fills the key from a file's text: a seed, or credentials. 0, or -1 with err. */
static int fill_key(struct nkey *key, const char *text, bool creds, const char *path,
                    struct lb_err *err) {
    size_t jwt_len = 0, seed_len = 0;
    const char *seed = creds ? line_of_section(text, "BEGIN USER NKEY SEED", &seed_len) : text;
    const char *jwt = creds ? line_of_section(text, "BEGIN NATS USER JWT", &jwt_len) : NULL;
    if (!seed || (creds && !jwt) || from_seed(seed, key->seed) != 0)
        return err_set(err, LB_EXIT_USAGE,
                       creds ? "nats.creds: %s has no user's JWT with the seed of its key"
                             : "nats.nkey: %s does not begin with the seed of a user (SU...)",
                       path);
    if (name_public(key) != 0)
        return err_set(err, LB_EXIT_MACHINE,
                       "nats.%s: this lockbench was built without OpenSSL: install libssl-dev",
                       creds ? "creds" : "nkey");
    key->jwt = creds;
    if (creds) snprintf(key->identity, sizeof key->identity, "%.*s", (int)jwt_len, jwt);
    return 0;
}

static struct nkey *read_key(const char *path, bool creds, struct lb_err *err) {
    char text[FILE_BYTES] = "";
    struct nkey *key = calloc(1, sizeof *key);
    int failed = key ? read_file(creds ? "creds" : "nkey", path, text, err)
                     : err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!failed) failed = fill_key(key, text, creds, path, err);
    explicit_bzero(text, sizeof text);
    if (!failed) return key;
    nkey_free(key);
    return NULL;
}

struct nkey *nkey_read_seed(const char *path, struct lb_err *err) {
    return read_key(path, false, err);
}

struct nkey *nkey_read_creds(const char *path, struct lb_err *err) {
    return read_key(path, true, err);
}

void nkey_free(struct nkey *key) {
    if (key) explicit_bzero(key->seed, sizeof key->seed);
    free(key);
}

bool nkey_is_jwt(const struct nkey *key) {
    return key->jwt;
}

const char *nkey_identity(const struct nkey *key) {
    return key->identity;
}
