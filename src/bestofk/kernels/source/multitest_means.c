/* The MultiTest paper's nearest mean (NMC), most frequent class (MAX), and nearest neighbour (NN)
 * where values are unknown or columns mixed, over many halves: errors (splits, 2) takes the
 * errors. */
#include "multitest.h"

/* Class means of z-scores, class modes of nominal columns (the first of ties), squared distance, 1
 * for another value. A class that no training row holds competes all the same, with zeros and the
 * first values: a slip of the original that nursery and ecoli show. */
i64 multitest_nearest_mean(const double *values, const i64 *cardinality, const bool *whole,
                           i64 unknown, const i64 *y, i64 n, i64 d, i64 n_classes,
                           const bool *marks, i64 splits, i64 *errors) {
    Halves halves = halves_of(values, cardinality, whole, unknown, y, n, d, n_classes, marks,
                              splits);
    i64 most = halves.most_values;
    Scratch scratch = {0};
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    double *mean = TAKE(&scratch, double, d), *deviation = TAKE(&scratch, double, d);
    double *centres = TAKE(&scratch, double, n_classes *d), *weight = TAKE(&scratch, double, d);
    i64 *sizes = TAKE(&scratch, i64, n_classes), *modes = TAKE(&scratch, i64, most);
    i64 *counts = TAKE(&scratch, i64, n_classes *most);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    memcpy(filled, values, (size_t)(n * d) * sizeof *filled);
    for (i64 s = 0; s < 2 * splits; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test), wrong = 0;
        if (halves.unknown) {
            fill_unknown(&halves, train, m, modes, filled, fills);
        }
        column_deviations(filled, d, cardinality, train, m, mean, deviation);
        memset(sizes, 0, (size_t)n_classes * sizeof *sizes);
        for (i64 r = 0; r < m; r++) {
            sizes[y[train[r]]]++;
        }
        for (i64 j = 0; j < d; j++) {
            weight[j] = 1.0 / (deviation[j] * deviation[j]);
            if (cardinality[j] == 0) {
                for (i64 c = 0; c < n_classes; c++) {
                    centres[c * d + j] = 0.0;
                }
                for (i64 r = 0; r < m; r++) {
                    centres[y[train[r]] * d + j] += filled[train[r] * d + j] - mean[j];
                }
                for (i64 c = 0; c < n_classes; c++) {
                    if (sizes[c] > 0) {
                        centres[c * d + j] /= (double)sizes[c];
                    }
                    centres[c * d + j] += mean[j];
                }
            } else {
                memset(counts, 0, (size_t)(n_classes * most) * sizeof *counts);
                for (i64 r = 0; r < m; r++) {
                    counts[y[train[r]] * most + (i64)filled[train[r] * d + j]]++;
                }
                for (i64 c = 0; c < n_classes; c++) {
                    centres[c * d + j] = (double)argmax_i64(counts + c * most, most);
                }
            }
        }
        for (i64 r = 0; r < n - m; r++) {
            const double *cells = filled + test[r] * d;
            double best = INFINITY;
            i64 choice = 0;
            for (i64 c = 0; c < n_classes; c++) {
                double total = 0.0;
                for (i64 j = 0; j < d; j++) {
                    double difference = cells[j] - centres[c * d + j];
                    if (cardinality[j] == 0) {
                        total += difference * difference * weight[j];
                    } else if (difference != 0.0) {
                        total += 1.0;
                    }
                }
                if (total < best) {
                    best = total;
                    choice = c;
                }
            }
            wrong += choice != y[test[r]];
        }
        errors[s] = wrong;
    }
    scratch_free(&scratch);
    return 0;
}

/* the most frequent class of the training rows, the first of ties */
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

/* z-scores, squared distance, 1 for another value; the first row of ties */
i64 multitest_first_nearest(const double *values, const i64 *cardinality, const bool *whole,
                            i64 unknown, const i64 *y, i64 n, i64 d, const bool *marks,
                            i64 splits, i64 *errors) {
    Halves halves = halves_of(values, cardinality, whole, unknown, y, n, d, 0, marks, splits);
    Scratch scratch = {0};
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    i64 *modes = TAKE(&scratch, i64, halves.most_values);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    double *mean = TAKE(&scratch, double, d), *deviation = TAKE(&scratch, double, d);
    double *columns = TAKE(&scratch, double, n *d), *distances = TAKE(&scratch, double, n);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    memcpy(filled, values, (size_t)(n * d) * sizeof *filled);
    for (i64 s = 0; s < 2 * splits; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test), wrong = 0;
        if (halves.unknown) {
            fill_unknown(&halves, train, m, modes, filled, fills);
        }
        column_deviations(filled, d, cardinality, train, m, mean, deviation);
        for (i64 j = 0; j < d; j++) {
            for (i64 r = 0; r < m; r++) {
                columns[j * n + r] = (filled[train[r] * d + j] - mean[j]) / deviation[j];
            }
        }
        for (i64 t = 0; t < n - m; t++) {
            i64 i = test[t];
            double *RESTRICT distance = distances;
            for (i64 r = 0; r < m; r++) {
                distance[r] = 0.0;
            }
            for (i64 j = 0; j < d; j++) {
                const double *RESTRICT column = columns + j * n;
                double x = (filled[i * d + j] - mean[j]) / deviation[j];
                if (cardinality[j] == 0) {
                    for (i64 r = 0; r < m; r++) {
                        double difference = column[r] - x;
                        /* rounded once: ties among z-scores depend on it */
                        distance[r] = fma(difference, difference, distance[r]);
                    }
                } else {
                    for (i64 r = 0; r < m; r++) {
                        distance[r] += column[r] == x ? 0.0 : 1.0;
                    }
                }
            }
            i64 nearest = 0;
            for (i64 r = 1; r < m; r++) {
                if (distance[r] < distance[nearest]) {
                    nearest = r;
                }
            }
            wrong += y[train[nearest]] != y[i];
        }
        errors[s] = wrong;
    }
    scratch_free(&scratch);
    return 0;
}
