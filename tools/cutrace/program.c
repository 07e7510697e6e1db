/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HEAD_BYTES 4096
#define MOST_INTERPRETERS 4 /* of a script, as the kernel has it */
#define MOST_SEGMENTS 64

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/* 0, or the errno by which the file cannot be run. */
static int try_file(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, X_OK) ? errno : 0;
}

/* Goes on behind a directory whose file may not be run, as execvp() does, but keeps EACCES. */
static int find(struct program *p, const char *name)
{
    const char *dir = getenv("PATH");
    int error = ENOENT;
    if (strchr(name, '/')) {
        snprintf(p->path, sizeof(p->path), "%s", name);
        return try_file(name);
    }
    for (dir = dir ? dir : "/bin:/usr/bin"; *name;) {
        int len = (int)strcspn(dir, ":");
        snprintf(p->path, sizeof(p->path), "%.*s%s%s", len, dir, len ? "/" : "", name);
        int tried = try_file(p->path);
        if (!tried)
            return 0;
        if (tried == EACCES)
            error = EACCES;
        dir += len;
        if (!*dir++)
            break;
    }
    return error;
}

/*
 * Capabilities that the file gives its process. The kernel takes no notice of them for root, who
 * has them all (capabilities(7)).
 */
static bool has_capabilities(const char *path)
{
    struct vfs_ns_cap_data d = {0};
    if (!getuid() || getxattr(path, XATTR_NAME_CAPS, &d, sizeof(d)) < (ssize_t)XATTR_CAPS_SZ_1)
        return false;
    return (le32toh(d.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE) || d.data[0].permitted ||
           d.data[1].permitted;
}

/* Whether the program may do more than its user: then the loader preloads nothing. */
static bool is_privileged(const char *path)
{
    struct stat st;
    struct statvfs fs;
    if (stat(path, &st) || (!statvfs(path, &fs) && (fs.f_flag & ST_NOSUID)))
        return false;
    if (has_capabilities(path))
        return true;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    bool user = (st.st_mode & S_ISUID) && st.st_uid != getuid();
    bool group = (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid();
    return user || group;
}

/* The loader that the program asks for; "": none, so the program is static. */
static bool read_loader(int fd, const ElfW(Ehdr) * head, char *loader, size_t size)
{
    ElfW(Phdr) segments[MOST_SEGMENTS];
    size_t count = head->e_phnum < MOST_SEGMENTS ? head->e_phnum : MOST_SEGMENTS;
    size_t bytes = count * sizeof(segments[0]);
    *loader = '\0';
    if (head->e_phentsize != sizeof(segments[0]) ||
        pread(fd, segments, bytes, (off_t)head->e_phoff) != (ssize_t)bytes)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type != PT_INTERP)
            continue;
        size_t len = segments[i].p_filesz < size ? segments[i].p_filesz : size;
        if (!len || pread(fd, loader, len, (off_t)segments[i].p_offset) != (ssize_t)len)
            return false;
        loader[len - 1] = '\0';
    }
    return true;
}

static void look_at_elf(struct program *p, int fd, const ElfW(Ehdr) * head)
{
    char loader[PATH_MAX];
    if (head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head->e_machine != OUR_MACHINE) {
        p->kind = PROGRAM_CLOSED;
        p->why = "is a program of another architecture";
    } else if (is_privileged(p->path)) {
        p->kind = PROGRAM_CLOSED;
        p->why = "has more privileges than its user (set-uid, set-gid or capabilities)";
    } else if (!read_loader(fd, head, loader, sizeof(loader))) {
        p->kind = PROGRAM_DYNAMIC; /* the kernel will name its error */
    } else if (!*loader) {
        p->kind = PROGRAM_STATIC;
        p->why = "is linked statically";
    } else if (strstr(loader, "/ld-musl")) {
        p->kind = PROGRAM_CLOSED;
        p->why = "uses another C library (musl)";
    }
}

/* "#!interpreter argument": the interpreter's path takes the place of the script's. */
static bool take_interpreter(struct program *p, const char *head)
{
    if (head[0] != '#' || head[1] != '!')
        return false;
    head += 2 + strspn(head + 2, " \t");
    size_t len = strcspn(head, " \t\n");
    if (!len || len >= sizeof(p->path))
        return false;
    memcpy(p->path, head, len);
    p->path[len] = '\0';
    return true;
}

/* False: p was a script, and is its interpreter now. An unreadable file counts as dynamic. */
static bool look_at(struct program *p)
{
    union {
        ElfW(Ehdr) elf;
        char text[HEAD_BYTES];
    } head;
    int fd = open(p->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : pread(fd, &head, sizeof(head) - 1, 0);
    head.text[n > 0 ? n : 0] = '\0';
    bool script = n > 2 && take_interpreter(p, head.text);
    if (n >= (ssize_t)sizeof(head.elf) && !memcmp(head.elf.e_ident, ELFMAG, SELFMAG))
        look_at_elf(p, fd, &head.elf);
    if (fd >= 0)
        close(fd);
    return !script;
}

void program_look(struct program *p, const char *name)
{
    *p = (struct program){.kind = PROGRAM_DYNAMIC};
    int error = find(p, name);
    if (error) {
        p->kind = PROGRAM_REFUSED;
        errno = error;
        return;
    }
    for (int i = 0; i < MOST_INTERPRETERS && !look_at(p); i++)
        ;
}
