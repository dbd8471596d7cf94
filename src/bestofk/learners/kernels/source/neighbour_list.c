/* The list of the neighbours of a row, sorted by distance under the reference scales.
 *
 * The first neighbours are sorted exactly. The others, which few rows need, are sorted into bins of
 * about one percent of their distance, in time proportional to their number; bounds are per bin. A
 * few columns contribute most of a distance beyond the least ratio times the reference distance:
 * those whose divisors differ most between splits. Bounds include these columns in full and all
 * others at the least ratio, eight neighbours at a time. The least of eight neighbours in each part
 * bounds all eight, so one step skips eight blocks, or eight times 64 neighbours. */
#include "neighbour.h"

/* Bins are single-precision numbers without their last bits. */
#define DROPPED 15
/* Just below the largest single-precision number. */
#define MOST 3e38

static uint32_t bits_of_single(double number) {
    float single = (float)number;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static void add_four(double *RESTRICT total, const double *RESTRICT first,
                     const double *RESTRICT second, const double *RESTRICT third,
                     const double *RESTRICT fourth, double a, double b, double c, double d,
                     const double *weight, i64 count) {
    double p = weight[0], q = weight[1], r = weight[2], s = weight[3];
    for (i64 k = 0; k < count; k++) {
        double u = first[k] - a, v = second[k] - b, w = third[k] - c, x = fourth[k] - d;
        double left = FUSED(q * v, v, (p * u) * u), right = FUSED(s * x, x, (r * w) * w);
        total[k] += left + right;
    }
}

/* Compute distances of row i under the reference scales; unknown numbers count their least. `plain`
 * marks numeric columns without unknown values. */
void lower_keys(const double *columns, i64 d, i64 n, i64 i, const i64 *cardinality,
                const bool *plain, const double *weight, double one_floor, double both_floor,
                double *keys) {
    for (i64 start = 0; start < n; start += BLOCK) {
        i64 size = least_of(BLOCK, n - start), j = 0;
        double *RESTRICT part = keys + start;
        for (i64 k = 0; k < size; k++) {
            part[k] = 0.0;
        }
        while (j < d) {
            const double *RESTRICT column = columns + j * n + start;
            if (j + 4 <= d && plain[j] && plain[j + 1] && plain[j + 2] && plain[j + 3]) {
                const double *here = columns + j * n + i;
                add_four(part, column, column + n, column + 2 * n, column + 3 * n, here[0],
                         here[n], here[2 * n], here[3 * n], weight + j, size);
                j += 4;
                continue;
            }
            double x = columns[j * n + i], weight_j = weight[j];
            if (cardinality[j] > 0) {
                for (i64 k = 0; k < size; k++) {
                    part[k] += column[k] == x ? 0.0 : 1.0;
                }
            } else if (isnan(x)) {
                for (i64 k = 0; k < size; k++) {
                    part[k] += column[k] == column[k] ? one_floor : both_floor;
                }
            } else {
                for (i64 k = 0; k < size; k++) {
                    double difference = column[k] - x;
                    double square = weight_j * (difference * difference);
                    part[k] += column[k] == column[k] ? square : one_floor;
                }
            }
            j++;
        }
    }
}

/* List the first neighbours in order; return their number. */
i64 list_first(const double *keys, i64 n, i64 length, i64 room, Near *near, double *spare_keys,
               i64 *spare_rows) {
    i64 count = first_rows(keys, n, length, room, near->distance, near->rows, spare_keys,
                           spare_rows);
    for (i64 t = 0; t < count; t++) {
        near->distance[t] *= 1.0 - SLACK;
        if ((t & 7) == 0) {
            near->floor[t >> 3] = near->distance[t];
        }
    }
    return count;
}

/* List the other neighbours after the first `count`, a multiple of 8, bin by bin. `number` and
 * `listed` have n cells; `bins` is 0 before and after. */
void list_others(const double *keys, i64 n, i64 count, Near *near, uint32_t *number, i64 *bins,
                 bool *listed) {
    i64 low = BINS, high = 0;
    memset(listed, 0, (size_t)n);
    for (i64 t = 0; t < count; t++) {
        listed[near->rows[t]] = true;
    }
    for (i64 k = 0; k < n; k++) {
        number[k] = bits_of_single(keys[k]) >> DROPPED;
        if (!listed[k]) {
            i64 at = number[k];
            bins[at]++;
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    }
    i64 start = count;
    for (i64 place = low; place <= high; place++) {
        i64 here = bins[place];
        bins[place] = start;
        start += here;
    }
    for (i64 k = 0; k < n; k++) {
        if (!listed[k]) {
            i64 t = bins[number[k]]++;
            near->rows[t] = k;
            near->distance[t] = keys[k] * (1.0 - SLACK);
        }
    }
    for (i64 place = low; place <= high; place++) {
        bins[place] = 0;
    }
    /* The least of the bin in which a block starts is not above what follows. */
    for (i64 block = count >> 3; block < (n + 7) >> 3; block++) {
        uint32_t bits = bits_of_single(near->distance[8 * block]) >> DROPPED << DROPPED;
        float least;
        memcpy(&least, &bits, sizeof least);
        near->floor[block] =
            ((double)least < MOST ? (double)least : MOST) * (1.0 - 9.5367431640625e-07);
    }
}

/* Compute the terms c_j of the neighbours from `start` on, if no number is unknown. */
void fill_terms(const double *values, i64 i, i64 start, i64 count, const SplitScales *scales,
                Near *near) {
    i64 d = scales->d;
    const double *RESTRICT cells = values + i * d, *RESTRICT weight = scales->weight;
    for (i64 t = start; t < count; t++) {
        const double *RESTRICT others = values + near->rows[t] * d;
        float *RESTRICT terms = near->terms + t * scales->padded;
        for (i64 j = 0; j < d; j++) {
            double difference = others[j] - cells[j];
            terms[j] = (float)(weight[j] * (difference * difference));
        }
        for (i64 j = 0; j < d; j++) {
            if (scales->cardinality[j] > 0) {
                terms[j] = others[j] == cells[j] ? 0.0f : 1.0f;
            }
        }
        near->twin[t] = false;
        if (near->distance[t] < TINY) {
            bool equal = true;
            for (i64 j = 0; j < d; j++) {
                equal &= others[j] == cells[j];
            }
            near->twin[t] = equal;
        }
    }
}

/* Choose the columns that contribute most to the distances of the first `count` neighbours. */
static void choose_columns(i64 count, const SplitScales *scales, Near *near) {
    i64 d = scales->d;
    for (i64 j = 0; j < d; j++) {
        near->score[j] = 0.0;
    }
    for (i64 t = 0; t < count; t++) {
        const float *terms = near->terms + t * scales->padded;
        for (i64 j = 0; j < d; j++) {
            near->score[j] += (double)terms[j];
        }
    }
    for (i64 j = 0; j < d; j++) {
        near->score[j] *= scales->excess[j];
    }
    for (i64 m = 0; m < least_of(EIGHT, d); m++) {
        i64 best = 0;
        for (i64 j = 1; j < d; j++) {
            if (near->score[j] > near->score[best]) {
                best = j;
            }
        }
        near->chosen[m] = best;
        near->score[best] = -1.0;
    }
}

/* Write the least of each eight numbers of each part to the next level, `count` in all. */
static void least_of_eight(const float *finer, i64 first, i64 last, i64 count, float *coarser) {
    for (i64 k = first; k < last; k++) {
        i64 places = least_of(8, count - 8 * k);
        for (i64 part = 0; part < PARTS; part++) {
            const float *cells = finer + (k * PARTS + part) * EIGHT;
            float least = INFINITY;
            for (i64 place = 0; place < places; place++) {
                least = cells[place] < least ? cells[place] : least;
            }
            coarser[((k >> 3) * PARTS + part) * EIGHT + (k & 7)] = least;
        }
    }
    for (i64 k = last; k < ((last + 7) & ~(i64)7); k++) {
        for (i64 part = 0; part < PARTS; part++) {
            coarser[((k >> 3) * PARTS + part) * EIGHT + (k & 7)] = INFINITY;
        }
    }
}

/* Copy the neighbours from `start` on, a multiple of 64, into blocks, and the least of these.
 * Groups are whole when `start` is 0 or all before it were filled in by another call. */
void fill_blocks(const double *columns, i64 n, i64 i, i64 start, i64 count,
                 const SplitScales *scales, Near *near) {
    for (i64 t = start; t < count; t++) {
        near->blocks[(t >> 3) * PARTS * EIGHT + (t & 7)] = (float)near->distance[t];
    }
    for (i64 m = 0; m < least_of(EIGHT, scales->d); m++) {
        i64 j = near->chosen[m];
        const double *column = columns + j * n;
        double x = column[i], weight = scales->weight[j];
        bool nominal = scales->cardinality[j] > 0;
        for (i64 t = start; t < count; t++) {
            double difference = column[near->rows[t]] - x;
            double term = weight * (difference * difference);
            if (nominal) {
                term = difference == 0.0 ? 0.0 : 1.0;
            }
            near->blocks[((t >> 3) * PARTS + m + 1) * EIGHT + (t & 7)] = (float)term;
        }
    }
    i64 first = start >> 3, last = (count + 7) >> 3;
    least_of_eight(near->blocks, first, last, count, near->tiles);
    least_of_eight(near->tiles, first >> 3, (last + 7) >> 3, last, near->groups);
}

/* Prepare the first `count` neighbours, at most 64, of row i for a search. */
void start_list(const double *values, const double *columns, i64 n, i64 i, i64 count,
                const SplitScales *scales, Near *near) {
    memset(near->filled, 0, (size_t)near->n_tiles);
    fill_terms(values, i, 0, count, scales, near);
    near->filled[0] = true;
    choose_columns(count, scales, near);
    fill_blocks(columns, n, i, 0, count, scales, near);
}

/* Find which of the first 64 neighbours train, for the splits of all words. */
void fill_first_masks(const Plan *plan, i64 i, i64 count, Near *near) {
    u64 *masks = near->first_masks;
    memset(masks, 0, (size_t)(plan->words * 64) * sizeof *masks);
    for (i64 t = 0; t < least_of(count, 64); t++) {
        for (i64 w = 0; w < plan->words; w++) {
            masks[w * 64 + t] = serves(plan, i, near->rows[t], w);
        }
    }
    for (i64 w = 0; w < plan->words; w++) {
        transpose_bits(masks + w * 64);
    }
}

/* Find which of the 64 neighbours of a tile train, for the 64 splits of word w. */
void fill_masks(const Plan *plan, i64 tile, i64 i, i64 w, i64 count, Near *near) {
    u64 *masks = near->masks + tile * 64;
    for (i64 t = 0; t < 64; t++) {
        i64 at = 64 * tile + t;
        masks[t] = at < count ? serves(plan, i, near->rows[at], w) : 0;
    }
    transpose_bits(masks);
}
