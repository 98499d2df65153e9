/* crc16: CRC16-CCITT (XMODEM): polynomial 0x1021, from 0, not reflected; as the Redis Cluster specification and
 * NATS's nkeys have it. */
#ifndef DRIVERS_CRC16_H
#define DRIVERS_CRC16_H

#include <stddef.h>
#include <stdint.h>

static inline uint16_t crc16(const void *data, size_t len) {
    const unsigned char *bytes = data;
    uint16_t crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc = (uint16_t)(crc ^ (uint16_t)(bytes[i] << 8));
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)((crc & 0x8000) ? (unsigned)crc << 1 ^ 0x1021u : (unsigned)crc << 1);
    }
    return crc;
}

#endif
