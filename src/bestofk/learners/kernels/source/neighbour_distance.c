/* The distance, with the same arithmetic for fit and predict and for whole plans.
 *
 * A term of the distance is the squared difference in one column. Terms are added in column order
 * in double precision, so every caller gets the same number to the last bit. The inner loops run
 * over rows and the outer ones over columns, which keeps the order of the sum and lets the compiler
 * process several rows at a time. */
#include "neighbour.h"

/* Compute scales from extremes and deviations; extremes in the wrong order mean that there is no
 * value. */
static void finish_scales(const i64 *cardinality, i64 d, i64 scale, double *low, double *high,
                          double *divisor) {
    for (i64 j = 0; j < d; j++) {
        if (cardinality[j] > 0) {
            low[j] = 0.0;
            high[j] = 0.0;
            divisor[j] = 1.0;
        } else if (low[j] > high[j]) {
            low[j] = 0.0;
            high[j] = 0.0;
            divisor[j] = 0.0;
        } else if (scale == BY_RANGE) {
            divisor[j] = high[j] - low[j];
        } else if (scale == BY_NONE) {
            divisor[j] = 1.0;
        } else if (low[j] == high[j]) {
            divisor[j] = 0.0;
        }
    }
}

/* Compute standard deviations of the known values, with sums in row order. */
static void deviations(const double *values, i64 d, const i64 *rows, i64 n_rows,
                       double *RESTRICT mean, double *RESTRICT known, double *RESTRICT divisor) {
    bool unknown = false;
    for (i64 j = 0; j < d; j++) {
        mean[j] = 0.0;
        known[j] = (double)n_rows;
    }
    for (i64 r = 0; r < n_rows; r++) {
        const double *RESTRICT cells = values + rows[r] * d;
        for (i64 j = 0; j < d; j++) {
            mean[j] += cells[j];
        }
    }
    for (i64 j = 0; j < d; j++) {
        unknown |= isnan(mean[j]) != 0;
    }
    if (unknown) {
        for (i64 j = 0; j < d; j++) {
            mean[j] = 0.0;
            known[j] = 0.0;
        }
        for (i64 r = 0; r < n_rows; r++) {
            const double *cells = values + rows[r] * d;
            for (i64 j = 0; j < d; j++) {
                if (!isnan(cells[j])) {
                    known[j] += 1.0;
                    mean[j] += cells[j];
                }
            }
        }
    }
    for (i64 j = 0; j < d; j++) {
        mean[j] = mean[j] / (known[j] > 1.0 ? known[j] : 1.0);
        divisor[j] = 0.0;
    }
    for (i64 r = 0; r < n_rows; r++) {
        const double *RESTRICT cells = values + rows[r] * d;
        for (i64 j = 0; j < d; j++) {
            double deviation = cells[j] - mean[j];
            divisor[j] += deviation == deviation ? deviation * deviation : 0.0;
        }
    }
    for (i64 j = 0; j < d; j++) {
        divisor[j] = sqrt(divisor[j] / (known[j] > 1.0 ? known[j] : 1.0));
    }
}

/* Find the smallest and largest known values of the numeric columns in `rows`, and the divisors.
 *
 * The divisor of a constant column is 0, so known values do not count. Without scaling, it is 0
 * only for a column without known values. Nominal columns get 0, 0 and 1. */
i64 neighbour_scales(const double *values, i64 d, const i64 *cardinality, const i64 *rows,
                     i64 n_rows, i64 scale, double *low, double *high, double *divisor) {
    Scratch scratch = {0};
    double *mean = TAKE(&scratch, double, d), *known = TAKE(&scratch, double, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 j = 0; j < d; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (i64 r = 0; r < n_rows; r++) {
        const double *cells = values + rows[r] * d;
        for (i64 j = 0; j < d; j++) {
            low[j] = cells[j] < low[j] ? cells[j] : low[j];
        }
        for (i64 j = 0; j < d; j++) {
            high[j] = cells[j] > high[j] ? cells[j] : high[j];
        }
    }
    if (scale == BY_STD) {
        deviations(values, d, rows, n_rows, mean, known, divisor);
    }
    finish_scales(cardinality, d, scale, low, high, divisor);
    scratch_free(&scratch);
    return 0;
}

/* Return the squared distance of two rows under the scales of one split. */
double pair_distance(const double *x_cells, const double *z_cells, i64 d, const i64 *cardinality,
                     const double *low, const double *high, const double *divisor) {
    double total = 0.0;
    for (i64 j = 0; j < d; j++) {
        double x = x_cells[j], z = z_cells[j], scale = divisor[j];
        if (cardinality[j] > 0) {
            if (x != z) {
                total += 1.0;
            }
        } else if (isnan(x) || isnan(z)) {
            if (scale == 0.0) {
                total += 1.0;
            } else if (isnan(x) && isnan(z)) {
                double both = (high[j] - low[j]) / scale;
                total += both * both;
            } else {
                double v = isnan(x) ? z : x, one = v - low[j];
                one = (high[j] - v > one ? high[j] - v : one) / scale;
                total += one * one;
            }
        } else if (scale != 0.0) {
            double difference = (z - x) / scale;
            total += difference * difference;
        }
    }
    return total;
}

/* Add to `total` the terms of one column: value x against every value of the column. */
void add_column(double *RESTRICT total, const double *RESTRICT column, i64 count, double x,
                bool nominal, double low, double high, double s) {
    bool unknown = isnan(x);
    if (nominal) {
        for (i64 k = 0; k < count; k++) {
            total[k] += column[k] == x ? 0.0 : 1.0;
        }
    } else if (s == 0.0) {
        for (i64 k = 0; k < count; k++) {
            total[k] += unknown || isnan(column[k]) ? 1.0 : 0.0;
        }
    } else if (unknown) {
        double both = (high - low) / s;
        both *= both;
        for (i64 k = 0; k < count; k++) {
            double above = column[k] - low, below = high - column[k];
            double one = (below > above ? below : above) / s;
            total[k] += column[k] == column[k] ? one * one : both;
        }
    } else {
        double one = (high - x > x - low ? high - x : x - low) / s;
        one *= one;
        if (s == 1.0) {
            for (i64 k = 0; k < count; k++) {
                double difference = column[k] - x, square = difference * difference;
                total[k] += column[k] == column[k] ? square : one;
            }
        } else {
            for (i64 k = 0; k < count; k++) {
                double difference = (column[k] - x) / s, square = difference * difference;
                total[k] += column[k] == column[k] ? square : one;
            }
        }
    }
}

/* Find the index of the nearest row for every query, the lowest of ties; columns (d, n). */
i64 neighbour_rows(const double *columns, i64 d, i64 n, const i64 *cardinality, const double *low,
                   const double *high, const double *divisor, const double *queries,
                   i64 n_queries, i64 *nearest) {
    double total[BLOCK];
    for (i64 q = 0; q < n_queries; q++) {
        double best = INFINITY;
        nearest[q] = 0;
        for (i64 start = 0; start < n; start += BLOCK) {
            i64 size = least_of(BLOCK, n - start);
            for (i64 k = 0; k < size; k++) {
                total[k] = 0.0;
            }
            for (i64 j = 0; j < d; j++) {
                add_column(total, columns + j * n + start, size, queries[q * d + j],
                           cardinality[j] > 0, low[j], high[j], divisor[j]);
            }
            for (i64 k = 0; k < size; k++) {
                if (total[k] < best) {
                    best = total[k];
                    nearest[q] = start + k;
                }
            }
        }
    }
    return 0;
}

/* Find the smallest and largest known training values of every column and fold.
 *
 * order[j] are the rows in the order of column j, of which known[j] have a value. The extreme of
 * all rows is that of every fold but its own, which gets the next one tested by another fold. */
i64 neighbour_ranges(const double *columns, i64 d, i64 n, const i64 *order, const i64 *known,
                     const int32_t *fold_of, i64 runs, i64 folds, double *low, double *high) {
    for (i64 r = 0; r < runs; r++) {
        const int32_t *fold = fold_of + r * n;
        for (i64 j = 0; j < d; j++) {
            const double *column = columns + j * n;
            const i64 *rows = order + j * n;
            i64 count = known[j];
            if (count == 0) {
                for (i64 f = 0; f < folds; f++) {
                    low[(r * folds + f) * d + j] = INFINITY;
                    high[(r * folds + f) * d + j] = -INFINITY;
                }
                continue;
            }
            i64 first = rows[0], last = rows[count - 1];
            for (i64 f = 0; f < folds; f++) {
                low[(r * folds + f) * d + j] = column[first];
                high[(r * folds + f) * d + j] = column[last];
            }
            i64 t = 1;
            while (t < count && fold[rows[t]] == fold[first]) {
                t++;
            }
            low[(r * folds + fold[first]) * d + j] = t < count ? column[rows[t]] : INFINITY;
            t = count - 2;
            while (t >= 0 && fold[rows[t]] == fold[last]) {
                t--;
            }
            high[(r * folds + fold[last]) * d + j] = t >= 0 ? column[rows[t]] : -INFINITY;
        }
    }
    return 0;
}

/* Add the rows to the sums, in order. */
static void add_values(const double *values, i64 d, const i64 *rows, i64 count,
                       double *RESTRICT total) {
    i64 r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *p = values + rows[r] * d, *q = values + rows[r + 1] * d;
        const double *s = values + rows[r + 2] * d, *t = values + rows[r + 3] * d;
        for (i64 j = 0; j < d; j++) {
            total[j] = (((total[j] + p[j]) + q[j]) + s[j]) + t[j];
        }
    }
    for (; r < count; r++) {
        for (i64 j = 0; j < d; j++) {
            total[j] += values[rows[r] * d + j];
        }
    }
}

/* Do the same for squared deviations from the means. */
static void add_squares(const double *values, i64 d, const i64 *rows, i64 count,
                        const double *RESTRICT mean, double *RESTRICT total) {
    i64 r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *p = values + rows[r] * d, *q = values + rows[r + 1] * d;
        const double *s = values + rows[r + 2] * d, *t = values + rows[r + 3] * d;
        for (i64 j = 0; j < d; j++) {
            double a = p[j] - mean[j], b = q[j] - mean[j], c = s[j] - mean[j], e = t[j] - mean[j];
            total[j] = (((total[j] + a * a) + b * b) + c * c) + e * e;
        }
    }
    for (; r < count; r++) {
        for (i64 j = 0; j < d; j++) {
            double deviation = values[rows[r] * d + j] - mean[j];
            total[j] += deviation * deviation;
        }
    }
}

#define RUNS_AT_ONCE 16
#define ROWS_AT_ONCE 128

/* Compute deviations of the rows outside each fold if no value is unknown.
 *
 * A block of rows in the cache is used for several runs; each sum still runs in row order. */
static void deviations_by_fold(const double *values, i64 n, i64 d, const int32_t *fold_of,
                               i64 runs, i64 folds, double *count, double *mean, double *total,
                               double *divisor) {
    i64 rows[ROWS_AT_ONCE];
    for (i64 start = 0; start < runs; start += RUNS_AT_ONCE) {
        i64 splits = folds * least_of(RUNS_AT_ONCE, runs - start);
        memset(count, 0, (size_t)splits * sizeof *count);
        memset(mean, 0, (size_t)(splits * d) * sizeof *mean);
        memset(total, 0, (size_t)(splits * d) * sizeof *total);
        for (int turn = 0; turn < 2; turn++) {
            for (i64 first = 0; first < n; first += ROWS_AT_ONCE) {
                i64 stop = least_of(first + ROWS_AT_ONCE, n);
                for (i64 s = 0; s < splits; s++) {
                    const int32_t *fold = fold_of + (start + s / folds) * n;
                    int32_t own = (int32_t)(s % folds);
                    i64 found = 0;
                    for (i64 i = first; i < stop; i++) {
                        rows[found] = i;
                        found += fold[i] != own;
                    }
                    if (turn == 0) {
                        count[s] += (double)found;
                        add_values(values, d, rows, found, mean + s * d);
                    } else {
                        add_squares(values, d, rows, found, mean + s * d, total + s * d);
                    }
                }
            }
            for (i64 s = 0; s < splits; s++) {
                double size = count[s] > 1.0 ? count[s] : 1.0;
                for (i64 j = 0; j < d; j++) {
                    if (turn == 0) {
                        mean[s * d + j] /= size;
                    } else {
                        divisor[(start * folds + s) * d + j] = sqrt(total[s * d + j] / size);
                    }
                }
            }
        }
    }
}

/* Compute neighbour_scales of the rows outside each fold, with extremes of neighbour_ranges. */
i64 neighbour_fold_scales(const double *values, i64 n, i64 d, const i64 *cardinality,
                          const int32_t *fold_of, i64 runs, i64 folds, i64 scale, double *low,
                          double *high, double *divisor) {
    bool unknown = false;
    Scratch scratch = {0};
    i64 room = RUNS_AT_ONCE * folds;
    double *count = TAKE(&scratch, double, room), *mean = TAKE(&scratch, double, room *d);
    double *total = TAKE(&scratch, double, room *d);
    i64 *train = TAKE(&scratch, i64, n);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 at = 0; at < n * d; at++) {
        unknown |= isnan(values[at]) != 0;
    }
    if (scale == BY_STD && !unknown) {
        deviations_by_fold(values, n, d, fold_of, runs, folds, count, mean, total, divisor);
    } else if (scale == BY_STD) {
        for (i64 s = 0; s < runs * folds; s++) {
            i64 n_train = 0;
            for (i64 i = 0; i < n; i++) {
                train[n_train] = i;
                n_train += fold_of[s / folds * n + i] != (int32_t)(s % folds);
            }
            deviations(values, d, train, n_train, mean, total, divisor + s * d);
        }
    }
    for (i64 s = 0; s < runs * folds; s++) {
        finish_scales(cardinality, d, scale, low + s * d, high + s * d, divisor + s * d);
    }
    scratch_free(&scratch);
    return 0;
}
