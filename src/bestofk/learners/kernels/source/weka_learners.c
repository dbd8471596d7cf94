/* Errors by fold of Weka's learners in the paper on calibrated tests, on the rows of a run. */
#include "kernels.h"

#define MASK (((u64)1 << 48) - 1)
#define FACTOR 0x5DEECE66Du

/* Return the next double in [0, 1) of Java's Random. */
static double java_double(u64 *state) {
    *state = (*state * FACTOR + 11) & MASK;
    u64 high = *state >> 22;
    *state = (*state * FACTOR + 11) & MASK;
    return (double)((high << 27) + (*state >> 21)) / 9007199254740992.0;
}

/* Shuffle in place as Weka did at the time: swap every row, from the last, with an earlier one. */
static void weka_shuffle(i64 *rows, i64 count, i64 seed) {
    u64 state = ((u64)seed ^ FACTOR) & MASK;
    for (i64 at = count - 1; at > 0; at--) {
        i64 other = (i64)(java_double(&state) * (double)at), row = rows[at];
        rows[at] = rows[other];
        rows[other] = row;
    }
}

/* Predict the class of the first of the nearest training rows. */
i64 weka_first_neighbour(const i64 *codes, const i64 *y, i64 n, i64 d, const i64 *folds,
                         i64 n_folds, i64 *wrong) {
    memset(wrong, 0, (size_t)n_folds * sizeof *wrong);
    for (i64 row = 0; row < n; row++) {
        i64 least = d + 1, nearest = -1;
        for (i64 other = 0; other < n; other++) {
            if (folds[other] == folds[row]) {
                continue;
            }
            i64 mismatches = 0;
            for (i64 a = 0; a < d; a++) {
                mismatches += codes[row * d + a] != codes[other * d + a];
            }
            if (mismatches < least) {
                least = mismatches;
                nearest = other;
                if (least == 0) {
                    break;
                }
            }
        }
        if (nearest >= 0) {
            wrong[folds[row]] += y[nearest] != y[row];
        }
    }
    return 0;
}

/* Predict with the voted perceptron on training rows shuffled with one seed in every fold. */
i64 weka_perceptron(const double *inputs, const bool *second, i64 n, i64 width, const i64 *folds,
                    i64 n_folds, i64 seed, i64 *wrong) {
    Scratch scratch = {0};
    i64 *rows = TAKE(&scratch, i64, n), *mistakes = TAKE(&scratch, i64, n);
    i64 *votes = TAKE(&scratch, i64, n + 1);
    double *signs = TAKE(&scratch, double, n), *vector = TAKE(&scratch, double, width);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 fold = 0; fold < n_folds; fold++) {
        i64 count = 0;
        wrong[fold] = 0;
        for (i64 row = 0; row < n; row++) {
            if (folds[row] != fold) {
                rows[count++] = row;
            }
        }
        weka_shuffle(rows, count, seed);
        i64 k = perceptron_train(inputs, width, second, rows, count, mistakes, signs, votes,
                                 vector);
        for (i64 row = 0; row < n; row++) {
            if (folds[row] == fold) {
                bool vote = perceptron_votes_second(inputs, width, mistakes, signs, votes, k,
                                                    inputs + row * width);
                wrong[fold] += vote != second[row];
            }
        }
    }
    scratch_free(&scratch);
    return 0;
}

/* Return whether `end` is `start` or one of its ancestors. */
static bool leads_to(const i64 *parent, i64 start, i64 end) {
    while (start >= 0) {
        if (start == end) {
            return true;
        }
        start = parent[start];
    }
    return false;
}

/* Find parents besides the class, -1 for none: add the arc with the largest gain while one
 * gains. */
static void climb(const double *gains, i64 d, i64 *parent) {
    for (i64 i = 0; i < d; i++) {
        parent[i] = -1;
    }
    while (true) {
        double most = 0.0;
        i64 child = -1, best = -1;
        for (i64 i = 0; i < d; i++) {
            if (parent[i] >= 0) {
                continue;
            }
            for (i64 j = 0; j < d; j++) {
                if (gains[i * d + j] > most && !leads_to(parent, j, i)) {
                    most = gains[i * d + j];
                    child = i;
                    best = j;
                }
            }
        }
        if (child < 0) {
            return;
        }
        parent[child] = best;
    }
}

/* Predict with naive Bayes and the arcs of `climb`. */
i64 weka_network(const i64 *codes, const i64 *offset, const i64 *y, i64 n, i64 d, i64 n_labels,
                 const double *gammas, const i64 *folds, i64 n_folds, i64 *wrong) {
    i64 wide = offset[d], most = 1;
    for (i64 i = 0; i < d; i++) {
        most = most_of(most, offset[i + 1] - offset[i]);
    }
    Scratch scratch = {0};
    i64 *pairs = TAKE(&scratch, i64, wide *wide *n_labels);
    i64 *class_counts = TAKE(&scratch, i64, n_labels), *start = TAKE(&scratch, i64, d + 1);
    i64 *parent = TAKE(&scratch, i64, d), *test = TAKE(&scratch, i64, n);
    double *gains = TAKE(&scratch, double, d *d), *prior = TAKE(&scratch, double, n_labels);
    double *logs = TAKE(&scratch, double, n_labels);
    double *tables = TAKE(&scratch, double, wide *most *n_labels);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    tan_add_pairs(codes, d, y, NULL, n, 1, offset, n_labels, pairs, class_counts);
    for (i64 fold = 0; fold < n_folds; fold++) {
        i64 n_test = 0;
        for (i64 row = 0; row < n; row++) {
            if (folds[row] == fold) {
                test[n_test++] = row;
            }
        }
        tan_add_pairs(codes, d, y, test, n_test, -1, offset, n_labels, pairs, class_counts);
        tan_arc_gains(pairs, class_counts, n_labels, offset, d, gammas, gains);
        climb(gains, d, parent);
        tan_log_tables(pairs, class_counts, n_labels, offset, d, parent, start, tables, prior);
        wrong[fold] = 0;
        for (i64 at = 0; at < n_test; at++) {
            tan_row_logs(codes + test[at] * d, d, offset, parent, start, tables, prior, n_labels,
                         logs);
            wrong[fold] += argmax_f64(logs, n_labels) != y[test[at]];
        }
        tan_add_pairs(codes, d, y, test, n_test, 1, offset, n_labels, pairs, class_counts);
    }
    scratch_free(&scratch);
    return 0;
}
