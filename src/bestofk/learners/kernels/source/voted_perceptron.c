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
