/* Grow a C4.5 tree from weighted rows, with columns sorted once and one stack of open nodes. */
#include "c45.h"

/* Return whether the node stays a leaf: too little weight, or only one class. */
static bool is_settled(const double *counts, i64 n_labels, double min_leaf) {
    double total = 0.0, largest = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        total += counts[c];
        largest = counts[c] > largest ? counts[c] : largest;
    }
    return 2.0 * min_leaf - total > TOLERANCE || total - largest < TOLERANCE;
}

/* Mark the attributes that count in the average gain: those without very many values. */
void takes_part(const i64 *cardinality, i64 d, i64 n_rows, bool *counted) {
    bool any = false;
    for (i64 a = 0; a < d; a++) {
        counted[a] = (double)cardinality[a] < MANY_VALUES * (double)n_rows;
        any |= counted[a];
    }
    for (i64 a = 0; a < d && !any; a++) {
        counted[a] = true;
    }
}

/* Find the branch of each entry, the number of entries per branch, and the known shares.
 *
 * A branch without known weight gets no unknown rows; if no row is known, the shares are equal. */
void send_down(const double *column, i64 cardinality, double threshold, i64 n_branches,
               const i64 *rows, const double *weights, i64 n_rows, i64 *branch, i64 *size,
               double *share) {
    double known = 0.0;
    i64 n_unknown = 0;
    for (i64 b = 0; b < n_branches; b++) {
        size[b] = 0;
        share[b] = 0.0;
    }
    for (i64 e = 0; e < n_rows; e++) {
        i64 b = branch_of(column[rows[e]], cardinality, threshold);
        branch[e] = b;
        if (b < 0) {
            n_unknown++;
        } else {
            size[b]++;
            share[b] += weights[e];
            known += weights[e];
        }
    }
    for (i64 b = 0; b < n_branches; b++) {
        share[b] = known > 0.0 ? share[b] / known : 1.0 / (double)n_branches;
        if (share[b] > TOLERANCE) {
            size[b] += n_unknown;
        }
    }
}

/* Write the entries of each branch from starts[b] on; afterwards `starts` are the ends. */
void deal_entries(const i64 *rows, const double *weights, i64 n_rows, const i64 *branch,
                  i64 n_branches, const double *share, i64 *starts, i64 *out_rows,
                  double *out_weights) {
    for (i64 e = 0; e < n_rows; e++) {
        i64 b = branch[e];
        if (b >= 0) {
            out_rows[starts[b]] = rows[e];
            out_weights[starts[b]] = weights[e];
            starts[b]++;
        } else {
            for (i64 k = 0; k < n_branches; k++) {
                if (share[k] > TOLERANCE) {
                    out_rows[starts[k]] = rows[e];
                    out_weights[starts[k]] = weights[e] * share[k];
                    starts[k]++;
                }
            }
        }
    }
}

/* Write the rows of each branch from into[b] on, in order. */
static void deal_lists(const uint32_t *rows, i64 n_rows, const int32_t *row_branch,
                       i64 n_branches, const double *share, i64 *into, uint32_t *out) {
    for (i64 e = 0; e < n_rows; e++) {
        uint32_t row = rows[e];
        i64 b = row_branch[row];
        if (b >= 0) {
            out[into[b]++] = row;
        } else {
            for (i64 k = 0; k < n_branches; k++) {
                if (share[k] > TOLERANCE) {
                    out[into[k]++] = row;
                }
            }
        }
    }
}

/* Do the same for two branches without unknown rows. */
static void deal_in_two(const uint32_t *rows, i64 n_rows, const int32_t *row_branch,
                        uint32_t *out, i64 *into) {
    i64 first = into[0], second = into[1];
    for (i64 e = 0; e < n_rows; e++) {
        uint32_t row = rows[e];
        i64 b = row_branch[row];
        out[b > 0 ? second : first] = row;
        second += b;
        first += 1 - b;
    }
    into[0] = first;
    into[1] = second;
}

/* Return whether the column has few values; write codes and values for table_test. */
static bool count_values(const double *sorted, const i64 *order, i64 n, const uint32_t *labels,
                         uint32_t shift, uint32_t *codes, double *values) {
    uint32_t number = 0;
    for (i64 at = 0; at < n; at++) {
        if (at > 0 && sorted[at] > sorted[at - 1]) {
            number++;
            if (number == FEW) {
                return false;
            }
        }
        values[number] = sorted[at];
        codes[order[at]] = (number << shift) | labels[order[at]];
    }
    return true;
}

/* Return the insertion index of a value after equal ones. */
static i64 place_behind(const double *sorted, i64 count, double value) {
    i64 low = 0, high = count;
    while (low < high) {
        i64 middle = low + (high - low) / 2;
        if (sorted[middle] <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Compute gain and gain ratio of a split by value; `counts` (values, classes) of known rows. */
static Test nominal_test(const double *counts, i64 n_values, const double *known_counts,
                         i64 n_labels, double total, double min_leaf, Terms terms) {
    i64 large = 0;
    double known = 0.0, inside = 0.0, spread = 0.0;
    Test test = {-1.0, 0.0, 0.0};
    for (i64 v = 0; v < n_values; v++) {
        double weight = 0.0, inner = 0.0;
        for (i64 c = 0; c < n_labels; c++) {
            weight += counts[v * n_labels + c];
            inner += term(counts[v * n_labels + c], terms);
        }
        large += weight > min_leaf - TOLERANCE;
        known += weight;
        inside += term(weight, terms) - inner;
        spread += term(weight, terms);
    }
    if (large < 2) {
        return test;
    }
    double all = 0.0, inner = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        all += known_counts[c];
        inner += term(known_counts[c], terms);
    }
    double gain = ((term(all, terms) - inner) - inside) / total;
    test.gain = 0.0;
    if (gain < TOLERANCE / total) {
        return test;
    }
    test.gain = gain;
    test.ratio = gain_ratio(gain, spread, total - known, total, terms);
    return test;
}

/* Return the chosen attribute, -1 if there is none; gains of tests not admitted are negative. */
static i64 best_test(const double *gains, const double *ratios, const bool *counted, i64 d,
                     bool by_gain) {
    double total = 0.0;
    i64 n_counted = 0;
    for (i64 a = 0; a < d; a++) {
        if (gains[a] >= 0.0 && counted[a]) {
            total += gains[a];
            n_counted++;
        }
    }
    if (n_counted == 0) {
        return -1;
    }
    double bar = total / (double)n_counted - AVERAGE_SLACK, best = 0.0;
    i64 chosen = -1;
    for (i64 a = 0; a < d; a++) {
        if (gains[a] < 0.0) {
            continue;
        }
        double value;
        if (by_gain) {
            value = gains[a];
        } else if (gains[a] >= bar) {
            value = ratios[a];
        } else {
            continue;
        }
        if (value > best + TOLERANCE) {
            best = value;
            chosen = a;
        }
    }
    return chosen;
}

/* Reserve space for this many nodes. */
static bool reach_nodes(Shelf *shelf, Tree *tree, i64 count, i64 n_labels) {
    tree->attribute = INTS(shelf, ATTRIBUTE, count);
    tree->threshold = FLOATS(shelf, THRESHOLD, count);
    tree->first_child = INTS(shelf, FIRST_CHILD, count);
    tree->n_children = INTS(shelf, N_CHILDREN, count);
    tree->start = INTS(shelf, START, count);
    tree->length = INTS(shelf, LENGTH, count);
    tree->shares = FLOATS(shelf, SHARES, count *n_labels);
    return !shelf->failed;
}

static bool reach_entries(Shelf *shelf, Tree *tree, i64 count) {
    tree->entry_row = INTS(shelf, ENTRY_ROW, count);
    tree->entry_weight = FLOATS(shelf, ENTRY_WEIGHT, count);
    return !shelf->failed;
}

/* Reserve lists of `wide` rows for all columns. */
static bool widen(Shelf *shelf, int which, i64 d, i64 narrow, i64 wide) {
    uint32_t *lists = WORDS(shelf, which, d *wide);
    if (lists == NULL) {
        return false;
    }
    for (i64 a = d - 1; a > 0; a--) {
        memmove(lists + a * wide, lists + a * narrow, (size_t)narrow * sizeof *lists);
    }
    return true;
}

/* Grow the tree and its entries before collapsing and pruning; return false without memory. */
bool grow_tree(const Training *training, Shelf *shelf, Tree *tree) {
    const double *columns = training->columns;
    const i64 *cardinality = training->cardinality, *y = training->y, *order = training->order,
              *n_known = training->n_known;
    i64 d = training->d, n = training->n, n_labels = training->n_labels;
    i64 most = most_of(2, training->most_values);
    double min_leaf = training->min_leaf;
    Terms terms = training->terms;

    bool *counted = FLAGS(shelf, COUNTED, d), *few = FLAGS(shelf, FEW_FLAGS, d);
    double *sorted = FLOATS(shelf, SORTED_VALUES, d *n);
    uint32_t *labels = WORDS(shelf, LABELS, n);
    uint32_t shift = 0;
    while ((i64)1 << shift < n_labels) {
        shift++;
    }
    double *few_values = FLOATS(shelf, FEW_VALUES, d *FEW);
    u64 *table = (u64 *)INTS(shelf, TABLE, (i64)FEW << shift);
    double *steps = FLOATS(shelf, STEPS, terms.count);
    double *weight = FLOATS(shelf, WEIGHT, n);
    int32_t *row_branch = (int32_t *)WORDS(shelf, ROW_BRANCH, n);
    i64 *branch = INTS(shelf, BRANCH, n);
    double *counts = FLOATS(shelf, VALUE_COUNTS, most *n_labels);
    double *known_counts = FLOATS(shelf, KNOWN_COUNTS, n_labels);
    double *left = FLOATS(shelf, LEFT, n_labels), *right = FLOATS(shelf, RIGHT, n_labels);
    double *gains = FLOATS(shelf, GAINS, d), *ratios = FLOATS(shelf, RATIOS, d);
    double *cuts = FLOATS(shelf, CUTS, d), *share = FLOATS(shelf, SHARE, most);
    i64 *size = INTS(shelf, SIZE, most), *starts = INTS(shelf, STARTS, most);
    i64 *into = INTS(shelf, INTO, most), *known_here = INTS(shelf, KNOWN_HERE, d);
    u64 *left_count = (u64 *)INTS(shelf, LEFT_COUNT, n_labels);
    u64 *right_count = (u64 *)INTS(shelf, RIGHT_COUNT, n_labels);
    i64 *open_node = INTS(shelf, OPEN_NODE, 64), *open_at = INTS(shelf, OPEN_AT, 64);
    i64 *open_side = INTS(shelf, OPEN_SIDE, 64), *open_known = INTS(shelf, OPEN_KNOWN, 64 * d);
    i64 wide = most_of(n, 1);
    uint32_t *sides[2] = {WORDS(shelf, FIRST_SIDE, d *wide), WORDS(shelf, SECOND_SIDE, d *wide)};
    if (shelf->failed || !reach_nodes(shelf, tree, 64, n_labels) ||
        !reach_entries(shelf, tree, 4 * n)) {
        return false;
    }
    takes_part(cardinality, d, n, counted);
    memset(table, 0, ((size_t)FEW << shift) * sizeof *table);
    for (i64 at = 0; at + 1 < terms.count; at++) {
        steps[at] = terms.of[at + 1] - terms.of[at];
    }

    tree->attribute[0] = -1;
    tree->threshold[0] = 0.0;
    tree->first_child[0] = 0;
    tree->n_children[0] = 0;
    tree->start[0] = 0;
    tree->length[0] = n;
    for (i64 c = 0; c < n_labels; c++) {
        tree->shares[c] = 0.0;
    }
    for (i64 i = 0; i < n; i++) {
        tree->entry_row[i] = i;
        tree->entry_weight[i] = 1.0;
        tree->shares[y[i]] += 1.0;
        labels[i] = (uint32_t)y[i];
        weight[i] = 1.0;
    }
    i64 n_nodes = 1, n_entries = n, n_classes = 0;
    for (i64 c = 0; c < n_labels; c++) {
        n_classes += tree->shares[c] > 0.0;
    }

    bool complete = true;
    for (i64 a = 0; a < d; a++) {
        few[a] = false;
        if (cardinality[a] == 0) {
            complete &= n_known[a] == n;
            for (i64 at = 0; at < n_known[a]; at++) {
                sorted[a * n + at] = columns[a * n + order[a * n + at]];
                sides[0][a * wide + at] = (uint32_t)order[a * n + at];
            }
        } else {
            for (i64 i = 0; i < n && complete; i++) {
                complete = !isnan(columns[a * n + i]);
            }
        }
        open_known[a] = n_known[a];
    }
    open_node[0] = 0;
    open_at[0] = 0;
    /* A child's lists occupy the range of its parent's in the other of two buffers. */
    open_side[0] = 0;
    i64 n_open = 1;
    uint32_t *codes = WORDS(shelf, VALUE_CODES, complete ? d * n : 1);
    if (shelf->failed) {
        return false;
    }
    /* If all is known, omit lists for columns of few values, and the lowest value of others. */
    for (i64 a = 0; a < d && complete; a++) {
        if (cardinality[a] == 0) {
            const double *values = sorted + a * n;
            few[a] = count_values(values, order + a * n, n, labels, shift, codes + a * n,
                                  few_values + a * FEW);
            i64 skipped = few[a] ? n : place_behind(values, n, values[0]);
            open_known[a] = n - skipped;
            for (i64 at = 0; at < n - skipped; at++) {
                sides[0][a * wide + at] = (uint32_t)order[a * n + skipped + at];
            }
        }
    }

    while (n_open > 0) {
        n_open--;
        i64 node = open_node[n_open], at = open_at[n_open], side = open_side[n_open];
        memcpy(known_here, open_known + n_open * d, (size_t)d * sizeof *known_here);
        const double *node_shares = tree->shares + node * n_labels;
        if (is_settled(node_shares, n_labels, min_leaf)) {
            continue;
        }
        i64 n_rows = tree->length[node];
        const i64 *rows = tree->entry_row + tree->start[node];
        const double *weights = tree->entry_weight + tree->start[node];
        double total = 0.0;
        for (i64 c = 0; c < n_labels; c++) {
            total += node_shares[c];
        }
        for (i64 e = 0; e < n_rows && !complete; e++) {
            weight[rows[e]] = weights[e];
        }

        for (i64 a = 0; a < d; a++) {
            const double *column = columns + a * n;
            Test test;
            if (few[a]) {
                test = table_test(codes + a * n, shift, few_values + a * FEW, rows, n_rows,
                                  node_shares, n_labels, table, left_count, right_count,
                                  n_classes, min_leaf, terms);
            } else if (cardinality[a] == 0 && complete) {
                test = cut_test(column, sides[side] + a * wide + at, known_here[a],
                                sorted[a * n], labels, node_shares, n_labels, left_count,
                                right_count, n_classes, min_leaf, terms, steps);
            } else if (cardinality[a] == 0) {
                test = numeric_test(column, sides[side] + a * wide + at, known_here[a], y,
                                    weight, left, right, n_labels, total, n_classes, min_leaf,
                                    terms);
            } else {
                i64 values = cardinality[a];
                for (i64 cell = 0; cell < values * n_labels; cell++) {
                    counts[cell] = 0.0;
                }
                for (i64 e = 0; e < n_rows; e++) {
                    double value = column[rows[e]];
                    if (value >= 0.0) {
                        counts[(i64)value * n_labels + y[rows[e]]] += weights[e];
                    }
                }
                for (i64 c = 0; c < n_labels; c++) {
                    known_counts[c] = 0.0;
                }
                for (i64 v = 0; v < values; v++) {
                    for (i64 c = 0; c < n_labels; c++) {
                        known_counts[c] += counts[v * n_labels + c];
                    }
                }
                test = nominal_test(counts, values, known_counts, n_labels, total, min_leaf,
                                    terms);
            }
            gains[a] = test.gain;
            ratios[a] = test.ratio;
            cuts[a] = test.cut;
        }
        i64 chosen = best_test(gains, ratios, counted, d, training->by_gain);
        if (chosen < 0) {
            continue;
        }

        bool numeric = cardinality[chosen] == 0;
        i64 n_branches = numeric ? 2 : cardinality[chosen];
        if (numeric) {
            /* the largest training value that is not above the cut */
            const double *values = sorted + chosen * n;
            tree->threshold[node] =
                values[place_behind(values, n_known[chosen], cuts[chosen]) - 1];
        }
        send_down(columns + chosen * n, cardinality[chosen], tree->threshold[node], n_branches,
                  rows, weights, n_rows, branch, size, share);

        i64 needed = 0;
        for (i64 b = 0; b < n_branches; b++) {
            needed += size[b];
        }
        if (!reach_nodes(shelf, tree, n_nodes + n_branches, n_labels) ||
            !reach_entries(shelf, tree, n_entries + needed)) {
            return false;
        }
        if (at + needed > wide) {
            i64 wider = most_of(at + needed, 2 * wide);
            if (!widen(shelf, FIRST_SIDE, d, wide, wider) ||
                !widen(shelf, SECOND_SIDE, d, wide, wider)) {
                return false;
            }
            sides[0] = shelf->cells[FIRST_SIDE];
            sides[1] = shelf->cells[SECOND_SIDE];
            wide = wider;
        }
        open_node = INTS(shelf, OPEN_NODE, n_open + n_branches);
        open_at = INTS(shelf, OPEN_AT, n_open + n_branches);
        open_side = INTS(shelf, OPEN_SIDE, n_open + n_branches);
        open_known = INTS(shelf, OPEN_KNOWN, (n_open + n_branches) * d);
        if (shelf->failed) {
            return false;
        }
        rows = tree->entry_row + tree->start[node];
        weights = tree->entry_weight + tree->start[node];

        tree->attribute[node] = chosen;
        tree->first_child[node] = n_nodes;
        tree->n_children[node] = n_branches;
        i64 opened = n_open, begin = n_entries;
        for (i64 b = 0; b < n_branches; b++) {
            i64 child = n_nodes + b;
            tree->attribute[child] = -1;
            tree->threshold[child] = 0.0;
            tree->first_child[child] = 0;
            tree->n_children[child] = 0;
            for (i64 c = 0; c < n_labels; c++) {
                tree->shares[child * n_labels + c] = 0.0;
            }
            tree->start[child] = begin;
            tree->length[child] = size[b];
            starts[b] = begin;
            begin += size[b];
        }
        deal_entries(rows, weights, n_rows, branch, n_branches, share, starts, tree->entry_row,
                     tree->entry_weight);
        for (i64 b = 0; b < n_branches; b++) {
            i64 child = n_nodes + b;
            double *shares = tree->shares + child * n_labels;
            for (i64 e = tree->start[child]; e < tree->start[child] + tree->length[child]; e++) {
                shares[y[tree->entry_row[e]]] += tree->entry_weight[e];
            }
            if (tree->length[child] > 0 && !is_settled(shares, n_labels, min_leaf)) {
                open_node[n_open] = child;
                open_at[n_open] = at + tree->start[child] - tree->start[n_nodes];
                open_side[n_open] = 1 - side;
                n_open++;
            }
        }

        /* Each child's rows by increasing value. */
        if (n_open > opened) {
            for (i64 e = 0; e < n_rows; e++) {
                row_branch[rows[e]] = (int32_t)branch[e];
            }
            for (i64 a = 0; a < d; a++) {
                if (cardinality[a] != 0) {
                    continue;
                }
                for (i64 b = 0; b < n_branches; b++) {
                    into[b] = at + tree->start[n_nodes + b] - tree->start[n_nodes];
                }
                const uint32_t *here = sides[side] + a * wide + at;
                uint32_t *spare = sides[1 - side] + a * wide;
                if (complete && n_branches == 2) {
                    deal_in_two(here, known_here[a], row_branch, spare, into);
                } else {
                    deal_lists(here, known_here[a], row_branch, n_branches, share, into, spare);
                }
                for (i64 o = opened; o < n_open; o++) {
                    open_known[o * d + a] = into[open_node[o] - n_nodes] - open_at[o];
                }
            }
        }
        n_nodes += n_branches;
        n_entries += needed;
    }
    tree->n_nodes = n_nodes;
    tree->n_entries = n_entries;
    return true;
}
