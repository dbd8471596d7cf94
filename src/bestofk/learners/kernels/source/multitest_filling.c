/* The first steps of every learner of the MultiTest paper: impute unknown values, and scale.
 *
 * Loops follow the order of the rows, because floating-point sums depend on it. */
#include "multitest.h"

Halves halves_of(const double *values, const i64 *cardinality, const bool *whole, i64 unknown,
                 const i64 *y, i64 n, i64 d, i64 n_classes, const bool *marks, i64 splits) {
    i64 most = 1, indicators = 0;
    for (i64 j = 0; j < d; j++) {
        most = most_of(most, cardinality[j]);
        indicators += cardinality[j];
    }
    Halves halves = {values, cardinality, y, whole, marks, NULL, n, d, n_classes, splits, most,
                     indicators, unknown != 0};
    return halves;
}

/* Mark the columns with unknown values, and copy the values for imputation. */
void begin_filling(Halves *halves, bool *lacking, double *filled) {
    i64 n = halves->n, d = halves->d;
    memcpy(filled, halves->values, (size_t)(n * d) * sizeof *filled);
    for (i64 i = 0; i < n && halves->unknown; i++) {
        for (i64 j = 0; j < d; j++) {
            lacking[j] |= isnan(filled[i * d + j]) != 0;
        }
    }
    halves->lacking = lacking;
}

/* List training and test rows, ascending; return the number of training rows. */
i64 split_rows(const bool *mark, i64 n, i64 fold, i64 *train, i64 *test) {
    i64 a = 0, b = 0;
    for (i64 i = 0; i < n; i++) {
        /* write both and count one, which avoids a branch; `a` and `b` stay below n until the
         * end */
        i64 tests = mark[i] == (fold == 1);
        train[a] = i;
        test[b] = i;
        a += 1 - tests;
        b += tests;
    }
    return a;
}

/* Impute unknown values from the training rows; `fills` gets the imputed values, 0 for complete
 * columns.
 *
 * Nominal: the most frequent value, the first of ties. Numeric: the sum of the known values divided
 * by the number of all training rows (a mistake of the original), truncated to a whole number in
 * columns of whole numbers. */
void fill_unknown(const Halves *halves, const i64 *train, i64 n_train, i64 *counts,
                  double *filled, double *fills) {
    i64 d = halves->d;
    for (i64 j = 0; j < d; j++) {
        fills[j] = 0.0;
        if (!halves->lacking[j]) {
            continue;
        }
        if (halves->cardinality[j] == 0) {
            double total = 0.0;
            for (i64 r = 0; r < n_train; r++) {
                double value = halves->values[train[r] * d + j];
                if (!isnan(value)) {
                    total += value;
                }
            }
            fills[j] = total / (double)n_train;
            if (halves->whole[j]) {
                fills[j] = trunc(fills[j]);
            }
        } else {
            memset(counts, 0, (size_t)halves->most_values * sizeof *counts);
            for (i64 r = 0; r < n_train; r++) {
                double value = halves->values[train[r] * d + j];
                if (!isnan(value)) {
                    counts[(i64)value]++;
                }
            }
            fills[j] = (double)argmax_i64(counts, halves->cardinality[j]);
        }
        for (i64 i = 0; i < halves->n; i++) {
            if (isnan(halves->values[i * d + j])) {
                filled[i * d + j] = fills[j];
            }
        }
    }
}

/* Compute mean and standard deviation (n - 1) of the numeric columns; 1 if a column is constant.
 *
 * All columns are summed row by row; the sums of nominal columns are not used. */
void column_deviations(const double *filled, i64 d, const i64 *cardinality, const i64 *train,
                       i64 n, double *RESTRICT mean, double *RESTRICT deviation) {
    memset(mean, 0, (size_t)d * sizeof *mean);
    memset(deviation, 0, (size_t)d * sizeof *deviation);
    for (i64 r = 0; r < n; r++) {
        const double *cells = filled + train[r] * d;
        for (i64 j = 0; j < d; j++) {
            mean[j] += cells[j];
        }
    }
    for (i64 j = 0; j < d; j++) {
        mean[j] /= (double)n;
    }
    for (i64 r = 0; r < n; r++) {
        const double *cells = filled + train[r] * d;
        for (i64 j = 0; j < d; j++) {
            deviation[j] += (cells[j] - mean[j]) * (cells[j] - mean[j]);
        }
    }
    for (i64 j = 0; j < d; j++) {
        i64 r = 1;
        if (cardinality[j] > 0) {
            mean[j] = 0.0;
        } else {
            while (r < n && filled[train[r] * d + j] == filled[train[0] * d + j]) {
                r++;
            }
        }
        bool constant = cardinality[j] > 0 || r >= n;
        deviation[j] = constant ? 1.0 : sqrt(deviation[j] / (double)(n - 1));
    }
}

i64 multitest_fill(const double *values, const i64 *cardinality, const bool *whole, i64 n, i64 d,
                   const i64 *train, i64 n_train, double *filled, double *fills) {
    Halves halves = halves_of(values, cardinality, whole, 1, NULL, n, d, 0, NULL, 0);
    Scratch scratch = {0};
    i64 *counts = TAKE(&scratch, i64, halves.most_values);
    bool *lacking = TAKE(&scratch, bool, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    begin_filling(&halves, lacking, filled);
    fill_unknown(&halves, train, n_train, counts, filled, fills);
    scratch_free(&scratch);
    return 0;
}

/* Return 1 if the imputed values equal `wanted` in every half, else 0. */
i64 multitest_modes_agree(const double *values, const i64 *cardinality, const bool *whole, i64 n,
                          i64 d, const bool *marks, i64 splits, const double *wanted) {
    Halves halves = halves_of(values, cardinality, whole, 1, NULL, n, d, 0, marks, splits);
    Scratch scratch = {0};
    i64 *counts = TAKE(&scratch, i64, halves.most_values);
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    bool *lacking = TAKE(&scratch, bool, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    begin_filling(&halves, lacking, filled);
    i64 agree = 1;
    for (i64 s = 0; s < 2 * splits && agree; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test);
        fill_unknown(&halves, train, m, counts, filled, fills);
        for (i64 j = 0; j < d; j++) {
            agree &= fills[j] == wanted[j] || !lacking[j];
        }
    }
    scratch_free(&scratch);
    return agree;
}

void twister_seed(Twister *twister, uint32_t seed) {
    for (int pos = 0; pos < 624; pos++) {
        twister->key[pos] = seed;
        seed = 1812433253u * (seed ^ (seed >> 30)) + (uint32_t)pos + 1;
    }
    twister->at = 624;
}

static uint32_t twister_next(Twister *twister) {
    uint32_t *key = twister->key;
    if (twister->at == 624) {
        for (int k = 0; k < 624; k++) {
            uint32_t y = (key[k] & 0x80000000u) | (key[(k + 1) % 624] & 0x7fffffffu);
            key[k] = key[(k + 397) % 624] ^ (y >> 1) ^ (-(y & 1) & 0x9908b0dfu);
        }
        twister->at = 0;
    }
    uint32_t y = key[twister->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double twister_uniform(Twister *twister, double low, double high) {
    uint32_t a = twister_next(twister) >> 5, b = twister_next(twister) >> 6;
    double share = ((double)a * 67108864.0 + (double)b) / 9007199254740992.0;
    return low + (high - low) * share;
}

/* Write 0..count - 1 in the order of numpy's old shuffle; count is below 2**32. */
void twister_permutation(Twister *twister, i64 *rows, i64 count) {
    for (i64 i = 0; i < count; i++) {
        rows[i] = i;
    }
    for (i64 i = count - 1; i > 0; i--) {
        uint32_t mask = UINT32_MAX >> __builtin_clz((uint32_t)i), j;
        do {
            j = twister_next(twister) & mask;
        } while (j > (uint32_t)i);
        i64 row = rows[j];
        rows[j] = rows[i];
        rows[i] = row;
    }
}
