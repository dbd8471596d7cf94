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

/* Return the mean gap between neighbouring distinct values, in increasing order; `order` has their
 * rows. The rows that `tested` marks do not count, unless it is NULL. */
static double grid_of(const double *sorted, const i64 *order, i64 count, const uint8_t *tested) {
    i64 at = 0, distinct = 0;
    while (tested != NULL && at < count && tested[order[at]]) {
        at++;
    }
    double gaps = 0.0, last = at < count ? sorted[at] : 0.0;
    if (tested == NULL) {
        for (; at < count; at++) {
            double step = sorted[at] - last;
            last = sorted[at];
            gaps += step;
            distinct += step > 0.0;
        }
    } else {
        for (; at < count; at++) {
            double value = tested[order[at]] ? last : sorted[at];
            double step = value - last;
            last = value;
            gaps += step;
            distinct += step > 0.0;
        }
    }
    return distinct > 0 ? gaps / (double)distinct : LONE_PRECISION;
}

/* Compute class means and deviations of the values on the grid; work has 3 n_labels d cells. */
static void fit_moments(const double *values, const i64 *y, const i64 *rows, i64 n_rows,
                        Model *model, double *work) {
    i64 d = model->d, n_labels = model->n_labels;
    const double *RESTRICT precision = model->precision;
    double *sums = work, *squares = work + n_labels * d, *weight = work + 2 * n_labels * d;
    memset(work, 0, (size_t)(3 * n_labels * d) * sizeof *work);
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows == NULL ? at : rows[at];
        const double *RESTRICT cells = values + row * d;
        double *RESTRICT sum = sums + y[row] * d, *RESTRICT square = squares + y[row] * d;
        double *RESTRICT known = weight + y[row] * d;
        for (i64 a = 0; a < d; a++) {
            double value = rint(cells[a] / precision[a]) * precision[a];
            bool is_known = cells[a] == cells[a];
            sum[a] += is_known ? value : 0.0;
            square[a] += is_known ? value * value : 0.0;
            known[a] += is_known ? 1.0 : 0.0;
        }
    }
    for (i64 a = 0; a < d; a++) {
        for (i64 c = 0; c < n_labels && model->cardinality[a] == 0; c++) {
            double mean = 0.0, deviation = precision[a] / 6.0;
            if (weight[c * d + a] > 0.0) {
                mean = sums[c * d + a] / weight[c * d + a];
                double spread = sqrt(fabs(squares[c * d + a] - mean * sums[c * d + a]) /
                                     weight[c * d + a]);
                if (spread > NO_SPREAD) {
                    deviation = spread > deviation ? spread : deviation;
                }
            }
            model->mean[a * n_labels + c] = mean;
            model->deviation[a * n_labels + c] = deviation;
        }
    }
}

static int by_value(const void *first, const void *second) {
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

#define DIGIT 11
#define DIGITS 3
#define BUCKETS (1 << DIGIT)
#define MIN_RADIX 256

/* Return the leading bits of the distance from the least value. */
static inline u64 leading_bits(double value, double least) {
    double above = value - least;
    u64 bits;
    memcpy(&bits, &above, sizeof bits);
    return bits >> (64 - DIGITS * DIGIT);
}

/* Sort finite values: by leading bits, then by insertion, which rarely moves any. */
static void sort_values(double *values, i64 count, double *spare) {
    if (count < MIN_RADIX) {
        qsort(values, (size_t)count, sizeof *values, by_value);
        return;
    }
    i64 begins[DIGITS][BUCKETS] = {{0}};
    double least = values[0], *from = values, *to = spare;
    for (i64 at = 1; at < count; at++) {
        least = values[at] < least ? values[at] : least;
    }
    for (i64 at = 0; at < count; at++) {
        u64 bits = leading_bits(values[at], least);
        for (int digit = 0; digit < DIGITS; digit++) {
            begins[digit][(bits >> (DIGIT * digit)) % BUCKETS]++;
        }
    }
    for (int digit = 0; digit < DIGITS; digit++) {
        i64 begin = 0;
        for (i64 bucket = 0; bucket < BUCKETS; bucket++) {
            i64 size = begins[digit][bucket];
            begins[digit][bucket] = begin;
            begin += size;
        }
        for (i64 at = 0; at < count; at++) {
            u64 bits = leading_bits(from[at], least);
            to[begins[digit][(bits >> (DIGIT * digit)) % BUCKETS]++] = from[at];
        }
        double *other = from;
        from = to;
        to = other;
    }
    i64 moves = 8 * count;
    for (i64 at = 1; at < count && moves > 0; at++) {
        double value = from[at];
        i64 place = at;
        for (; place > 0 && from[place - 1] > value; place--, moves--) {
            from[place] = from[place - 1];
        }
        from[place] = value;
    }
    memcpy(values, from, (size_t)(from == values ? 0 : count) * sizeof *values);
    if (moves <= 0) {
        qsort(values, (size_t)count, sizeof *values, by_value);
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

/* Logarithms of factors, up to bounds on their errors, to find the most probable class quickly.
 *
 * Let z be the distance from the mean in deviations, and h the width of the grid in deviations. The
 * mean density of a cell of the grid is that of its centre times the series
 * 1 + h^2 (z^2 - 1) / 24 + h^4 (z^4 - 6 z^2 + 3) / 1920 + ..., whose next term is below 3e-8 if
 * h <= MAX_STEP and |z| <= MAX_SCORE. The computed factor is a difference of two probabilities, each
 * with a rounding error of at most 3e-16, so its relative error is below
 * x = 6e-16 / (h phi(z)) + 6 eps |z| / h, and that of its logarithm below 2 x if x < 0.5. Beyond
 * MAX_SCORE, factors are smaller than there. */
typedef struct {
    i64 d, padded;                       /* padded to a multiple of 4 */
    double *mean, *inverse, *logs, *curve; /* (n_labels, padded); 0 for nominal columns */
    double *prior, *steps;               /* (n_labels); steps: sums of 1 / h */
    double *table;                       /* (lines, n_labels) */
    double *row;                         /* (padded): a row on the grid */
    double ceiling;                      /* the largest logarithm of a product without prior */
} Screen;

#define MAX_STEP 0.1
#define MAX_SCORE 5.0
#define MAX_LOG 100.0
/* Bound on the error of the logarithm of a factor, apart from rounding. */
#define LOG_ERROR 4e-8
/* If the others are at most exp of this times larger, no product of the winner underflows. */
#define MAX_LEAD 300.0

typedef double Four __attribute__((vector_size(32)));
typedef i64 FourBits __attribute__((vector_size(32)));

static inline Four four_at(const double *cells) {
    Four four;
    memcpy(&four, cells, sizeof four);
    return four;
}

static void take_screen(Scratch *scratch, const Model *model, i64 lines, Screen *screen) {
    i64 c = model->n_labels;
    screen->d = model->d;
    screen->padded = (model->d + 3) / 4 * 4;
    screen->mean = TAKE(scratch, double, c *screen->padded);
    screen->inverse = TAKE(scratch, double, c *screen->padded);
    screen->logs = TAKE(scratch, double, c *screen->padded);
    screen->curve = TAKE(scratch, double, c *screen->padded);
    screen->prior = TAKE(scratch, double, c);
    screen->steps = TAKE(scratch, double, c);
    screen->table = TAKE(scratch, double, lines *c);
    screen->row = TAKE(scratch, double, screen->padded);
}

/* Compute the constants of a model; return whether it can be screened. */
static bool start_screen(const Model *model, const int32_t *lines_of_row, i64 lines,
                         Screen *screen) {
    i64 n_labels = model->n_labels;
    screen->ceiling = 0.0;
    memset(screen->steps, 0, (size_t)n_labels * sizeof *screen->steps);
    for (i64 at = 0; at < lines * n_labels; at++) {
        screen->table[at] = log(model->table[at]);
    }
    for (i64 c = 0; c < n_labels; c++) {
        screen->prior[c] = log(model->prior[c]);
    }
    for (i64 a = 0; a < model->d; a++) {
        if (lines_of_row[a] >= 0) {
            continue;
        }
        double most = -INFINITY;
        for (i64 c = 0; c < n_labels; c++) {
            i64 from = a * n_labels + c, to = c * screen->padded + a;
            if (model->prior[c] == 0.0) {
                continue;
            }
            double step = model->precision[a] / model->deviation[from];
            double level = -log(model->deviation[from]) - 0.91893853320467274178;
            if (!(step <= MAX_STEP && fabs(level) < MAX_LOG && isfinite(model->mean[from]))) {
                return false;
            }
            screen->mean[to] = model->mean[from];
            screen->inverse[to] = 1.0 / model->deviation[from];
            screen->logs[to] = level;
            screen->curve[to] = step * step / 24.0;
            screen->steps[c] += 1.0 / step;
            most = level > most ? level : most;
        }
        screen->ceiling += most;
    }
    return true;
}

/* Return the most probable class of a row, -1 if the bounds do not tell. */
static i64 screened_class(const double *cells, const int32_t *lines, const Model *model,
                          const Screen *screen, double *out) {
    i64 d = screen->d, n_labels = model->n_labels, best = -1;
    double best_margin = 0.0, runner_up = -INFINITY;
    bool unknown = false, best_far = false, nominal = false;
    for (i64 a = 0; a < d; a++) {
        screen->row[a] = rint(cells[a] / model->precision[a]) * model->precision[a];
    }
    for (i64 a = 0; a < d; a++) {
        if (lines[a] >= 0) {
            screen->row[a] = 0.0;
            nominal = true;
        }
        unknown |= isnan(screen->row[a]) != 0;
    }
    if (unknown) {
        return -1;
    }
    for (i64 c = 0; c < n_labels; c++) {
        if (model->prior[c] == 0.0) {
            continue;
        }
        const i64 from = c * screen->padded;
        Four total = {0.0}, largest = {0.0};
        for (i64 a = 0; a < screen->padded; a += 4) {
            Four z = (four_at(screen->row + a) - four_at(screen->mean + from + a)) *
                     four_at(screen->inverse + from + a);
            Four s = z * z, h = four_at(screen->curve + from + a);
            FourBits near = s <= MAX_SCORE * MAX_SCORE;
            FourBits larger = s > largest;
            largest = (Four)(((FourBits)s & larger) | ((FourBits)largest & ~larger));
            const Four most = (Four){0.0} + MAX_SCORE * MAX_SCORE;
            s = (Four)(((FourBits)s & near) | ((FourBits)most & ~near));
            Four u = h * ((s - 1.0) + 0.3 * h * (s * s - 6.0 * s + 3.0));
            total += four_at(screen->logs + from + a) - 0.5 * s +
                     u * (1.0 - u * (0.5 - u * (1.0 / 3.0)));
        }
        double sum = (total[0] + total[1]) + (total[2] + total[3]), square = largest[0];
        for (int lane = 1; lane < 4; lane++) {
            square = largest[lane] > square ? largest[lane] : square;
        }
        bool far = square > MAX_SCORE * MAX_SCORE;
        square = far ? MAX_SCORE * MAX_SCORE : square;
        for (i64 a = 0; a < d && nominal; a++) {
            sum += lines[a] >= 0 ? screen->table[lines[a] * n_labels + c] : 0.0;
        }
        double margin = (double)(d + 1) * LOG_ERROR + 1e-12 * fabs(sum) +
                        screen->steps[c] * (3.2e-15 * exp(0.5 * square) + 1.4e-14);
        if (!(margin < 0.5)) {
            return -1;
        }
        far |= screen->ceiling - sum > MAX_LEAD;
        sum += screen->prior[c];
        out[c] = sum;
        if (best < 0 || sum > out[best]) {
            runner_up = best < 0 || out[best] + best_margin < runner_up ? runner_up
                                                                        : out[best] + best_margin;
            best = c;
            best_margin = margin;
            best_far = far;
        } else {
            runner_up = sum + margin > runner_up ? sum + margin : runner_up;
        }
    }
    return best_far || out[best] - best_margin <= runner_up ? -1 : best;
}

/* Choose the class of each row as the first largest product; rows NULL are all. */
static void choose_rows(const double *values, const int32_t *places, const i64 *rows, i64 n_rows,
                        const Model *model, i64 lines, Screen *screen, double *out,
                        i64 *predicted) {
    if (n_rows == 0) {
        return;
    }
    bool quick = start_screen(model, places, lines, screen);
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows == NULL ? at : rows[at];
        const double *cells = values + row * model->d;
        const int32_t *own = places + row * model->d;
        i64 chosen = quick ? screened_class(cells, own, model, screen, out) : -1;
        if (chosen < 0) {
            row_products(cells, own, model, out);
            chosen = first_largest(out, model->prior, model->n_labels);
        }
        predicted[row] = chosen;
    }
}

i64 naive_bayes_fit(const int32_t *places, const double *values, const double *columns, i64 n,
                    i64 d, const i64 *cardinality, const i64 *offset, const i64 *y, i64 n_labels,
                    double *table, double *prior, double *precision, double *mean,
                    double *deviation) {
    Scratch scratch = {0};
    i64 *counts = TAKE(&scratch, i64, (offset[d] + 1) * n_labels);
    i64 *class_counts = TAKE(&scratch, i64, n_labels);
    double *work = TAKE(&scratch, double, 3 * n_labels *d);
    double *column = TAKE(&scratch, double, n), *spare = TAKE(&scratch, double, n);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    Model model = {d, n_labels, cardinality, offset, table, prior, precision, mean, deviation};
    add_counts(places, d, y, NULL, n, 1, n_labels, counts, class_counts);
    estimate(counts, class_counts, &model);
    for (i64 a = 0; a < d; a++) {
        i64 known = 0;
        for (i64 row = 0; row < n && cardinality[a] == 0; row++) {
            column[known] = columns[a * n + row];
            known += column[known] == column[known];
        }
        if (cardinality[a] == 0) {
            sort_values(column, known, spare);
            precision[a] = grid_of(column, NULL, known, NULL);
        }
    }
    fit_moments(values, y, NULL, n, &model, work);
    scratch_free(&scratch);
    return 0;
}

i64 naive_bayes_choose(const double *values, const int32_t *places, i64 n, i64 d,
                       const double *table, i64 lines, const double *prior, i64 n_labels,
                       const double *precision, const double *mean, const double *deviation,
                       i64 *predicted) {
    Model model = {d,
                   n_labels,
                   NULL,
                   NULL,
                   (double *)table,
                   (double *)prior,
                   (double *)precision,
                   (double *)mean,
                   (double *)deviation};
    Scratch scratch = {0};
    Screen screen = {0};
    take_screen(&scratch, &model, lines, &screen);
    double *out = TAKE(&scratch, double, n_labels);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    choose_rows(values, places, NULL, n, &model, lines, &screen, out, predicted);
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
    Screen screen = {0};
    i64 *counts = TAKE(&scratch, i64, (offset[d] + 1) * n_labels);
    i64 *class_counts = TAKE(&scratch, i64, n_labels);
    double *out = TAKE(&scratch, double, n_labels);
    double *work = TAKE(&scratch, double, 3 * n_labels *d);
    i64 *train = TAKE(&scratch, i64, n);
    i64 *test = TAKE(&scratch, i64, n);
    uint8_t *tested = TAKE(&scratch, uint8_t, n);
    double *sorted = TAKE(&scratch, double, d *n);
    take_screen(&scratch, &model, offset[d] + 1, &screen);
    if (!take_model(&scratch, &model)) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 a = 0; a < d; a++) {
        for (i64 at = 0; at < n_known[a]; at++) {
            sorted[a * n + at] = columns[a * n + order[a * n + at]];
        }
    }
    add_counts(places, d, y, NULL, n, 1, n_labels, counts, class_counts);
    for (i64 s = 0; s < n_wanted; s++) {
        i64 line = wanted[2 * s], mark = wanted[2 * s + 1];
        const i64 *here = marks + line * n;
        i64 n_train = 0, n_test = 0;
        for (i64 row = 0; row < n; row++) {
            tested[row] = here[row] == mark;
            if (tested[row]) {
                test[n_test++] = row;
            } else {
                train[n_train++] = row;
            }
        }
        add_counts(places, d, y, test, n_test, -1, n_labels, counts, class_counts);
        estimate(counts, class_counts, &model);
        for (i64 a = 0; a < d; a++) {
            if (cardinality[a] == 0) {
                model.precision[a] =
                    grid_of(sorted + a * n, order + a * n, n_known[a], tested);
            }
        }
        fit_moments(values, y, train, n_train, &model, work);
        choose_rows(values, places, test, n_test, &model, offset[d] + 1, &screen, out,
                    predicted + line * n);
        add_counts(places, d, y, test, n_test, 1, n_labels, counts, class_counts);
    }
    scratch_free(&scratch);
    return 0;
}
