/* The minimum of the logistic objective, by L-BFGS. */
#include "logistic.h"

#define MEMORY 30
#define SUFFICIENT_DECREASE 1e-4
#define ROUNDING 1e-13
#define FIRST_SLACK 5e-3
#define NEXT_LEVEL 0.001
#define SAFETY 0.8

static double larger(double a, double b) { return b > a ? b : a; }
static double smaller(double a, double b) { return b < a ? b : a; }

/* the norm of the gradient, and that without the constants */
static double norms_of(const double *gradient, i64 q, i64 r, double *inner) {
    double squares = dot(gradient, gradient, (q - 1) * r);
    const double *constants = gradient + (q - 1) * r;
    *inner = sqrt(squares);
    return sqrt(squares + dot(constants, constants, r));
}

/* matrix times vector (q * r): one matrix (q r, q r), or (q, q) for each column */
static void precondition(const double *matrix, i64 size, const double *vector, i64 q, i64 r,
                         double *out) {
    if (size == q && r > 1) {
        for (i64 i = 0; i < q; i++) {
            double *RESTRICT to = out + i * r;
            for (i64 k = 0; k < r; k++) {
                to[k] = 0.0;
            }
            for (i64 j = 0; j < q; j++) {
                const double *RESTRICT from = vector + j * r;
                double cell = matrix[i * q + j];
                for (i64 k = 0; k < r; k++) {
                    to[k] += cell * from[k];
                }
            }
        }
        return;
    }
    for (i64 i = 0; i < q * r; i++) {
        out[i] = dot(matrix + i * q * r, vector, q * r);
    }
}

static double longest_row(const double *z, i64 n, i64 q, double *lengths) {
    double longest = 0.0;
    for (i64 i = 0; i < n; i++) {
        double total = 0.0;
        for (i64 j = 0; j < q; j++) {
            total += z[i * q + j] * z[i * q + j];
        }
        double length = sqrt(total);
        if (lengths != NULL) {
            lengths[i] = length;
        }
        longest = larger(longest, length);
    }
    return longest;
}

/* The weights at which the gradient's norm is at most `tolerance`; they start as given and are
 * written over. Returns the number of steps.
 *
 * `matrix` is the inverse of an approximate Hessian, from which the limited memory starts. With
 * rows in `probe`, it stops as soon as the predictions for them, written to `chosen`, can no
 * longer differ from those at the minimum. `outcome` takes the norm, and 1 where the predictions are
 * certain. */
i64 logistic_minimise(const double *z, i64 n, i64 q, i64 r, const i64 *y, double strength,
                      double *weights, const double *matrix, i64 matrix_size, double tolerance,
                      i64 most_steps, const double *probe, i64 n_probe, double tie, i64 *chosen,
                      double *outcome) {
    i64 n_tiles = (n + LANES - 1) / LANES, wide = n_tiles * LANES, size = q * r;
    Scratch scratch = {0};
    double *tiles = TAKE(&scratch, double, wide *q);
    Model model = {
        n, q, r, n_tiles, tiles, y, strength,
        .scores = TAKE(&scratch, double, r *wide),
        .shares = TAKE(&scratch, double, r *wide),
        .top = TAKE(&scratch, double, wide),
        .total = TAKE(&scratch, double, wide),
        .turned = TAKE(&scratch, double, size),
        .slopes = TAKE(&scratch, double, size *LANES),
        .held = TAKE(&scratch, double, r),
        .slope = TAKE(&scratch, double, r),
        .curvature = TAKE(&scratch, double, r *r),
    };
    double *gradient = TAKE(&scratch, double, size), *next = TAKE(&scratch, double, size);
    double *candidate = TAKE(&scratch, double, size), *direction = TAKE(&scratch, double, size);
    double *before = TAKE(&scratch, double, size);
    double *steps = TAKE(&scratch, double, MEMORY *size);
    double *changes = TAKE(&scratch, double, MEMORY *size);
    double *lengths = TAKE(&scratch, double, n_probe), *reach = TAKE(&scratch, double, n_probe);
    double *probed = TAKE(&scratch, double, n_probe *r);
    double products[MEMORY] = {0}, alphas[MEMORY] = {0};
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 i = 0; i < n; i++) {
        for (i64 j = 0; j < q; j++) {
            tiles[(i / LANES * q + j) * LANES + i % LANES] = z[i * q + j];
        }
    }
    double value = objective(&model, weights, gradient), inner;
    bool asking = n_probe > 0, certain = false;
    double parts = (double)most_of(r - 1, 1);
    longest_row(probe, n_probe, q, lengths);
    double longest = asking ? longest_row(z, n, q, NULL) : 0.0;
    double level = asking ? FIRST_SLACK / (parts * longest) : tolerance;
    double norm = norms_of(gradient, q, r, &inner);
    i64 held = 0, step = 0;
    while (step < most_steps) {
        if (norm <= level) {
            settle_constants(&model, weights);
            value = objective(&model, weights, gradient);
            norm = norms_of(gradient, q, r, &inner);
            double enough = 0.0;
            if (asking) {
                for (i64 i = 0; i < n_probe; i++) {
                    reach[i] = lengths[i] + parts * longest;
                    if (r > 1) {
                        reach[i] *= sqrt(2.0);
                    }
                    for (i64 k = 0; k < r; k++) {
                        double total = 0.0;
                        for (i64 j = 0; j < q; j++) {
                            total += probe[i * q + j] * weights[j * r + k];
                        }
                        probed[i * r + k] = total;
                    }
                }
                enough = choose_classes(probed, n_probe, r, tie, reach, chosen) - 4.0 * tolerance;
                if (inner < enough) {
                    certain = true;
                    break;
                }
            }
            if (norm <= tolerance) {
                break;
            }
            /* the gaps may still shrink a little, and must not be asked for at every step */
            level = larger(larger(smaller(SAFETY * enough, 0.5 * norm), NEXT_LEVEL * norm),
                           tolerance);
        }
        for (i64 at = 0; at < size; at++) {
            before[at] = -gradient[at];
        }
        for (i64 back = 0; back < held; back++) {
            i64 m = (step - 1 - back) % MEMORY;
            alphas[m] = dot(steps + m * size, before, size) / products[m];
            for (i64 at = 0; at < size; at++) {
                before[at] -= alphas[m] * changes[m * size + at];
            }
        }
        precondition(matrix, matrix_size, before, q, r, direction);
        for (i64 back = held - 1; back >= 0; back--) {
            i64 m = (step - 1 - back) % MEMORY;
            double beta = dot(changes + m * size, direction, size) / products[m];
            for (i64 at = 0; at < size; at++) {
                direction[at] += (alphas[m] - beta) * steps[m * size + at];
            }
        }
        double slope = dot(gradient, direction, size), length = 1.0, new_value = value;
        bool found = false;
        if (!(slope < 0.0)) { /* rounding has spoilt the memory: start it again */
            if (held == 0) {
                break;
            }
            held = 0;
            continue;
        }
        for (int trial = 0; trial < 40; trial++) {
            for (i64 at = 0; at < size; at++) {
                candidate[at] = weights[at] + length * direction[at];
            }
            new_value = objective(&model, candidate, next);
            double allowed =
                value + SUFFICIENT_DECREASE * length * slope + ROUNDING * fabs(value);
            if (new_value <= allowed) {
                found = true;
                break;
            }
            double shortened =
                -slope * length * length / (2.0 * (new_value - value - slope * length));
            length = smaller(larger(shortened, 0.1 * length), 0.5 * length);
        }
        if (!found) {
            if (held == 0) {
                break;
            }
            held = 0;
            continue;
        }
        i64 m = step % MEMORY;
        for (i64 at = 0; at < size; at++) {
            steps[m * size + at] = length * direction[at];
            changes[m * size + at] = next[at] - gradient[at];
        }
        products[m] = dot(steps + m * size, changes + m * size, size);
        held = products[m] > 0.0 ? least_of(held + 1, MEMORY) : 0;
        memcpy(weights, candidate, (size_t)size * sizeof *weights);
        memcpy(gradient, next, (size_t)size * sizeof *gradient);
        value = new_value;
        step++;
        norm = norms_of(gradient, q, r, &inner);
    }
    outcome[0] = norm;
    outcome[1] = certain ? 1.0 : 0.0;
    scratch_free(&scratch);
    return step;
}
