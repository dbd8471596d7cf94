/* Whole plans if the columns are scaled by the training rows of each split.
 *
 * The neighbours of each row are sorted once under reference scales: for each column the largest
 * divisor of any split. The distance of two rows in a split is the sum of r_j c_j over the columns,
 * where c_j is the term of column j under the reference and r_j >= 1 is the squared ratio of the
 * divisors. It is at least min r_j times the reference distance, so the search stops when this
 * bound exceeds the best distance so far. Columns that are constant in the training rows do not
 * count (r_j = 0); their c_j are equal for all training rows and are subtracted before the bound is
 * applied.
 *
 * Distances in the split are first estimated in single precision from stored c_j, for the
 * neighbours that a bound from a few columns does not exclude. If two neighbours are closer than
 * the rounding of that estimate, pair_distance decides. */
#include "neighbour.h"

/* Sort this many neighbours first, and the others only if these do not suffice. */
#define SHORT 64
/* Terms up to here times ratios up to 1e12 can be summed in single precision. */
#define LARGE 1e20

static double exact_distance(const double *values, const SplitScales *scales, i64 i, i64 k,
                             i64 s) {
    i64 d = scales->d;
    return pair_distance(values + i * d, values + k * d, d, scales->cardinality,
                         scales->low + s * d, scales->high + s * d, scales->divisors + s * d);
}

/* Find the nearest of the neighbours that train in split s and are estimated up to `bound`. */
static i64 decide(const double *values, i64 i, i64 w, i64 b, i64 s, i64 count, double limit,
                  double bound, const Near *near, const SplitScales *scales) {
    double best = INFINITY;
    i64 winner = -1;
    for (i64 block = 0; block < (count + 7) >> 3; block++) {
        i64 tile = block >> 3;
        /* If nothing was prepared, all bounds were above the limit. */
        if (!near->ready[tile]) {
            continue;
        }
        u64 mask = tile ? near->masks[tile * 64 + b] : near->first_masks[w * 64 + b];
        u64 hits = (mask >> (8 * (block & 7))) & 255;
        if (hits != 0) {
            hits &= not_above(near->blocks, block, near->weights, limit);
        }
        while (hits != 0) {
            i64 t = 8 * block + lowest_bit(hits);
            hits &= hits - 1;
            if (estimate(scales, s, near, t) > bound) {
                continue;
            }
            i64 k = near->rows[t];
            double distance = exact_distance(values, scales, i, k, s);
            if (distance < best || (distance == best && k < winner)) {
                best = distance;
                winner = k;
            }
        }
    }
    return winner;
}

/* Predict row i in the splits `left`; keep the open ones and return whether there are any. `tail`
 * is a lower bound of the reference distances of rows that are not in the list. */
static bool search(const Plan *plan, const double *values, i64 i, u64 *left, i64 count,
                   double tail, Near *near, const SplitScales *scales, bool quick) {
    const i64 *rows = near->rows, *copies = scales->copies, *y = plan->y;
    const double *floor = near->floor;
    i64 parts = least_of(EIGHT, scales->d), n_tiles = (count + 63) >> 6;
    double wide = 1.0 + (double)(scales->d + 16) * 2.384185791015625e-07;
    bool any_left = false;
    fill_first_masks(plan, i, count, near);
    near->ready[0] = true;
    for (i64 w = 0; w < plan->words; w++) {
        u64 waiting = left[w], unsettled = 0;
        for (i64 t = 0; quick && waiting != 0 && t < least_of(count, 64) && near->twin[t]; t++) {
            u64 hit = waiting & serves(plan, i, rows[t], w);
            write_code(plan, w, i, hit, y[rows[t]]);
            waiting ^= hit;
        }
        for (i64 tile = 1; tile < n_tiles; tile++) {
            near->ready[tile] = false;
        }
        while (waiting != 0) {
            i64 b = lowest_bit(waiting);
            u64 bit = (u64)1 << b;
            waiting ^= bit;
            i64 s = split_of(plan, i, w, b);
            double least = scales->least_ratio[s];
            bool single = quick && scales->estimable[s];
            double margin = single ? wide : 1.0 + SLACK, shift = 0.0;
            if (single) {
                fill_weights(scales, s, parts, near);
            }
            /* Bounds and limit include columns that are constant in this split. */
            if (scales->constant_first[s] < scales->constant_first[s + 1]) {
                shift = least * constant_terms(values + i * scales->d, scales, s);
            }

            double best = INFINITY, second = INFINITY, limit = INFINITY;
            i64 winner = -1;
            for (i64 group = 0; 512 * group < count && least * floor[64 * group] <= limit;
                 group++) {
                u64 some = single && winner >= 0
                               ? not_above(near->groups, group, near->weights, limit)
                               : 255;
                some &= (u64)255 >> most_of(0, 8 - (n_tiles - 8 * group));
                while (some != 0) {
                    i64 tile = 8 * group + lowest_bit(some);
                    some &= some - 1;
                    if (least * floor[8 * tile] > limit) {
                        break;
                    }
                    u64 few = single && winner >= 0
                                  ? not_above(near->tiles, tile, near->weights, limit)
                                  : 255;
                    if (few != 0 && !near->ready[tile]) {
                        if (quick && !near->filled[tile]) {
                            fill_terms(values, i, 64 * tile, least_of(64 * tile + 64, count),
                                       scales, near);
                            near->filled[tile] = true;
                        }
                        fill_masks(plan, tile, i, w, count, near);
                        near->ready[tile] = true;
                    }
                    u64 mask = tile ? near->masks[tile * 64 + b] : near->first_masks[w * 64 + b];
                    while (few != 0) {
                        i64 block = 8 * tile + lowest_bit(few);
                        few &= few - 1;
                        u64 hits = (mask >> (8 * (block & 7))) & 255;
                        if (hits == 0) {
                            continue;
                        }
                        if (least * floor[block] > limit) {
                            break;
                        }
                        if (single && winner >= 0) {
                            hits &= not_above(near->blocks, block, near->weights, limit);
                        }
                        while (hits != 0) {
                            i64 t = 8 * block + lowest_bit(hits), row = rows[t];
                            hits &= hits - 1;
                            double distance = single ? estimate(scales, s, near, t)
                                                     : exact_distance(values, scales, i, row, s);
                            if (distance < best || (distance == best && row < winner)) {
                                if (winner < 0 || copies[row] != copies[winner]) {
                                    second = best;
                                }
                                best = distance;
                                winner = row;
                                limit = (best + shift) * margin + TINY;
                                if (hits != 0 && single) {
                                    hits &= not_above(near->blocks, block, near->weights, limit);
                                }
                            } else if (distance < second && copies[row] != copies[winner]) {
                                second = distance;
                            }
                        }
                    }
                }
            }

            if (winner < 0 || least * tail <= limit) {
                unsettled |= bit;
                continue;
            }
            double bound = best * margin + TINY;
            if (single && second <= bound) {
                winner = decide(values, i, w, b, s, count, limit, bound, near, scales);
            }
            write_code(plan, w, i, bit, y[winner]);
        }
        left[w] = unsettled;
        any_left |= unsettled != 0;
    }
    return any_left;
}

/* Allocate a list of neighbours, `room` of them with terms. */
static Near take_near(Scratch *scratch, i64 n, i64 d, i64 room, i64 padded, i64 words) {
    i64 tiles = (n >> 6) + 1, bounded = room ? tiles : 0;
    Near near = {
        .rows = TAKE(scratch, i64, 2 * n + 64),
        .distance = TAKE(scratch, double, 2 * n + 64),
        .floor = TAKE(scratch, double, 8 * tiles),
        .twin = TAKE(scratch, bool, n),
        .terms = TAKE(scratch, float, room *padded),
        .score = TAKE(scratch, double, d),
        .chosen = TAKE(scratch, i64, EIGHT),
        .blocks = TAKE(scratch, float, 8 * bounded *PARTS *EIGHT),
        .tiles = TAKE(scratch, float, bounded *PARTS *EIGHT),
        .groups = TAKE(scratch, float, ((bounded >> 3) + 1) * PARTS * EIGHT),
        .weights = TAKE(scratch, float, PARTS),
        .first_masks = TAKE(scratch, u64, words * 64),
        .masks = TAKE(scratch, u64, tiles * 64),
        .ready = TAKE(scratch, bool, tiles),
        .filled = TAKE(scratch, bool, tiles),
        .n_tiles = tiles,
    };
    return near;
}

/* Write `predicted`. values is (n, d), columns is its transpose. one_floor and both_floor are the
 * least terms of one and of two unknown numbers in any split. many_runs separates the neighbours by
 * class, which is faster for many runs. */
i64 neighbour_scan_rescaled(const double *values, const double *columns, i64 n, i64 d, i64 padded,
                            const i64 *cardinality, const double *divisor, const double *low,
                            const double *high, const double *divisors, const float *ratio,
                            const double *least_ratio, const bool *estimable, i64 splits,
                            const i64 *constant_first, const i64 *constant_columns,
                            const float *least, const float *most, double floor,
                            const double *excess, const i64 *copies, double one_floor,
                            double both_floor, i64 many_runs, const i64 *y, const u64 *planes,
                            i64 by_fold, i64 folds, i64 words, i64 digits, const u64 *wanted,
                            i64 code_digits, u64 *predicted) {
    Plan plan = {planes, wanted, predicted, y, n, words, digits, folds, code_digits, by_fold != 0};
    Scratch scratch = {0};
    i64 size = 2 * n + 64;
    double *weight = TAKE(&scratch, double, d), *keys = TAKE(&scratch, double, n);
    bool *plain = TAKE(&scratch, bool, d), *listed = TAKE(&scratch, bool, n);
    uint32_t *number = TAKE(&scratch, uint32_t, n);
    i64 *bins = TAKE(&scratch, i64, BINS), *spare_rows = TAKE(&scratch, i64, size);
    double *spare_keys = TAKE(&scratch, double, size);
    u64 *left = TAKE(&scratch, u64, words);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    bool known = true, by_class = many_runs != 0;
    for (i64 j = 0; j < d; j++) {
        if (divisor[j] != 0.0) {
            weight[j] = 1.0 / (divisor[j] * divisor[j]);
        }
        if (cardinality[j] == 0) {
            plain[j] = true;
            for (i64 k = 0; k < n && plain[j]; k++) {
                plain[j] = !isnan(columns[j * n + k]);
            }
            known &= plain[j];
        }
    }
    for (i64 s = 0; s < splits && by_class; s++) {
        by_class = estimable[s];
    }
    by_class &= known;
    SplitScales scales = {d, padded, cardinality, divisor, low, high, divisors, ratio, least_ratio,
                          estimable, constant_first, constant_columns, least, most, floor, excess,
                          copies, weight};
    Near near = take_near(&scratch, n, d, known ? n : 0, padded, words);
    Parted parted = {
        .friends = TAKE(&scratch, i64, FRIENDS),
        .rivals = take_near(&scratch, n, d, by_class ? least_of(n, RIVALS) : 0, padded, words),
        .keys = TAKE(&scratch, double, by_class ? n : 0),
        .nearer = TAKE(&scratch, i64, FRIENDS *RIVALS),
        .counts = TAKE(&scratch, i64, FRIENDS),
        .first = TAKE(&scratch, i64, words * 64),
        .doubtful = TAKE(&scratch, u64, words),
    };
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 i = 0; i < n; i++) {
        memcpy(left, wanted + i * words, (size_t)words * sizeof *left);
        lower_keys(columns, d, n, i, cardinality, plain, weight, one_floor, both_floor, keys);
        bool quick = known;
        for (i64 k = 0; k < n; k++) {
            quick &= keys[k] < LARGE;
        }
        i64 count = list_first(keys, n, SHORT, size, &near, spare_keys, spare_rows);
        double tail = count == n ? INFINITY : near.distance[count - 1];
        if (quick) {
            start_list(values, columns, n, i, count, &scales, &near);
        }
        if (by_class && quick) {
            i64 friendly = part(&plan, values, columns, i, count, &near, keys, &scales, &parted,
                                size, spare_keys, spare_rows);
            settle_by_class(&plan, values, i, left, friendly, &near, &parted, &scales);
            u64 any = 0;
            for (i64 w = 0; w < words; w++) {
                any |= left[w];
            }
            if (any == 0) {
                continue;
            }
        }
        while (search(&plan, values, i, left, count, tail, &near, &scales, quick) && count < n) {
            list_others(keys, n, count, &near, number, bins, listed);
            if (quick) {
                fill_blocks(columns, n, i, count, n, &scales, &near);
            }
            count = n;
            tail = INFINITY;
        }
    }
    scratch_free(&scratch);
    return 0;
}
