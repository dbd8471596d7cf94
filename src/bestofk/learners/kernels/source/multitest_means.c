/* The MultiTest paper's nearest mean (NMC), most frequent class (MAX), and nearest neighbour (NN)
 * for unknown values or mixed columns, for many halves; errors (splits, 2) gets the errors. */
#include "multitest.h"

/* rows compared at once */
#define BLOCK 32

/* Compute the class centres (n_classes, d): means, and modes of nominal columns. `sizes` gets the
 * number of rows of each class; `counts` is scratch (n_classes, all nominal values). */
static void find_centres(const Halves *halves, const double *filled, const i64 *train, i64 m,
                         const double *mean, double *centres, i64 *sizes, i64 *counts) {
    i64 d = halves->d, n_classes = halves->n_classes, values = halves->all_values;
    memset(sizes, 0, (size_t)n_classes * sizeof *sizes);
    memset(centres, 0, (size_t)(n_classes * d) * sizeof *centres);
    memset(counts, 0, (size_t)(n_classes * values) * sizeof *counts);
    for (i64 r = 0; r < m; r++) {
        const double *RESTRICT cells = filled + train[r] * d;
        i64 c = halves->y[train[r]];
        double *RESTRICT centre = centres + c * d;
        sizes[c]++;
        for (i64 j = 0; j < d; j++) {
            centre[j] += cells[j] - mean[j];
        }
        i64 *count = counts + c * values;
        for (i64 j = 0; j < d && values > 0; j++) {
            if (halves->cardinality[j] > 0) {
                count[(i64)cells[j]]++;
                count += halves->cardinality[j];
            }
        }
    }
    for (i64 c = 0; c < n_classes; c++) {
        const i64 *count = counts + c * values;
        for (i64 j = 0; j < d; j++) {
            double *centre = centres + c * d + j;
            if (halves->cardinality[j] > 0) {
                *centre = (double)argmax_i64(count, halves->cardinality[j]);
                count += halves->cardinality[j];
            } else {
                *centre = (sizes[c] > 0 ? *centre / (double)sizes[c] : 0.0) + mean[j];
            }
        }
    }
}

/* Compute the distances of the rows of a block (d, BLOCK) from a centre. */
static void block_distances(const Halves *halves, const double *block, const double *centre,
                            const double *weight, double *RESTRICT totals) {
    for (i64 r = 0; r < BLOCK; r++) {
        totals[r] = 0.0;
    }
    for (i64 j = 0; j < halves->d; j++) {
        const double *RESTRICT column = block + j * BLOCK;
        double middle = centre[j], by = weight[j];
        if (halves->cardinality[j] == 0) {
            for (i64 r = 0; r < BLOCK; r++) {
                double difference = column[r] - middle;
                totals[r] += difference * difference * by;
            }
        } else {
            for (i64 r = 0; r < BLOCK; r++) {
                totals[r] += column[r] != middle ? 1.0 : 0.0;
            }
        }
    }
}

/* Class means of z-scores, class modes of nominal columns (the first of ties), squared distance, 1
 * per mismatch. A class without training rows competes with zeros and the first values: a mistake
 * of the original that nursery and ecoli reveal. */
i64 multitest_nearest_mean(const double *values, const i64 *cardinality, const bool *whole,
                           i64 unknown, const i64 *y, i64 n, i64 d, i64 n_classes,
                           const bool *marks, i64 splits, i64 *errors) {
    Halves halves = halves_of(values, cardinality, whole, unknown, y, n, d, n_classes, marks,
                              splits);
    Scratch scratch = {0};
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    double *mean = TAKE(&scratch, double, d), *deviation = TAKE(&scratch, double, d);
    double *centres = TAKE(&scratch, double, n_classes *d), *weight = TAKE(&scratch, double, d);
    double *block = TAKE(&scratch, double, d *BLOCK);
    i64 *sizes = TAKE(&scratch, i64, n_classes), *modes = TAKE(&scratch, i64, halves.most_values);
    i64 *counts = TAKE(&scratch, i64, n_classes *halves.all_values);
    bool *lacking = TAKE(&scratch, bool, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    begin_filling(&halves, lacking, filled);
    for (i64 s = 0; s < 2 * splits; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test), wrong = 0;
        if (halves.unknown) {
            fill_unknown(&halves, train, m, modes, filled, fills);
        }
        column_deviations(filled, d, cardinality, train, m, mean, deviation);
        find_centres(&halves, filled, train, m, mean, centres, sizes, counts);
        for (i64 j = 0; j < d; j++) {
            weight[j] = 1.0 / (deviation[j] * deviation[j]);
        }
        for (i64 begin = 0; begin < n - m; begin += BLOCK) {
            i64 count = least_of(BLOCK, n - m - begin), choice[BLOCK] = {0};
            double best[BLOCK], totals[BLOCK];
            for (i64 r = 0; r < count; r++) {
                for (i64 j = 0; j < d; j++) {
                    block[j * BLOCK + r] = filled[test[begin + r] * d + j];
                }
            }
            for (i64 r = 0; r < BLOCK; r++) {
                best[r] = INFINITY;
            }
            for (i64 c = 0; c < n_classes; c++) {
                block_distances(&halves, block, centres + c * d, weight, totals);
                for (i64 r = 0; r < BLOCK; r++) {
                    choice[r] = totals[r] < best[r] ? c : choice[r];
                    best[r] = totals[r] < best[r] ? totals[r] : best[r];
                }
            }
            for (i64 r = 0; r < count; r++) {
                wrong += choice[r] != y[test[begin + r]];
            }
        }
        errors[s] = wrong;
    }
    scratch_free(&scratch);
    return 0;
}

/* Predict the most frequent class of the training rows, the first of ties. */
i64 multitest_majority(const i64 *y, i64 n, i64 n_classes, const bool *marks, i64 splits,
                       i64 *errors) {
    Scratch scratch = {0};
    i64 *counts = TAKE(&scratch, i64, 2 * n_classes);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 s = 0; s < splits; s++) {
        memset(counts, 0, (size_t)(2 * n_classes) * sizeof *counts);
        for (i64 i = 0; i < n; i++) {
            counts[marks[s * n + i] * n_classes + y[i]]++;
        }
        for (i64 fold = 0; fold < 2; fold++) {
            i64 choice = argmax_i64(counts + (1 - fold) * n_classes, n_classes), total = 0;
            for (i64 c = 0; c < n_classes; c++) {
                total += counts[fold * n_classes + c];
            }
            errors[2 * s + fold] = total - counts[fold * n_classes + choice];
        }
    }
    scratch_free(&scratch);
    return 0;
}

/* Compute the distances of a row from the rows of a block (d, BLOCK). */
static void z_distances(const Halves *halves, const double *block, const double *cells,
                        double *RESTRICT distance) {
    double sums[BLOCK] = {0};
    for (i64 j = 0; j < halves->d; j++) {
        const double *RESTRICT column = block + j * BLOCK;
        double x = cells[j];
        if (halves->cardinality[j] == 0) {
            for (i64 r = 0; r < BLOCK; r++) {
                double difference = column[r] - x;
                /* rounded once, because ties between z-scores depend on it */
                sums[r] = fma(difference, difference, sums[r]);
            }
        } else {
            for (i64 r = 0; r < BLOCK; r++) {
                sums[r] += column[r] == x ? 0.0 : 1.0;
            }
        }
    }
    memcpy(distance, sums, sizeof sums);
}

/* z-scores, squared distance, 1 per mismatch; the first row of ties */
i64 multitest_first_nearest(const double *values, const i64 *cardinality, const bool *whole,
                            i64 unknown, const i64 *y, i64 n, i64 d, const bool *marks,
                            i64 splits, i64 *errors) {
    Halves halves = halves_of(values, cardinality, whole, unknown, y, n, d, 0, marks, splits);
    Scratch scratch = {0};
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    i64 *modes = TAKE(&scratch, i64, halves.most_values);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    double *mean = TAKE(&scratch, double, d), *deviation = TAKE(&scratch, double, d);
    double *columns = TAKE(&scratch, double, (n + BLOCK) * d), *cells = TAKE(&scratch, double, d);
    bool *lacking = TAKE(&scratch, bool, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    begin_filling(&halves, lacking, filled);
    for (i64 s = 0; s < 2 * splits; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test), wrong = 0;
        if (halves.unknown) {
            fill_unknown(&halves, train, m, modes, filled, fills);
        }
        column_deviations(filled, d, cardinality, train, m, mean, deviation);
        for (i64 r = 0; r < m; r++) {
            double *block = columns + r / BLOCK * BLOCK * d + r % BLOCK;
            for (i64 j = 0; j < d; j++) {
                block[j * BLOCK] = (filled[train[r] * d + j] - mean[j]) / deviation[j];
            }
        }
        for (i64 t = 0; t < n - m; t++) {
            i64 i = test[t], nearest = 0;
            double best = INFINITY, distance[BLOCK];
            for (i64 j = 0; j < d; j++) {
                cells[j] = (filled[i * d + j] - mean[j]) / deviation[j];
            }
            for (i64 begin = 0; begin < m; begin += BLOCK) {
                i64 nearer = 0;
                z_distances(&halves, columns + begin * d, cells, distance);
                for (i64 r = 0; r < BLOCK; r++) {
                    nearer |= distance[r] < best;
                }
                for (i64 r = 0; nearer && r < least_of(BLOCK, m - begin); r++) {
                    if (distance[r] < best) {
                        best = distance[r];
                        nearest = begin + r;
                    }
                }
            }
            wrong += y[train[nearest]] != y[i];
        }
        errors[s] = wrong;
    }
    scratch_free(&scratch);
    return 0;
}
