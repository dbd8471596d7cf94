/* Whole plans if the distance does not depend on the training rows.
 *
 * The neighbours of each row are sorted once; in each split the first training neighbour wins. 64
 * splits are processed at a time. In two-fold cross-validation each step settles about half of the
 * open splits, so a word takes about eight steps. */
#include "neighbour.h"

typedef struct {
    double *found_keys, *spare_keys;
    i64 *rows, *spare_rows, room;
} Buffers;

static Buffers take_buffers(Scratch *scratch, i64 n) {
    i64 room = 2 * n + 64;
    Buffers buffers = {TAKE(scratch, double, room), TAKE(scratch, double, room),
                       TAKE(scratch, i64, room), TAKE(scratch, i64, room), room};
    return buffers;
}

/* Predict row i from its first m neighbours, and from more if they do not suffice. */
static void first_training_neighbours(const Plan *plan, i64 i, const double *keys,
                                      const uint8_t *bytes, i64 m, Buffers buffers) {
    i64 n = plan->n, walked = 0, open_words = plan->words;
    const i64 *rows = buffers.rows;
    while (open_words > 0 && walked < n) {
        i64 count = bytes != NULL
                        ? first_byte_rows(bytes, n, m, buffers.room, buffers.found_keys,
                                          buffers.rows, buffers.spare_keys, buffers.spare_rows)
                        : first_rows(keys, n, m, buffers.room, buffers.found_keys, buffers.rows,
                                     buffers.spare_keys, buffers.spare_rows);
        open_words = 0;
        for (i64 w = 0; w < plan->words; w++) {
            u64 left = plan->wanted[i * plan->words + w];
            for (i64 t = 0; t < walked && left != 0; t++) {
                left &= ~serves(plan, i, rows[t], w);
            }
            for (i64 t = walked; t < count && left != 0; t++) {
                u64 hit = left & serves(plan, i, rows[t], w);
                if (hit != 0) {
                    write_code(plan, w, i, hit, plan->y[rows[t]]);
                    left ^= hit;
                }
            }
            open_words += left != 0;
        }
        walked = count;
        m *= 4;
    }
}

/* Add the terms of four numeric columns without unknown values, in order. */
static void add_four(double *RESTRICT total, const double *RESTRICT first,
                     const double *RESTRICT second, const double *RESTRICT third,
                     const double *RESTRICT fourth, double a, double b, double c, double d,
                     i64 count) {
    for (i64 k = 0; k < count; k++) {
        double u = first[k] - a, v = second[k] - b, w = third[k] - c, x = fourth[k] - d;
        total[k] = (((total[k] + u * u) + v * v) + w * w) + x * x;
    }
}

static bool four_numeric(const i64 *cardinality) {
    return (cardinality[0] | cardinality[1] | cardinality[2] | cardinality[3]) == 0;
}

/* Predict with unscaled numeric columns without unknown values; columns (d, n). */
i64 neighbour_scan_numeric(const double *columns, const i64 *cardinality, i64 d, i64 n,
                           const i64 *y, const u64 *planes, i64 by_fold, i64 words, i64 digits,
                           const u64 *wanted, i64 m, i64 code_digits, u64 *predicted) {
    Plan plan = {planes, wanted, predicted, y, n, words, digits, 1, code_digits, by_fold != 0};
    Scratch scratch = {0};
    double *keys = TAKE(&scratch, double, n);
    Buffers buffers = take_buffers(&scratch, n);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 i = 0; i < n; i++) {
        for (i64 start = 0; start < n; start += BLOCK) {
            i64 size = least_of(BLOCK, n - start), j = 0;
            double *part = keys + start;
            for (i64 k = 0; k < size; k++) {
                part[k] = 0.0;
            }
            while (j < d) {
                const double *column = columns + j * n;
                if (j + 4 <= d && four_numeric(cardinality + j)) {
                    add_four(part, column + start, column + n + start, column + 2 * n + start,
                             column + 3 * n + start, column[i], column[n + i], column[2 * n + i],
                             column[3 * n + i], size);
                    j += 4;
                } else {
                    add_column(part, column + start, size, column[i], cardinality[j] > 0, 0.0,
                               0.0, 1.0);
                    j++;
                }
            }
        }
        first_training_neighbours(&plan, i, keys, NULL, m, buffers);
    }
    scratch_free(&scratch);
    return 0;
}

/* Predict with nominal columns only: codes (d, n) are small integers, `missing` is unknown. */
i64 neighbour_scan_nominal(const uint8_t *codes, i64 missing, i64 d, i64 n, const i64 *y,
                           const u64 *planes, i64 by_fold, i64 words, i64 digits,
                           const u64 *wanted, i64 m, i64 code_digits, u64 *predicted) {
    Plan plan = {planes, wanted, predicted, y, n, words, digits, 1, code_digits, by_fold != 0};
    Scratch scratch = {0};
    uint8_t *keys = TAKE(&scratch, uint8_t, n);
    Buffers buffers = take_buffers(&scratch, n);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 i = 0; i < n; i++) {
        memset(keys, 0, (size_t)n);
        for (i64 j = 0; j < d; j++) {
            const uint8_t *RESTRICT column = codes + j * n;
            uint8_t x = column[i], *RESTRICT to = keys;
            if (x == missing) {
                for (i64 k = 0; k < n; k++) {
                    to[k]++;
                }
            } else {
                for (i64 k = 0; k < n; k++) {
                    to[k] = (uint8_t)(to[k] + (column[k] != x));
                }
            }
        }
        first_training_neighbours(&plan, i, NULL, keys, m, buffers);
    }
    scratch_free(&scratch);
    return 0;
}
