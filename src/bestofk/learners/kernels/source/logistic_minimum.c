/* Minimise the logistic objective by L-BFGS, for one set of rows and for many splits. */
#include "logistic.h"

#define MEMORY 30
#define SUFFICIENT_DECREASE 1e-4
#define ROUNDING 1e-13
#define FIRST_SLACK 5e-3
#define NEXT_LEVEL 0.001
#define SAFETY 0.8

static double larger(double a, double b) { return b > a ? b : a; }
static double smaller(double a, double b) { return b < a ? b : a; }

/* Return the norm of the gradient; write the norm without the constants. */
static double norms_of(const double *gradient, i64 q, i64 r, double *inner) {
    double squares = dot(gradient, gradient, (q - 1) * r);
    const double *constants = gradient + (q - 1) * r;
    *inner = sqrt(squares);
    return sqrt(squares + dot(constants, constants, r));
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

/* Write the length of every row to `lengths`; return the longest. */
static double lengths_of(const double *tiles, i64 n, i64 q, double *lengths) {
    double longest = 0.0;
    for (i64 t = 0; t < tiles_for(n); t++) {
        Lanes total = {0};
        for (i64 j = 0; j < q; j++) {
            Lanes cells = lanes_at(tiles + (t * q + j) * LANES);
            total += cells * cells;
        }
        put_lanes(lengths + t * LANES, total);
    }
    for (i64 i = 0; i < n; i++) {
        lengths[i] = sqrt(lengths[i]);
        longest = larger(longest, lengths[i]);
    }
    return longest;
}

/* Work space for the largest numbers of rows to fit and to predict. */
typedef struct {
    Model model;
    double *probe; /* tiles of the rows to predict */
    i64 n_probe;
    double *gradient, *next, *candidate, *direction, *before, *steps, *changes;
    double *lengths, *reach, *probed;
} Work;

static Work room_for(Scratch *scratch, i64 n, i64 q, i64 r, double strength, i64 n_probe) {
    i64 wide = tiles_for(n) * LANES, wide_probe = tiles_for(n_probe) * LANES, size = q * r;
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
        .probe = take_lines(scratch, wide_probe *q),
        .gradient = take_lines(scratch, size), .next = take_lines(scratch, size),
        .candidate = take_lines(scratch, size), .direction = take_lines(scratch, size),
        .before = take_lines(scratch, size),
        .steps = take_lines(scratch, MEMORY *size), .changes = take_lines(scratch, MEMORY *size),
        .lengths = take_lines(scratch, most_of(wide, wide_probe)),
        .reach = take_lines(scratch, wide_probe), .probed = take_lines(scratch, wide_probe *r),
    };
}

static void set_labels(Model *model, const i64 *y, const i64 *rows, i64 n) {
    model->n = n;
    model->n_tiles = tiles_for(n);
    for (i64 i = 0; i < model->n_tiles * LANES; i++) {
        model->labels[i] = i < n ? (double)y[rows == NULL ? i : rows[i]] : -1.0;
    }
}

/* Minimise until the gradient norm is at most `tolerance`, starting from `weights` and overwriting
 * them; return the number of steps.
 *
 * `matrix` is the inverse of an approximate Hessian, from which the limited memory starts. With
 * rows in `probe`, stop once the predictions for them, written to `chosen`, can no longer differ
 * from those at the minimum. `outcome` gets the norm, and 1 if the predictions are certain. */
static i64 minimise(const Work *work, double *weights, const double *matrix, i64 matrix_size,
                    double tolerance, i64 most_steps, double tie, i64 *chosen, double *outcome) {
    const Model *model = &work->model;
    i64 q = model->q, r = model->r, size = q * r, n_probe = work->n_probe;
    double *gradient = work->gradient, *next = work->next, *candidate = work->candidate;
    double *direction = work->direction, *before = work->before;
    double *steps = work->steps, *changes = work->changes;
    double products[MEMORY] = {0}, alphas[MEMORY] = {0};
    double value = objective(model, weights, gradient), inner;
    bool asking = n_probe > 0, certain = false;
    double parts = (double)most_of(r - 1, 1), level = tolerance;
    if (asking) {
        double far = parts * lengths_of(model->tiles, model->n, q, work->lengths);
        level = FIRST_SLACK / far;
        lengths_of(work->probe, n_probe, q, work->lengths);
        for (i64 i = 0; i < n_probe; i++) {
            work->reach[i] = (work->lengths[i] + far) * (r > 1 ? sqrt(2.0) : 1.0);
        }
    }
    double norm = norms_of(gradient, q, r, &inner);
    i64 held = 0, step = 0;
    while (step < most_steps) {
        if (norm <= level) {
            settle_constants(model, weights);
            value = objective(model, weights, gradient);
            norm = norms_of(gradient, q, r, &inner);
            double enough = 0.0;
            if (asking) {
                i64 n_tiles = tiles_for(n_probe);
                scores_of_tiles(work->probe, n_tiles, weights, q, r, model->turned, work->probed);
                enough = choose_classes(work->probed, n_probe, r, 1, n_tiles * LANES, tie,
                                        work->reach, chosen) - 4.0 * tolerance;
                if (inner < enough) {
                    certain = true;
                    break;
                }
            }
            if (norm <= tolerance) {
                break;
            }
            /* the gaps may still shrink a little; do not check them at every step */
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
        norm = norms_of(gradient, q, r, &inner);
    }
    outcome[0] = norm;
    outcome[1] = certain ? 1.0 : 0.0;
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
    Work work = room_for(&scratch, n, q, r, strength, 0);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    tiles_of_rows(z, n, q, work.model.tiles);
    set_labels(&work.model, y, NULL, n);
    i64 steps = minimise(&work, weights, matrix, matrix_size, tolerance, most_steps, 0.0, NULL,
                         outcome);
    scratch_free(&scratch);
    return steps;
}

/* Predict the test rows of several splits, each started at the solution for all rows.
 *
 * Split s trains on the rows trains[s ? train_ends[s - 1] : 0] up to train_ends[s]; tests are
 * alike. `chosen` has the shape of `tests`. `certain` marks splits none of whose predictions can
 * differ at the minimum. */
i64 logistic_splits(const double *design, i64 p, i64 r, const i64 *y, double strength,
                    const double *mean, const double *spread, const double *weights,
                    const double *matrix, i64 matrix_size, double tolerance, i64 most_steps,
                    double tie, const i64 *trains, const i64 *train_ends, const i64 *tests,
                    const i64 *test_ends, i64 n_splits, i64 *chosen, bool *certain) {
    i64 q = p + 1, most_train = 0, most_test = 0;
    for (i64 s = 0; s < n_splits; s++) {
        most_train = most_of(most_train, train_ends[s] - (s ? train_ends[s - 1] : 0));
        most_test = most_of(most_test, test_ends[s] - (s ? test_ends[s - 1] : 0));
    }
    Scratch scratch = {0};
    Work work = room_for(&scratch, most_train, q, r, strength, most_test);
    double *room = take_lines(&scratch, 2 * p * LANES);
    double *own_mean = take_lines(&scratch, p), *own_spread = take_lines(&scratch, p);
    double *found = take_lines(&scratch, q * r);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 s = 0; s < n_splits; s++) {
        i64 first = s ? train_ends[s - 1] : 0, n = train_ends[s] - first;
        i64 first_test = s ? test_ends[s - 1] : 0, n_test = test_ends[s] - first_test;
        double outcome[2];
        fill_tiles(design, p, trains + first, n, work.model.tiles);
        find_moments(work.model.tiles, n, p, (Lanes *)(void *)room, own_mean, own_spread);
        standardise_tiles(work.model.tiles, n, p, own_mean, own_spread);
        set_labels(&work.model, y, trains + first, n);
        fill_tiles(design, p, tests + first_test, n_test, work.probe);
        standardise_tiles(work.probe, n_test, p, own_mean, own_spread);
        work.n_probe = n_test;
        memcpy(found, weights, (size_t)(q * r) * sizeof *found);
        for (i64 j = 0; j < p; j++) {
            double moved = (own_mean[j] - mean[j]) / spread[j];
            double widened = own_spread[j] / spread[j];
            for (i64 k = 0; k < r; k++) {
                found[p * r + k] += moved * weights[j * r + k];
                found[j * r + k] *= widened;
            }
        }
        minimise(&work, found, matrix, matrix_size, tolerance, most_steps, tie,
                 chosen + first_test, outcome);
        certain[s] = outcome[1] > 0.0;
    }
    scratch_free(&scratch);
    return 0;
}
