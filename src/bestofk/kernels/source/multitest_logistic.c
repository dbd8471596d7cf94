/* The MultiTest paper's logistic classifier (LGC), over many halves: 50 steps down the gradient.
 *
 * It does not converge, and that is why an ordinary logistic regression gives other figures. Rows
 * are kept in blocks, column by column, in single precision, so that every loop runs over
 * neighbouring rows; sums over rows have 16 lanes, whatever the processor. With two classes only
 * the difference of the two weight vectors moves; it is followed alone. */
#include "multitest.h"

#define STEPS 50
#define DECAY 0.95
#define SPREAD 0.01
#define ROWS 256
#define LANES 16

typedef float Lanes __attribute__((vector_size(64)));

/* exp(x) of x <= 0, to within a few units of the last place: x = k log 2 + r with whole k */
static inline float exp_of_negative(float x) {
    const float to_whole = 12582912.0f; /* 1.5 * 2**23 */
    x = x > -87.0f ? x : -87.0f;
    float shifted = x * 1.44269504088896340736f + to_whole, k = shifted - to_whole;
    float r = (x - k * 0.693359375f) - k * -0.00021219444005471377f, s = r * r;
    float tail = s * ((0.5f + 0.16666666666666666f * r) +
                      s * ((0.041666666666666664f + 0.008333333333333333f * r) +
                           s * 0.001388888888888889f));
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return (1.0f + (r + tail)) * power;
}

i64 multitest_exp(const float *x, i64 n, float *out) {
    for (i64 i = 0; i < n; i++) {
        out[i] = exp_of_negative(x[i]);
    }
    return 0;
}

/* z-scores of the columns, nominal ones 1-of-n, in blocks (blocks, p, ROWS) */
static void standardise(const double *filled, const i64 *cardinality, i64 d, const i64 *rows,
                        i64 m, const double *mean, const double *deviation, float *out, i64 p,
                        i64 blocks) {
    i64 at = 0;
    for (i64 j = 0; j < d; j++) {
        if (cardinality[j] == 0) {
            double a = mean[at], b = 1.0 / deviation[at];
            for (i64 r = 0; r < m; r++) {
                out[(r / ROWS * p + at) * ROWS + r % ROWS] =
                    (float)((filled[rows[r] * d + j] - a) * b);
            }
            at++;
        } else {
            for (i64 v = at; v < at + cardinality[j]; v++) {
                float low = (float)(-mean[v] / deviation[v]);
                for (i64 block = 0; block < blocks; block++) {
                    for (i64 r = 0; r < ROWS; r++) {
                        out[(block * p + v) * ROWS + r] = low;
                    }
                }
            }
            for (i64 r = 0; r < m; r++) {
                i64 held = at + (i64)filled[rows[r] * d + j];
                out[(r / ROWS * p + held) * ROWS + r % ROWS] =
                    (float)((1.0 - mean[held]) / deviation[held]);
            }
            at += cardinality[j];
        }
    }
}

/* means and deviations (n - 1) of numbers and indicators; 1 where a column is constant */
static void find_scales(const double *filled, const i64 *cardinality, i64 d, const i64 *rows,
                        i64 m, double *mean, double *deviation) {
    i64 at = 0;
    double size = (double)m, less = (double)(m - 1);
    for (i64 j = 0; j < d; j++) {
        if (cardinality[j] == 0) {
            double total = 0.0, squares = 0.0, first = filled[rows[0] * d + j];
            bool constant = true;
            for (i64 r = 0; r < m; r++) {
                total += filled[rows[r] * d + j];
            }
            mean[at] = total / size;
            for (i64 r = 0; r < m; r++) {
                double value = filled[rows[r] * d + j];
                constant &= value == first;
                squares += (value - mean[at]) * (value - mean[at]);
            }
            deviation[at] = constant ? 1.0 : sqrt(squares / less);
            at++;
        } else {
            i64 stop = at + cardinality[j];
            for (i64 v = at; v < stop; v++) {
                mean[v] = 0.0;
            }
            for (i64 r = 0; r < m; r++) {
                mean[at + (i64)filled[rows[r] * d + j]] += 1.0;
            }
            for (i64 v = at; v < stop; v++) {
                double count = mean[v];
                mean[v] = count / size;
                double spread = count * (size - count) / size / less;
                deviation[v] = spread > 0.0 ? sqrt(spread) : 1.0;
            }
            at = stop;
        }
    }
}

/* weighted sums of the rows of a block X (p, ROWS), class by class; all ROWS of them */
static void find_outputs(const float *X, i64 p, i64 k, const float *W, const float *bias,
                         float *Z) {
    for (i64 c = 0; c < k; c++) {
        float *RESTRICT z = Z + c * ROWS;
        const float *w = W + c * p;
        i64 j = 0;
        for (i64 i = 0; i < ROWS; i++) {
            z[i] = bias[c];
        }
        for (; j + 4 <= p; j += 4) {
            const float *RESTRICT a = X + j * ROWS;
            float w0 = w[j], w1 = w[j + 1], w2 = w[j + 2], w3 = w[j + 3];
            for (i64 i = 0; i < ROWS; i++) {
                z[i] += (w0 * a[i] + w1 * a[ROWS + i]) +
                        (w2 * a[2 * ROWS + i] + w3 * a[3 * ROWS + i]);
            }
        }
        for (; j < p; j++) {
            const float *RESTRICT a = X + j * ROWS;
            float w0 = w[j];
            for (i64 i = 0; i < ROWS; i++) {
                z[i] += w0 * a[i];
            }
        }
    }
}

/* from outputs to probabilities less targets, in place; 0 behind the m rows of the block */
static void find_differences(const float *T, i64 m, i64 k, float *RESTRICT Z,
                             float *RESTRICT top, float *RESTRICT total) {
    if (k == 1) {
        for (i64 i = 0; i < ROWS; i++) {
            float z = Z[i], e = exp_of_negative(-fabsf(z)), share = 1.0f / (1.0f + e);
            float less = e * share;
            Z[i] = (z > 0.0f ? share : less) - T[i];
        }
    } else {
        for (i64 i = 0; i < ROWS; i++) {
            top[i] = Z[i];
            total[i] = 0.0f;
        }
        for (i64 c = 1; c < k; c++) {
            for (i64 i = 0; i < ROWS; i++) {
                top[i] = Z[c * ROWS + i] > top[i] ? Z[c * ROWS + i] : top[i];
            }
        }
        for (i64 c = 0; c < k; c++) {
            float *RESTRICT z = Z + c * ROWS;
            for (i64 i = 0; i < ROWS; i++) {
                float e = exp_of_negative(z[i] - top[i]);
                z[i] = e;
                total[i] += e;
            }
        }
        for (i64 i = 0; i < ROWS; i++) {
            total[i] = 1.0f / total[i];
        }
        for (i64 c = 0; c < k; c++) {
            float *RESTRICT z = Z + c * ROWS;
            const float *RESTRICT t = T + c * ROWS;
            for (i64 i = 0; i < ROWS; i++) {
                z[i] = z[i] * total[i] - t[i];
            }
        }
    }
    for (i64 c = 0; c < k; c++) {
        for (i64 i = m; i < ROWS; i++) {
            Z[c * ROWS + i] = 0.0f;
        }
    }
}

static inline Lanes lanes_at(const float *cells) {
    Lanes lanes;
    memcpy(&lanes, cells, sizeof lanes);
    return lanes;
}

static inline float sum_of_lanes(Lanes lanes) {
    float cells[LANES];
    memcpy(cells, &lanes, sizeof cells);
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int at = 0; at < half; at++) {
            cells[at] += cells[at + half];
        }
    }
    return cells[0];
}

/* add the block's part of the gradient */
static void add_gradient(const float *X, i64 p, i64 k, const float *Z, float *G, float *g) {
    for (i64 c = 0; c < k; c++) {
        const float *z = Z + c * ROWS;
        Lanes own = {0};
        for (i64 i = 0; i < ROWS; i += LANES) {
            own += lanes_at(z + i);
        }
        g[c] += sum_of_lanes(own);
        i64 j = 0;
        for (; j + 4 <= p; j += 4) {
            const float *a = X + j * ROWS;
            Lanes first = {0}, second = {0}, third = {0}, fourth = {0};
            for (i64 i = 0; i < ROWS; i += LANES) {
                Lanes here = lanes_at(z + i);
                first += here * lanes_at(a + i);
                second += here * lanes_at(a + ROWS + i);
                third += here * lanes_at(a + 2 * ROWS + i);
                fourth += here * lanes_at(a + 3 * ROWS + i);
            }
            G[c * p + j] += sum_of_lanes(first);
            G[c * p + j + 1] += sum_of_lanes(second);
            G[c * p + j + 2] += sum_of_lanes(third);
            G[c * p + j + 3] += sum_of_lanes(fourth);
        }
        for (; j < p; j++) {
            const float *a = X + j * ROWS;
            Lanes first = {0};
            for (i64 i = 0; i < ROWS; i += LANES) {
                first += lanes_at(z + i) * lanes_at(a + i);
            }
            G[c * p + j] += sum_of_lanes(first);
        }
    }
}

/* weights uniform in +-0.01; with two classes the difference of two such */
static void start_weights(Twister *twister, i64 p, i64 k, float *W, float *bias) {
    for (i64 c = 0; c < k; c++) {
        for (i64 j = 0; j < p; j++) {
            W[c * p + j] = (float)twister_uniform(twister, -SPREAD, SPREAD);
        }
        bias[c] = (float)twister_uniform(twister, -SPREAD, SPREAD);
    }
    if (k == 1) {
        for (i64 j = 0; j < p; j++) {
            W[j] = (float)((double)W[j] - twister_uniform(twister, -SPREAD, SPREAD));
        }
        bias[0] = (float)((double)bias[0] - twister_uniform(twister, -SPREAD, SPREAD));
    }
}

/* Softmax of linear outputs with bias; every step goes `eta` times the summed gradient, and eta
 * shrinks by 5 percent a step. The first class of ties. */
i64 multitest_logistic(const double *values, const i64 *cardinality, const bool *whole,
                       i64 unknown, const i64 *y, i64 n, i64 d, i64 n_classes,
                       double learning_rate, const uint32_t *seeds, const bool *marks,
                       i64 splits, i64 *errors) {
    Halves halves = halves_of(values, cardinality, whole, unknown, y, n, d, n_classes, marks,
                              splits);
    i64 p = 0, k = n_classes == 2 ? 1 : n_classes, blocks = (n + ROWS - 1) / ROWS;
    for (i64 j = 0; j < d; j++) {
        p += most_of(1, cardinality[j]);
    }
    Scratch scratch = {0};
    float *X = TAKE(&scratch, float, blocks *p *ROWS), *T = TAKE(&scratch, float, blocks *k *ROWS);
    float *W = TAKE(&scratch, float, k *p), *G = TAKE(&scratch, float, k *p);
    float *bias = TAKE(&scratch, float, k), *g = TAKE(&scratch, float, k);
    float *Z = TAKE(&scratch, float, k *ROWS), *top = TAKE(&scratch, float, ROWS);
    float *total = TAKE(&scratch, float, ROWS);
    double *mean = TAKE(&scratch, double, p), *deviation = TAKE(&scratch, double, p);
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    i64 *modes = TAKE(&scratch, i64, halves.most_values);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    Twister *twister = TAKE(&scratch, Twister, 1);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    memcpy(filled, values, (size_t)(n * d) * sizeof *filled);
    for (i64 s = 0; s < 2 * splits; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test), wrong = 0;
        i64 used = (m + ROWS - 1) / ROWS, tested = (n - m + ROWS - 1) / ROWS;
        if (halves.unknown) {
            fill_unknown(&halves, train, m, modes, filled, fills);
        }
        find_scales(filled, cardinality, d, train, m, mean, deviation);
        standardise(filled, cardinality, d, train, m, mean, deviation, X, p, used);
        memset(T, 0, (size_t)(blocks * k * ROWS) * sizeof *T);
        for (i64 r = 0; r < m; r++) {
            if (k == 1) {
                T[r / ROWS * ROWS + r % ROWS] = (float)y[train[r]];
            } else {
                T[(r / ROWS * k + y[train[r]]) * ROWS + r % ROWS] = 1.0f;
            }
        }
        twister_seed(twister, seeds[s]);
        start_weights(twister, p, k, W, bias);
        double eta = learning_rate;
        for (int turn = 0; turn < STEPS; turn++) {
            memset(G, 0, (size_t)(k * p) * sizeof *G);
            memset(g, 0, (size_t)k * sizeof *g);
            for (i64 b = 0; b < used; b++) {
                find_outputs(X + b * p * ROWS, p, k, W, bias, Z);
                find_differences(T + b * k * ROWS, least_of(ROWS, m - b * ROWS), k, Z, top,
                                 total);
                add_gradient(X + b * p * ROWS, p, k, Z, G, g);
            }
            float step = (float)(eta * (k == 1 ? 2.0 : 1.0));
            for (i64 c = 0; c < k; c++) {
                bias[c] -= step * g[c];
            }
            for (i64 at = 0; at < k * p; at++) {
                W[at] -= step * G[at];
            }
            eta *= DECAY;
        }
        standardise(filled, cardinality, d, test, n - m, mean, deviation, X, p, tested);
        for (i64 b = 0; b < tested; b++) {
            find_outputs(X + b * p * ROWS, p, k, W, bias, Z);
            for (i64 i = 0; i < least_of(ROWS, n - m - b * ROWS); i++) {
                i64 choice = k == 1 && Z[i] > 0.0f;
                for (i64 c = 1; c < k; c++) {
                    if (Z[c * ROWS + i] > Z[choice * ROWS + i]) {
                        choice = c;
                    }
                }
                wrong += choice != y[test[b * ROWS + i]];
            }
        }
        errors[s] = wrong;
    }
    scratch_free(&scratch);
    return 0;
}
