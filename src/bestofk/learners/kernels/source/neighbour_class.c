/* Predict without the nearest neighbour if its class is known.
 *
 * The rows are divided by class: friends have the class of the nearest row under the reference
 * scales, rivals have another. In a split, the friends' class is predicted if some training friend
 * is nearer than every training rival. A friend can be nearer than a rival under all scales, if its
 * distance is smaller for all ratios between the smallest and the largest r_j of any split. Then 64
 * splits are settled at a time without computing a distance. Otherwise the distance to the first
 * training friend is estimated, and rivals are examined until their bounds exceed it. Splits that
 * remain open, because a rival is nearer or the two are too close for the estimate, are left to the
 * search for the nearest neighbour. */
#include "neighbour.h"

/* Return the least excess of a rival's distance over a friend's in any split. */
static double least_lead(const SplitScales *scales, const float *friendly, const float *rival) {
    Singles total = {0}, none = {0};
    for (i64 j = 0; j < scales->padded; j += EIGHT) {
        Singles gap = singles_at(rival + j) - singles_at(friendly + j);
#if defined(__AVX__)
        Singles above = (Singles)_mm256_max_ps((__m256)gap, (__m256)none);
        Singles below = (Singles)_mm256_min_ps((__m256)gap, (__m256)none);
#else
        Singles above = none, below = none;
        for (int k = 0; k < EIGHT; k++) {
            above[k] = gap[k] > 0.0f ? gap[k] : 0.0f;
            below[k] = gap[k] < 0.0f ? gap[k] : 0.0f;
        }
#endif
        total = fused(above, singles_at(scales->least + j), total);
        total = fused(below, singles_at(scales->most + j), total);
    }
    return (double)sum_of_singles(total);
}

/* List friends and rivals of row i, and rivals that may be nearer; return the class. */
i64 part(const Plan *plan, const double *values, const double *columns, i64 i, i64 count,
         const Near *near, const double *keys, const SplitScales *scales, Parted *parted,
         i64 room, double *spare_keys, i64 *spare_rows) {
    const i64 *y = plan->y, *copies = scales->copies;
    Near *rivals = &parted->rivals;
    i64 padded = scales->padded, friendly = -1;
    double wide = (double)(scales->d + 16) * 2.384185791015625e-07; /* 2**-22 */
    parted->n_friends = 0;
    for (i64 t = 0; t < count; t++) {
        i64 k = near->rows[t];
        if (friendly < 0 && k != i) {
            friendly = y[k];
        }
        if (y[k] == friendly && k != i && parted->n_friends < FRIENDS) {
            parted->friends[parted->n_friends++] = t;
        }
    }
    for (i64 k = 0; k < plan->n; k++) {
        parted->keys[k] = y[k] == friendly ? INFINITY : keys[k];
    }
    parted->n_rivals =
        list_first(parted->keys, plan->n, RIVALS, room, rivals, spare_keys, spare_rows);
    start_list(values, columns, plan->n, i, parted->n_rivals, scales, rivals);
    for (i64 f = 0; f < parted->n_friends; f++) {
        i64 t = parted->friends[f], row = near->rows[t], found = 0;
        const float *terms = near->terms + t * padded;
        /* Like the bounds of rivals, this includes columns that are constant in some split. */
        double farthest = estimate_of_terms(scales->most, terms, padded) * (1.0 + wide) + TINY;
        if (parted->n_rivals == RIVALS &&
            scales->floor * rivals->distance[RIVALS - 1] <= farthest) {
            parted->counts[f] = -1;
            continue;
        }
        for (i64 u = 0; u < parted->n_rivals; u++) {
            if (scales->floor * rivals->distance[u] > farthest) {
                break;
            }
            const float *others = rivals->terms + u * padded;
            bool ahead;
            if (copies[row] == copies[rivals->rows[u]]) {
                /* Equal rows are tied, and the lower one wins. */
                ahead = row < rivals->rows[u];
            } else {
                double lead = least_lead(scales, terms, others);
                double size = farthest + estimate_of_terms(scales->most, others, padded);
                ahead = lead > wide * size + TINY;
            }
            if (!ahead) {
                parted->nearer[f * RIVALS + found++] = rivals->rows[u];
            }
        }
        parted->counts[f] = found;
    }
    return friendly;
}

/* Predict if no rival can be nearer than the first friend; return whether one may be. */
static bool settle_at_once(const Plan *plan, i64 i, u64 *left, i64 friendly, const Near *near,
                           Parted *parted) {
    bool any_doubt = false;
    for (i64 w = 0; w < plan->words; w++) {
        u64 waiting = left[w], unsure = 0;
        for (i64 f = 0; f < parted->n_friends && waiting != 0; f++) {
            i64 place = parted->friends[f], count = parted->counts[f];
            u64 hit = waiting & serves(plan, i, near->rows[place], w);
            waiting ^= hit;
            u64 doubt = count < 0 ? hit : 0;
            for (i64 r = 0; r < count && doubt != hit; r++) {
                doubt |= hit & serves(plan, i, parted->nearer[f * RIVALS + r], w);
            }
            unsure |= doubt;
            while (doubt != 0) {
                parted->first[w * 64 + lowest_bit(doubt)] = place;
                doubt &= doubt - 1;
            }
        }
        parted->doubtful[w] = unsure;
        write_code(plan, w, i, left[w] & ~(waiting | unsure), friendly);
        left[w] = waiting | unsure;
        any_doubt |= unsure != 0;
    }
    return any_doubt;
}

/* Predict if every listed rival is farther than the first friend. */
static void settle_by_distance(const Plan *plan, const double *values, i64 i, u64 *left,
                               i64 friendly, const Near *near, Parted *parted,
                               const SplitScales *scales) {
    Near *rivals = &parted->rivals;
    i64 parts = least_of(EIGHT, scales->d), count = parted->n_rivals;
    double wide = 1.0 + (double)(scales->d + 16) * 2.384185791015625e-07;
    double tail = count == RIVALS ? rivals->distance[count - 1] : INFINITY;
    fill_first_masks(plan, i, count, rivals);
    for (i64 w = 0; w < plan->words; w++) {
        u64 waiting = parted->doubtful[w], settled = 0;
        while (waiting != 0) {
            i64 b = lowest_bit(waiting);
            u64 bit = (u64)1 << b;
            waiting ^= bit;
            i64 s = split_of(plan, i, w, b);
            double least = scales->least_ratio[s];
            double limit = estimate(scales, s, near, parted->first[w * 64 + b]);
            /* Bounds and limit include columns that are constant in this split. */
            if (scales->constant_first[s] < scales->constant_first[s + 1]) {
                limit += least * constant_terms(values + i * scales->d, scales, s);
            }
            limit = limit * wide + TINY;
            if (least * tail <= limit) {
                continue;
            }
            if (count > 0 && least * rivals->floor[0] <= limit) {
                fill_weights(scales, s, parts, rivals);
                u64 some = not_above(rivals->tiles, 0, rivals->weights, limit);
                while (some != 0) {
                    i64 block = lowest_bit(some);
                    some &= some - 1;
                    u64 hits = (rivals->first_masks[w * 64 + b] >> (8 * block)) & 255;
                    if (hits != 0) {
                        hits &= not_above(rivals->blocks, block, rivals->weights, limit);
                    }
                    while (hits != 0) {
                        i64 t = 8 * block + lowest_bit(hits);
                        hits &= hits - 1;
                        if (estimate(scales, s, rivals, t) <= limit) {
                            hits = 0;
                            some = 0;
                            bit = 0;
                        }
                    }
                }
            }
            settled |= bit;
        }
        write_code(plan, w, i, settled, friendly);
        left[w] ^= settled;
    }
}

/* Predict row i in the easy splits of `left`; keep the others. */
void settle_by_class(const Plan *plan, const double *values, i64 i, u64 *left, i64 friendly,
                     const Near *near, Parted *parted, const SplitScales *scales) {
    if (settle_at_once(plan, i, left, friendly, near, parted)) {
        settle_by_distance(plan, values, i, left, friendly, near, parted, scales);
    }
}
