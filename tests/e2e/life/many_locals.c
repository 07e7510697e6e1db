/* SPDX-License-Identifier: MIT */
/* Preloaded beside cutrace: thread-local variables that leave little of a small stack. */
__thread char many_locals[250000] = {1};
