/* SPDX-License-Identifier: MIT */
#include "report/sinks/row_store.h"

#include <stdlib.h>

void ct_row_store_begin(struct ct_row_store *k, const struct ct_relation *relation)
{
    ct_key_table_free(&k->texts);
    k->relation = relation;
    k->count = 0;
}

void ct_row_store_add(struct ct_row_store *k, const struct ct_cell *cells)
{
    size_t columns = k->relation->count, at = k->count * columns;
    k->cells = ct_memory_grow(k->cells, &k->cells_size, at + columns, sizeof(*k->cells));
    for (size_t i = 0; i < columns; i++) {
        k->cells[at + i] = cells[i];
        if (cells[i].known && ct_cell_is_text(k->relation->columns[i].type))
            k->cells[at + i].count = ct_key_table_text(&k->texts, cells[i].text);
    }
    k->count++;
}

void ct_row_store_get(const struct ct_row_store *k, size_t i, struct ct_cell *cells)
{
    const struct ct_cell *row = k->cells + i * k->relation->count;
    for (size_t c = 0; c < k->relation->count; c++) {
        cells[c] = row[c];
        if (row[c].known && ct_cell_is_text(k->relation->columns[c].type))
            cells[c].text = ct_key_table_get(&k->texts, (uint32_t)row[c].count);
    }
}

void ct_row_store_free(struct ct_row_store *k)
{
    ct_key_table_free(&k->texts);
    free(k->cells);
    *k = (struct ct_row_store){0};
}
