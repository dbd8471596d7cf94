/* Declarations shared by the sources of the logistic model. */
#ifndef BESTOFK_LOGISTIC_H
#define BESTOFK_LOGISTIC_H

#include "kernels.h"

#define LANES 8

typedef double Lanes __attribute__((vector_size(64)));
typedef i64 LaneBits __attribute__((vector_size(64)));

static inline Lanes lanes_at(const double *cells) {
    Lanes lanes;
    memcpy(&lanes, cells, sizeof lanes);
    return lanes;
}

static inline void put_lanes(double *cells, Lanes lanes) { memcpy(cells, &lanes, sizeof lanes); }

/* Select `first` if the mask is set (all bits or none), else `second`. */
static inline Lanes lanes_where(LaneBits mask, Lanes first, Lanes second) {
    return (Lanes)((mask & (LaneBits)first) | (~mask & (LaneBits)second));
}

static inline Lanes lanes_or_zero(LaneBits mask, Lanes lanes) {
    return (Lanes)(mask & (LaneBits)lanes);
}

static inline Lanes lanes_of(double number) {
    return (Lanes){number, number, number, number, number, number, number, number};
}

static inline double sum_of_lanes(Lanes lanes) {
    double cells[LANES];
    memcpy(cells, &lanes, sizeof cells);
    return ((cells[0] + cells[4]) + (cells[2] + cells[6])) +
           ((cells[1] + cells[5]) + (cells[3] + cells[7]));
}

static inline double product_of_lanes(Lanes lanes) {
    double cells[LANES];
    memcpy(cells, &lanes, sizeof cells);
    return ((cells[0] * cells[4]) * (cells[2] * cells[6])) *
           ((cells[1] * cells[5]) * (cells[3] * cells[7]));
}

/* Sum products in eight lanes on every processor. */
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

/* Compute exp(x) for x <= 0 to within two units of the last place: x = k log 2 + r with whole k and
 * abs(r) <= log(2) / 2; exp(r) by its series to degree 13. Below -708 exp(x) is not a normal
 * number; it and exp(NaN) are replaced by exp(-708). */
static inline Lanes exp_of_negative(Lanes x) {
    const double to_whole = 6755399441055744.0; /* 1.5 * 2**52 */
    x = lanes_where(x > -708.0, x, lanes_of(-708.0));
    Lanes shifted = x * 1.4426950408889634 + to_whole, k = shifted - to_whole;
    /* log(2) to 32 bits, whose integer multiples are exact, and the rest */
    Lanes r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    Lanes s = r * r;
    /* pairs first, so that few operations depend on each other */
    Lanes low = (1.0 / 2.0 + 1.0 / 6.0 * r) + s * (1.0 / 24.0 + 1.0 / 120.0 * r);
    Lanes middle = (1.0 / 720.0 + 1.0 / 5040.0 * r) + s * (1.0 / 40320.0 + 1.0 / 362880.0 * r);
    Lanes high = (1.0 / 3628800.0 + 1.0 / 39916800.0 * r) +
                 s * (1.0 / 479001600.0 + 1.0 / 6227020800.0 * r);
    Lanes fourth = s * s;
    Lanes tail = s * (low + fourth * (middle + fourth * high));
    Lanes power = (Lanes)(((LaneBits)shifted + 1023) << 52);
    return (1.0 + (r + tail)) * power;
}

/* Allocate memory aligned to a cache line, so that no vector crosses two. */
static inline double *take_lines(Scratch *scratch, i64 count) {
    char *block = TAKE(scratch, char, 64 + count * (i64)sizeof(double));
    return block == NULL ? NULL : (double *)(void *)(block + (64 - (uintptr_t)block % 64) % 64);
}

/* Rows in tiles of eight: cell (tile, input, lane). */
static inline i64 tiles_for(i64 n) { return (n + LANES - 1) / LANES; }

/* Rows in tiles, the objective, and work space of one number or r numbers per row. */
typedef struct {
    i64 n, q, r, n_tiles;
    double *tiles;  /* (n_tiles, q, LANES); rows after the n are 0 */
    double *labels; /* (n_tiles, LANES): class codes; rows after the n are -1 */
    double strength;
    double *scores, *shares; /* (r, 8 n_tiles) */
    double *turned;          /* (r, q): weights by class */
    double *slopes;          /* (r, q, LANES) */
    double *held, *slope, *curvature;
} Model;

/* logistic_objective.c */
double objective(const Model *model, const double *weights, double *gradient);
void settle_constants(const Model *model, double *weights);

#endif
