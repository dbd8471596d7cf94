/* What the two sources of the logistic model share. */
#ifndef BESTOFK_LOGISTIC_H
#define BESTOFK_LOGISTIC_H

#include "kernels.h"

#define LANES 8

typedef double Lanes __attribute__((vector_size(64)));

static inline Lanes lanes_at(const double *cells) {
    Lanes lanes;
    memcpy(&lanes, cells, sizeof lanes);
    return lanes;
}

static inline double sum_of_lanes(Lanes lanes) {
    double cells[LANES];
    memcpy(cells, &lanes, sizeof cells);
    return ((cells[0] + cells[4]) + (cells[2] + cells[6])) +
           ((cells[1] + cells[5]) + (cells[3] + cells[7]));
}

/* sum of products in eight lanes, whatever the processor */
static inline double dot(const double *a, const double *b, i64 count) {
    Lanes total = {0};
    double rest = 0.0;
    i64 at = 0;
    for (; at + LANES <= count; at += LANES) {
        total += lanes_at(a + at) * lanes_at(b + at);
    }
    for (; at < count; at++) {
        rest += a[at] * b[at];
    }
    return sum_of_lanes(total) + rest;
}

/* exp(x) for x <= 0, to within two units of the last place, in operations that compilers put into
 * vectors: x = k log 2 + r with whole k and abs(r) <= log(2) / 2; exp(r) by its series to degree
 * 13. Below -708 exp(x) is no longer a normal number, and taken as exp(-708). */
static inline double exp_of_negative(double x) {
    const double to_whole = 6755399441055744.0; /* 1.5 * 2**52 */
    x = x > -708.0 ? x : -708.0;
    double shifted = x * 1.4426950408889634 + to_whole, k = shifted - to_whole;
    /* log(2) to 32 bits, so that whole multiples of it are exact, and the rest */
    double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double s = r * r;
    /* pairs first, so that few operations wait for one another */
    double low = (1.0 / 2.0 + 1.0 / 6.0 * r) + s * (1.0 / 24.0 + 1.0 / 120.0 * r);
    double middle = (1.0 / 720.0 + 1.0 / 5040.0 * r) + s * (1.0 / 40320.0 + 1.0 / 362880.0 * r);
    double high = (1.0 / 3628800.0 + 1.0 / 39916800.0 * r) +
                  s * (1.0 / 479001600.0 + 1.0 / 6227020800.0 * r);
    double fourth = s * s;
    double tail = s * (low + fourth * (middle + fourth * high));
    double power = float_of((i64)(((u64)bits_of(shifted) + 1023) << 52));
    return (1.0 + (r + tail)) * power;
}

/* The rows in tiles of eight, the objective, and room for one number or r numbers a row. */
typedef struct {
    i64 n, q, r, n_tiles;
    const double *tiles; /* (n_tiles, q, LANES); rows behind the n are 0 */
    const i64 *y;
    double strength;
    double *scores, *shares; /* (r, 8 n_tiles) */
    double *top, *total;     /* (8 n_tiles) */
    double *turned;          /* (r, q): weights by class */
    double *slopes;          /* (r, q, LANES) */
    double *held, *slope, *curvature;
} Model;

/* logistic_objective.c */
double objective(const Model *model, const double *weights, double *gradient);
void settle_constants(const Model *model, double *weights);
double choose_classes(const double *scores, i64 n, i64 r, double tie, const double *reach,
                      i64 *chosen);

#endif
