/* The nearest neighbour.
 *
 * A term of the distance is the squared difference in one column. Terms are added in column order
 * in double precision, so every caller gets the same number to the last bit. The inner loops run
 * over rows and the outer ones over columns, which keeps the order of the sum and lets the compiler
 * process several rows at a time. */
#include "kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { BY_RANGE, BY_STD, BY_NONE };

#define BLOCK 1024
/* Below this, sums in single precision may lose terms. */
#define TINY 1e-20
/* Squares of larger differences may overflow in single precision. */
#define LARGEST_SINGLE 1e15

/* Compute scales from extremes and deviations; extremes in the wrong order mean that there is no
 * value. */
static void finish_scales(const i64 *cardinality, i64 d, i64 scale, double *low, double *high,
                          double *divisor) {
    for (i64 j = 0; j < d; j++) {
        if (cardinality[j] > 0) {
            low[j] = 0.0;
            high[j] = 0.0;
            divisor[j] = 1.0;
        } else if (low[j] > high[j]) {
            low[j] = 0.0;
            high[j] = 0.0;
            divisor[j] = 0.0;
        } else if (scale == BY_RANGE) {
            divisor[j] = high[j] - low[j];
        } else if (scale == BY_NONE) {
            divisor[j] = 1.0;
        } else if (low[j] == high[j]) {
            divisor[j] = 0.0;
        }
    }
}

/* Compute standard deviations of the known values, with sums in row order. */
static void deviations(const double *values, i64 d, const i64 *rows, i64 n_rows,
                       double *RESTRICT mean, double *RESTRICT known, double *RESTRICT divisor) {
    bool unknown = false;
    for (i64 j = 0; j < d; j++) {
        mean[j] = 0.0;
        known[j] = (double)n_rows;
    }
    for (i64 r = 0; r < n_rows; r++) {
        const double *RESTRICT cells = values + rows[r] * d;
        for (i64 j = 0; j < d; j++) {
            mean[j] += cells[j];
        }
    }
    for (i64 j = 0; j < d; j++) {
        unknown |= isnan(mean[j]) != 0;
    }
    if (unknown) {
        for (i64 j = 0; j < d; j++) {
            mean[j] = 0.0;
            known[j] = 0.0;
        }
        for (i64 r = 0; r < n_rows; r++) {
            const double *cells = values + rows[r] * d;
            for (i64 j = 0; j < d; j++) {
                if (!isnan(cells[j])) {
                    known[j] += 1.0;
                    mean[j] += cells[j];
                }
            }
        }
    }
    for (i64 j = 0; j < d; j++) {
        mean[j] = mean[j] / (known[j] > 1.0 ? known[j] : 1.0);
        divisor[j] = 0.0;
    }
    for (i64 r = 0; r < n_rows; r++) {
        const double *RESTRICT cells = values + rows[r] * d;
        for (i64 j = 0; j < d; j++) {
            double deviation = cells[j] - mean[j];
            divisor[j] += deviation == deviation ? deviation * deviation : 0.0;
        }
    }
    for (i64 j = 0; j < d; j++) {
        divisor[j] = sqrt(divisor[j] / (known[j] > 1.0 ? known[j] : 1.0));
    }
}

/* Find the smallest and largest known values of the numeric columns in `rows`, and the divisors.
 *
 * The divisor of a constant column is 0, so known values do not count. Without scaling, it is 0
 * only for a column without known values. Nominal columns get 0, 0 and 1. */
i64 neighbour_scales(const double *values, i64 d, const i64 *cardinality, const i64 *rows,
                     i64 n_rows, i64 scale, double *low, double *high, double *divisor) {
    Scratch scratch = {0};
    double *mean = TAKE(&scratch, double, d), *known = TAKE(&scratch, double, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 j = 0; j < d; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (i64 r = 0; r < n_rows; r++) {
        const double *cells = values + rows[r] * d;
        for (i64 j = 0; j < d; j++) {
            low[j] = cells[j] < low[j] ? cells[j] : low[j];
        }
        for (i64 j = 0; j < d; j++) {
            high[j] = cells[j] > high[j] ? cells[j] : high[j];
        }
    }
    if (scale == BY_STD) {
        deviations(values, d, rows, n_rows, mean, known, divisor);
    }
    finish_scales(cardinality, d, scale, low, high, divisor);
    scratch_free(&scratch);
    return 0;
}

/* Return the squared distance of two rows. */
static double pair_distance(const double *x_cells, const double *z_cells, i64 d,
                            const i64 *cardinality, const double *low, const double *high,
                            const double *divisor) {
    double total = 0.0;
    for (i64 j = 0; j < d; j++) {
        double x = x_cells[j], z = z_cells[j], scale = divisor[j];
        if (cardinality[j] > 0) {
            if (x != z) {
                total += 1.0;
            }
        } else if (isnan(x) || isnan(z)) {
            if (scale == 0.0) {
                total += 1.0;
            } else if (isnan(x) && isnan(z)) {
                double both = (high[j] - low[j]) / scale;
                total += both * both;
            } else {
                double v = isnan(x) ? z : x, one = v - low[j];
                one = (high[j] - v > one ? high[j] - v : one) / scale;
                total += one * one;
            }
        } else if (scale != 0.0) {
            double difference = (z - x) / scale;
            total += difference * difference;
        }
    }
    return total;
}

/* Add to `total` the terms of one column: value x against every value of the column. */
static void add_column(double *RESTRICT total, const double *RESTRICT column, i64 count, double x,
                       bool nominal, double low, double high, double s) {
    bool unknown = isnan(x);
    if (nominal) {
        for (i64 k = 0; k < count; k++) {
            total[k] += column[k] == x ? 0.0 : 1.0;
        }
    } else if (s == 0.0) {
        for (i64 k = 0; k < count; k++) {
            total[k] += unknown || isnan(column[k]) ? 1.0 : 0.0;
        }
    } else if (unknown) {
        double both = (high - low) / s;
        both *= both;
        for (i64 k = 0; k < count; k++) {
            double above = column[k] - low, below = high - column[k];
            double one = (below > above ? below : above) / s;
            total[k] += column[k] == column[k] ? one * one : both;
        }
    } else {
        double one = (high - x > x - low ? high - x : x - low) / s;
        one *= one;
        if (s == 1.0) {
            for (i64 k = 0; k < count; k++) {
                double difference = column[k] - x, square = difference * difference;
                total[k] += column[k] == column[k] ? square : one;
            }
        } else {
            for (i64 k = 0; k < count; k++) {
                double difference = (column[k] - x) / s, square = difference * difference;
                total[k] += column[k] == column[k] ? square : one;
            }
        }
    }
}

/* Training rows as scaled singles in tiles, to screen the neighbours of queries. */
typedef struct {
    const double *columns, *low, *high, *divisor;
    const i64 *cardinality;
    i64 d, n, numeric, nominal; /* the last two count the columns that can differ */
    i64 *used;                  /* numeric columns, then nominal ones */
    float *tiles;               /* (tiles, used columns, TILE) */
    double *row, largest;       /* work space, and the largest size of a scaled number */
} Screen;

#define TILE 256
#define TOGETHER 4
/* With fewer queries, screening does not pay. */
#define MIN_SCREENED 8
/* With more candidates in a tile, compute all its distances. */
#define MAX_CANDIDATES 16

typedef float Sixteen __attribute__((vector_size(64)));
typedef int32_t SixteenBits __attribute__((vector_size(64)));

static inline Sixteen add_square(Sixteen difference, Sixteen total) {
#if defined(__AVX512F__)
    return (Sixteen)_mm512_fmadd_ps((__m512)difference, (__m512)difference, (__m512)total);
#else
    return difference * difference + total;
#endif
}

static float scaled_single(const Screen *screen, i64 j, double value) {
    double centre = screen->low[j] / 2.0 + screen->high[j] / 2.0;
    return (float)((value - centre) / screen->divisor[j]);
}

/* Prepare the tiles; return whether all rows can be screened. */
static bool start_screen(Scratch *scratch, Screen *screen) {
    i64 d = screen->d, n = screen->n, tiles = (n + TILE - 1) / TILE;
    screen->used = TAKE(scratch, i64, d);
    screen->row = TAKE(scratch, double, d);
    if (scratch->failed) {
        return false;
    }
    for (int nominal = 0; nominal < 2; nominal++) {
        for (i64 j = 0; j < d; j++) {
            if ((screen->cardinality[j] > 0) == nominal && screen->divisor[j] != 0.0) {
                screen->used[screen->numeric + screen->nominal] = j;
                *(nominal ? &screen->nominal : &screen->numeric) += 1;
            } else if (!nominal && screen->cardinality[j] == 0) {
                for (i64 k = 0; k < n; k++) { /* an unknown number counts in a constant column */
                    if (isnan(screen->columns[j * n + k])) {
                        return false;
                    }
                }
            }
        }
    }
    i64 used = screen->numeric + screen->nominal;
    screen->tiles = TAKE(scratch, float, tiles *used *TILE);
    if (scratch->failed) {
        return false;
    }
    for (i64 u = 0; u < used; u++) {
        i64 j = screen->used[u];
        float largest = 0.0f, sum = 0.0f;
        for (i64 start = 0; start < n; start += TILE) {
            float *cells = screen->tiles + (start * used + u * TILE);
            const double *column = screen->columns + j * n + start;
            for (i64 k = 0; k < least_of(TILE, n - start); k++) {
                if (u >= screen->numeric) {
                    cells[k] = (float)column[k];
                    continue;
                }
                cells[k] = scaled_single(screen, j, column[k]);
                largest = fabsf(cells[k]) > largest ? fabsf(cells[k]) : largest;
                sum += cells[k]; /* not a number if any cell is unknown */
            }
        }
        if (!(largest < LARGEST_SINGLE) || isnan(sum)) {
            return false;
        }
        screen->largest = (double)largest > screen->largest ? (double)largest : screen->largest;
    }
    return true;
}

/* Estimate the squared distances of TOGETHER queries from the rows of a tile, and their least. */
static void estimate_tile(const Screen *screen, const float *tile, i64 size,
                          const float *queries, float (*out)[TILE], float *least) {
    i64 numeric = screen->numeric, used = numeric + screen->nominal;
    const SixteenBits one = (SixteenBits){0} + 0x3f800000; /* the bits of 1.0f */
    Sixteen lowest[TOGETHER];
    for (int q = 0; q < TOGETHER; q++) {
        lowest[q] = (Sixteen){0} + INFINITY;
    }
    for (i64 k = 0; k < size; k += 16) {
        Sixteen total[TOGETHER] = {{0}};
        for (i64 u = 0; u < numeric; u++) {
            Sixteen cells;
            memcpy(&cells, tile + u * TILE + k, sizeof cells);
            for (int q = 0; q < TOGETHER; q++) {
                total[q] = add_square(cells - queries[u * TOGETHER + q], total[q]);
            }
        }
        for (i64 u = numeric; u < used; u++) {
            Sixteen cells;
            memcpy(&cells, tile + u * TILE + k, sizeof cells);
            for (int q = 0; q < TOGETHER; q++) {
                total[q] += (Sixteen)((cells != queries[u * TOGETHER + q]) & one);
            }
        }
        for (int q = 0; q < TOGETHER; q++) {
            for (i64 past = size - k; past < 16; past++) {
                total[q][past] = INFINITY;
            }
            memcpy(out[q] + k, &total[q], sizeof total[q]);
            SixteenBits below = total[q] < lowest[q];
            lowest[q] = (Sixteen)(((SixteenBits)total[q] & below) |
                                  ((SixteenBits)lowest[q] & ~below));
        }
    }
    for (int q = 0; q < TOGETHER; q++) {
        least[q] = lowest[q][0];
        for (int lane = 1; lane < 16; lane++) {
            least[q] = lowest[q][lane] < least[q] ? lowest[q][lane] : least[q];
        }
    }
}

/* Update the nearest row of a query with all rows from `start` on. */
static void scan_rows(const Screen *screen, i64 start, i64 size, const double *query,
                      double *best, i64 *nearest) {
    double total[BLOCK] = {0.0};
    for (i64 j = 0; j < screen->d; j++) {
        add_column(total, screen->columns + j * screen->n + start, size, query[j],
                   screen->cardinality[j] > 0, screen->low[j], screen->high[j],
                   screen->divisor[j]);
    }
    for (i64 k = 0; k < size; k++) {
        if (total[k] < *best) {
            *best = total[k];
            *nearest = start + k;
        }
    }
}

/* Update the nearest row of a query with the rows of a tile whose estimate is at most `limit`. */
static void check_candidates(const Screen *screen, i64 start, i64 size, const float *estimates,
                             float limit, const double *query, double *best, i64 *nearest) {
    i64 count = 0, candidates[MAX_CANDIDATES + 1];
    for (i64 k = 0; k < size && count <= MAX_CANDIDATES; k++) {
        if (estimates[k] <= limit) {
            candidates[count++] = start + k;
        }
    }
    if (count > MAX_CANDIDATES) {
        scan_rows(screen, start, size, query, best, nearest);
        return;
    }
    for (i64 at = 0; at < count; at++) {
        for (i64 j = 0; j < screen->d; j++) {
            screen->row[j] = screen->columns[j * screen->n + candidates[at]];
        }
        double distance = pair_distance(query, screen->row, screen->d, screen->cardinality,
                                        screen->low, screen->high, screen->divisor);
        if (distance < *best) {
            *best = distance;
            *nearest = candidates[at];
        }
    }
}

/* Find the index of the nearest row for every query, the lowest of ties; columns (d, n).
 *
 * Distances are estimated in single precision. With scaled numbers of sizes up to z, the root of an
 * estimate is off by at most sqrt(d) z 2^-23, and by a factor of 1 + (d + 16) 2^-23. Only rows
 * whose estimates are within these bounds of the least can be nearest; pair_distance decides. */
i64 neighbour_rows(const double *columns, i64 d, i64 n, const i64 *cardinality, const double *low,
                   const double *high, const double *divisor, const double *queries,
                   i64 n_queries, i64 *nearest) {
    Scratch scratch = {0};
    Screen screen = {.columns = columns, .low = low, .high = high, .divisor = divisor,
                     .cardinality = cardinality, .d = d, .n = n};
    bool screened = n_queries >= MIN_SCREENED && start_screen(&scratch, &screen);
    i64 used = screen.numeric + screen.nominal;
    float *cells = TAKE(&scratch, float, used *TOGETHER);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    float estimates[TOGETHER][TILE], least[TOGETHER];
    double wide = 1.0 + (double)(d + 16) * 0x1p-23;
    for (i64 first = 0; first < n_queries; first += TOGETHER) {
        i64 count = least_of(TOGETHER, n_queries - first);
        double best[TOGETHER], size = screen.largest;
        float lowest[TOGETHER];
        bool quick = screened;
        for (i64 q = 0; q < TOGETHER; q++) {
            const double *query = queries + least_of(first + q, n_queries - 1) * d;
            for (i64 u = 0; u < used; u++) {
                i64 j = screen.used[u];
                float cell = u < screen.numeric ? scaled_single(&screen, j, query[j])
                                                : (float)query[j];
                cells[u * TOGETHER + q] = cell;
                if (u < screen.numeric && (double)fabsf(cell) > size) {
                    size = (double)fabsf(cell);
                }
            }
            for (i64 j = 0; j < d; j++) {
                quick &= cardinality[j] > 0 || !isnan(query[j]);
            }
            best[q] = INFINITY;
            lowest[q] = INFINITY;
            if (q < count) {
                nearest[first + q] = 0;
            }
        }
        quick &= size < LARGEST_SINGLE;
        double shift = 2.0 * sqrt((double)d) * size * 0x1p-23;
        i64 step = quick ? TILE : BLOCK;
        for (i64 start = 0; start < n; start += step) {
            i64 rows = least_of(step, n - start);
            if (quick) {
                estimate_tile(&screen, screen.tiles + start * used, rows, cells, estimates,
                              least);
            }
            for (i64 q = 0; q < count; q++) {
                const double *query = queries + (first + q) * d;
                if (!quick) {
                    scan_rows(&screen, start, rows, query, &best[q], &nearest[first + q]);
                    continue;
                }
                lowest[q] = least[q] < lowest[q] ? least[q] : lowest[q];
                double root = (sqrt((double)lowest[q]) * wide + shift) * wide;
                float limit = (float)(root * root * (1.0 + 1e-6) + TINY);
                if (least[q] <= limit) {
                    check_candidates(&screen, start, rows, estimates[q], limit, query, &best[q],
                                     &nearest[first + q]);
                }
            }
        }
    }
    scratch_free(&scratch);
    return 0;
}
