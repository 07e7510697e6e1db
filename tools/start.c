/* SPDX-License-Identifier: MIT */
/*
 * The start of a tool as it was before glibc 2.34: the C library calls the program's constructors
 * if it is given a function for that. Since then it finds them itself, and the object that a
 * program begins with gives it none.
 */
typedef int main_fn(int, char **, char **);
typedef void end_fn(void);

int ct_old_start_main(main_fn *program, int argc, char **argv, main_fn *init, end_fn *fini,
                      end_fn *loader_fini, void *stack_end);
int __libc_start_main(main_fn *program, int argc, char **argv, main_fn *init, end_fn *fini,
                      end_fn *loader_fini, void *stack_end);

__attribute__((visibility("hidden"))) extern main_fn *const __init_array_start[],
    *const __init_array_end[];

static int construct(int argc, char **argv, char **environment)
{
    for (main_fn *const *f = __init_array_start; f < __init_array_end; f++)
        (*f)(argc, argv, environment);
    return 0;
}

__attribute__((visibility("hidden"))) int __libc_start_main(main_fn *program, int argc, char **argv,
                                                            main_fn *init, end_fn *fini,
                                                            end_fn *loader_fini, void *stack_end)
{
    return ct_old_start_main(program, argc, argv, init ? init : construct, fini, loader_fini,
                             stack_end);
}
