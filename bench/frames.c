/* SPDX-License-Identifier: MIT */
/* frames DEPTH: ns of one launch from C, called in so many frames, each of a function of its own.
 */
#include <stdio.h>
#include <stdlib.h>

double bench_launch_ns(void);

typedef double called(int depth);
static called *const functions[];

/* The addition keeps it from being a jump: each has a frame. */
#define FUNCTION(i)                                                                                \
    __attribute__((noinline)) static double f##i(int depth)                                        \
    {                                                                                              \
        return (depth ? functions[depth - 1](depth - 1) : bench_launch_ns()) + 0.0 * depth;        \
    }
#define TEN(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7) X(i##8) X(i##9)
#define HUNDRED(X)                                                                                 \
    TEN(X, 1)                                                                                      \
    TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9) TEN(X, 10)
HUNDRED(FUNCTION)
#define NAME(i) f##i,
static called *const functions[] = {HUNDRED(NAME)};

int main(int argc, char **argv)
{
    int frames_around = 5; /* main, three around it, and bench_launch_ns() */
    int depth = argc > 1 ? atoi(argv[1]) - frames_around : 0;
    int most = (int)(sizeof(functions) / sizeof(functions[0]));
    depth = depth < 1 ? 1 : depth > most ? most : depth;
    printf("%.1f\n", functions[depth - 1](depth - 1));
    return 0;
}
