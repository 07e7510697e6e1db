/* SPDX-License-Identifier: MIT */
/* The parts of the program that is soaked. */
#ifndef SOAKER_H
#define SOAKER_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- what it does (soaker.c) ---- */

/* Ends the process with status 3 and a line on stderr when the call failed. */
#define MUST(call) soak_must(call, #call, __FILE__, __LINE__)
void soak_must(CUresult r, const char *call, const char *file, int line);

/* ---- what it holds (holds.c) ---- */

/* Of the whole process, as the kernel counts. */
struct soak_holds {
    long memory_kib; /* anonymous and shared: what is in no file */
    long descriptors;
    long threads;
};

struct soak_holds soak_look(void);

#endif
