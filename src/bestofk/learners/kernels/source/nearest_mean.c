/* The nearest mean: exact class sums and counts, and the nearest class. */
#include "kernels.h"

#define RUNS_AT_ONCE 16
#define BATCH_BYTES (1 << 20)
#define BLOCK_BYTES (1 << 17)
#define EPS 2.220446049250313e-16

typedef double Four __attribute__((vector_size(32)));

typedef struct {
    const double *numbers;
    const i64 *digits;
    const int8_t *known;
    const int32_t *codes;
    i64 n, d, n_limbs, n_known, v, c;
    const i64 *offset, *first, *low;
    i64 width;
    const i64 *y;
} Data;

/* for each class: sums of limbs, known cells, values, rows */
typedef struct {
    i64 *sums, *knowns, *counts, *rows;
} Totals;

typedef struct {
    const double *means;
    const int32_t *modes;
    const i64 *rows;
    const double *scale;
} Centres;

/* Add the rows whose fold is not `last` to the totals of their fold; NULL means fold 0 for all. */
static void add_rows(const Data *data, i64 start, i64 stop, const i64 *fold, i64 last,
                     Totals totals) {
    i64 c = data->c, values = data->offset[data->v];
    for (i64 i = start; i < stop; i++) {
        i64 f = fold == NULL ? 0 : fold[i];
        if (f == last) {
            continue;
        }
        i64 at = f * c + data->y[i];
        totals.rows[at]++;
        i64 *RESTRICT sums = totals.sums + at * data->n_limbs;
        const i64 *RESTRICT digits = data->digits + i * data->n_limbs;
        for (i64 j = 0; j < data->n_limbs; j++) {
            sums[j] += digits[j];
        }
        i64 *RESTRICT knowns = totals.knowns + at * data->n_known;
        const int8_t *RESTRICT known = data->known + i * data->n_known;
        for (i64 j = 0; j < data->n_known; j++) {
            knowns[j] += known[j];
        }
        i64 *counts = totals.counts + at * values;
        const int32_t *codes = data->codes + i * data->v;
        for (i64 j = 0; j < data->v; j++) {
            if (codes[j] >= 0) {
                counts[data->offset[j] + codes[j]]++;
            }
        }
    }
}

/* Compute class means (c, d) and modes (c, v).
 *
 * A class without a known value of a column gets the mean or mode of all rows. If no row has a
 * known value, all means of the column are NaN and all its modes are -1. The numbers of a class
 * without rows are undefined. Without limbs, the means are not computed. `overall` and `limb` have one cell per limb. */
static void summarise(const Data *data, Totals totals, double *means, int32_t *modes,
                      i64 *overall, i64 *limb) {
    i64 c = data->c, d = data->d, v = data->v, values = data->offset[v];
    const i64 *first = data->first;
    bool with_missing = data->n_known > 0;
    for (i64 j = 0; j < d && data->n_limbs > 0; j++) {
        i64 size = first[j + 1] - first[j], everyone = 0;
        bool lacking = false;
        for (i64 k = 0; k < c; k++) {
            i64 known = with_missing ? totals.knowns[k * d + j] : totals.rows[k];
            everyone += known;
            if (known > 0) {
                means[k * d + j] = rounded_sum(totals.sums + k * data->n_limbs + first[j], size,
                                               data->low[j], data->width, limb) /
                                   (double)known;
            } else {
                lacking = true;
            }
        }
        if (!lacking) {
            continue;
        }
        double centre = NAN;
        if (everyone > 0) {
            for (i64 at = first[j]; at < first[j + 1]; at++) {
                overall[at - first[j]] = 0;
                for (i64 k = 0; k < c; k++) {
                    overall[at - first[j]] += totals.sums[k * data->n_limbs + at];
                }
            }
            centre = rounded_sum(overall, size, data->low[j], data->width, limb) /
                     (double)everyone;
        }
        for (i64 k = 0; k < c; k++) {
            if ((with_missing ? totals.knowns[k * d + j] : totals.rows[k]) == 0) {
                means[k * d + j] = centre;
            }
        }
    }
    for (i64 j = 0; j < v; j++) {
        bool lacking = false;
        for (i64 k = 0; k < c; k++) {
            i64 most = 0, mode = -1;
            for (i64 value = data->offset[j]; value < data->offset[j + 1]; value++) {
                if (totals.counts[k * values + value] > most) {
                    most = totals.counts[k * values + value];
                    mode = value - data->offset[j];
                }
            }
            modes[k * v + j] = (int32_t)mode;
            lacking |= mode < 0;
        }
        if (!lacking) {
            continue;
        }
        i64 most = 0, centre = -1;
        for (i64 value = data->offset[j]; value < data->offset[j + 1]; value++) {
            i64 together = 0;
            for (i64 k = 0; k < c; k++) {
                together += totals.counts[k * values + value];
            }
            if (together > most) {
                most = together;
                centre = value - data->offset[j];
            }
        }
        for (i64 k = 0; k < c; k++) {
            if (modes[k * v + j] < 0) {
                modes[k * v + j] = (int32_t)centre;
            }
        }
    }
}

/* Compute 1 / scale of each numeric column over the rows whose fold is not `left_out`.
 *
 * `kind` 1 is the standard deviation (with n), 2 the range; a constant column has 1. `work` has
 * 4 d cells. */
static void training_scale(const Data *data, const i64 *fold, i64 left_out, i64 kind,
                           double *work, double *scale) {
    i64 n = data->n, d = data->d;
    double *RESTRICT size = work, *RESTRICT total = work + d;
    double *RESTRICT smallest = work + 2 * d, *RESTRICT largest = work + 3 * d;
    for (i64 j = 0; j < d; j++) {
        size[j] = total[j] = 0.0;
        smallest[j] = INFINITY;
        largest[j] = -INFINITY;
    }
    for (i64 i = 0; i < n; i++) {
        const double *RESTRICT cells = data->numbers + i * d;
        if (fold != NULL && fold[i] == left_out) {
            continue;
        }
        for (i64 j = 0; j < d; j++) {
            double x = cells[j];
            size[j] += x == x ? 1.0 : 0.0;
            total[j] += x == x ? x : 0.0;
            smallest[j] = x < smallest[j] ? x : smallest[j];
            largest[j] = x > largest[j] ? x : largest[j];
        }
    }
    double *RESTRICT squares = scale, *RESTRICT centre = total;
    for (i64 j = 0; j < d; j++) {
        centre[j] = total[j] / size[j];
        squares[j] = 0.0;
    }
    for (i64 i = 0; i < n && kind == 1; i++) {
        const double *RESTRICT cells = data->numbers + i * d;
        if (fold != NULL && fold[i] == left_out) {
            continue;
        }
        for (i64 j = 0; j < d; j++) {
            double x = cells[j], from = x - centre[j];
            squares[j] += x == x ? from * from : 0.0;
        }
    }
    for (i64 j = 0; j < d; j++) {
        double spread = 0.0;
        if (size[j] > 0.0 && largest[j] > smallest[j]) {
            spread = kind == 2 ? largest[j] - smallest[j] : sqrt(squares[j] / size[j]);
        }
        scale[j] = spread > 0.0 ? 1.0 / spread : 1.0;
    }
}

/* Compute class means from sums in doubled precision; return whether all equal those of summarise.
 *
 * The low part of a sum has a rounding error of at most n^2 u^2 times the sum of the sizes, where u
 * is the unit roundoff. A rounded sum is certain if it is the same at both ends of this bound. */
i64 nearest_mean_quick_means(const double *numbers, i64 n, i64 d, const i64 *y, i64 c,
                             double *means) {
    Scratch scratch = {0};
    double *high = TAKE(&scratch, double, c *d), *low = TAKE(&scratch, double, c *d);
    double *sizes = TAKE(&scratch, double, c *d), *known = TAKE(&scratch, double, c *d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 i = 0; i < n; i++) {
        const double *RESTRICT cells = numbers + i * d;
        double *RESTRICT sum = high + y[i] * d, *RESTRICT rest = low + y[i] * d;
        double *RESTRICT size = sizes + y[i] * d, *RESTRICT count = known + y[i] * d;
        for (i64 j = 0; j < d; j++) {
            double x = cells[j] == cells[j] ? cells[j] : 0.0, before = sum[j];
            double after = before + x, added = after - before;
            rest[j] += (before - (after - added)) + (x - added);
            sum[j] = after;
            size[j] += fabs(x);
            count[j] += cells[j] == cells[j] ? 1.0 : 0.0;
        }
    }
    bool certain = true;
    double bound = 2.0 * (double)n * (double)n * EPS * EPS;
    for (i64 at = 0; at < c * d; at++) {
        double sum = high[at] + low[at], rest = (high[at] - sum) + low[at];
        double slack = bound * sizes[at];
        certain &= known[at] > 0.0 && sum + (rest + slack) == sum && sum + (rest - slack) == sum;
        means[at] = sum / known[at];
    }
    scratch_free(&scratch);
    return certain;
}

static i64 mismatches(const int32_t *codes, const int32_t *modes, i64 v) {
    int32_t count = 0;
    for (i64 j = 0; j < v; j++) {
        count += (codes[j] >= 0) & (modes[j] >= 0) & (codes[j] != modes[j]);
    }
    return count;
}

/* Add squared differences in column order, then the mismatches: the definition. */
static i64 exactly_nearest(const double *numbers, const int32_t *codes, i64 d, i64 v, i64 c,
                           Centres centres) {
    double best = INFINITY;
    i64 winner = -1;
    for (i64 k = 0; k < c; k++) {
        if (centres.rows[k] == 0) {
            continue;
        }
        double distance = 0.0;
        for (i64 j = 0; j < d; j++) {
            double t = (numbers[j] - centres.means[k * d + j]) * centres.scale[j];
            if (t == t) {
                distance += t * t;
            }
        }
        distance += (double)mismatches(codes, centres.modes + k * v, v);
        if (distance < best || winner < 0) {
            best = distance;
            winner = k;
        }
    }
    return winner;
}

static inline Four four_at(const double *cells) {
    Four four;
    memcpy(&four, cells, sizeof four);
    return four;
}

/* Add squares in four lanes, which is faster than column order; NaN for missing cells. */
static double quick_squares(const double *numbers, const double *means, const double *scale,
                            bool scaled, i64 d) {
    Four first = {0.0, 0.0, 0.0, 0.0}, second = first;
    double rest = 0.0;
    i64 j = 0;
    if (scaled) {
        for (; j + 8 <= d; j += 8) {
            Four s = (four_at(numbers + j) - four_at(means + j)) * four_at(scale + j);
            Four t = (four_at(numbers + j + 4) - four_at(means + j + 4)) * four_at(scale + j + 4);
            first += s * s;
            second += t * t;
        }
        for (; j < d; j++) {
            double t = (numbers[j] - means[j]) * scale[j];
            rest += t * t;
        }
    } else {
        for (; j + 8 <= d; j += 8) {
            Four s = four_at(numbers + j) - four_at(means + j);
            Four t = four_at(numbers + j + 4) - four_at(means + j + 4);
            first += s * s;
            second += t * t;
        }
        for (; j < d; j++) {
            double t = numbers[j] - means[j];
            rest += t * t;
        }
    }
    first += second;
    return ((first[0] + first[1]) + (first[2] + first[3])) + rest;
}

/* Return the nearest class to a row; the first of equally near ones.
 *
 * A sum of d squares has a relative error of at most (d + 4) eps in any order. If the best two
 * differ by more, the fast sums choose the same class as the sums in column order; otherwise the
 * latter decide. Classes without training rows are skipped. */
static i64 nearest(const double *numbers, const int32_t *codes, i64 d, i64 v, i64 c,
                   Centres centres, bool scaled) {
    double best = INFINITY, second = INFINITY;
    i64 winner = -1;
    for (i64 k = 0; k < c; k++) {
        if (centres.rows[k] == 0) {
            continue;
        }
        double distance = quick_squares(numbers, centres.means + k * d, centres.scale, scaled, d) +
                          (double)mismatches(codes, centres.modes + k * v, v);
        if (!(distance < INFINITY)) {
            return exactly_nearest(numbers, codes, d, v, c, centres);
        }
        if (distance < best) {
            second = best;
            best = distance;
            winner = k;
        } else if (distance < second) {
            second = distance;
        }
    }
    if (d && second - best <= second * (4.0 * (double)(d + 8) * EPS)) {
        return exactly_nearest(numbers, codes, d, v, c, centres);
    }
    return winner;
}

i64 nearest_mean_fit(const double *numbers, const i64 *digits, const int8_t *known,
                     const int32_t *codes, i64 n, i64 d, i64 n_limbs, i64 n_known, i64 v,
                     const i64 *offset, const i64 *first, const i64 *low, i64 width, const i64 *y,
                     i64 c, i64 kind, double *means, int32_t *modes, i64 *rows, double *scale) {
    Data data = {numbers, digits, known, codes, n,   d,     n_limbs, n_known,
                 v,       c,      offset, first, low, width, y};
    Scratch scratch = {0};
    Totals totals = {TAKE(&scratch, i64, c *n_limbs), TAKE(&scratch, i64, c *n_known),
                     TAKE(&scratch, i64, c *offset[v]), rows};
    i64 *overall = TAKE(&scratch, i64, n_limbs);
    i64 *limb = TAKE(&scratch, i64, n_limbs);
    double *work = TAKE(&scratch, double, 4 * d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    memset(rows, 0, (size_t)c * sizeof *rows);
    add_rows(&data, 0, n, NULL, -1, totals);
    summarise(&data, totals, means, modes, overall, limb);
    if (kind) {
        training_scale(&data, NULL, -1, kind, work, scale);
    }
    scratch_free(&scratch);
    return 0;
}

i64 nearest_mean_rows(const double *numbers, const int32_t *codes, i64 n, i64 d, i64 v,
                      const double *means, const int32_t *modes, const i64 *rows, i64 c,
                      const double *scale, i64 scaled, i64 *predicted) {
    Centres centres = {means, modes, rows, scale};
    for (i64 i = 0; i < n; i++) {
        predicted[i] = nearest(numbers + i * d, codes + i * v, d, v, c, centres, scaled != 0);
    }
    return 0;
}

/* Convert sums of folds to sums of the rows outside them; the last is still unknown. */
static void outside(const i64 *total, i64 *some, i64 folds, i64 size) {
    i64 *rest = some + (folds - 1) * size;
    for (i64 j = 0; j < size; j++) {
        rest[j] = 0;
    }
    for (i64 m = 0; m < folds - 1; m++) {
        i64 *here = some + m * size;
        for (i64 j = 0; j < size; j++) {
            rest[j] += here[j];
            here[j] = total[j] - here[j];
        }
    }
}

/* Predict each row with the model of all rows outside its fold, for every run.
 *
 * `predicted`, shape (runs, n), has the rows of fold 0, then those of fold 1, and so on; `begins`
 * (runs, folds + 1) gets the start of each fold. The sums of the last fold are the total minus
 * those of the others. Runs are processed in batches and rows in blocks, so that a block is read
 * once per batch. */
i64 nearest_mean_plan(const double *numbers, const i64 *digits, const int8_t *known,
                      const int32_t *codes, i64 n, i64 d, i64 n_limbs, i64 n_known, i64 v,
                      const i64 *offset, const i64 *first, const i64 *low, i64 width,
                      const i64 *y, i64 c, const i64 *fold_of, i64 runs, i64 folds, i64 kind,
                      i64 *predicted, i64 *begins) {
    Data data = {numbers, digits, known, codes, n,   d,     n_limbs, n_known,
                 v,       c,      offset, first, low, width, y};
    i64 values = offset[v], last = folds - 1;
    i64 cell = folds * c * most_of(n_limbs + n_known + values + d + v, 1) * 8;
    i64 batch = most_of(1, least_of(RUNS_AT_ONCE, BATCH_BYTES / most_of(cell, 1)));
    i64 block = most_of(64, BLOCK_BYTES / (8 * most_of(most_of(n_limbs, d), 1)));
    i64 models = batch * folds;
    Scratch scratch = {0};
    Totals every = {TAKE(&scratch, i64, c *n_limbs), TAKE(&scratch, i64, c *n_known),
                    TAKE(&scratch, i64, c *values), TAKE(&scratch, i64, c)};
    Totals totals = {TAKE(&scratch, i64, models *c *n_limbs),
                     TAKE(&scratch, i64, models *c *n_known),
                     TAKE(&scratch, i64, models *c *values), TAKE(&scratch, i64, models *c)};
    double *means = TAKE(&scratch, double, models *c *d);
    int32_t *modes = TAKE(&scratch, int32_t, models *c *v);
    double *scale = TAKE(&scratch, double, models *d);
    i64 *place = TAKE(&scratch, i64, runs *folds);
    i64 *overall = TAKE(&scratch, i64, n_limbs);
    i64 *limb = TAKE(&scratch, i64, n_limbs);
    double *work = TAKE(&scratch, double, 4 * d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    add_rows(&data, 0, n, NULL, -1, every);
    for (i64 at = 0; at < models * d; at++) {
        scale[at] = 1.0;
    }
    for (i64 begin = 0; begin < runs; begin += batch) {
        i64 end = least_of(begin + batch, runs);
        memset(totals.sums, 0, (size_t)(models * c * n_limbs) * sizeof(i64));
        memset(totals.knowns, 0, (size_t)(models * c * n_known) * sizeof(i64));
        memset(totals.counts, 0, (size_t)(models * c * values) * sizeof(i64));
        memset(totals.rows, 0, (size_t)(models * c) * sizeof(i64));
        for (i64 start = 0; start < n; start += block) {
            for (i64 run = begin; run < end; run++) {
                i64 at = (run - begin) * folds * c;
                Totals here = {totals.sums + at * n_limbs, totals.knowns + at * n_known,
                               totals.counts + at * values, totals.rows + at};
                add_rows(&data, start, least_of(start + block, n), fold_of + run * n, last,
                         here);
            }
        }
        for (i64 run = begin; run < end; run++) {
            i64 at = (run - begin) * folds;
            outside(every.sums, totals.sums + at * c * n_limbs, folds, c * n_limbs);
            outside(every.knowns, totals.knowns + at * c * n_known, folds, c * n_known);
            outside(every.counts, totals.counts + at * c * values, folds, c * values);
            outside(every.rows, totals.rows + at * c, folds, c);
            i64 *starts = begins + run * (folds + 1);
            starts[0] = 0;
            for (i64 f = 0; f < folds; f++) {
                i64 m = at + f;
                place[run * folds + f] = starts[f];
                starts[f + 1] = starts[f] + n;
                for (i64 label = 0; label < c; label++) {
                    starts[f + 1] -= totals.rows[m * c + label];
                }
                Totals here = {totals.sums + m * c * n_limbs, totals.knowns + m * c * n_known,
                               totals.counts + m * c * values, totals.rows + m * c};
                summarise(&data, here, means + m * c * d, modes + m * c * v, overall, limb);
                if (kind) {
                    training_scale(&data, fold_of + run * n, f, kind, work, scale + m * d);
                }
            }
        }
        for (i64 start = 0; start < n; start += block) {
            i64 stop = least_of(start + block, n);
            for (i64 run = begin; run < end; run++) {
                i64 at = (run - begin) * folds;
                const i64 *fold = fold_of + run * n;
                for (i64 i = start; i < stop; i++) {
                    i64 f = fold[i], m = at + f;
                    Centres centres = {means + m * c * d, modes + m * c * v,
                                       totals.rows + m * c, scale + m * d};
                    predicted[run * n + place[run * folds + f]++] =
                        nearest(numbers + i * d, codes + i * v, d, v, c, centres, kind > 0);
                }
            }
        }
    }
    scratch_free(&scratch);
    return 0;
}
