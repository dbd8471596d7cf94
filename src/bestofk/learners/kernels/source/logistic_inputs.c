/* The inputs of the logistic model: means, spreads, and standardised rows in tiles of eight. */
#include "logistic.h"

/* The largest standardised input, whose square does not overflow. Training rows have none that is
 * nearly as large. */
#define FAR 1e150

/* Copy the cells of the rows, then a constant 1; NaN (0 for the constant) after the rows. */
static void fill_tiles(const double *design, i64 p, const i64 *rows, i64 n, double *tiles) {
    i64 q = p + 1, wide = LANES * tiles_for(n);
    for (i64 i = 0; i < wide; i++) {
        double *RESTRICT to = tiles + i / LANES * q * LANES + i % LANES;
        if (i < n) {
            const double *RESTRICT cells = design + rows[i] * p;
            for (i64 j = 0; j < p; j++) {
                to[j * LANES] = cells[j];
            }
        } else {
            for (i64 j = 0; j < p; j++) {
                to[j * LANES] = NAN;
            }
        }
        to[p * LANES] = i < n ? 1.0 : 0.0;
    }
}

/* Sum cell - base (or its square) and count known cells, column by column. */
static void add_tiles(const double *tiles, i64 first, i64 last, i64 p, const double *base,
                      bool squared, Lanes *sums, Lanes *known) {
    for (i64 t = first; t < last; t++) {
        const double *z = tiles + t * (p + 1) * LANES;
        for (i64 j = 0; j < p; j++) {
            Lanes off = lanes_at(z + j * LANES) - base[j];
            LaneBits mask = off == off;
            sums[j] += lanes_or_zero(mask, squared ? off * off : off);
            known[j] += lanes_or_zero(mask, lanes_of(1.0));
        }
    }
}

/* Do the same if every cell is known. */
static void add_known_tiles(const double *tiles, i64 last, i64 p, const double *base, bool squared,
                            Lanes *RESTRICT sums) {
    for (i64 t = 0; t < last; t++) {
        const double *z = tiles + t * (p + 1) * LANES;
        if (squared) {
            for (i64 j = 0; j < p; j++) {
                Lanes off = lanes_at(z + j * LANES) - base[j];
                sums[j] += off * off;
            }
        } else {
            for (i64 j = 0; j < p; j++) {
                sums[j] += lanes_at(z + j * LANES) - base[j];
            }
        }
    }
}

static void sum_tiles(const double *tiles, i64 n, i64 p, const double *base, bool squared,
                      bool *complete, Lanes *sums, Lanes *known) {
    i64 full = n / LANES;
    if (*complete) {
        memset(sums, 0, (size_t)p * sizeof *sums);
        memset(known, 0, (size_t)p * sizeof *known);
        add_known_tiles(tiles, full, p, base, squared, sums);
        for (i64 j = 0; j < p; j++) {
            double sum = sum_of_lanes(sums[j]);
            *complete = *complete && sum == sum;
            known[j] = lanes_of((double)full);
        }
        if (*complete) {
            add_tiles(tiles, full, tiles_for(n), p, base, squared, sums, known);
            return;
        }
    }
    memset(sums, 0, (size_t)p * sizeof *sums);
    memset(known, 0, (size_t)p * sizeof *known);
    add_tiles(tiles, 0, tiles_for(n), p, base, squared, sums, known);
}

/* Compute mean and standard deviation (with n) of the known cells; a deviation of 0 becomes 1.
 *
 * Sums are of differences from the first known cell, so that rounding gives a constant column a
 * deviation of 0. `room` has 2 p cells. */
static void find_moments(const double *tiles, i64 n, i64 p, Lanes *room, double *mean,
                         double *spread) {
    bool complete = true;
    Lanes *sums = room, *known = room + p;
    for (i64 j = 0; j < p; j++) {
        mean[j] = 0.0;
        for (i64 i = 0; i < n; i++) {
            double cell = tiles[(i / LANES * (p + 1) + j) * LANES + i % LANES];
            if (cell == cell) {
                mean[j] = cell;
                break;
            }
        }
    }
    sum_tiles(tiles, n, p, mean, false, &complete, sums, known);
    for (i64 j = 0; j < p; j++) {
        double count = sum_of_lanes(known[j]);
        mean[j] += count > 0.0 ? sum_of_lanes(sums[j]) / count : 0.0;
    }
    sum_tiles(tiles, n, p, mean, true, &complete, sums, known);
    for (i64 j = 0; j < p; j++) {
        double count = sum_of_lanes(known[j]);
        spread[j] = count > 0.0 ? sqrt(sum_of_lanes(sums[j]) / count) : 0.0;
        spread[j] = spread[j] == 0.0 ? 1.0 : spread[j];
    }
}

i64 logistic_moments(const double *design, i64 p, const i64 *rows, i64 n, double *mean,
                     double *spread) {
    Scratch scratch = {0};
    double *tiles = take_lines(&scratch, tiles_for(n) * (p + 1) * LANES);
    double *room = take_lines(&scratch, 2 * p * LANES);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    fill_tiles(design, p, rows, n, tiles);
    find_moments(tiles, n, p, (Lanes *)(void *)room, mean, spread);
    scratch_free(&scratch);
    return 0;
}

/* Compute (x - mean) / spread with 0 for missing cells, and a last column of ones. */
i64 logistic_standardise(const double *design, i64 p, const i64 *rows, i64 n, const double *mean,
                         const double *spread, double *out) {
    for (i64 i = 0; i < n; i++) {
        const double *RESTRICT cells = design + rows[i] * p;
        double *RESTRICT to = out + i * (p + 1);
        for (i64 j = 0; j < p; j++) {
            double z = (cells[j] - mean[j]) / spread[j];
            z = z > FAR ? FAR : z;
            z = z < -FAR ? -FAR : z;
            to[j] = z == z ? z : 0.0;
        }
        to[p] = 1.0;
    }
    return 0;
}
