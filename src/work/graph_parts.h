/* SPDX-License-Identifier: MIT */
/* The sums of a graph's work, by kind and by stack, while they are made or changed. */
#ifndef CT_GRAPH_PARTS_H
#define CT_GRAPH_PARTS_H

#include "work/graph.h"

void ct_graph_add_work(struct ct_graph *g, const struct ct_graph_work *w);
void ct_graph_remove_work(struct ct_graph *g, const struct ct_graph_work *w);

/* The stack of one such node, which is taken out of the sums; 0: there is none. */
uint32_t ct_graph_take_stack(struct ct_graph *g, const struct ct_graph_work *w);

/* NULL: no memory. A copy without memory for its stacks has none. */
struct ct_graph *ct_graph_copy(const struct ct_graph *g);
void ct_graph_free(struct ct_graph *g);

/* There is no room for its stacks. */
void ct_graph_lose_stacks(struct ct_graph *g);

#endif
