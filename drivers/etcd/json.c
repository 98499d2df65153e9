/* json: see json.h. It supports what etcd's messages use: int64, uint64, bool, enum, bytes, string,
 * message; repeated and oneof. It refuses other types. */
#include "drivers/etcd/json.h"

#ifdef LB_HAVE_ETCD
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/base64.h"

static void *slab_alloc(void *data, size_t bytes) {
    struct slab *slab = data;
    size_t start = (slab->used + 15) & ~(size_t)15;
    if (start > slab->size || bytes > slab->size - start) return NULL;
    slab->used = start + bytes;
    return slab->base + start;
}

static void slab_free(void *data, void *block) {
    (void)data;
    (void)block;
}

void slab_init(struct slab *slab, void *base, size_t size) {
    *slab = (struct slab){{slab_alloc, slab_free, NULL}, base, size, 0};
    slab->allocator.allocator_data = slab;
}

void slab_reset(struct slab *slab) {
    slab->used = 0;
}

/* Text on its way out; once it does not fit, full stays set. */
struct writer {
    char *out;
    size_t size, used;
    bool full;
};

static void put(struct writer *writer, const char *text, size_t len) {
    if (writer->full || len > writer->size - writer->used) {
        writer->full = true;
        return;
    }
    memcpy(writer->out + writer->used, text, len);
    writer->used += len;
}

static void put_text(struct writer *writer, const char *text) {
    put(writer, text, strlen(text));
}

static void put_string(struct writer *writer, const char *text) {
    put(writer, "\"", 1);
    for (; *text; text++) {
        char escape[8];
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c != '"' && c != '\\') {
            put(writer, text, 1);
        } else {
            snprintf(escape, sizeof escape, "\\u%04x", c);
            put_text(writer, escape);
        }
    }
    put(writer, "\"", 1);
}

static void put_bytes(struct writer *writer, const ProtobufCBinaryData *bytes) {
    size_t len = base64_length(bytes->len);
    put(writer, "\"", 1);
    if (writer->full || len + 1 > writer->size - writer->used) {
        writer->full = true;
        return;
    }
    base64_encode(writer->out + writer->used, bytes->data, bytes->len);
    writer->used += len;
    put(writer, "\"", 1);
}

static void put_message(struct writer *writer, const ProtobufCMessage *message);

static void put_value(struct writer *writer, const ProtobufCFieldDescriptor *field,
                      const void *value) {
    char number[32];
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
        snprintf(number, sizeof number, "\"%lld\"", (long long)*(const int64_t *)value);
        put_text(writer, number);
        break;
    case PROTOBUF_C_TYPE_UINT64:
        snprintf(number, sizeof number, "\"%llu\"", (unsigned long long)*(const uint64_t *)value);
        put_text(writer, number);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        put_text(writer, *(const protobuf_c_boolean *)value ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumValue *name =
            protobuf_c_enum_descriptor_get_value(field->descriptor, *(const int *)value);
        put_string(writer, name ? name->name : "");
        break;
    }
    case PROTOBUF_C_TYPE_BYTES:
        put_bytes(writer, value);
        break;
    case PROTOBUF_C_TYPE_STRING:
        put_string(writer, *(char *const *)value);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        put_message(writer, *(ProtobufCMessage *const *)value);
        break;
    default:
        writer->full = true;
    }
}

static bool in_oneof(const ProtobufCFieldDescriptor *field) {
    return field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
}

static size_t value_bytes(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return sizeof(int64_t);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_ENUM:
        return sizeof(int);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return sizeof(void *);
    }
}

/* Whether a field that is neither repeated nor in a oneof has its zero value, which the wire leaves
 * out. */
static bool is_zero(const ProtobufCFieldDescriptor *field, const void *value) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_BYTES:
        return ((const ProtobufCBinaryData *)value)->len == 0;
    case PROTOBUF_C_TYPE_STRING: {
        const char *text = *(char *const *)value;
        return !text || !*text;
    }
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void *const *)value == NULL;
    case PROTOBUF_C_TYPE_BOOL:
        return !*(const protobuf_c_boolean *)value;
    case PROTOBUF_C_TYPE_ENUM:
        return *(const int *)value == 0;
    default:
        return *(const int64_t *)value == 0;
    }
}

static void put_message(struct writer *writer, const ProtobufCMessage *message) {
    const char *base = (const char *)message;
    bool first = true;
    put(writer, "{", 1);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const void *value = base + field->offset;
        const char *quantifier = base + field->quantifier_offset;
        size_t count = field->label == PROTOBUF_C_LABEL_REPEATED
                           ? *(const size_t *)(const void *)quantifier
                       : in_oneof(field) ? *(const uint32_t *)(const void *)quantifier == field->id
                                         : !is_zero(field, value);
        if (count == 0) continue;
        if (!first) put(writer, ",", 1);
        first = false;
        put_string(writer, field->name);
        put(writer, ":", 1);
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            put_value(writer, field, value);
            continue;
        }
        const char *items = *(const char *const *)value;
        for (size_t n = 0; n < count; n++) {
            put(writer, n ? "," : "[", 1);
            put_value(writer, field, items + n * value_bytes(field));
        }
        put(writer, "]", 1);
    }
    put(writer, "}", 1);
}

size_t json_of_message(const ProtobufCMessage *message, char *out, size_t size) {
    struct writer writer = {.out = out, .size = size};
    put_message(&writer, message);
    return writer.full ? 0 : writer.used;
}

static int take_bytes(const json_t *json, ProtobufCBinaryData *bytes, struct slab *slab) {
    size_t len = json_string_length(json);
    if (!json_is_string(json)) return -1;
    bytes->data = slab_alloc(slab, len / 4 * 3 + 1);
    if (!bytes->data) return -1;
    ptrdiff_t got = base64_decode(bytes->data, json_string_value(json), len);
    if (got < 0) return -1;
    bytes->len = (size_t)got;
    return 0;
}

/* A 64-bit integer, written as a string or as a number. */
static int take_integer(const json_t *json, bool is_signed, void *value) {
    char *end = NULL;
    if (json_is_integer(json)) {
        *(int64_t *)value = json_integer_value(json);
        return 0;
    }
    const char *text = json_string_value(json);
    if (!text || !*text) return -1;
    errno = 0;
    if (is_signed) {
        *(int64_t *)value = strtoll(text, &end, 10);
    } else {
        *(uint64_t *)value = strtoull(text, &end, 10);
    }
    return errno || *end ? -1 : 0;
}

static int take_value(const json_t *json, const ProtobufCFieldDescriptor *field, void *value,
                      struct slab *slab) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return take_integer(json, field->type == PROTOBUF_C_TYPE_INT64, value);
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)value = json_is_true(json);
        return json_is_boolean(json) ? 0 : -1;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumValue *name = json_is_string(json)
                                             ? protobuf_c_enum_descriptor_get_value_by_name(
                                                   field->descriptor, json_string_value(json))
                                             : NULL;
        *(int *)value = name ? name->value : (int)json_integer_value(json);
        return name || json_is_integer(json) ? 0 : -1;
    }
    case PROTOBUF_C_TYPE_BYTES:
        return take_bytes(json, value, slab);
    case PROTOBUF_C_TYPE_STRING: {
        if (!json_is_string(json)) return -1;
        size_t size = json_string_length(json) + 1;
        char *copy = slab_alloc(slab, size);
        if (copy) *(char **)value = memcpy(copy, json_string_value(json), size);
        return copy ? 0 : -1;
    }
    case PROTOBUF_C_TYPE_MESSAGE: {
        ProtobufCMessage *message = message_of_json(json, field->descriptor, slab);
        *(ProtobufCMessage **)value = message;
        return message ? 0 : -1;
    }
    default:
        return -1;
    }
}

static int take_array(const json_t *array, const ProtobufCFieldDescriptor *field, char *base,
                      struct slab *slab) {
    size_t count = json_array_size(array), bytes = value_bytes(field);
    if (!json_is_array(array)) return -1;
    char *items = slab_alloc(slab, count * bytes + 1);
    if (!items) return -1;
    memset(items, 0, count * bytes);
    for (size_t i = 0; i < count; i++) {
        if (take_value(json_array_get(array, i), field, items + i * bytes, slab) != 0) return -1;
    }
    *(void **)(void *)(base + field->offset) = items;
    *(size_t *)(void *)(base + field->quantifier_offset) = count;
    return 0;
}

ProtobufCMessage *message_of_json(const json_t *object, const ProtobufCMessageDescriptor *type,
                                  struct slab *slab) {
    if (!json_is_object(object)) return NULL;
    ProtobufCMessage *message = slab_alloc(slab, type->sizeof_message);
    if (!message) return NULL;
    protobuf_c_message_init(type, message);
    char *base = (char *)message;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        const json_t *json = json_object_get(object, field->name);
        if (!json || json_is_null(json)) continue;
        int failed;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            failed = take_array(json, field, base, slab);
        } else {
            failed = take_value(json, field, base + field->offset, slab);
            if (in_oneof(field)) *(uint32_t *)(void *)(base + field->quantifier_offset) = field->id;
        }
        if (failed) return NULL;
    }
    return message;
}
#endif
