/* Naive Bayes on encoded rows: tables of nominal columns, grids and moments of numeric ones.
 *
 * A nominal cell is a line of one long table (offset[a] + code). An unknown cell has the last line,
 * whose probability is 1 for every class. A numeric cell has the line -1. For the splits of a plan,
 * the test rows are subtracted from the counts of all rows. */
#include "kernels.h"

/* The smallest factor; products below it are multiplied by its inverse. */
#define FLOOR 1e-75
/* The largest factor; products above it are multiplied by its inverse, which is exact. */
#define CEILING 0x1p500
/* Precision of a column with one distinct value. */
#define LONE_PRECISION 0.01
/* A standard deviation up to this does not reveal the scale. */
#define NO_SPREAD 1e-10
/* Products this factor apart keep their order when they are normalised. */
#define CLEARLY (1.0 + 1e-12)

typedef struct {
    i64 d, n_labels;
    const i64 *cardinality, *offset;
    double *table, *prior, *precision, *mean, *deviation;
} Model;

i64 naive_bayes_places(const double *values, i64 n, i64 d, const i64 *cardinality,
                       const i64 *offset, int32_t *places) {
    for (i64 row = 0; row < n; row++) {
        for (i64 a = 0; a < d; a++) {
            double cell = values[row * d + a];
            int32_t place = -1;
            if (cardinality[a] != 0) {
                place = isnan(cell) ? (int32_t)offset[d] : (int32_t)(offset[a] + (i64)cell);
            }
            places[row * d + a] = place;
        }
    }
    return 0;
}

static void add_counts(const int32_t *places, i64 d, const i64 *y, const i64 *rows, i64 n_rows,
                       i64 sign, i64 n_labels, i64 *counts, i64 *class_counts) {
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows == NULL ? at : rows[at];
        i64 c = y[row];
        const int32_t *cells = places + row * d;
        class_counts[c] += sign;
        for (i64 a = 0; a < d; a++) {
            if (cells[a] >= 0) {
                counts[cells[a] * n_labels + c] += sign;
            }
        }
    }
}

/* Compute the table of probabilities and the prior; a class without rows gets the prior 0. */
static void estimate(const i64 *counts, const i64 *class_counts, Model *model) {
    i64 n_labels = model->n_labels, n = 0, present = 0;
    const i64 *offset = model->offset;
    for (i64 c = 0; c < n_labels; c++) {
        n += class_counts[c];
        present += class_counts[c] > 0;
    }
    for (i64 c = 0; c < n_labels; c++) {
        model->prior[c] = class_counts[c] > 0
                              ? ((double)class_counts[c] + 1.0) / (double)(n + present)
                              : 0.0;
    }
    for (i64 a = 0; a < model->d; a++) {
        for (i64 c = 0; c < n_labels; c++) {
            i64 known = 0;
            for (i64 place = offset[a]; place < offset[a + 1]; place++) {
                known += counts[place * n_labels + c];
            }
            double below = (double)(known + model->cardinality[a]);
            for (i64 place = offset[a]; place < offset[a + 1]; place++) {
                model->table[place * n_labels + c] =
                    ((double)counts[place * n_labels + c] + 1.0) / below;
            }
        }
    }
    for (i64 c = 0; c < n_labels; c++) {
        model->table[offset[model->d] * n_labels + c] = 1.0;
    }
}

/* Return the mean gap between neighbouring distinct values. */
static double grid_of(const double *column, const i64 *order, i64 count) {
    double gaps = 0.0;
    i64 distinct = 0;
    for (i64 at = 1; at < count; at++) {
        double step = column[order[at]] - column[order[at - 1]];
        if (step > 0.0) {
            gaps += step;
            distinct++;
        }
    }
    return distinct > 0 ? gaps / (double)distinct : LONE_PRECISION;
}

/* Compute class means and deviations of the values on the grid; work has 3 n_labels cells. */
static void moments(const double *column, const i64 *y, const i64 *rows, i64 n_rows,
                    double precision, i64 n_labels, double *mean, double *deviation,
                    double *work) {
    double *sums = work, *squares = work + n_labels, *weight = work + 2 * n_labels;
    memset(work, 0, (size_t)(3 * n_labels) * sizeof *work);
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows == NULL ? at : rows[at];
        double value = column[row];
        if (isnan(value)) {
            continue;
        }
        value = rint(value / precision) * precision;
        i64 c = y[row];
        sums[c] += value;
        squares[c] += value * value;
        weight[c] += 1.0;
    }
    for (i64 c = 0; c < n_labels; c++) {
        mean[c] = 0.0;
        deviation[c] = precision / 6.0;
        if (weight[c] > 0.0) {
            mean[c] = sums[c] / weight[c];
            double spread = sqrt(fabs(squares[c] - mean[c] * sums[c]) / weight[c]);
            if (spread > NO_SPREAD) {
                deviation[c] = spread > precision / 6.0 ? spread : precision / 6.0;
            }
        }
    }
}

static void fit_numeric(const double *columns, i64 n, const i64 *y, const i64 *rows, i64 n_rows,
                        const i64 *order, const i64 *n_known, Model *model, double *work) {
    i64 n_labels = model->n_labels;
    for (i64 a = 0; a < model->d; a++) {
        if (model->cardinality[a] == 0) {
            model->precision[a] = grid_of(columns + a * n, order + a * n, n_known[a]);
            moments(columns + a * n, y, rows, n_rows, model->precision[a], n_labels,
                    model->mean + a * n_labels, model->deviation + a * n_labels, work);
        }
    }
}

/* the lower tail is accurate, the upper tail rounds to 1 */
static double normal_cdf(double z) {
    const double root = sqrt(0.5);
    double x = z * root;
    if (fabs(x) < root) {
        return 0.5 + 0.5 * erf(x);
    }
    double tail = 0.5 * erfc(fabs(x));
    return x > 0.0 ? 1.0 - tail : tail;
}

/* Return the mean density over the grid cell of the value. */
static double interval_probability(double value, double precision, double mean,
                                   double deviation) {
    value = rint(value / precision) * precision;
    double lower = (value - mean - precision / 2.0) / deviation;
    double upper = (value - mean + precision / 2.0) / deviation;
    return (normal_cdf(upper) - normal_cdf(lower)) / precision;
}

/* Compute the normalised products of prior and factors, columns in order. */
static void row_products(const double *cells, const int32_t *places, const Model *model,
                         double *out) {
    i64 n_labels = model->n_labels;
    const double *prior = model->prior;
    for (i64 c = 0; c < n_labels; c++) {
        out[c] = prior[c];
    }
    for (i64 a = 0; a < model->d; a++) {
        if (places[a] < 0 && isnan(cells[a])) {
            continue;
        }
        double largest = 0.0;
        for (i64 c = 0; c < n_labels; c++) {
            if (prior[c] == 0.0) {
                continue;
            }
            double factor =
                places[a] >= 0
                    ? model->table[places[a] * n_labels + c]
                    : interval_probability(cells[a], model->precision[a],
                                           model->mean[a * n_labels + c],
                                           model->deviation[a * n_labels + c]);
            /* NaN, the result of moments that overflow, becomes the floor */
            factor = factor > FLOOR ? factor : FLOOR;
            out[c] *= factor < CEILING ? factor : CEILING;
            largest = out[c] > largest ? out[c] : largest;
        }
        if (largest > CEILING) {
            for (i64 c = 0; c < n_labels; c++) {
                out[c] *= 1.0 / CEILING;
            }
        }
        if (0.0 < largest && largest < FLOOR) {
            for (i64 c = 0; c < n_labels; c++) {
                out[c] *= 1.0 / FLOOR;
            }
        }
    }
    double total = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        total += out[c];
    }
    for (i64 c = 0; c < n_labels; c++) {
        out[c] /= total;
    }
}

/* Return the first largest among the classes with a prior. */
static i64 first_largest(const double *products, const double *prior, i64 n_labels) {
    i64 best = -1;
    for (i64 c = 0; c < n_labels; c++) {
        if (prior[c] > 0.0 && (best < 0 || products[c] > products[best])) {
            best = c;
        }
    }
    return best;
}

i64 naive_bayes_fit(const int32_t *places, const double *columns, i64 n, i64 d,
                    const i64 *cardinality, const i64 *offset, const i64 *y, i64 n_labels,
                    const i64 *order, const i64 *n_known, double *table, double *prior,
                    double *precision, double *mean, double *deviation) {
    Scratch scratch = {0};
    i64 *counts = TAKE(&scratch, i64, (offset[d] + 1) * n_labels);
    i64 *class_counts = TAKE(&scratch, i64, n_labels);
    double *work = TAKE(&scratch, double, 3 * n_labels);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    Model model = {d, n_labels, cardinality, offset, table, prior, precision, mean, deviation};
    add_counts(places, d, y, NULL, n, 1, n_labels, counts, class_counts);
    estimate(counts, class_counts, &model);
    fit_numeric(columns, n, y, NULL, n, order, n_known, &model, work);
    scratch_free(&scratch);
    return 0;
}

i64 naive_bayes_shares(const double *values, const int32_t *places, i64 n, i64 d,
                       const double *table, const double *prior, i64 n_labels,
                       const double *precision, const double *mean, const double *deviation,
                       double *shares) {
    Model model = {d,
                   n_labels,
                   NULL,
                   NULL,
                   (double *)table,
                   (double *)prior,
                   (double *)precision,
                   (double *)mean,
                   (double *)deviation};
    for (i64 row = 0; row < n; row++) {
        row_products(values + row * d, places + row * d, &model, shares + row * n_labels);
    }
    return 0;
}

/* Return whether no product of nominal factors can come near the floor, for any rows. */
static bool never_small(i64 n, i64 n_labels, const i64 *cardinality, i64 d) {
    double digits = log10((double)(n + n_labels));
    for (i64 a = 0; a < d; a++) {
        if (cardinality[a] == 0) {
            return false;
        }
        digits += log10((double)(n + cardinality[a]));
    }
    return digits < -log10(FLOOR) - 1.0;
}

/* Choose like row_products, for two classes, nominal columns and no product near the floor. */
static void predict_two(const int32_t *places, i64 d, const i64 *rows, i64 n_rows,
                        const double *table, const double *prior, i64 *predicted) {
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows[at];
        const int32_t *cells = places + row * d;
        double first = prior[0], second = prior[1];
        for (i64 a = 0; a < d; a++) {
            first *= table[2 * cells[a]];
            second *= table[2 * cells[a] + 1];
        }
        if (second > first * CLEARLY) {
            predicted[row] = 1;
        } else if (first >= second) {
            predicted[row] = 0;
        } else {
            double total = 0.0 + first + second;
            predicted[row] = second / total > first / total;
        }
    }
}

static bool take_model(Scratch *scratch, Model *model) {
    i64 d = model->d, n_labels = model->n_labels;
    model->table = TAKE(scratch, double, (model->offset[d] + 1) * n_labels);
    model->prior = TAKE(scratch, double, n_labels);
    model->precision = TAKE(scratch, double, d);
    model->mean = TAKE(scratch, double, d *n_labels);
    model->deviation = TAKE(scratch, double, d *n_labels);
    return !scratch->failed;
}

/* Predict all splits with nominal columns only; `predicted` is shaped like `marks`. */
i64 naive_bayes_nominal_plan(const double *values, const int32_t *places, i64 n, i64 d,
                             const i64 *cardinality, const i64 *offset, const i64 *y,
                             i64 n_labels, const i64 *marks, const i64 *wanted, i64 n_wanted,
                             i64 n_marks, i64 *predicted) {
    Scratch scratch = {0};
    Model model = {.d = d, .n_labels = n_labels, .cardinality = cardinality, .offset = offset};
    /* counts of all rows, of the test rows and of the others; class counts after the cells */
    i64 cells = (offset[d] + 1) * n_labels, size = cells + n_labels;
    i64 *all = TAKE(&scratch, i64, size), *tested = TAKE(&scratch, i64, size);
    i64 *counts = TAKE(&scratch, i64, size);
    double *out = TAKE(&scratch, double, n_labels);
    i64 *order = TAKE(&scratch, i64, n);
    i64 *ends = TAKE(&scratch, i64, n_marks + 1);
    if (!take_model(&scratch, &model)) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    bool fast = n_labels == 2 && never_small(n, n_labels, cardinality, d);
    add_counts(places, d, y, NULL, n, 1, n_labels, all, all + cells);
    i64 grouped = -1;
    for (i64 s = 0; s < n_wanted; s++) {
        i64 line = wanted[2 * s], mark = wanted[2 * s + 1];
        if (line != grouped) {
            group_by_mark(marks + line * n, n, order, ends, n_marks);
            grouped = line;
        }
        const i64 *test = order + mark_begins(ends, mark);
        i64 n_test = ends[mark] - mark_begins(ends, mark);
        memset(tested, 0, (size_t)size * sizeof *tested);
        add_counts(places, d, y, test, n_test, 1, n_labels, tested, tested + cells);
        for (i64 at = 0; at < size; at++) {
            counts[at] = all[at] - tested[at];
        }
        estimate(counts, counts + cells, &model);
        if (fast && model.prior[0] > 0.0 && model.prior[1] > 0.0) {
            predict_two(places, d, test, n_test, model.table, model.prior, predicted + line * n);
        } else {
            for (i64 at = 0; at < n_test; at++) {
                i64 row = test[at];
                row_products(values + row * d, places + row * d, &model, out);
                predicted[line * n + row] = first_largest(out, model.prior, n_labels);
            }
        }
    }
    scratch_free(&scratch);
    return 0;
}

/* Predict all splits, with new sums of numeric columns for each; `predicted` is shaped like
 * `marks`. */
i64 naive_bayes_mixed_plan(const double *values, const double *columns, const int32_t *places,
                           i64 n, i64 d, const i64 *cardinality, const i64 *offset, const i64 *y,
                           i64 n_labels, const i64 *order, const i64 *n_known, const i64 *marks,
                           const i64 *wanted, i64 n_wanted, i64 *predicted) {
    Scratch scratch = {0};
    Model model = {.d = d, .n_labels = n_labels, .cardinality = cardinality, .offset = offset};
    i64 *counts = TAKE(&scratch, i64, (offset[d] + 1) * n_labels);
    i64 *class_counts = TAKE(&scratch, i64, n_labels);
    double *out = TAKE(&scratch, double, n_labels);
    double *work = TAKE(&scratch, double, 3 * n_labels);
    i64 *train = TAKE(&scratch, i64, n);
    i64 *test = TAKE(&scratch, i64, n);
    i64 *kept = TAKE(&scratch, i64, d *n + 1);
    i64 *n_kept = TAKE(&scratch, i64, d);
    if (!take_model(&scratch, &model)) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    add_counts(places, d, y, NULL, n, 1, n_labels, counts, class_counts);
    for (i64 s = 0; s < n_wanted; s++) {
        i64 line = wanted[2 * s], mark = wanted[2 * s + 1];
        const i64 *here = marks + line * n;
        i64 n_train = 0, n_test = 0;
        for (i64 row = 0; row < n; row++) {
            if (here[row] == mark) {
                test[n_test++] = row;
            } else {
                train[n_train++] = row;
            }
        }
        for (i64 a = 0; a < d; a++) {
            i64 to = 0;
            for (i64 at = 0; at < n_known[a]; at++) {
                i64 row = order[a * n + at];
                /* overwritten unless kept, which avoids a branch */
                kept[a * n + to] = row;
                to += here[row] != mark;
            }
            n_kept[a] = to;
        }
        add_counts(places, d, y, test, n_test, -1, n_labels, counts, class_counts);
        estimate(counts, class_counts, &model);
        fit_numeric(columns, n, y, train, n_train, kept, n_kept, &model, work);
        for (i64 at = 0; at < n_test; at++) {
            i64 row = test[at];
            row_products(values + row * d, places + row * d, &model, out);
            predicted[line * n + row] = first_largest(out, model.prior, n_labels);
        }
        add_counts(places, d, y, test, n_test, 1, n_labels, counts, class_counts);
    }
    scratch_free(&scratch);
    return 0;
}
