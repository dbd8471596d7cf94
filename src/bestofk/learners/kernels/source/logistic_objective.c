/* The penalised likelihood of the logistic model, its gradient, and functions of scores.
 *
 * Weights have the shape (q, r): q inputs with the constant 1 last; r = 1 for two classes (the log
 * odds of the second), else one column per class. */
#include "logistic.h"

#define SETTLED 1e-11
/* Size of the tiles that are read at once, in bytes. */
#define CHUNK_BYTES (1 << 16)
#define INLINE static inline __attribute__((always_inline))

/* Compute class probabilities (columns) for every row of scores (n, r). */
i64 logistic_probabilities(const double *scores, i64 n, i64 r, double *out) {
    for (i64 i = 0; i < n; i++) {
        if (r == 1) {
            double e = exp(-fabs(scores[i])), whole = 1.0 + e;
            out[2 * i + 1] = (scores[i] >= 0.0 ? 1.0 : e) / whole;
            out[2 * i] = (scores[i] >= 0.0 ? e : 1.0) / whole;
            continue;
        }
        double top = scores[i * r], total = 0.0;
        for (i64 k = 1; k < r; k++) {
            top = scores[i * r + k] > top ? scores[i * r + k] : top;
        }
        for (i64 k = 0; k < r; k++) {
            out[i * r + k] = exp(scores[i * r + k] - top);
            total += out[i * r + k];
        }
        for (i64 k = 0; k < r; k++) {
            out[i * r + k] /= total;
        }
    }
    return 0;
}

/* Choose the first class whose score is within `tie` of the largest, for every row. */
i64 logistic_choose(const double *scores, i64 n, i64 r, double tie, i64 *chosen) {
    for (i64 i = 0; i < n; i++) {
        const double *row = scores + i * r;
        chosen[i] = r == 1 && row[0] > tie ? 1 : 0;
        double top = row[0];
        for (i64 k = 1; k < r; k++) {
            top = row[k] > top ? row[k] : top;
        }
        for (i64 k = r - 1; k >= 0 && r > 1; k--) {
            chosen[i] = top - row[k] <= tie ? k : chosen[i];
        }
    }
    return 0;
}

/* Compute scores of some classes for some tiles, summing over the inputs. */
INLINE void score_block(const double *z, i64 q, const double *w, double *to, i64 wide,
                        const int classes, const int tiles) {
    Lanes sums[8] = {{0}};
    for (i64 j = 0; j < q; j++) {
        Lanes cells[4];
        for (int t = 0; t < tiles; t++) {
            cells[t] = lanes_at(z + (t * q + j) * LANES);
        }
        for (int k = 0; k < classes; k++) {
            for (int t = 0; t < tiles; t++) {
                sums[k * tiles + t] += w[k * q + j] * cells[t];
            }
        }
    }
    for (int k = 0; k < classes; k++) {
        for (int t = 0; t < tiles; t++) {
            put_lanes(to + k * wide + t * LANES, sums[k * tiles + t]);
        }
    }
}

INLINE void score_classes(const double *tiles, i64 q, const double *w, double *to, i64 wide,
                          i64 first, i64 last, const int classes, const int at_once) {
    i64 t = first;
    for (; t + at_once <= last; t += at_once) {
        score_block(tiles + t * q * LANES, q, w, to + t * LANES, wide, classes, at_once);
    }
    for (; t < last; t++) {
        score_block(tiles + t * q * LANES, q, w, to + t * LANES, wide, classes, 1);
    }
}

/* Compute scores (r, wide) of the tiles first..last - 1. */
static void find_scores(const double *tiles, i64 first, i64 last, const double *turned, i64 q,
                        i64 r, i64 wide, double *scores) {
    i64 k = 0;
    for (; k + 4 <= r; k += 4) {
        score_classes(tiles, q, turned + k * q, scores + k * wide, wide, first, last, 4, 2);
    }
    if (r - k == 3) {
        score_classes(tiles, q, turned + k * q, scores + k * wide, wide, first, last, 3, 2);
    } else if (r - k == 2) {
        score_classes(tiles, q, turned + k * q, scores + k * wide, wide, first, last, 2, 4);
    } else if (r - k == 1) {
        score_classes(tiles, q, turned + k * q, scores + k * wide, wide, first, last, 1, 4);
    }
}

/* The share of the second class (r = 1) for eight scores; `whole` is 1 + exp(-abs(score)). */
INLINE Lanes share_of_two(Lanes score, Lanes *whole) {
    LaneBits sign = (LaneBits)score & (LaneBits)lanes_of(-0.0);
    Lanes e = exp_of_negative((Lanes)((LaneBits)score | (LaneBits)lanes_of(-0.0)));
    *whole = 1.0 + e;
    return lanes_where(sign != 0, e, lanes_of(1.0)) / *whole;
}

/* Compute shares from r scores of eight rows, in the same layout; return the sum of exp(score -
 * top), where `top` is the largest score. */
INLINE Lanes shares_of_many(const double *scores, double *shares, i64 r, i64 wide, Lanes *top) {
    Lanes most = lanes_at(scores), total = {0};
    for (i64 k = 1; k < r; k++) {
        Lanes line = lanes_at(scores + k * wide);
        most = lanes_where(line > most, line, most);
    }
    for (i64 k = 0; k < r; k++) {
        Lanes e = exp_of_negative(lanes_at(scores + k * wide) - most);
        put_lanes(shares + k * wide, e);
        total += e;
    }
    Lanes part = 1.0 / total;
    for (i64 k = 0; k < r; k++) {
        put_lanes(shares + k * wide, lanes_at(shares + k * wide) * part);
    }
    *top = most;
    return total;
}

/* Sum logarithms of numbers from 1 to r, taking the logarithm of products. */
typedef struct {
    Lanes product;
    i64 held, most;
    double sum;
} Logs;

static inline Logs logs_up_to(i64 r) {
    i64 bits = 1;
    while (bits < 62 && ((i64)1 << bits) < r) {
        bits++;
    }
    return (Logs){lanes_of(1.0), 0, most_of(112 / bits, 1), 0.0};
}

static inline void close_logs(Logs *logs) {
    logs->sum += log(product_of_lanes(logs->product));
    logs->product = lanes_of(1.0);
    logs->held = 0;
}

INLINE void add_logs(Logs *logs, Lanes numbers) {
    logs->product *= numbers;
    if (++logs->held == logs->most) {
        close_logs(logs);
    }
}

/* Add shares times inputs of some tiles to the slopes of some classes and inputs, by lane. */
INLINE void slope_block(const double *z, i64 q, const double *share, i64 wide, double *to,
                        i64 count, const int classes, const int inputs) {
    Lanes sums[8];
    for (int k = 0; k < classes; k++) {
        for (int j = 0; j < inputs; j++) {
            sums[k * inputs + j] = lanes_at(to + (k * q + j) * LANES);
        }
    }
    for (i64 t = 0; t < count; t++) {
        Lanes cells[8];
        for (int j = 0; j < inputs; j++) {
            cells[j] = lanes_at(z + (t * q + j) * LANES);
        }
        for (int k = 0; k < classes; k++) {
            Lanes here = lanes_at(share + k * wide + t * LANES);
            for (int j = 0; j < inputs; j++) {
                sums[k * inputs + j] += here * cells[j];
            }
        }
    }
    for (int k = 0; k < classes; k++) {
        for (int j = 0; j < inputs; j++) {
            put_lanes(to + (k * q + j) * LANES, sums[k * inputs + j]);
        }
    }
}

INLINE void slope_classes(const double *z, i64 q, const double *share, i64 wide, double *to,
                          i64 count, const int classes, const int at_once) {
    i64 j = 0;
    for (; j + at_once <= q; j += at_once) {
        slope_block(z + j * LANES, q, share, wide, to + j * LANES, count, classes, at_once);
    }
    for (; j < q; j++) {
        slope_block(z + j * LANES, q, share, wide, to + j * LANES, count, classes, 1);
    }
}

static void add_slopes(const Model *model, i64 first, i64 last) {
    i64 q = model->q, r = model->r, wide = LANES * model->n_tiles, k = 0, count = last - first;
    const double *z = model->tiles + first * q * LANES, *share = model->shares + first * LANES;
    double *to = model->slopes;
    if (r == 3) {
        slope_classes(z, q, share, wide, to, count, 3, 2);
        return;
    }
    for (; k + 2 <= r; k += 2) {
        slope_classes(z, q, share + k * wide, wide, to + k * q * LANES, count, 2, 4);
    }
    if (k < r) {
        slope_classes(z, q, share + k * wide, wide, to + k * q * LANES, count, 1, 8);
    }
}

static void turn(const double *weights, i64 q, i64 r, double *turned) {
    for (i64 j = 0; j < q; j++) {
        for (i64 k = 0; k < r; k++) {
            turned[k * q + j] = weights[j * r + k];
        }
    }
}

/* Compute shares from the scores of the tiles, minus 1 for the class of each row; add to the loss.
 * Rows after the n have no class and inputs 0, so they have no effect. */
static void judge_two(const Model *model, i64 first, i64 last, Lanes *loss, Logs *logs) {
    for (i64 t = first; t < last; t++) {
        Lanes score = lanes_at(model->scores + t * LANES), whole;
        Lanes label = lanes_at(model->labels + t * LANES);
        Lanes share = share_of_two(score, &whole);
        LaneBits known = label >= 0.0, second = label > 0.5;
        Lanes against = lanes_where(second, -score, score);
        *loss += lanes_or_zero((against > 0.0) & known, against);
        add_logs(logs, lanes_where(known, whole, lanes_of(1.0)));
        put_lanes(model->shares + t * LANES, share - lanes_or_zero(second, lanes_of(1.0)));
    }
}

static void judge_many(const Model *model, i64 first, i64 last, Lanes *loss, Logs *logs) {
    i64 r = model->r, wide = LANES * model->n_tiles;
    for (i64 t = first; t < last; t++) {
        const double *scores = model->scores + t * LANES;
        double *shares = model->shares + t * LANES;
        Lanes label = lanes_at(model->labels + t * LANES), top, own = {0};
        Lanes total = shares_of_many(scores, shares, r, wide, &top);
        for (i64 k = 0; k < r; k++) {
            LaneBits here = label == (double)k;
            own = lanes_where(here, lanes_at(scores + k * wide), own);
            put_lanes(shares + k * wide,
                      lanes_at(shares + k * wide) - lanes_or_zero(here, lanes_of(1.0)));
        }
        LaneBits known = label >= 0.0;
        *loss += lanes_or_zero(known, top - own);
        add_logs(logs, lanes_where(known, total, lanes_of(1.0)));
    }
}

/* Return 1/2 |weights|^2 without constants - strength * log likelihood; write its gradient. */
double objective(const Model *model, const double *weights, double *gradient) {
    i64 q = model->q, r = model->r, wide = LANES * model->n_tiles;
    i64 chunk = most_of(4, CHUNK_BYTES / (q * LANES * (i64)sizeof(double)));
    Lanes loss = {0};
    Logs logs = logs_up_to(most_of(r, 2));
    turn(weights, q, r, model->turned);
    memset(model->slopes, 0, (size_t)(r * q * LANES) * sizeof *model->slopes);
    for (i64 first = 0; first < model->n_tiles; first += chunk) {
        i64 last = least_of(first + chunk, model->n_tiles);
        find_scores(model->tiles, first, last, model->turned, q, r, wide, model->scores);
        if (r == 1) {
            judge_two(model, first, last, &loss, &logs);
        } else {
            judge_many(model, first, last, &loss, &logs);
        }
        add_slopes(model, first, last);
    }
    close_logs(&logs);
    double value = model->strength * (sum_of_lanes(loss) + logs.sum);
    for (i64 j = 0; j < q; j++) {
        for (i64 k = 0; k < r; k++) {
            double w = weights[j * r + k];
            double slope = sum_of_lanes(lanes_at(model->slopes + (k * q + j) * LANES));
            gradient[j * r + k] = model->strength * slope;
            if (j < q - 1) {
                value += 0.5 * w * w;
                gradient[j * r + k] += w;
            }
        }
    }
    return value;
}

/* Solve matrix (r, r) x = vector in place by elimination with pivots; return false if singular. */
static bool solve(double *matrix, double *vector, i64 r) {
    for (i64 step = 0; step < r; step++) {
        i64 pivot = step;
        for (i64 row = step + 1; row < r; row++) {
            if (fabs(matrix[row * r + step]) > fabs(matrix[pivot * r + step])) {
                pivot = row;
            }
        }
        if (!(fabs(matrix[pivot * r + step]) > 0.0)) {
            return false;
        }
        for (i64 column = 0; column < r && pivot != step; column++) {
            double cell = matrix[step * r + column];
            matrix[step * r + column] = matrix[pivot * r + column];
            matrix[pivot * r + column] = cell;
        }
        double cell = vector[step];
        vector[step] = vector[pivot];
        vector[pivot] = cell;
        for (i64 row = step + 1; row < r; row++) {
            double factor = matrix[row * r + step] / matrix[step * r + step];
            for (i64 column = step; column < r; column++) {
                matrix[row * r + column] -= factor * matrix[step * r + column];
            }
            vector[row] -= factor * vector[step];
        }
    }
    for (i64 row = r - 1; row >= 0; row--) {
        for (i64 column = row + 1; column < r; column++) {
            vector[row] -= matrix[row * r + column] * vector[column];
        }
        vector[row] /= matrix[row * r + row];
    }
    return true;
}

/* Sum shares, and products of two shares, at the current scores. */
static void share_sums(const Model *model, double *sums, double *products) {
    i64 r = model->r, wide = LANES * model->n_tiles;
    for (i64 t = 0; t < model->n_tiles; t++) {
        Lanes top, whole;
        LaneBits known = lanes_at(model->labels + t * LANES) >= 0.0;
        double *shares = model->shares + t * LANES;
        if (r == 1) {
            Lanes share = share_of_two(lanes_at(model->scores + t * LANES), &whole);
            put_lanes(shares, lanes_or_zero(known, share));
            continue;
        }
        shares_of_many(model->scores + t * LANES, shares, r, wide, &top);
        for (i64 k = 0; k < r && t == model->n_tiles - 1; k++) {
            put_lanes(shares + k * wide, lanes_or_zero(known, lanes_at(shares + k * wide)));
        }
    }
    for (i64 k = 0; k < r; k++) {
        const double *share = model->shares + k * wide;
        Lanes total = {0};
        for (i64 at = 0; at < wide; at += LANES) {
            total += lanes_at(share + at);
        }
        sums[k] = sum_of_lanes(total);
        for (i64 other = 0; other <= k; other++) {
            double cell = dot(share, model->shares + other * wide, wide);
            products[k * r + other] = cell;
            products[other * r + k] = cell;
        }
    }
}

/* Optimise the constants by Newton's method, with the other weights fixed. */
void settle_constants(const Model *model, double *weights) {
    i64 n = model->n, q = model->q, r = model->r, wide = LANES * model->n_tiles;
    double *held = model->held, *slope = model->slope, *curvature = model->curvature;
    turn(weights, q, r, model->turned);
    find_scores(model->tiles, 0, model->n_tiles, model->turned, q, r, wide, model->scores);
    for (i64 k = 0; k < r; k++) {
        held[k] = 0.0;
    }
    for (i64 i = 0; i < n; i++) {
        if (r > 1) {
            held[(i64)model->labels[i]] += 1.0;
        } else {
            held[0] += model->labels[i];
        }
    }
    for (int round = 0; round < 8; round++) {
        share_sums(model, slope, curvature);
        for (i64 at = 0; at < r * r; at++) {
            curvature[at] = -curvature[at];
        }
        for (i64 k = 0; k < r; k++) {
            curvature[k * r + k] += slope[k];
            slope[k] -= held[k];
        }
        if (model->strength * sqrt(dot(slope, slope, r)) <= SETTLED) {
            break;
        }
        for (i64 at = 0; at < r * r && r > 1; at++) {
            /* shifting all constants has no effect: fix that direction */
            curvature[at] += (double)n / (double)r;
        }
        if (!(curvature[0] > 0.0) || !solve(curvature, slope, r)) {
            break;
        }
        for (i64 k = 0; k < r; k++) {
            double change = slope[k] > -1.0 ? slope[k] : -1.0;
            change = change < 1.0 ? change : 1.0;
            weights[(q - 1) * r + k] -= change;
            double *scores = model->scores + k * wide;
            for (i64 at = 0; at < wide; at += LANES) {
                put_lanes(scores + at, lanes_at(scores + at) - change);
            }
        }
    }
}
