/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/file_error.h"
#include "report/profile/files.h"

static void add(struct ct_file_list *list, char *path)
{
    list->paths = ct_memory_grow(list->paths, &list->size, list->count + 1, sizeof(*list->paths));
    list->paths[list->count++] = path;
}

/*
 * Other files may lie beside the profiles: notes, logs, traces. A file that cannot be opened, or is
 * too short for a profile's first bytes but called *.bin, is taken for a profile, so that its
 * reader says why it is none.
 */
static bool is_profile(int directory, const char *name)
{
    struct stat st;
    if (fstatat(directory, name, &st, 0) || !S_ISREG(st.st_mode))
        return false;
    int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT;
    const char *suffix = strrchr(name, '.');
    bool is = st.st_size < CT_FILE_MAGIC_BYTES ? suffix && !strcmp(suffix, ".bin")
                                               : ct_summary_is_one(fd);
    close(fd);
    return is;
}

static bool is_output(const struct ct_file_list *list, int directory, const char *name)
{
    struct stat output, st;
    return list->output && !stat(list->output, &output) && !fstatat(directory, name, &st, 0) &&
           st.st_dev == output.st_dev && st.st_ino == output.st_ino;
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static bool add_directory(struct ct_file_list *list, const char *path, DIR *d)
{
    size_t first = list->count;
    bool left_out = false;
    for (struct dirent *e; (e = readdir(d));) {
        struct ct_string file = {0};
        if (!is_profile(dirfd(d), e->d_name))
            continue;
        if (is_output(list, dirfd(d), e->d_name)) {
            left_out = true;
            continue;
        }
        ct_string_printf(&file, "%s/%s", path, e->d_name);
        add(list, file.data);
    }
    list->left_out |= left_out;
    if (list->count == first && !left_out) {
        ct_file_error(path, "has no profiles in it");
        return false;
    }
    if (list->count > first)
        qsort(list->paths + first, list->count - first, sizeof(*list->paths), by_version);
    return true;
}

bool ct_files_add(struct ct_file_list *list, const char *path)
{
    DIR *d = opendir(path);
    if (!d && (errno == ENOTDIR || errno == ENOENT)) {
        add(list, ct_memory_copy(path, strlen(path) + 1));
        return true;
    }
    if (!d) {
        ct_file_error(path, strerror(errno));
        return false;
    }
    bool good = add_directory(list, path, d);
    closedir(d);
    return good;
}

void ct_files_free(struct ct_file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct ct_file_list){0};
}
