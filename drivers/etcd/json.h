/* json: any protobuf-c message as the JSON of etcd's gateway, and back, by its descriptor. One
 * algorithm, two transports: nothing here knows a particular message.
 *
 * The gateway's JSON: bytes as base64, 64-bit integers as strings (a number is taken too), enums by
 * name, zero fields left out, field names as in the .proto. */
#ifndef DRIVERS_ETCD_JSON_H
#define DRIVERS_ETCD_JSON_H

#ifdef LB_HAVE_ETCD
#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

/* A bump allocator that protobuf-c unpacks into: all of a message goes at once, at the next
 * slab_reset. */
struct slab {
    ProtobufCAllocator allocator; /* hand out its address after slab_init */
    uint8_t *base;                /* the caller's */
    size_t size, used;
};

void slab_init(struct slab *slab, void *base, size_t size);
void slab_reset(struct slab *slab);

/* Writes message to out. Its length, without a NUL; 0 if it does not fit. */
size_t json_of_message(const ProtobufCMessage *message, char *out, size_t size);

/* Builds a message in the slab. Unknown fields are ignored. NULL if a known field has the wrong
 * form or the slab is too small. */
ProtobufCMessage *message_of_json(const json_t *object, const ProtobufCMessageDescriptor *type,
                                  struct slab *slab);

#endif
#endif
