/* Shared by the learners of the MultiTest paper: imputation, scaling, numpy's old generator. */
#ifndef BESTOFK_MULTITEST_H
#define BESTOFK_MULTITEST_H

#include "kernels.h"

/* The data set and the halves: fold f trains on the rows whose mark is not f. */
typedef struct {
    const double *values;
    const i64 *cardinality, *y;
    const bool *whole, *marks;
    const bool *lacking; /* (d): which columns have unknown values */
    i64 n, d, n_classes, splits;
    i64 most_values, all_values; /* of one nominal column, of all of them together */
    bool unknown;
} Halves;

Halves halves_of(const double *values, const i64 *cardinality, const bool *whole, i64 unknown,
                 const i64 *y, i64 n, i64 d, i64 n_classes, const bool *marks, i64 splits);
i64 split_rows(const bool *mark, i64 n, i64 fold, i64 *train, i64 *test);
void begin_filling(Halves *halves, bool *lacking, double *filled);
void fill_unknown(const Halves *halves, const i64 *train, i64 n_train, i64 *counts,
                  double *filled, double *fills);
void column_deviations(const double *filled, i64 d, const i64 *cardinality, const i64 *train,
                       i64 n, double *mean, double *deviation);

/* The Mersenne twister of numpy.random.RandomState. */
typedef struct {
    uint32_t key[624];
    int at;
} Twister;

void twister_seed(Twister *twister, uint32_t seed);
double twister_uniform(Twister *twister, double low, double high);
void twister_permutation(Twister *twister, i64 *rows, i64 count);

#endif
