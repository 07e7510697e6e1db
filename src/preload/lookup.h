/* SPDX-License-Identifier: MIT */
/* dlsym's answers for CUDA's names. */
#ifndef CT_LOOKUP_H
#define CT_LOOKUP_H

#include "base/base.h"

/* Returned in two registers to the assembly entries of dlsym.c. */
struct ct_answer {
    void *address;
    uint64_t answered; /* 0: jump to the real function, as if we were not there */
};

/*
 * handle, name and version as given to dlsym (version NULL) or dlvsym; caller: its return address.
 * No lock of ours is held while the real function is asked.
 */
struct ct_answer ct_lookup(void *handle, const char *name, const char *version, void *caller);

#endif
