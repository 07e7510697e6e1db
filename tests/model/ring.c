/* SPDX-License-Identifier: MIT */
/* The queue from a thread to the drain thread, and the lock. */
#include "base/ring.h"
#include "subjects.h"
#include "system/spin.h"

#define CAPACITY 2
#define ELEMENTS 4

static struct ct_ring ring;
static unsigned element[CAPACITY], sent, taken;

static void begin(void)
{
    ring = (struct ct_ring){0};
    sent = taken = 0;
}

static void produce(void)
{
    uint32_t i;
    for (int tries = 0; tries < ELEMENTS; tries++)
        if (ct_ring_reserve(&ring, CAPACITY, &i)) {
            element[i] = ++sent;
            ct_ring_publish(&ring);
        }
}

static void consume(void)
{
    uint32_t first;
    for (int tries = 0; tries < 3; tries++) {
        uint32_t n = ct_ring_waiting(&ring, CAPACITY, &first);
        MODEL_ASSERT(n <= CAPACITY);
        for (uint32_t i = first; i < first + n; i++)
            MODEL_ASSERT(element[i % CAPACITY] == ++taken);
        ct_ring_consume(&ring, n);
    }
}

static void all_is_through(void)
{
    consume();
    MODEL_ASSERT(taken == sent && sent >= CAPACITY);
}

static struct ct_spin lock;
static unsigned counter;

static void open_lock(void)
{
    ct_spin_init(&lock);
    counter = 0;
}

static void count(void)
{
    for (int i = 0; i < 2; i++) {
        ct_spin_lock(&lock);
        counter++;
        ct_spin_unlock(&lock);
    }
}

static void all_counted(void)
{
    MODEL_ASSERT(counter == 6);
}

const struct model subject_ring[] = {
    {"ring", begin, {produce, consume}, all_is_through, NULL},
    {"spin", open_lock, {count, count, count}, all_counted, NULL},
    {0},
};
