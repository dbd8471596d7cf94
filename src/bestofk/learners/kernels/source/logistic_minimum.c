/* Minimise the logistic objective by L-BFGS. */
#include "logistic.h"

#define MEMORY 30
#define SUFFICIENT_DECREASE 1e-4
#define ROUNDING 1e-13

static double larger(double a, double b) { return b > a ? b : a; }
static double smaller(double a, double b) { return b < a ? b : a; }

/* Return the norm of the gradient. */
static double norm_of(const double *gradient, i64 q, i64 r) {
    const double *constants = gradient + (q - 1) * r;
    return sqrt(dot(gradient, gradient, (q - 1) * r) + dot(constants, constants, r));
}

/* Multiply by a matrix (q r, q r), or by a matrix (q, q) for each column, or by a diagonal (1, q)
 * for each column. */
static void precondition(const double *matrix, i64 size, const double *vector, i64 q, i64 r,
                         double *out) {
    if (size == 1) {
        for (i64 i = 0; i < q * r; i++) {
            out[i] = matrix[i / r] * vector[i];
        }
        return;
    }
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

/* Work space. */
typedef struct {
    Model model;
    double *gradient, *next, *candidate, *direction, *before, *steps, *changes;
} Work;

static Work room_for(Scratch *scratch, i64 n, i64 q, i64 r, double strength) {
    i64 wide = tiles_for(n) * LANES, size = q * r;
    return (Work){
        .model = {
            .q = q, .r = r, .strength = strength,
            .tiles = take_lines(scratch, wide *q),
            .labels = take_lines(scratch, wide),
            .scores = take_lines(scratch, r *wide),
            .shares = take_lines(scratch, r *wide),
            .turned = take_lines(scratch, size),
            .slopes = take_lines(scratch, size *LANES),
            .held = take_lines(scratch, r),
            .slope = take_lines(scratch, r),
            .curvature = take_lines(scratch, r *r),
        },
        .gradient = take_lines(scratch, size), .next = take_lines(scratch, size),
        .candidate = take_lines(scratch, size), .direction = take_lines(scratch, size),
        .before = take_lines(scratch, size),
        .steps = take_lines(scratch, MEMORY *size), .changes = take_lines(scratch, MEMORY *size),
    };
}

static void set_labels(Model *model, const i64 *y, i64 n) {
    model->n = n;
    model->n_tiles = tiles_for(n);
    for (i64 i = 0; i < model->n_tiles * LANES; i++) {
        model->labels[i] = i < n ? (double)y[i] : -1.0;
    }
}

/* Minimise until the gradient norm is at most `tolerance`, starting from `weights` and overwriting
 * them; return the number of steps.
 *
 * `matrix` is the inverse of an approximate Hessian, from which the limited memory starts.
 * `outcome` gets the norm. */
static i64 minimise(const Work *work, double *weights, const double *matrix, i64 matrix_size,
                    double tolerance, i64 most_steps, double *outcome) {
    const Model *model = &work->model;
    i64 q = model->q, r = model->r, size = q * r;
    double *gradient = work->gradient, *next = work->next, *candidate = work->candidate;
    double *direction = work->direction, *before = work->before;
    double *steps = work->steps, *changes = work->changes;
    double products[MEMORY] = {0}, alphas[MEMORY] = {0};
    double value = objective(model, weights, gradient);
    double norm = norm_of(gradient, q, r);
    i64 held = 0, step = 0;
    while (step < most_steps) {
        if (norm <= tolerance) {
            settle_constants(model, weights);
            value = objective(model, weights, gradient);
            norm = norm_of(gradient, q, r);
            if (norm <= tolerance) {
                break;
            }
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
        if (!(slope < 0.0)) { /* rounding has corrupted the memory: restart it */
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
            new_value = objective(model, candidate, next);
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
        norm = norm_of(gradient, q, r);
    }
    outcome[0] = norm;
    return step;
}

static void tiles_of_rows(const double *z, i64 n, i64 q, double *tiles) {
    for (i64 i = 0; i < n; i++) {
        for (i64 j = 0; j < q; j++) {
            tiles[(i / LANES * q + j) * LANES + i % LANES] = z[i * q + j];
        }
    }
}

/* Minimise for standardised rows; called by Python. */
i64 logistic_minimise(const double *z, i64 n, i64 q, i64 r, const i64 *y, double strength,
                      double *weights, const double *matrix, i64 matrix_size, double tolerance,
                      i64 most_steps, double *outcome) {
    Scratch scratch = {0};
    Work work = room_for(&scratch, n, q, r, strength);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    tiles_of_rows(z, n, q, work.model.tiles);
    set_labels(&work.model, y, n);
    i64 steps = minimise(&work, weights, matrix, matrix_size, tolerance, most_steps, outcome);
    scratch_free(&scratch);
    return steps;
}
