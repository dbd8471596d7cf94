/* The MultiTest paper's logistic classifier (LGC) for many halves: 50 steps of gradient descent.
 *
 * It does not converge, so ordinary logistic regression gives other results. Rows are stored in
 * chunks, column by column, in single precision, so that a chunk stays in the fastest cache. Sums
 * over rows have 16 lanes on every processor; the lanes are added after every ROWS rows. With two
 * classes, only the difference of the two weight vectors is computed. */
#include "multitest.h"

#define STEPS 50
#define DECAY 0.95
#define SPREAD 0.01
#define ROWS 256
#define CHUNK 64
#define LANES 16
#define INLINE static inline __attribute__((always_inline))
/* otherwise compilers reload registers for every class */
#ifdef __AVX512F__
#define KEEP(lanes) __asm__("" : "+v"(lanes))
#else
#define KEEP(lanes) ((void)0)
#endif

typedef float Lanes __attribute__((vector_size(64)));
typedef float Half __attribute__((vector_size(32)));
typedef float Quarter __attribute__((vector_size(16)));

/* Compute exp(x) for x <= 0 to a few units of the last place: x = k log 2 + r with whole k. */
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

/* The scales of p numbers and indicators, made from d columns. */
typedef struct {
    double *mean, *deviation; /* (d) of numbers */
    float *low, *high;        /* (p) the z-scores of 0 and 1 of indicators */
    double *counts;           /* (p) */
    i64 *nominal, *first;     /* (d) the nominal columns, and their first indicator */
} Scales;

/* Compute z-scores of the columns, nominal ones 1-of-n, in chunks (chunks, p, CHUNK). */
static void standardise(const double *filled, const i64 *cardinality, i64 d, const i64 *rows,
                        i64 m, const Scales *scales, float *out, i64 p) {
    for (i64 begin = 0; begin < m; begin += CHUNK) {
        const i64 *here = rows + begin;
        float *chunk = out + begin * p;
        i64 count = least_of(CHUNK, m - begin);
        for (i64 j = 0; j < d; j++) {
            if (cardinality[j] == 0) {
                double a = scales->mean[j], b = 1.0 / scales->deviation[j];
                for (i64 r = 0; r < count; r++) {
                    chunk[r] = (float)((filled[here[r] * d + j] - a) * b);
                }
                chunk += CHUNK;
                continue;
            }
            i64 first = scales->first[j];
            for (i64 v = 0; v < cardinality[j]; v++) {
                for (i64 r = 0; r < CHUNK; r++) {
                    chunk[v * CHUNK + r] = scales->low[first + v];
                }
            }
            for (i64 r = 0; r < count; r++) {
                i64 held = (i64)filled[here[r] * d + j];
                chunk[held * CHUNK + r] = scales->high[first + held];
            }
            chunk += cardinality[j] * CHUNK;
        }
    }
}

/* Compute means and deviations (n - 1) of numbers and indicators; 1 if a column is constant. */
static void find_scales(const double *filled, const i64 *cardinality, i64 d, const i64 *rows,
                        i64 m, i64 p, const Scales *scales) {
    double size = (double)m, less = (double)(m - 1);
    i64 n_nominal = 0, at = 0;
    column_deviations(filled, d, cardinality, rows, m, scales->mean, scales->deviation);
    for (i64 j = 0; j < d; j++) {
        scales->first[j] = at;
        at += most_of(1, cardinality[j]);
        if (cardinality[j] > 0) {
            scales->nominal[n_nominal++] = j;
        }
    }
    memset(scales->counts, 0, (size_t)p * sizeof *scales->counts);
    for (i64 r = 0; r < m; r++) {
        const double *cells = filled + rows[r] * d;
        for (i64 k = 0; k < n_nominal; k++) {
            i64 j = scales->nominal[k];
            scales->counts[scales->first[j] + (i64)cells[j]] += 1.0;
        }
    }
    for (i64 v = 0; v < p; v++) {
        double count = scales->counts[v], mean = count / size;
        double spread = count * (size - count) / size / less;
        double deviation = spread > 0.0 ? sqrt(spread) : 1.0;
        scales->low[v] = (float)(-mean / deviation);
        scales->high[v] = (float)((1.0 - mean) / deviation);
    }
}

INLINE Lanes lanes_at(const float *cells) {
    Lanes lanes;
    memcpy(&lanes, cells, sizeof lanes);
    return lanes;
}

/* Compute weighted sums of the rows of a chunk X (p, CHUNK), for a constant number of classes. */
INLINE void some_outputs(const float *X, i64 p, int classes, const float *W, const float *bias,
                         float *Z) {
    for (i64 i = 0; i < CHUNK; i += 2 * LANES) {
        const float *x = X + i;
        Lanes z[4], s[4]; /* of LANES rows, and of the next */
        i64 j = 0;
        for (int c = 0; c < classes; c++) {
            z[c] = bias[c] - (Lanes){0}; /* in every lane */
            s[c] = z[c];
        }
        for (; j + 4 <= p; j += 4) {
            Lanes a[4], b[4];
            for (int q = 0; q < 4; q++) {
                a[q] = lanes_at(x + (j + q) * CHUNK);
                b[q] = lanes_at(x + (j + q) * CHUNK + LANES);
                KEEP(a[q]);
                KEEP(b[q]);
            }
            for (int c = 0; c < classes; c++) {
                const float *w = W + c * p + j;
                z[c] += (w[0] * a[0] + w[1] * a[1]) + (w[2] * a[2] + w[3] * a[3]);
                s[c] += (w[0] * b[0] + w[1] * b[1]) + (w[2] * b[2] + w[3] * b[3]);
            }
        }
        for (; j < p; j++) {
            for (int c = 0; c < classes; c++) {
                z[c] += W[c * p + j] * lanes_at(x + j * CHUNK);
                s[c] += W[c * p + j] * lanes_at(x + j * CHUNK + LANES);
            }
        }
        for (int c = 0; c < classes; c++) {
            memcpy(Z + c * CHUNK + i, &z[c], sizeof z[c]);
            memcpy(Z + c * CHUNK + i + LANES, &s[c], sizeof s[c]);
        }
    }
}

/* Compute weighted sums of all CHUNK rows of a chunk, class by class. */
static void find_outputs(const float *X, i64 p, i64 k, const float *W, const float *bias,
                         float *Z) {
    i64 c = 0;
    for (; c + 4 <= k; c += 4) {
        some_outputs(X, p, 4, W + c * p, bias + c, Z + c * CHUNK);
    }
    if (k - c == 3) {
        some_outputs(X, p, 3, W + c * p, bias + c, Z + c * CHUNK);
    } else if (k - c == 2) {
        some_outputs(X, p, 2, W + c * p, bias + c, Z + c * CHUNK);
    } else if (k - c == 1) {
        some_outputs(X, p, 1, W + c * p, bias + c, Z + c * CHUNK);
    }
}

/* Convert outputs to probabilities minus targets in place; 0 after the m rows of the chunk. */
static void find_differences(const float *T, i64 m, i64 k, float *RESTRICT Z,
                             float *RESTRICT top, float *RESTRICT total) {
    if (k == 1) {
        for (i64 i = 0; i < CHUNK; i++) {
            float z = Z[i], e = exp_of_negative(-fabsf(z)), share = 1.0f / (1.0f + e);
            float less = e * share;
            Z[i] = (z > 0.0f ? share : less) - T[i];
        }
    } else {
        for (i64 i = 0; i < CHUNK; i++) {
            top[i] = Z[i];
            total[i] = 0.0f;
        }
        for (i64 c = 1; c < k; c++) {
            for (i64 i = 0; i < CHUNK; i++) {
                top[i] = Z[c * CHUNK + i] > top[i] ? Z[c * CHUNK + i] : top[i];
            }
        }
        for (i64 c = 0; c < k; c++) {
            float *RESTRICT z = Z + c * CHUNK;
            for (i64 i = 0; i < CHUNK; i++) {
                float e = exp_of_negative(z[i] - top[i]);
                z[i] = e;
                total[i] += e;
            }
        }
        for (i64 i = 0; i < CHUNK; i++) {
            total[i] = 1.0f / total[i];
        }
        for (i64 c = 0; c < k; c++) {
            float *RESTRICT z = Z + c * CHUNK;
            const float *RESTRICT t = T + c * CHUNK;
            for (i64 i = 0; i < CHUNK; i++) {
                z[i] = z[i] * total[i] - t[i];
            }
        }
    }
    for (i64 c = 0; c < k; c++) {
        for (i64 i = m; i < CHUNK; i++) {
            Z[c * CHUNK + i] = 0.0f;
        }
    }
}

/* Add a chunk to the lanes of the gradient, for a constant number of classes. */
INLINE void add_some(const float *X, i64 p, int classes, const float *Z, float *lanes, float *own) {
    Lanes z[2][CHUNK / LANES];
    for (int c = 0; c < classes; c++) {
        Lanes sum = lanes_at(own + c * LANES);
        for (int v = 0; v < CHUNK / LANES; v++) {
            z[c][v] = lanes_at(Z + c * CHUNK + v * LANES);
            sum += z[c][v];
        }
        memcpy(own + c * LANES, &sum, sizeof sum);
    }
    for (i64 j = 0; j < p; j++) {
        Lanes a[CHUNK / LANES];
        for (int v = 0; v < CHUNK / LANES; v++) {
            a[v] = lanes_at(X + j * CHUNK + v * LANES);
            KEEP(a[v]);
        }
        for (int c = 0; c < classes; c++) {
            float *place = lanes + (c * p + j) * LANES;
            Lanes sum = lanes_at(place);
            for (int v = 0; v < CHUNK / LANES; v++) {
                sum += z[c][v] * a[v];
            }
            memcpy(place, &sum, sizeof sum);
        }
    }
}

/* Add the chunk to the gradient: lanes of the weights (k, p, LANES), biases (k, LANES). */
static void add_gradient(const float *X, i64 p, i64 k, const float *Z, float *lanes, float *own) {
    i64 c = 0;
    for (; c + 2 <= k; c += 2) {
        add_some(X, p, 2, Z + c * CHUNK, lanes + c * p * LANES, own + c * LANES);
    }
    if (c < k) {
        add_some(X, p, 1, Z + c * CHUNK, lanes + c * p * LANES, own + c * LANES);
    }
}

/* Add the lanes, half to half, and reset them. */
static void collect(float *lanes, i64 count, float *sums) {
    for (i64 at = 0; at < count; at++) {
        Half low, high;
        Quarter quarters[2];
        memcpy(&low, lanes + at * LANES, sizeof low);
        memcpy(&high, lanes + at * LANES + LANES / 2, sizeof high);
        low += high;
        memcpy(quarters, &low, sizeof quarters);
        quarters[0] += quarters[1];
        memcpy(lanes + at * LANES, &quarters[0], sizeof quarters[0]);
    }
    for (i64 at = 0; at < count; at++) {
        const float *four = lanes + at * LANES;
        sums[at] += (four[0] + four[2]) + (four[1] + four[3]);
    }
    memset(lanes, 0, (size_t)(count * LANES) * sizeof *lanes);
}

/* Draw weights uniformly in +-0.01; for two classes, the difference of two. */
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

/* Softmax of linear outputs with bias. Every step moves by `eta` times the summed gradient, and eta
 * shrinks by 5 percent per step. Ties go to the first class. */
i64 multitest_logistic(const double *values, const i64 *cardinality, const bool *whole,
                       i64 unknown, const i64 *y, i64 n, i64 d, i64 n_classes,
                       double learning_rate, const uint32_t *seeds, const bool *marks,
                       i64 splits, i64 *errors) {
    Halves halves = halves_of(values, cardinality, whole, unknown, y, n, d, n_classes, marks,
                              splits);
    i64 p = 0, k = n_classes == 2 ? 1 : n_classes, chunks = (n + CHUNK - 1) / CHUNK;
    for (i64 j = 0; j < d; j++) {
        p += most_of(1, cardinality[j]);
    }
    Scratch scratch = {0};
    float *X = TAKE(&scratch, float, chunks *p *CHUNK);
    float *T = TAKE(&scratch, float, chunks *k *CHUNK);
    float *W = TAKE(&scratch, float, k *p), *G = TAKE(&scratch, float, k *p);
    float *bias = TAKE(&scratch, float, k), *g = TAKE(&scratch, float, k);
    float *Z = TAKE(&scratch, float, k *CHUNK), *top = TAKE(&scratch, float, CHUNK);
    float *total = TAKE(&scratch, float, CHUNK);
    float *lanes = TAKE(&scratch, float, k *p *LANES), *own = TAKE(&scratch, float, k *LANES);
    Scales scales = {
        .mean = TAKE(&scratch, double, d), .deviation = TAKE(&scratch, double, d),
        .low = TAKE(&scratch, float, p), .high = TAKE(&scratch, float, p),
        .counts = TAKE(&scratch, double, p),
        .nominal = TAKE(&scratch, i64, d), .first = TAKE(&scratch, i64, d),
    };
    bool *lacking = TAKE(&scratch, bool, d);
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    i64 *modes = TAKE(&scratch, i64, halves.most_values);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    Twister *twister = TAKE(&scratch, Twister, 1);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    begin_filling(&halves, lacking, filled);
    for (i64 s = 0; s < 2 * splits; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test), wrong = 0;
        i64 used = (m + CHUNK - 1) / CHUNK, tested = (n - m + CHUNK - 1) / CHUNK;
        if (halves.unknown) {
            fill_unknown(&halves, train, m, modes, filled, fills);
        }
        find_scales(filled, cardinality, d, train, m, p, &scales);
        standardise(filled, cardinality, d, train, m, &scales, X, p);
        memset(T, 0, (size_t)(chunks * k * CHUNK) * sizeof *T);
        for (i64 r = 0; r < m; r++) {
            if (k == 1) {
                T[r / CHUNK * CHUNK + r % CHUNK] = (float)y[train[r]];
            } else {
                T[(r / CHUNK * k + y[train[r]]) * CHUNK + r % CHUNK] = 1.0f;
            }
        }
        twister_seed(twister, seeds[s]);
        start_weights(twister, p, k, W, bias);
        double eta = learning_rate;
        for (int turn = 0; turn < STEPS; turn++) {
            memset(G, 0, (size_t)(k * p) * sizeof *G);
            memset(g, 0, (size_t)k * sizeof *g);
            for (i64 b = 0; b < used; b++) {
                find_outputs(X + b * p * CHUNK, p, k, W, bias, Z);
                find_differences(T + b * k * CHUNK, least_of(CHUNK, m - b * CHUNK), k, Z, top,
                                 total);
                add_gradient(X + b * p * CHUNK, p, k, Z, lanes, own);
                if ((b + 1) % (ROWS / CHUNK) == 0 || b + 1 == used) {
                    collect(lanes, k * p, G);
                    collect(own, k, g);
                }
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
        standardise(filled, cardinality, d, test, n - m, &scales, X, p);
        for (i64 b = 0; b < tested; b++) {
            find_outputs(X + b * p * CHUNK, p, k, W, bias, Z);
            for (i64 i = 0; i < least_of(CHUNK, n - m - b * CHUNK); i++) {
                i64 choice = k == 1 && Z[i] > 0.0f;
                for (i64 c = 1; c < k; c++) {
                    if (Z[c * CHUNK + i] > Z[choice * CHUNK + i]) {
                        choice = c;
                    }
                }
                wrong += choice != y[test[b * CHUNK + i]];
            }
        }
        errors[s] = wrong;
    }
    scratch_free(&scratch);
    return 0;
}
