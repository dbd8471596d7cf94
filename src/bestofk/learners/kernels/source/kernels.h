/* The functions that Python calls, and definitions shared by all sources.
 *
 * Arrays are C-contiguous; the caller checks types and sizes. A function returns a non-negative
 * number or NO_MEMORY. Floating point is evaluated as written, with the same bits everywhere. */
#ifndef BESTOFK_KERNELS_H
#define BESTOFK_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define NO_MEMORY (-9999)
#define RESTRICT restrict

typedef int64_t i64;
typedef uint64_t u64;

/* Memory that a function allocates at its beginning and frees at its end. */
typedef struct {
    void *blocks[64];
    int used;
    bool failed;
} Scratch;

static inline void *scratch_take(Scratch *scratch, i64 count, size_t size) {
    /* calloc, so that cells that were never written are 0 */
    void *block = NULL;
    if (scratch->used < 64) {
        block = calloc(count > 0 ? (size_t)count : 1, size);
    }
    if (block == NULL) {
        scratch->failed = true;
        return NULL;
    }
    scratch->blocks[scratch->used++] = block;
    return block;
}

static inline void scratch_free(Scratch *scratch) {
    for (int at = 0; at < scratch->used; at++) {
        free(scratch->blocks[at]);
    }
    scratch->used = 0;
}

#define TAKE(scratch, type, count) ((type *)scratch_take((scratch), (count), sizeof(type)))

static inline i64 least_of(i64 a, i64 b) { return a < b ? a : b; }
static inline i64 most_of(i64 a, i64 b) { return a > b ? a : b; }

/* Return the midpoint of two values, or the lower one if it rounds to the upper. The result is
 * always at least `below` and less than `above`, also if the sum overflows. */
static inline double midpoint(double below, double above) {
    double middle = (below + above) / 2.0;
    if (isinf(middle)) {
        middle = below / 2.0 + above / 2.0;
    }
    return middle >= above ? below : middle;
}

static inline i64 popcount(u64 word) { return (i64)__builtin_popcountll(word); }
/* index of the lowest set bit of a non-zero word */
static inline i64 lowest_bit(u64 word) { return (i64)__builtin_ctzll(word); }

/* Return the index of the first largest cell. */
static inline i64 argmax_i64(const i64 *cells, i64 count) {
    i64 best = 0;
    for (i64 at = 1; at < count; at++) {
        if (cells[at] > cells[best]) {
            best = at;
        }
    }
    return best;
}

/* Return the index of the first largest cell; NaN counts as the largest. */
static inline i64 argmax_f64(const double *cells, i64 count) {
    i64 best = 0;
    for (i64 at = 0; at < count; at++) {
        if (isnan(cells[at])) {
            return at;
        }
        if (cells[at] > cells[best]) {
            best = at;
        }
    }
    return best;
}

/* split_marks.c: rows grouped by mark, ascending; ends[m] is the end of mark m */
void group_by_mark(const i64 *marks, i64 n, i64 *order, i64 *ends, i64 n_marks);
static inline i64 mark_begins(const i64 *ends, i64 mark) { return mark > 0 ? ends[mark - 1] : 0; }

EXPORT i64 cut_by_mark(const i64 *predicted, const i64 *marks, i64 n_lines, i64 n,
                       const i64 *wanted, i64 n_wanted, i64 n_marks, i64 *flat, i64 *stops);

/* naive_bayes.c */
EXPORT i64 naive_bayes_places(const double *values, i64 n, i64 d, const i64 *cardinality,
                              const i64 *offset, int32_t *places);
EXPORT i64 naive_bayes_fit(const int32_t *places, const double *values, const double *columns,
                           i64 n, i64 d, const i64 *cardinality, const i64 *offset,
                           const i64 *y, i64 n_labels, double *table, double *prior,
                           double *precision, double *mean, double *deviation);
EXPORT i64 naive_bayes_choose(const double *values, const int32_t *places, i64 n, i64 d,
                              const double *table, i64 lines, const double *prior, i64 n_labels,
                              const double *precision, const double *mean,
                              const double *deviation, i64 *predicted);
EXPORT i64 naive_bayes_shares(const double *values, const int32_t *places, i64 n, i64 d,
                              const double *table, const double *prior, i64 n_labels,
                              const double *precision, const double *mean,
                              const double *deviation, double *shares);
EXPORT i64 naive_bayes_nominal_plan(const double *values, const int32_t *places, i64 n, i64 d,
                                    const i64 *cardinality, const i64 *offset, const i64 *y,
                                    i64 n_labels, const i64 *marks, const i64 *wanted,
                                    i64 n_wanted, i64 n_marks, i64 *predicted);
EXPORT i64 naive_bayes_mixed_plan(const double *values, const double *columns,
                                  const int32_t *places, i64 n, i64 d, const i64 *cardinality,
                                  const i64 *offset, const i64 *y, i64 n_labels,
                                  const i64 *order, const i64 *n_known, const i64 *marks,
                                  const i64 *wanted, i64 n_wanted, i64 *predicted);

/* tan.c */
void tan_add_pairs(const i64 *codes, i64 d, const i64 *y, const i64 *rows, i64 n_rows, i64 sign,
                   const i64 *offset, i64 n_labels, i64 *pairs, i64 *class_counts);
void tan_arc_gains(const i64 *pairs, const i64 *class_counts, i64 n_labels, const i64 *offset,
                   i64 d, const double *gammas, double *gains);
void tan_log_tables(const i64 *pairs, const i64 *class_counts, i64 n_labels, const i64 *offset,
                    i64 d, const i64 *parent, i64 *start, double *tables, double *prior);
void tan_row_logs(const i64 *codes, i64 d, const i64 *offset, const i64 *parent,
                  const i64 *start, const double *tables, const double *prior, i64 n_labels,
                  double *out);
EXPORT i64 tan_gammas(i64 count, double *table);
EXPORT i64 tan_fit(const i64 *codes, i64 n, i64 d, const i64 *offset, const i64 *y, i64 n_labels,
                   const double *gammas, i64 *modes, i64 *parent, i64 *start, double *tables,
                   double *prior);
EXPORT i64 tan_rows(const i64 *codes, i64 n, i64 d, const i64 *modes, const i64 *offset,
                    const i64 *parent, const i64 *start, const double *tables,
                    const double *prior, i64 n_labels, double *logs);

/* voted_perceptron.c */
i64 perceptron_train(const double *inputs, i64 width, const bool *second, const i64 *rows,
                     i64 n_rows, i64 *mistakes, double *signs, i64 *votes, double *vector);
bool perceptron_votes_second(const double *inputs, i64 width, const i64 *mistakes,
                             const double *signs, const i64 *votes, i64 k, const double *cells);
EXPORT i64 perceptron_filling(const double *values, i64 n, i64 d, const i64 *cardinality,
                              const i64 *rows, i64 n_rows, double *filling);
EXPORT i64 perceptron_expand(const double *values, i64 n, i64 d, const i64 *cardinality,
                             const double *filling, i64 width, double *inputs);
EXPORT i64 perceptron_fit(const double *inputs, i64 n, i64 width, const bool *second,
                          i64 *mistakes, double *signs, i64 *votes);
EXPORT i64 perceptron_rows(const double *vectors, const double *signs, const i64 *votes, i64 k,
                           const double *inputs, i64 n, i64 width, i64 *codes);

/* c45_tree.c */
EXPORT i64 c45_fit(const double *columns, const i64 *cardinality, const i64 *y, i64 d, i64 n,
                   i64 n_labels, const i64 *order, const i64 *n_known,
                   const double *held_columns, const i64 *held_y, i64 n_held, double min_leaf,
                   i64 by_gain, i64 pruning, i64 raising, double confidence, double z,
                   const double *terms, i64 n_terms, i64 room, i64 *attribute,
                   double *threshold, i64 *first_child, i64 *n_children, double *shares);
EXPORT i64 c45_rows(const i64 *attribute, const double *threshold, const i64 *first_child,
                    const i64 *n_children, const double *shares, i64 n_nodes, i64 n_labels,
                    const i64 *cardinality, const double *values, i64 n, i64 d, double *out,
                    i64 *codes);
EXPORT i64 c45_plan(const double *columns, const i64 *cardinality, const i64 *y, i64 d, i64 n,
                    i64 n_labels, const i64 *order, const i64 *n_known, const i64 *marks,
                    const i64 *wanted, i64 n_wanted, const i64 *held_at, const bool *held_masks,
                    double min_leaf, i64 by_gain, i64 pruning, i64 raising, double confidence,
                    double z, const double *terms, i64 n_terms, i64 *predicted);

/* c45_bits.c */
EXPORT i64 c45_bits_plan(const i64 *codes, const i64 *cardinality, const i64 *offset,
                         const i64 *y, i64 n, i64 d, i64 n_labels, const i64 *marks,
                         const i64 *wanted, i64 n_wanted, i64 n_marks, i64 min_leaf, i64 by_gain,
                         i64 prune, i64 raising, double confidence, double z,
                         const double *estimates, i64 n_estimates, const double *terms,
                         i64 *predicted);
EXPORT i64 c45_estimates(double confidence, double z, i64 size, double *table);

/* neighbour.c */
EXPORT i64 neighbour_scales(const double *values, i64 d, const i64 *cardinality, const i64 *rows,
                            i64 n_rows, i64 scale, double *low, double *high, double *divisor);
EXPORT i64 neighbour_rows(const double *columns, i64 d, i64 n, const i64 *cardinality,
                          const double *low, const double *high, const double *divisor,
                          const double *queries, i64 n_queries, i64 *nearest);

/* logistic_inputs.c */
EXPORT i64 logistic_moments(const double *design, i64 p, const i64 *rows, i64 n, double *mean,
                            double *spread);
EXPORT i64 logistic_standardise(const double *design, i64 p, const i64 *rows, i64 n,
                                const double *mean, const double *spread, double *out);

/* logistic_objective.c */
EXPORT i64 logistic_probabilities(const double *scores, i64 n, i64 r, double *out);
EXPORT i64 logistic_choose(const double *scores, i64 n, i64 r, double tie, i64 *chosen);

/* logistic_minimum.c */
EXPORT i64 logistic_minimise(const double *z, i64 n, i64 q, i64 r, const i64 *y, double strength,
                             double *weights, const double *matrix, i64 matrix_size,
                             double tolerance, i64 most_steps, double *outcome);

/* multitest_filling.c */
EXPORT i64 multitest_fill(const double *values, const i64 *cardinality, const bool *whole, i64 n,
                          i64 d, const i64 *train, i64 n_train, double *filled, double *fills);
EXPORT i64 multitest_modes_agree(const double *values, const i64 *cardinality, const bool *whole,
                                 i64 n, i64 d, const bool *marks, i64 splits,
                                 const double *wanted);

/* multitest_means.c */
EXPORT i64 multitest_nearest_mean(const double *values, const i64 *cardinality,
                                  const bool *whole, i64 unknown, const i64 *y, i64 n, i64 d,
                                  i64 n_classes, const bool *marks, i64 splits, i64 *errors);
EXPORT i64 multitest_majority(const i64 *y, i64 n, i64 n_classes, const bool *marks, i64 splits,
                              i64 *errors);
EXPORT i64 multitest_first_nearest(const double *values, const i64 *cardinality,
                                   const bool *whole, i64 unknown, const i64 *y, i64 n, i64 d,
                                   const bool *marks, i64 splits, i64 *errors);

/* multitest_logistic.c, multitest_tree.c */
EXPORT i64 multitest_logistic(const double *values, const i64 *cardinality, const bool *whole,
                              i64 unknown, const i64 *y, i64 n, i64 d, i64 n_classes,
                              double learning_rate, const uint32_t *seeds, const bool *marks,
                              i64 splits, i64 *errors);
EXPORT i64 multitest_tree(const double *values, const i64 *cardinality, const bool *whole,
                          i64 unknown, const i64 *y, i64 n, i64 d, i64 n_classes,
                          const uint32_t *sorted, const i64 *known, const uint32_t *seeds,
                          const bool *marks, i64 splits, i64 *errors);

/* weka_learners.c */
EXPORT i64 weka_first_neighbour(const i64 *codes, const i64 *y, i64 n, i64 d, const i64 *folds,
                                i64 n_folds, i64 *wrong);
EXPORT i64 weka_perceptron(const double *inputs, const bool *second, i64 n, i64 width,
                           const i64 *folds, i64 n_folds, i64 seed, i64 *wrong);
EXPORT i64 weka_network(const i64 *codes, const i64 *offset, const i64 *y, i64 n, i64 d,
                        i64 n_labels, const double *gammas, const i64 *folds, i64 n_folds,
                        i64 *wrong);

/* processor.c */
EXPORT i64 processor_level(void);
EXPORT const char *kernel_sources(void);

#endif
