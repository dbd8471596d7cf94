/* The voted perceptron on inputs that end with a constant 1. */
#include "kernels.h"

/* Write numbers, 0/1 for two values, 1-of-n for other nominals, then a 1; impute unknowns. */
i64 perceptron_expand(const double *values, i64 n, i64 d, const i64 *cardinality,
                      const double *filling, i64 width, double *inputs) {
    memset(inputs, 0, (size_t)(n * width) * sizeof *inputs);
    for (i64 row = 0; row < n; row++) {
        double *to = inputs + row * width;
        i64 at = 0;
        for (i64 a = 0; a < d; a++) {
            double cell = values[row * d + a];
            if (isnan(cell)) {
                cell = filling[a];
            }
            if (cardinality[a] == 0 || cardinality[a] == 2) {
                to[at++] = cell;
            } else {
                to[at + (i64)cell] = 1.0;
                at += cardinality[a];
            }
        }
        to[at] = 1.0;
    }
    return 0;
}

/* Compute means of numeric columns, modes (first of ties) of nominal ones, 0 if unknown. */
i64 perceptron_filling(const double *values, i64 n, i64 d, const i64 *cardinality,
                       const i64 *rows, i64 n_rows, double *filling) {
    Scratch scratch = {0};
    i64 most = 1;
    (void)n;
    for (i64 a = 0; a < d; a++) {
        most = most_of(most, cardinality[a]);
    }
    i64 *counts = TAKE(&scratch, i64, most);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 a = 0; a < d; a++) {
        filling[a] = 0.0;
        if (cardinality[a] == 0) {
            double total = 0.0;
            i64 known = 0;
            for (i64 at = 0; at < n_rows; at++) {
                double cell = values[rows[at] * d + a];
                if (!isnan(cell)) {
                    total += cell;
                    known++;
                }
            }
            if (known > 0) {
                filling[a] = total / (double)known;
            }
        } else {
            memset(counts, 0, (size_t)cardinality[a] * sizeof *counts);
            for (i64 at = 0; at < n_rows; at++) {
                double cell = values[rows[at] * d + a];
                if (!isnan(cell)) {
                    counts[(i64)cell]++;
                }
            }
            filling[a] = (double)argmax_i64(counts, cardinality[a]);
        }
    }
    scratch_free(&scratch);
    return 0;
}

/* Sum products in order. */
static double dot(const double *a, const double *b, i64 count) {
    double total = 0.0;
    for (i64 at = 0; at < count; at++) {
        total += a[at] * b[at];
    }
    return total;
}

/* Make one pass over the rows in order; return the number of mistakes.
 *
 * Mistake k was row mistakes[k], added with signs[k] to give vector k + 1, which had votes[k + 1]
 * votes; vector 0 is zero. */
i64 perceptron_train(const double *inputs, i64 width, const bool *second, const i64 *rows,
                     i64 n_rows, i64 *mistakes, double *signs, i64 *votes, double *vector) {
    i64 k = 0;
    memset(vector, 0, (size_t)width * sizeof *vector);
    votes[0] = 0;
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows == NULL ? at : rows[at];
        const double *cells = inputs + row * width;
        if ((dot(vector, cells, width) >= 0.0) == second[row]) {
            votes[k]++;
        } else {
            double sign = second[row] ? 1.0 : -1.0;
            mistakes[k] = row;
            signs[k] = sign;
            for (i64 j = 0; j < width; j++) {
                vector[j] += sign * cells[j];
            }
            k++;
            votes[k] = 1;
        }
    }
    return k;
}

/* Return whether more than half of the votes are for the second class. */
bool perceptron_votes_second(const double *inputs, i64 width, const i64 *mistakes,
                             const double *signs, const i64 *votes, i64 k, const double *cells) {
    double score = 0.0;
    i64 total = votes[0];
    for (i64 m = 0; m < k; m++) {
        i64 row = mistakes == NULL ? m : mistakes[m];
        score += signs[m] * dot(inputs + row * width, cells, width);
        total += score >= 0.0 ? votes[m + 1] : -votes[m + 1];
    }
    return total > 0;
}

/* Do the same from the dot products of the row with all rows. */
static bool second_by_products(const double *products, const i64 *mistakes, const double *signs,
                               const i64 *votes, i64 k) {
    double score = 0.0;
    i64 total = votes[0];
    for (i64 m = 0; m < k; m++) {
        score += signs[m] * products[mistakes[m]];
        total += score >= 0.0 ? votes[m + 1] : -votes[m + 1];
    }
    return total > 0;
}

i64 perceptron_fit(const double *inputs, i64 n, i64 width, const bool *second, i64 *mistakes,
                   double *signs, i64 *votes) {
    Scratch scratch = {0};
    double *vector = TAKE(&scratch, double, width);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    i64 k = perceptron_train(inputs, width, second, NULL, n, mistakes, signs, votes, vector);
    scratch_free(&scratch);
    return k;
}

i64 perceptron_rows(const double *vectors, const double *signs, const i64 *votes, i64 k,
                    const double *inputs, i64 n, i64 width, i64 *codes) {
    for (i64 row = 0; row < n; row++) {
        codes[row] = perceptron_votes_second(vectors, width, NULL, signs, votes, k,
                                             inputs + row * width);
    }
    return 0;
}

/* Predict all splits, shaped like `marks`; `refused` gets a split with a third class, or -1.
 *
 * `with_products` computes the dot products of all pairs of rows once. */
i64 perceptron_plan(const double *values, i64 n, i64 d, const i64 *cardinality, i64 width,
                    const i64 *y, i64 n_labels, const i64 *marks, const i64 *wanted,
                    i64 n_wanted, i64 complete, i64 with_products, i64 *predicted,
                    i64 *refused) {
    Scratch scratch = {0};
    double *inputs = TAKE(&scratch, double, n *width);
    double *filling = TAKE(&scratch, double, d);
    double *products = TAKE(&scratch, double, with_products && complete ? n * n : 1);
    bool *second = TAKE(&scratch, bool, n);
    i64 *rows = TAKE(&scratch, i64, n);
    i64 *mistakes = TAKE(&scratch, i64, n);
    double *signs = TAKE(&scratch, double, n);
    i64 *votes = TAKE(&scratch, i64, n + 1);
    i64 *counts = TAKE(&scratch, i64, n_labels);
    double *vector = TAKE(&scratch, double, width);
    i64 failed = scratch.failed ? NO_MEMORY : 0;
    *refused = -1;
    for (i64 row = 0; row < n && !failed; row++) {
        rows[row] = row;
    }
    if (!failed) {
        failed = perceptron_filling(values, n, d, cardinality, rows, n, filling);
    }
    if (!failed) {
        perceptron_expand(values, n, d, cardinality, filling, width, inputs);
        if (with_products && complete) {
            for (i64 i = 0; i < n; i++) {
                for (i64 j = 0; j <= i; j++) {
                    products[i * n + j] = dot(inputs + j * width, inputs + i * width, width);
                    products[j * n + i] = products[i * n + j];
                }
            }
        }
    }
    for (i64 s = 0; s < n_wanted && !failed; s++) {
        i64 line = wanted[2 * s], mark = wanted[2 * s + 1], n_rows = 0;
        const i64 *here = marks + line * n;
        memset(counts, 0, (size_t)n_labels * sizeof *counts);
        for (i64 row = 0; row < n; row++) {
            if (here[row] != mark) {
                rows[n_rows++] = row;
                counts[y[row]]++;
            }
        }
        i64 present = 0, first = 0, last = 0;
        for (i64 c = 0; c < n_labels; c++) {
            if (counts[c] > 0) {
                first = present == 0 ? c : first;
                last = c;
                present++;
            }
        }
        if (present > 2) {
            *refused = s;
            break;
        }
        if (!complete) {
            failed = perceptron_filling(values, n, d, cardinality, rows, n_rows, filling);
            if (failed) {
                break;
            }
            perceptron_expand(values, n, d, cardinality, filling, width, inputs);
        }
        for (i64 row = 0; row < n; row++) {
            second[row] = y[row] == last;
        }
        i64 k = perceptron_train(inputs, width, second, rows, n_rows, mistakes, signs, votes,
                                 vector);
        for (i64 row = 0; row < n; row++) {
            if (here[row] != mark) {
                continue;
            }
            bool vote = false;
            if (present > 1) {
                vote = complete && with_products
                           ? second_by_products(products + row * n, mistakes, signs, votes, k)
                           : perceptron_votes_second(inputs, width, mistakes, signs, votes, k,
                                                     inputs + row * width);
            }
            predicted[line * n + row] = vote ? last : first;
        }
    }
    scratch_free(&scratch);
    return failed;
}
