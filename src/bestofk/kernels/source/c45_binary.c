/* Growing C4.5 trees on two-valued columns and two classes: one machine word a small node.
 *
 * The choices of grow_bits, from the same numbers. A node of up to 64 rows gets its rows
 * renumbered into the bits of one word, and so do all nodes below it. */
#include "c45.h"

/* estimated errors of a leaf, 0 for an empty one */
double estimate_of(i64 rows, i64 errors, Estimates table, Pessimist pessimist) {
    if (rows < table.size) {
        return table.cells[rows * table.size + errors];
    }
    return (double)errors + added_errors((double)rows, (double)errors, pessimist);
}

/* which of the admitted tests is chosen, -1 when there is none */
static i64 choose(i64 n_left, const double *gains, const i64 *ones, double gain_sum,
                  i64 n_counted, i64 total, bool by_gain, const double *terms) {
    if (n_counted == 0) {
        return -1;
    }
    double bar = gain_sum / (double)n_counted - AVERAGE_SLACK, best = 0.0;
    i64 chosen = -1;
    for (i64 at = 0; at < n_left; at++) {
        double gain = gains[at], value;
        if (by_gain) {
            value = gain;
        } else if (gain >= bar && gain > 0.0) {
            double information =
                (terms[total] - (terms[total - ones[at]] + terms[ones[at]])) / (double)total;
            value = information < TOLERANCE ? 0.0 : gain / information;
        } else {
            continue;
        }
        if (value > best + TOLERANCE) {
            best = value;
            chosen = at;
        }
    }
    return chosen;
}

/* renumber the rows of the bit set: one word per column, the class behind the columns */
static void pack(const u64 *mask, i64 n_words, const u64 *row_bits, u64 *RESTRICT packed,
                 i64 n_packed) {
    u64 to = 0;
    for (i64 a = 0; a < n_packed; a++) {
        packed[a] = 0;
    }
    for (i64 w = 0; w < n_words; w++) {
        u64 rest = mask[w];
        while (rest != 0) {
            u64 bits = row_bits[WORD * w + lowest_bit(rest)];
            rest &= rest - 1;
            for (i64 a = 0; a < n_packed; a++) {
                packed[a] |= ((bits >> a) & 1) << to;
            }
            to++;
        }
    }
}

/* Grow the tree of the rows in `mask` into the node arrays; returns the number of nodes.
 *
 * values (d, words): rows that hold the second value of each column; second: rows of the second
 * class; table (65, 65 at most): row count times entropy; row_bits: one word per row, bit a its
 * value of column a, bit d its class. */
i64 grow_binary(const u64 *mask, i64 n_words, const u64 *values, i64 d, const u64 *second,
                const u64 *row_bits, i64 min_leaf, bool by_gain, const bool *counted,
                const double *terms, const double *table, i64 *attribute, i64 *first_child,
                i64 *counts, u64 *node_masks, BinaryWork work) {
    i64 *columns = work.columns, *ones = work.ones, *lasts = work.lasts, *alive = work.alive;
    double *gains = work.gains;
    u64 *packed = work.packed;
    i64 total = 0, in_second = 0, table_width = WORD + 1;
    for (i64 w = 0; w < n_words; w++) {
        node_masks[w] = mask[w];
        total += popcount(mask[w]);
        in_second += popcount(mask[w] & second[w]);
    }
    counts[0] = total - in_second;
    counts[1] = in_second;
    attribute[0] = -1;
    for (i64 a = 0; a < d; a++) {
        alive[a] = a;
    }
    alive[d] = d;
    i64 n_nodes = 1, n_open = 0;
    if (total >= 2 * min_leaf && 0 < in_second && in_second < total) {
        work.open_node[0] = 0;
        work.open_small[0] = false;
        n_open = 1;
    }
    u64 packed_second = 0;
    while (n_open > 0) {
        n_open--;
        i64 node = work.open_node[n_open];
        const u64 *here = node_masks + node * n_words;
        i64 in_first = counts[2 * node];
        in_second = counts[2 * node + 1];
        total = in_first + in_second;
        const i64 *left_here = alive + node * (d + 1);
        i64 n_alive = left_here[d], n_left = 0, n_counted = 0;
        double gain_sum = 0.0, size = (double)total, least_gain = TOLERANCE / size;
        bool small = total <= WORD;
        u64 word = small && work.open_small[n_open] ? work.open_word[n_open] : 0;
        if (small && !work.open_small[n_open]) {
            pack(here, n_words, row_bits, packed, work.n_packed);
            packed_second = packed[d];
            word = ~(u64)0 >> (WORD - total);
        }
        if (small) {
            u64 word_second = word & packed_second;
            double entropy = table[total * table_width + in_second];
            for (i64 at = 0; at < n_alive; at++) {
                i64 a = left_here[at], one = popcount(word & packed[a]), zero = total - one;
                if (one < min_leaf || zero < min_leaf) {
                    continue;
                }
                i64 last = popcount(word_second & packed[a]);
                double inside = table[zero * table_width + in_second - last] +
                                table[one * table_width + last];
                double gain = (entropy - inside) / size;
                if (gain < least_gain) {
                    gain = 0.0;
                }
                columns[n_left] = a;
                gains[n_left] = gain;
                ones[n_left] = one;
                lasts[n_left] = last;
                n_left++;
                if (counted[a]) {
                    gain_sum += gain;
                    n_counted++;
                }
            }
        } else {
            double entropy = terms[total] - (terms[in_first] + terms[in_second]);
            for (i64 at = 0; at < n_alive; at++) {
                i64 a = left_here[at], one = 0, last = 0;
                const u64 *held = values + a * n_words;
                for (i64 w = 0; w < n_words; w++) {
                    u64 both = here[w] & held[w];
                    one += popcount(both);
                    last += popcount(both & second[w]);
                }
                i64 zero = total - one;
                if (one < min_leaf || zero < min_leaf) {
                    continue;
                }
                i64 zero_second = in_second - last;
                double inside =
                    (terms[zero] - (terms[zero - zero_second] + terms[zero_second])) +
                    (terms[one] - (terms[one - last] + terms[last]));
                double gain = (entropy - inside) / size;
                if (gain < least_gain) {
                    gain = 0.0;
                }
                columns[n_left] = a;
                gains[n_left] = gain;
                ones[n_left] = one;
                lasts[n_left] = last;
                n_left++;
                if (counted[a]) {
                    gain_sum += gain;
                    n_counted++;
                }
            }
        }
        i64 chosen = choose(n_left, gains, ones, gain_sum, n_counted, total, by_gain, terms);
        if (chosen < 0) {
            continue;
        }

        i64 a = columns[chosen], one = ones[chosen], last = lasts[chosen];
        const u64 *held = values + a * n_words;
        attribute[node] = a;
        first_child[node] = n_nodes;
        for (i64 v = 0; v < 2; v++) {
            i64 child = n_nodes + v, rows = v == 1 ? one : total - one;
            i64 rows_second = v == 1 ? last : in_second - last;
            attribute[child] = -1;
            counts[2 * child] = rows - rows_second;
            counts[2 * child + 1] = rows_second;
            if (rows < 2 * min_leaf || rows_second == 0 || rows_second == rows || n_left == 1) {
                continue;
            }
            i64 left = 0, *of_child = alive + child * (d + 1);
            for (i64 at = 0; at < n_left; at++) {
                of_child[left] = columns[at];
                left += at != chosen;
            }
            of_child[d] = left;
            work.open_node[n_open] = child;
            work.open_small[n_open] = small;
            u64 *to = node_masks + child * n_words;
            if (small) {
                work.open_word[n_open] = v == 1 ? word & packed[a] : word & ~packed[a];
            } else if (v == 1) {
                for (i64 w = 0; w < n_words; w++) {
                    to[w] = here[w] & held[w];
                }
            } else {
                for (i64 w = 0; w < n_words; w++) {
                    to[w] = here[w] & ~held[w];
                }
            }
            n_open++;
        }
        n_nodes += 2;
    }
    return n_nodes;
}

/* Estimated errors of the subtree at `top` (no leaf) when it must take the rows in `mask`.
 *
 * `rows` and `rows_second` count the rows and those of the second class. Infinite as soon as the
 * errors are sure to be above `enough`. */
double branch_estimate_binary(i64 top, const u64 *mask, i64 n_words, i64 rows, i64 rows_second,
                              const u64 *values, const u64 *second, const i64 *attribute,
                              const i64 *first_child, u64 *stack_masks, i64 *stack_node,
                              i64 *stack_rows, i64 *stack_second, i64 *visited,
                              double *estimates, Estimates table, Pessimist pessimist,
                              double enough) {
    for (i64 w = 0; w < n_words; w++) {
        stack_masks[w] = mask[w];
    }
    stack_node[0] = top;
    stack_rows[0] = rows;
    stack_second[0] = rows_second;
    i64 n_stack = 1, n_visited = 0;
    double so_far = 0.0;
    while (n_stack > 0) {
        n_stack--;
        i64 node = stack_node[n_stack], child = first_child[node], one = 0, one_second = 0;
        u64 *here = stack_masks + n_stack * n_words, *next = here + n_words;
        const u64 *held = values + attribute[node] * n_words;
        visited[n_visited++] = node;
        for (i64 w = 0; w < n_words; w++) {
            u64 both = here[w] & held[w];
            one += popcount(both);
            one_second += popcount(both & second[w]);
        }
        i64 zero = stack_rows[n_stack] - one, zero_second = stack_second[n_stack] - one_second;
        bool inner_zero = attribute[child] >= 0, inner_one = attribute[child + 1] >= 0;
        if (!inner_zero) {
            i64 errors = least_of(zero_second, zero - zero_second);
            estimates[child] = estimate_of(zero, errors, table, pessimist);
            so_far += estimates[child];
        }
        if (!inner_one) {
            i64 errors = least_of(one_second, one - one_second);
            estimates[child + 1] = estimate_of(one, errors, table, pessimist);
            so_far += estimates[child + 1];
        }
        if (so_far > enough) {
            return INFINITY;
        }
        /* Written over the node itself, so the second child, if both go on, is read first. */
        if (inner_zero && inner_one) {
            for (i64 w = 0; w < n_words; w++) {
                u64 word = here[w];
                next[w] = word & held[w];
                here[w] = word & ~held[w];
            }
        } else if (inner_one) {
            for (i64 w = 0; w < n_words; w++) {
                here[w] &= held[w];
            }
        } else if (inner_zero) {
            for (i64 w = 0; w < n_words; w++) {
                here[w] &= ~held[w];
            }
        }
        if (inner_zero) {
            stack_node[n_stack] = child;
            stack_rows[n_stack] = zero;
            stack_second[n_stack] = zero_second;
            n_stack++;
        }
        if (inner_one) {
            stack_node[n_stack] = child + 1;
            stack_rows[n_stack] = one;
            stack_second[n_stack] = one_second;
            n_stack++;
        }
    }
    for (i64 back = n_visited - 1; back >= 0; back--) {
        i64 node = visited[back], child = first_child[node];
        estimates[node] = estimates[child] + estimates[child + 1];
    }
    return estimates[top];
}
