/* The penalised likelihood of the logistic model, its gradient, and what is done with scores.
 *
 * Weights have the shape (q, r): q inputs with the constant 1 last; r = 1 for two classes (the log
 * odds of the second), else one column per class. */
#include "logistic.h"

#define LARGE 1e200
#define SETTLED 1e-11
/* Tiles that are read at once, in bytes. */
#define CHUNK_BYTES (1 << 17)

i64 logistic_exp(const double *x, i64 n, double *out) {
    for (i64 i = 0; i < n; i++) {
        out[i] = exp_of_negative(x[i]);
    }
    return 0;
}

/* mean and standard deviation (with n) of the known cells; 0 and 1 where there is no spread */
i64 logistic_moments(const double *design, i64 p, const i64 *rows, i64 n, double *mean_out,
                     double *spread_out) {
    Scratch scratch = {0};
    double *RESTRICT known = TAKE(&scratch, double, p);
    double *RESTRICT least = TAKE(&scratch, double, p);
    double *RESTRICT most = TAKE(&scratch, double, p);
    double *RESTRICT mean = mean_out, *RESTRICT spread = spread_out;
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 j = 0; j < p; j++) {
        mean[j] = 0.0;
        spread[j] = 0.0;
        least[j] = INFINITY;
        most[j] = -INFINITY;
    }
    /* selections in place of branches, so that the loops along a row run in vectors */
    for (i64 i = 0; i < n; i++) {
        const double *RESTRICT cells = design + rows[i] * p;
        for (i64 j = 0; j < p; j++) {
            double x = cells[j];
            known[j] += x == x ? 1.0 : 0.0;
            mean[j] += x == x ? x : 0.0;
            least[j] = x < least[j] ? x : least[j];
            most[j] = x > most[j] ? x : most[j];
        }
    }
    for (i64 j = 0; j < p; j++) {
        if (known[j] > 0.0) {
            /* rounding must not give a constant column a spread */
            mean[j] = most[j] > least[j] ? mean[j] / known[j] : least[j];
        }
    }
    for (i64 i = 0; i < n; i++) {
        const double *RESTRICT cells = design + rows[i] * p;
        for (i64 j = 0; j < p; j++) {
            double off = cells[j] - mean[j], square = off * off;
            spread[j] += off == off ? square : 0.0;
        }
    }
    for (i64 j = 0; j < p; j++) {
        spread[j] = known[j] > 0.0 ? sqrt(spread[j] / known[j]) : 0.0;
        if (spread[j] == 0.0) {
            spread[j] = 1.0;
        }
    }
    scratch_free(&scratch);
    return 0;
}

/* (x - mean) / spread with 0 for missing cells, and a last column of ones */
i64 logistic_standardise(const double *design, i64 p, const i64 *rows, i64 n, const double *mean,
                         const double *spread, double *out) {
    for (i64 i = 0; i < n; i++) {
        const double *RESTRICT cells = design + rows[i] * p;
        double *RESTRICT to = out + i * (p + 1);
        for (i64 j = 0; j < p; j++) {
            double z = (cells[j] - mean[j]) / spread[j];
            to[j] = z == z ? z : 0.0;
        }
        to[p] = 1.0;
    }
    return 0;
}

/* the probabilities of the classes (columns) for every row of scores (n, r) */
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

/* Choose the first class whose score (n, r) is within `tie` of the largest. Returns the least u
 * for which changes of score differences by u * reach (one number per row) could change a choice. */
double choose_classes(const double *scores, i64 n, i64 r, double tie, const double *reach,
                      i64 *chosen) {
    double least = INFINITY;
    for (i64 i = 0; i < n; i++) {
        const double *row = scores + i * r;
        double gap;
        if (r == 1) {
            chosen[i] = row[0] > tie ? 1 : 0;
            gap = fabs(row[0] - tie) / reach[i];
        } else {
            i64 top = 0, winner = -1;
            for (i64 k = 1; k < r; k++) {
                top = row[k] > row[top] ? k : top;
            }
            double nearest = INFINITY;
            for (i64 k = 0; k < r; k++) {
                double below = row[top] - row[k], off = fabs(below - tie);
                if (k != top) {
                    nearest = off < nearest ? off : nearest;
                }
                if (winner < 0 && below <= tie) {
                    winner = k;
                }
            }
            chosen[i] = winner < 0 ? 0 : winner;
            gap = nearest / reach[i];
        }
        least = gap < least ? gap : least;
    }
    return least;
}

i64 logistic_choose(const double *scores, i64 n, i64 r, double tie, const double *reach,
                    i64 *chosen) {
    choose_classes(scores, n, r, tie, reach, chosen);
    return 0;
}

/* scores of the tiles first..last - 1 from model->turned; sums run along the inputs */
static void find_scores(const Model *model, i64 first, i64 last) {
    i64 q = model->q, r = model->r, wide = LANES * model->n_tiles, k = 0;
    for (; k + 4 <= r; k += 4) {
        const double *w = model->turned + k * q;
        for (i64 t = first; t < last; t++) {
            const double *z = model->tiles + t * q * LANES;
            Lanes a = {0}, b = {0}, c = {0}, d = {0};
            for (i64 j = 0; j < q; j++) {
                Lanes cells = lanes_at(z + j * LANES);
                a += w[j] * cells;
                b += w[q + j] * cells;
                c += w[2 * q + j] * cells;
                d += w[3 * q + j] * cells;
            }
            double *to = model->scores + k * wide + t * LANES;
            memcpy(to, &a, sizeof a);
            memcpy(to + wide, &b, sizeof b);
            memcpy(to + 2 * wide, &c, sizeof c);
            memcpy(to + 3 * wide, &d, sizeof d);
        }
    }
    for (; k < r; k++) {
        const double *w = model->turned + k * q;
        double *to = model->scores + k * wide;
        i64 t = first;
        for (; t + 4 <= last; t += 4) {
            const double *z = model->tiles + t * q * LANES;
            Lanes a = {0}, b = {0}, c = {0}, d = {0};
            for (i64 j = 0; j < q; j++) {
                a += w[j] * lanes_at(z + j * LANES);
                b += w[j] * lanes_at(z + (q + j) * LANES);
                c += w[j] * lanes_at(z + (2 * q + j) * LANES);
                d += w[j] * lanes_at(z + (3 * q + j) * LANES);
            }
            memcpy(to + t * LANES, &a, sizeof a);
            memcpy(to + (t + 1) * LANES, &b, sizeof b);
            memcpy(to + (t + 2) * LANES, &c, sizeof c);
            memcpy(to + (t + 3) * LANES, &d, sizeof d);
        }
        for (; t < last; t++) {
            const double *z = model->tiles + t * q * LANES;
            Lanes a = {0};
            for (i64 j = 0; j < q; j++) {
                a += w[j] * lanes_at(z + j * LANES);
            }
            memcpy(to + t * LANES, &a, sizeof a);
        }
    }
}

/* Probabilities from scores of the tiles, that of the second class where r = 1, with the largest
 * score (for r = 1 the absolute one) of each row to `top` and the sum of exp(score - top) to
 * `total`. Every loop runs along the rows, in vectors. */
static void find_shares(const Model *model, i64 first, i64 last) {
    i64 r = model->r, wide = LANES * model->n_tiles, start = first * LANES, stop = last * LANES;
    double *RESTRICT top = model->top, *RESTRICT total = model->total;
    if (r == 1) {
        const double *RESTRICT line = model->scores;
        double *RESTRICT out = model->shares;
        for (i64 i = start; i < stop; i++) {
            double size = fabs(line[i]), e = exp_of_negative(-size), whole = 1.0 + e;
            top[i] = size;
            total[i] = whole;
            out[i] = (line[i] >= 0.0 ? 1.0 : e) / whole;
        }
        return;
    }
    for (i64 i = start; i < stop; i++) {
        top[i] = model->scores[i];
        total[i] = 0.0;
    }
    for (i64 k = 1; k < r; k++) {
        const double *RESTRICT line = model->scores + k * wide;
        for (i64 i = start; i < stop; i++) {
            top[i] = line[i] > top[i] ? line[i] : top[i];
        }
    }
    for (i64 k = 0; k < r; k++) {
        const double *RESTRICT line = model->scores + k * wide;
        double *RESTRICT out = model->shares + k * wide;
        for (i64 i = start; i < stop; i++) {
            double e = exp_of_negative(line[i] - top[i]);
            out[i] = e;
            total[i] += e;
        }
    }
    for (i64 k = 0; k < r; k++) {
        double *RESTRICT out = model->shares + k * wide;
        for (i64 i = start; i < stop; i++) {
            out[i] /= total[i];
        }
    }
}

/* add shares times inputs of the tiles to the slopes, lane by lane */
static void add_slopes(const Model *model, i64 first, i64 last) {
    i64 q = model->q, wide = LANES * model->n_tiles;
    for (i64 k = 0; k < model->r; k++) {
        const double *share = model->shares + k * wide;
        double *slopes = model->slopes + k * q * LANES;
        i64 j = 0;
        for (; j + 4 <= q; j += 4) {
            double *to = slopes + j * LANES;
            Lanes a = lanes_at(to), b = lanes_at(to + LANES);
            Lanes c = lanes_at(to + 2 * LANES), d = lanes_at(to + 3 * LANES);
            for (i64 t = first; t < last; t++) {
                const double *z = model->tiles + (t * q + j) * LANES;
                Lanes here = lanes_at(share + t * LANES);
                a += here * lanes_at(z);
                b += here * lanes_at(z + LANES);
                c += here * lanes_at(z + 2 * LANES);
                d += here * lanes_at(z + 3 * LANES);
            }
            memcpy(to, &a, sizeof a);
            memcpy(to + LANES, &b, sizeof b);
            memcpy(to + 2 * LANES, &c, sizeof c);
            memcpy(to + 3 * LANES, &d, sizeof d);
        }
        for (; j < q; j++) {
            Lanes a = lanes_at(slopes + j * LANES);
            for (i64 t = first; t < last; t++) {
                a += lanes_at(share + t * LANES) *
                     lanes_at(model->tiles + (t * q + j) * LANES);
            }
            memcpy(slopes + j * LANES, &a, sizeof a);
        }
    }
}

static void turn(const Model *model, const double *weights) {
    for (i64 j = 0; j < model->q; j++) {
        for (i64 k = 0; k < model->r; k++) {
            model->turned[k * model->q + j] = weights[j * model->r + k];
        }
    }
}

/* 1/2 |weights|^2 without the constants + strength * minus log likelihood; its gradient
 *
 * The logarithm is taken of products of many sums. */
double objective(const Model *model, const double *weights, double *gradient) {
    i64 n = model->n, q = model->q, r = model->r, wide = LANES * model->n_tiles;
    i64 chunk = most_of(1, CHUNK_BYTES / (q * LANES * (i64)sizeof(double)));
    double loss = 0.0, product = 1.0;
    turn(model, weights);
    memset(model->slopes, 0, (size_t)(r * q * LANES) * sizeof *model->slopes);
    for (i64 first = 0; first < model->n_tiles; first += chunk) {
        i64 last = least_of(first + chunk, model->n_tiles);
        i64 stop = least_of(last * LANES, n);
        find_scores(model, first, last);
        find_shares(model, first, last);
        for (i64 i = first * LANES; i < stop; i++) {
            product *= model->total[i];
            if (product > LARGE) {
                loss += log(product);
                product = 1.0;
            }
            if (r == 1) {
                double s = model->y[i] == 1 ? -model->scores[i] : model->scores[i];
                loss += s > 0.0 ? s : 0.0;
                model->shares[i] -= (double)model->y[i];
            } else {
                i64 at = model->y[i] * wide + i;
                loss += model->top[i] - model->scores[at];
                model->shares[at] -= 1.0;
            }
        }
        for (i64 k = 0; k < r; k++) {
            for (i64 i = stop; i < last * LANES; i++) {
                model->shares[k * wide + i] = 0.0;
            }
        }
        add_slopes(model, first, last);
    }
    double value = model->strength * (loss + log(product));
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

/* solve matrix (r, r) x = vector in place, by elimination with pivots; false where it cannot be */
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

/* Newton's method on the constants alone, so that they are the best for the other weights */
void settle_constants(const Model *model, double *weights) {
    i64 n = model->n, q = model->q, r = model->r, wide = LANES * model->n_tiles;
    double *held = model->held, *slope = model->slope, *curvature = model->curvature;
    turn(model, weights);
    find_scores(model, 0, model->n_tiles);
    for (i64 k = 0; k < r; k++) {
        held[k] = 0.0;
    }
    for (i64 i = 0; i < n; i++) {
        if (r > 1) {
            held[model->y[i]] += 1.0;
        } else {
            held[0] += (double)model->y[i];
        }
    }
    for (int round = 0; round < 8; round++) {
        find_shares(model, 0, model->n_tiles);
        for (i64 k = 0; k < r; k++) {
            double *share = model->shares + k * wide, total = 0.0;
            for (i64 i = n; i < wide; i++) {
                share[i] = 0.0;
            }
            for (i64 i = 0; i < n; i++) {
                total += share[i];
            }
            slope[k] = total - held[k];
            for (i64 other = 0; other <= k; other++) {
                double cell = -dot(share, model->shares + other * wide, wide);
                curvature[k * r + other] = cell;
                curvature[other * r + k] = cell;
            }
            curvature[k * r + k] += total;
        }
        if (model->strength * sqrt(dot(slope, slope, r)) <= SETTLED) {
            break;
        }
        for (i64 at = 0; at < r * r && r > 1; at++) {
            /* all constants may move together: hold that direction */
            curvature[at] += (double)n / (double)r;
        }
        if (!(curvature[0] > 0.0) || !solve(curvature, slope, r)) {
            break;
        }
        for (i64 k = 0; k < r; k++) {
            double change = slope[k] > -1.0 ? slope[k] : -1.0;
            change = change < 1.0 ? change : 1.0;
            weights[(q - 1) * r + k] -= change;
            for (i64 i = 0; i < wide; i++) {
                model->scores[k * wide + i] -= change;
            }
        }
    }
}
