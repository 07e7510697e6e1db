/* SPDX-License-Identifier: MIT */
/*
 * Adds up thousands of files with all processors. Files are taken a chunk at a time; a thread's sum
 * of a chunk is added to the result when it is that chunk's turn. So the result depends on the
 * files and their order alone, to the last bit, and the memory on the size of the result and the
 * number of threads.
 */
#ifndef CT_REPORT_FILES_H
#define CT_REPORT_FILES_H

#include <stdbool.h>

#include "report/profile/merge.h"

#define CT_FILES_CHUNK 32

/*
 * Adds the files to m. Each that cannot be read is said on standard error, in the order of the
 * files, and the others are added all the same; so is a process that is in several. False: there was
 * one. threads 0: one for each processor.
 */
bool ct_files_merge(struct ct_merged *m, char *const *files, size_t count, unsigned threads);

/* The files of a list in which directories stand for the profiles in them. All zero at first. */
struct ct_file_list {
    char **paths;
    size_t count;
    size_t size;
    const char *output; /* file to be made of them: not taken from a directory; NULL: none */
    bool left_out;      /* it was in one */
};

/* False: said on standard error; nothing was added. */
bool ct_files_add(struct ct_file_list *list, const char *path);
void ct_files_free(struct ct_file_list *list);

#endif
