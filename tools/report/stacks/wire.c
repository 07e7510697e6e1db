/* SPDX-License-Identifier: MIT */
#include "report/stacks/wire.h"

#include "format/varint.h"

enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

void ct_wire_varint(struct ct_string *to, uint64_t value)
{
    uint8_t *at = (uint8_t *)ct_string_room(to, CT_VARINT_MOST);
    ct_string_end(to, (char *)ct_varint_put(at, value));
}

void ct_wire_number(struct ct_string *to, unsigned field, uint64_t value)
{
    if (!value)
        return;
    ct_wire_varint(to, field << 3 | WIRE_NUMBER);
    ct_wire_varint(to, value);
}

void ct_wire_bytes(struct ct_string *to, unsigned field, const void *data, size_t len)
{
    ct_wire_varint(to, field << 3 | WIRE_BYTES);
    ct_wire_varint(to, len);
    ct_string_add(to, data, len);
}

void ct_wire_message(struct ct_string *to, unsigned field, struct ct_string *message)
{
    ct_wire_bytes(to, field, message->data, message->len);
    ct_string_clear(message);
}
