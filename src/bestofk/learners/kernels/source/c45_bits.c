/* C4.5 for whole plans on complete nominal data, with rows as bit sets and counts as popcounts.
 *
 * The trees equal those of c45_grow.c: every choice uses the same integer counts, the same table of
 * terms and the same order of sums. A column's value has the index offset[a] + code; masks[index]
 * has the bits of the rows with that value, class_masks[c] those of a class. */
#include "c45.h"

typedef struct {
    i64 d, n_words, n_labels;
    const i64 *cardinality, *offset;
    const u64 *masks, *class_masks;
    Estimates table;
    Pessimist pessimist;
    const double *terms;
    /* the tree */
    i64 *attribute, *first_child, *counts;
    u64 *node_masks;
    /* scratch */
    i64 *alive, *open_node, *places, *below, *path, *turn, *counts_here, *stack_node, *visited;
    double *gains, *estimates, *other_estimates;
    u64 *stack_masks;
} Bits;

/* Count the rows, and the rows outside the largest class. */
static i64 size_of(const i64 *counts, i64 n_labels, i64 *errors) {
    i64 total = counts[0], largest = counts[0];
    for (i64 c = 1; c < n_labels; c++) {
        total += counts[c];
        largest = most_of(largest, counts[c]);
    }
    *errors = total - largest;
    return total;
}

static void count_classes(const Bits *bits, const u64 *mask, i64 *counts) {
    for (i64 c = 0; c < bits->n_labels; c++) {
        const u64 *class_mask = bits->class_masks + c * bits->n_words;
        i64 found = 0;
        for (i64 w = 0; w < bits->n_words; w++) {
            found += popcount(mask[w] & class_mask[w]);
        }
        counts[c] = found;
    }
}

/* Return the gain of a nominal column, -1 if not admitted; write the counts of its values. */
static double nominal_gain(const Bits *bits, i64 a, const u64 *mask, const i64 *node, i64 total,
                           i64 min_leaf, double entropy) {
    i64 n_labels = bits->n_labels, n_words = bits->n_words;
    i64 place = bits->offset[a], last = place + bits->cardinality[a] - 1, *places = bits->places;
    const double *terms = bits->terms;
    for (i64 c = 0; c < n_labels; c++) {
        places[last * n_labels + c] = node[c];
    }
    for (i64 p = place; p < last; p++) {
        const u64 *held = bits->masks + p * n_words;
        for (i64 c = 0; c < n_labels; c++) {
            const u64 *class_mask = bits->class_masks + c * n_words;
            i64 found = 0;
            for (i64 w = 0; w < n_words; w++) {
                found += popcount(mask[w] & held[w] & class_mask[w]);
            }
            places[p * n_labels + c] = found;
            places[last * n_labels + c] -= found;
        }
    }
    i64 large = 0;
    double inside = 0.0;
    for (i64 p = place; p <= last; p++) {
        i64 rows = 0;
        double inner = 0.0;
        for (i64 c = 0; c < n_labels; c++) {
            rows += places[p * n_labels + c];
            inner += terms[places[p * n_labels + c]];
        }
        large += rows >= min_leaf;
        inside += terms[rows] - inner;
    }
    return large < 2 ? -1.0 : (entropy - inside) / (double)total;
}

/* Return gain / split information. */
static double ratio_of(const Bits *bits, double gain, i64 a, i64 total) {
    i64 n_labels = bits->n_labels;
    double spread = 0.0;
    for (i64 p = bits->offset[a]; p < bits->offset[a + 1]; p++) {
        i64 rows = 0;
        for (i64 c = 0; c < n_labels; c++) {
            rows += bits->places[p * n_labels + c];
        }
        spread += bits->terms[rows];
    }
    double information = (bits->terms[total] - spread) / (double)total;
    return information < TOLERANCE ? 0.0 : gain / information;
}

/* Return whether a node may be split: enough rows, and more than one class. */
static bool is_open(const i64 *counts, i64 n_labels, i64 min_leaf) {
    i64 errors, total = size_of(counts, n_labels, &errors);
    return total >= 2 * min_leaf && errors > 0;
}

/* Grow the tree of the rows in `mask` into the node arrays; return the number of nodes.
 *
 * A column that cannot be tested in a node cannot be tested below it, because branches only shrink.
 * alive (nodes, d + 1) lists the remaining columns in order, followed by their number. */
static i64 grow_bits(const Bits *bits, const u64 *mask, i64 min_leaf, bool by_gain,
                     const bool *counted) {
    i64 n_words = bits->n_words, n_labels = bits->n_labels, d = bits->d;
    i64 *counts = bits->counts, *open_node = bits->open_node;
    const double *terms = bits->terms;
    double *gains = bits->gains;
    memcpy(bits->node_masks, mask, (size_t)n_words * sizeof *mask);
    count_classes(bits, mask, counts);
    for (i64 a = 0; a < d; a++) {
        bits->alive[a] = a;
    }
    bits->alive[d] = d;
    bits->attribute[0] = -1;
    open_node[0] = 0;
    i64 n_nodes = 1, n_open = is_open(counts, n_labels, min_leaf) ? 1 : 0;
    while (n_open > 0) {
        i64 node = open_node[--n_open];
        const u64 *here = bits->node_masks + node * n_words;
        const i64 *node_counts = counts + node * n_labels;
        i64 *alive = bits->alive + node * (d + 1);
        i64 total = 0;
        double inner = 0.0;
        for (i64 c = 0; c < n_labels; c++) {
            total += node_counts[c];
            inner += terms[node_counts[c]];
        }
        double entropy = terms[total] - inner;

        /* The average gain of the admitted tests. */
        i64 n_left = 0, n_counted = 0;
        double gain_sum = 0.0;
        for (i64 at = 0; at < alive[d]; at++) {
            i64 a = alive[at];
            double gain = nominal_gain(bits, a, here, node_counts, total, min_leaf, entropy);
            if (gain == -1.0) {
                continue;
            }
            if (gain < TOLERANCE / (double)total) {
                gain = 0.0;
            }
            alive[n_left] = a;
            gains[n_left] = gain;
            n_left++;
            if (counted[a]) {
                gain_sum += gain;
                n_counted++;
            }
        }
        if (n_counted == 0) {
            continue;
        }
        double bar = gain_sum / (double)n_counted - AVERAGE_SLACK, best = 0.0;
        i64 chosen = -1;
        for (i64 at = 0; at < n_left; at++) {
            double value;
            if (by_gain) {
                value = gains[at];
            } else if (gains[at] >= bar && gains[at] > 0.0) {
                value = ratio_of(bits, gains[at], alive[at], total);
            } else {
                continue;
            }
            if (value > best + TOLERANCE) {
                best = value;
                chosen = alive[at];
            }
        }
        if (chosen < 0) {
            continue;
        }

        bits->attribute[node] = chosen;
        bits->first_child[node] = n_nodes;
        for (i64 v = 0; v < bits->cardinality[chosen]; v++) {
            i64 child = n_nodes++, place = bits->offset[chosen] + v;
            i64 *child_counts = counts + child * n_labels;
            u64 *to = bits->node_masks + child * n_words;
            bits->attribute[child] = -1;
            for (i64 c = 0; c < n_labels; c++) {
                child_counts[c] = bits->places[place * n_labels + c];
            }
            for (i64 w = 0; w < n_words; w++) {
                to[w] = here[w] & bits->masks[place * n_words + w];
            }
            if (is_open(child_counts, n_labels, min_leaf)) {
                i64 left = 0, *of_child = bits->alive + child * (d + 1);
                for (i64 at = 0; at < n_left; at++) {
                    if (alive[at] != chosen) {
                        of_child[left++] = alive[at];
                    }
                }
                of_child[d] = left;
                if (left > 0) {
                    open_node[n_open++] = child;
                }
            }
        }
    }
    return n_nodes;
}

/* Turn subtrees that save no training error into leaves. A collapsed subtree has as many errors as
 * its leaves, so bottom-up and top-down passes agree. */
static void collapse_bits(const Bits *bits, i64 n_nodes) {
    for (i64 node = n_nodes - 1; node >= 0; node--) {
        i64 own;
        size_of(bits->counts + node * bits->n_labels, bits->n_labels, &own);
        bits->below[node] = own;
        if (bits->attribute[node] >= 0) {
            i64 errors = 0, values = bits->cardinality[bits->attribute[node]];
            for (i64 v = 0; v < values; v++) {
                errors += bits->below[bits->first_child[node] + v];
            }
            if (errors >= own) {
                bits->attribute[node] = -1;
            } else {
                bits->below[node] = errors;
            }
        }
    }
}

/* Return the estimated errors of the subtree at `top` on the rows in `mask`. */
static double branch_estimate_bits(const Bits *bits, i64 top, const u64 *mask, double enough) {
    i64 n_words = bits->n_words, *stack_node = bits->stack_node;
    double *estimates = bits->other_estimates;
    stack_node[0] = top;
    memcpy(bits->stack_masks, mask, (size_t)n_words * sizeof *mask);
    i64 n_stack = 1, n_visited = 0;
    double so_far = 0.0;
    while (n_stack > 0) {
        n_stack--;
        i64 node = stack_node[n_stack], a = bits->attribute[node];
        u64 *here = bits->stack_masks + n_stack * n_words;
        bits->visited[n_visited++] = node;
        if (a < 0) {
            i64 errors;
            count_classes(bits, here, bits->counts_here);
            i64 rows = size_of(bits->counts_here, bits->n_labels, &errors);
            estimates[node] = estimate_of(rows, errors, bits->table, bits->pessimist);
            so_far += estimates[node];
            if (so_far > enough) {
                return INFINITY;
            }
            continue;
        }
        /* The first branch overwrites the node, so it is written last. */
        const u64 *held = bits->masks + bits->offset[a] * n_words;
        for (i64 v = bits->cardinality[a] - 1; v >= 0; v--) {
            for (i64 w = 0; w < n_words; w++) {
                here[v * n_words + w] = here[w] & held[v * n_words + w];
            }
            stack_node[n_stack + v] = bits->first_child[node] + v;
        }
        n_stack += bits->cardinality[a];
    }
    for (i64 back = n_visited - 1; back >= 0; back--) {
        i64 node = bits->visited[back];
        if (bits->attribute[node] >= 0) {
            double total = 0.0;
            for (i64 v = 0; v < bits->cardinality[bits->attribute[node]]; v++) {
                total += estimates[bits->first_child[node] + v];
            }
            estimates[node] = total;
        }
    }
    return estimates[top];
}

/* Recount the rows of `top` in its new subtree. */
static void send_again_bits(const Bits *bits, i64 top) {
    i64 n_words = bits->n_words, n_stack = 1;
    bits->stack_node[0] = top;
    while (n_stack > 0) {
        i64 node = bits->stack_node[--n_stack], a = bits->attribute[node];
        if (a < 0) {
            continue;
        }
        const u64 *here = bits->node_masks + node * n_words;
        for (i64 v = 0; v < bits->cardinality[a]; v++) {
            i64 child = bits->first_child[node] + v;
            u64 *to = bits->node_masks + child * n_words;
            for (i64 w = 0; w < n_words; w++) {
                to[w] = here[w] & bits->masks[(bits->offset[a] + v) * n_words + w];
            }
            count_classes(bits, to, bits->counts + child * bits->n_labels);
            bits->stack_node[n_stack++] = child;
        }
    }
}

/* Prune from the leaves up by estimated errors, like prune_pessimistic. */
static void prune_bits(const Bits *bits, bool raising) {
    i64 n_words = bits->n_words, n_labels = bits->n_labels, depth = 0;
    i64 *path = bits->path, *turn = bits->turn, *attribute = bits->attribute,
        *first_child = bits->first_child;
    double *estimates = bits->estimates;
    path[0] = 0;
    turn[0] = 0;
    while (depth >= 0) {
        i64 node = path[depth], a = attribute[node], errors;
        const i64 *counts = bits->counts + node * n_labels;
        const u64 *here = bits->node_masks + node * n_words;
        i64 rows = size_of(counts, n_labels, &errors);
        if (a < 0) {
            estimates[node] = estimate_of(rows, errors, bits->table, bits->pessimist);
            depth--;
            continue;
        }
        if (turn[depth] < bits->cardinality[a]) {
            i64 child = first_child[node] + turn[depth];
            if (raising && attribute[child] >= 0) {
                u64 *to = bits->node_masks + child * n_words;
                const u64 *held = bits->masks + (bits->offset[a] + turn[depth]) * n_words;
                for (i64 w = 0; w < n_words; w++) {
                    to[w] = here[w] & held[w];
                }
            }
            path[depth + 1] = child;
            turn[depth + 1] = 0;
            turn[depth]++;
            depth++;
            continue;
        }
        double as_leaf = estimate_of(rows, errors, bits->table, bits->pessimist), as_tree = 0.0;
        i64 largest = -1, most = 0;
        for (i64 v = 0; v < bits->cardinality[a]; v++) {
            i64 child = first_child[node] + v, wrong;
            as_tree += estimates[child];
            i64 size = size_of(bits->counts + child * n_labels, n_labels, &wrong);
            if (size >= most) {
                most = size;
                largest = child;
            }
        }
        double as_branch = INFINITY;
        if (raising) {
            if (attribute[largest] < 0) {
                as_branch = as_leaf;
            } else {
                /* Above this, the branch is neither raised nor prevents a leaf. */
                double enough = as_tree + PRUNE_SLACK;
                if (as_leaf <= enough + TOLERANCE) {
                    enough = as_leaf - PRUNE_SLACK;
                }
                enough += 2.0 * TOLERANCE;
                as_branch = branch_estimate_bits(bits, largest, here, enough);
            }
        }
        if (as_leaf <= as_tree + PRUNE_SLACK + TOLERANCE &&
            as_leaf <= as_branch + PRUNE_SLACK + TOLERANCE) {
            attribute[node] = -1;
            estimates[node] = as_leaf;
            depth--;
        } else if (as_branch <= as_tree + PRUNE_SLACK + TOLERANCE) {
            attribute[node] = attribute[largest];
            first_child[node] = first_child[largest];
            send_again_bits(bits, node);
            turn[depth] = 0;
        } else {
            estimates[node] = as_tree;
            depth--;
        }
    }
}

/* Return the class of one row: that of its leaf, or of the parent if the leaf is empty. */
static i64 predict_bits(const Bits *bits, const i64 *codes) {
    i64 node = 0, n_labels = bits->n_labels;
    while (bits->attribute[node] >= 0) {
        i64 child = bits->first_child[node] + codes[bits->attribute[node]];
        bool empty = true;
        for (i64 c = 0; c < n_labels; c++) {
            empty &= bits->counts[child * n_labels + c] == 0;
        }
        if (empty) {
            break;
        }
        node = child;
    }
    return argmax_i64(bits->counts + node * n_labels, n_labels);
}

/* Tabulate the estimated errors of leaves with fewer than `size` rows, by rows and errors. */
i64 c45_estimates(double confidence, double z, i64 size, double *table) {
    Pessimist pessimist = {confidence, z};
    memset(table, 0, (size_t)(size * size) * sizeof *table);
    for (i64 rows = 1; rows < size; rows++) {
        for (i64 errors = 0; errors <= rows; errors++) {
            table[rows * size + errors] =
                (double)errors + added_errors((double)rows, (double)errors, pessimist);
        }
    }
    return 0;
}

/* Predict with a tree for each split; `predicted` is shaped like `marks`, `estimates` is the table
 * of c45_estimates. */
i64 c45_bits_plan(const i64 *codes, const i64 *cardinality, const i64 *offset, const i64 *y,
                  i64 n, i64 d, i64 n_labels, const i64 *marks, const i64 *wanted, i64 n_wanted,
                  i64 n_marks, i64 min_leaf, i64 by_gain, i64 prune, i64 raising,
                  double confidence, double z, const double *estimates, i64 n_estimates,
                  const double *terms, i64 *predicted) {
    i64 most = 1, least = INT64_MAX, n_words = (n + WORD - 1) / WORD;
    for (i64 a = 0; a < d; a++) {
        most = most_of(most, cardinality[a]);
        least = least_of(least, cardinality[a]);
    }
    Pessimist pessimist = {confidence, z};
    Estimates table = {estimates, n_estimates};
    if (n_labels == 2 && most == 2 && least == 2 && d < WORD) {
        return binary_plan(codes, y, n, d, marks, wanted, n_wanted, n_marks, min_leaf,
                           by_gain != 0, prune != 0, raising != 0, pessimist, table, terms,
                           predicted);
    }
    i64 room = (n / min_leaf + 1) * most + 2, n_places = offset[d];
    Scratch scratch = {0};
    u64 *masks = TAKE(&scratch, u64, n_places *n_words);
    u64 *class_masks = TAKE(&scratch, u64, n_labels *n_words);
    i64 *order = TAKE(&scratch, i64, n), *ends = TAKE(&scratch, i64, n_marks + 1);
    u64 *train = TAKE(&scratch, u64, n_words);
    bool *counted = TAKE(&scratch, bool, d);
    Bits bits = {
        d, n_words, n_labels, cardinality, offset, masks, class_masks, table, pessimist, terms,
        .attribute = TAKE(&scratch, i64, room),
        .first_child = TAKE(&scratch, i64, room),
        .counts = TAKE(&scratch, i64, room *n_labels),
        .node_masks = TAKE(&scratch, u64, room *n_words),
        .alive = TAKE(&scratch, i64, room *(d + 1)),
        .open_node = TAKE(&scratch, i64, room),
        .places = TAKE(&scratch, i64, n_places *n_labels),
        .below = TAKE(&scratch, i64, room),
        .path = TAKE(&scratch, i64, room),
        .turn = TAKE(&scratch, i64, room),
        .counts_here = TAKE(&scratch, i64, n_labels),
        .stack_node = TAKE(&scratch, i64, room),
        .visited = TAKE(&scratch, i64, room),
        .gains = TAKE(&scratch, double, d),
        .estimates = TAKE(&scratch, double, room),
        .other_estimates = TAKE(&scratch, double, room),
        .stack_masks = TAKE(&scratch, u64, (d * most + 2) * n_words),
    };
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 row = 0; row < n; row++) {
        u64 bit = (u64)1 << (row % WORD);
        class_masks[y[row] * n_words + row / WORD] |= bit;
        for (i64 a = 0; a < d; a++) {
            masks[(offset[a] + codes[row * d + a]) * n_words + row / WORD] |= bit;
        }
    }
    i64 grouped = -1;
    for (i64 s = 0; s < n_wanted; s++) {
        i64 line = wanted[2 * s], mark = wanted[2 * s + 1];
        if (line != grouped) {
            group_by_mark(marks + line * n, n, order, ends, n_marks);
            grouped = line;
        }
        const i64 *test = order + mark_begins(ends, mark);
        i64 n_test = ends[mark] - mark_begins(ends, mark);
        for (i64 w = 0; w < n_words; w++) {
            train[w] = ~(u64)0;
        }
        if (n % WORD > 0) {
            train[n_words - 1] = ((u64)1 << (n % WORD)) - 1;
        }
        for (i64 at = 0; at < n_test; at++) {
            train[test[at] / WORD] ^= (u64)1 << (test[at] % WORD);
        }
        takes_part(cardinality, d, n - n_test, counted);
        i64 n_nodes = grow_bits(&bits, train, min_leaf, by_gain != 0, counted);
        collapse_bits(&bits, n_nodes);
        if (prune) {
            prune_bits(&bits, raising != 0);
        }
        for (i64 at = 0; at < n_test; at++) {
            predicted[line * n + test[at]] = predict_bits(&bits, codes + test[at] * d);
        }
    }
    scratch_free(&scratch);
    return 0;
}
