/* The MultiTest paper's C4.5: grown by information gain until pure, pruned top down on a fifth of
 * the rows.
 *
 * Columns are sorted once for the whole data set. The sorted lists of the growing rows of a half
 * are copied from them and stay sorted from node to node by stable partition. An entry of a list is
 * the rank of the value and the number of the row in one word. Rows with the lowest value of a
 * column are not listed, because their counts follow from those of the node (many columns of
 * spambase and optdigits are mostly zero). */
#include "multitest.h"

#define PRUNING_SHARE 0.2
/* Gains closer than this (in units of rows) are ties: the first wins. */
#define NEAR_GAIN 1e-9
#define NOTHING (-1e300)
#define ROW_BITS 0xFFFFu
#define RANK 16
#define LEAF (-1)

typedef struct {
    i64 n, d, n_classes, most, wide;
    const double *values, *filled;
    const i64 *cardinality, *y, *known;
    const uint32_t *sorted; /* (d, n): entries by value, then those without one */
    /* the growing rows; which of them each row is, or -1 */
    i64 *grown, *listed;
    int32_t *local;
    uint8_t *codes, *classes, *side;
    uint32_t *lists, *rows, *spare;
    const double *log, *step;
    /* scratch */
    i64 *right, *counts, *table, *stack, *first, *own;
    int32_t *borders;
    /* the tree: (nodes, 3) the column or LEAF, the first child, the class */
    i64 *nodes;
    double *cut;
} Trees;

/* List a row unless its value is the lowest of the column. */
static i64 enter(uint32_t *list, i64 count, uint32_t rank, i64 row, uint32_t lowest) {
    list[count] = rank << RANK | (uint32_t)row;
    return count + (rank > lowest);
}

/* List the growing rows by value in a complete column; return their number. */
static i64 list_complete(const Trees *t, i64 j) {
    const uint32_t *sorted = t->sorted + j * t->n;
    uint32_t *RESTRICT list = t->lists + j * t->wide;
    i64 count = 0, r = 0;
    while (r < t->n && t->local[sorted[r] & ROW_BITS] < 0) {
        r++;
    }
    if (r < t->n) {
        uint32_t lowest = sorted[r] >> RANK;
        while (r < t->n && sorted[r] >> RANK == lowest) {
            r++;
        }
    }
    for (; r < t->n; r++) {
        int32_t row = t->local[sorted[r] & ROW_BITS];
        /* always written, counted if the row grows, which avoids a branch */
        list[count] = (sorted[r] & ~ROW_BITS) | ((uint32_t)row & ROW_BITS);
        count += row >= 0;
    }
    return count;
}

/* List the growing rows by value in column j; return their number. An imputed value gets the even
 * rank between its neighbours, or the rank of an equal value. */
static i64 list_column(const Trees *t, i64 j, double filled_in) {
    const uint32_t *sorted = t->sorted + j * t->n;
    uint32_t *list = t->lists + j * t->wide, lowest = 0;
    i64 count = 0, known = t->known[j];
    bool first = true, waiting = true;
    for (i64 r = 0; r <= known; r++) {
        double value = r < known ? t->values[(sorted[r] & ROW_BITS) * t->d + j] : INFINITY;
        if (waiting && (r == known || value >= filled_in)) {
            uint32_t rank = r < known ? (sorted[r] >> RANK) - (value > filled_in)
                            : r > 0   ? (sorted[r - 1] >> RANK) + 1
                                      : 0;
            waiting = false;
            for (i64 u = known; u < t->n; u++) {
                i64 row = t->local[sorted[u] & ROW_BITS];
                if (row >= 0) {
                    lowest = first ? rank : lowest;
                    first = false;
                    count = enter(list, count, rank, row, lowest);
                }
            }
        }
        i64 row = r < known ? t->local[sorted[r] & ROW_BITS] : -1;
        if (row >= 0) {
            uint32_t rank = sorted[r] >> RANK;
            lowest = first ? rank : lowest;
            first = false;
            count = enter(list, count, rank, row, lowest);
        }
    }
    return count;
}

/* Find the best cut of a column: its gain in log units, and the first entry above it.
 *
 * With f(k) = k log k the conditional entropy of two branches is a sum of f over the counts;
 * step[k] = f(k + 1) - f(k), so moving one row costs two additions. The loop goes from the largest
 * value down; of equal gains the lower cut wins. */
static double best_cut(const Trees *t, i64 j, i64 start, i64 stop, i64 size, i64 *at) {
    const uint32_t *list = t->lists + j * t->wide;
    i64 *RESTRICT right = t->right;
    const i64 *RESTRICT counts = t->counts;
    const double *RESTRICT log = t->log, *RESTRICT step = t->step;
    double best = NOTHING, inside = 0.0;
    *at = -1;
    if (start == stop) {
        return best;
    }
    for (i64 c = 0; c < t->n_classes; c++) {
        right[c] = 0;
        inside += log[counts[c]];
    }
    bool unlisted = size > stop - start;
    uint32_t here = list[stop - 1] >> RANK;
    for (i64 r = stop - 1; r >= start; r--) {
        uint8_t c = t->classes[list[r] & ROW_BITS];
        i64 moved_of_class = right[c]++;
        inside += step[moved_of_class] - step[counts[c] - moved_of_class - 1];
        if (r > start) {
            uint32_t following = list[r - 1] >> RANK;
            if (following == here) {
                continue;
            }
            here = following;
        } else if (!unlisted) {
            break;
        }
        i64 moved = stop - r;
        double gain = inside - log[moved] - log[size - moved];
        if (gain >= best - NEAR_GAIN) {
            best = gain;
            *at = r;
        }
    }
    return best;
}

/* Return the gain of one branch per value in the same units, or none if all rows are in one. */
static double nominal_gain(const Trees *t, i64 j, i64 start, i64 stop) {
    const uint8_t *codes = t->codes + j * t->n;
    i64 n_values = t->cardinality[j], k = t->n_classes, branches = 0;
    double gain = 0.0;
    memset(t->table, 0, (size_t)(n_values * k) * sizeof *t->table);
    for (i64 r = start; r < stop; r++) {
        t->table[codes[t->rows[r]] * k + t->classes[t->rows[r]]]++;
    }
    for (i64 v = 0; v < n_values; v++) {
        i64 size = 0;
        for (i64 c = 0; c < k; c++) {
            size += t->table[v * k + c];
            gain += t->log[t->table[v * k + c]];
        }
        gain -= t->log[size];
        branches += size > 0;
    }
    return branches > 1 ? gain : NOTHING;
}

/* Partition entries into side 0, then side 1, each in order; return the boundary. */
static i64 halve(uint32_t *list, i64 start, i64 stop, const uint8_t *side, uint32_t *spare) {
    i64 a = start, b = 0;
    for (i64 r = start; r < stop; r++) {
        uint32_t entry = list[r];
        /* write both and count one, which avoids a branch */
        list[a] = entry;
        spare[b] = entry;
        i64 second = side[entry & ROW_BITS];
        a += 1 - second;
        b += second;
    }
    memcpy(list + a, spare, (size_t)b * sizeof *list);
    return a;
}

/* Group entries by branch, each in order; `first` gets the starts and the end. */
static void deal(uint32_t *list, i64 start, i64 stop, const uint8_t *side, i64 branches,
                 i64 *first, uint32_t *spare) {
    memset(first, 0, (size_t)(branches + 1) * sizeof *first);
    for (i64 r = start; r < stop; r++) {
        first[side[list[r] & ROW_BITS] + 1]++;
    }
    first[0] = start;
    for (i64 v = 0; v < branches; v++) {
        first[v + 1] += first[v];
    }
    for (i64 r = start; r < stop; r++) {
        spare[first[side[list[r] & ROW_BITS]]++] = list[r];
    }
    for (i64 v = branches; v > 0; v--) {
        first[v] = first[v - 1];
    }
    first[0] = start;
    memcpy(list + start, spare + start, (size_t)(stop - start) * sizeof *list);
}

/* Return the midpoint of the values on both sides of a cut. */
static double threshold(const Trees *t, i64 j, i64 at, i64 start, i64 stop) {
    const uint32_t *list = t->lists + j * t->wide;
    double high = t->filled[t->grown[list[at] & ROW_BITS] * t->d + j], low = INFINITY;
    if (at > t->own[2 * j]) {
        low = t->filled[t->grown[list[at - 1] & ROW_BITS] * t->d + j];
    } else {
        for (i64 r = start; r < stop; r++) {
            double value = t->filled[t->grown[t->rows[r]] * t->d + j];
            low = value < low ? value : low;
        }
    }
    return midpoint(low, high);
}

/* Grow a tree on m rows; return its number of nodes. */
static i64 grow(const Trees *t, i64 m) {
    i64 d = t->d, n_nodes = 1, height = 1, *stack = t->stack, *first = t->first, *own = t->own;
    int32_t *borders = t->borders;
    stack[0] = 0;
    stack[1] = 0;
    stack[2] = m;
    for (i64 j = 0; j < d; j++) {
        borders[2 * j] = 0;
        borders[2 * j + 1] = (int32_t)t->listed[j];
    }
    while (height > 0) {
        height--;
        i64 node = stack[3 * height], start = stack[3 * height + 1], stop = stack[3 * height + 2];
        i64 size = stop - start, majority = 0, chosen = -1, at = -1;
        int32_t *here = borders + height * d * 2;
        t->nodes[3 * node] = LEAF;
        t->nodes[3 * node + 1] = 0;
        memset(t->counts, 0, (size_t)t->n_classes * sizeof *t->counts);
        for (i64 r = start; r < stop; r++) {
            t->counts[t->classes[t->rows[r]]]++;
        }
        for (i64 c = 1; c < t->n_classes; c++) {
            if (t->counts[c] > t->counts[majority]) {
                majority = c;
            }
        }
        /* an empty branch predicts the first class */
        t->nodes[3 * node + 2] = majority;
        if (size == 0 || t->counts[majority] == size) {
            continue;
        }
        double best = NOTHING;
        for (i64 j = 0; j < d; j++) {
            double gain;
            i64 place = -1;
            if (t->cardinality[j] == 0) {
                own[2 * j] = here[2 * j];
                own[2 * j + 1] = here[2 * j + 1];
                gain = best_cut(t, j, own[2 * j], own[2 * j + 1], size, &place);
            } else {
                gain = nominal_gain(t, j, start, stop);
            }
            if (gain > best + NEAR_GAIN) {
                best = gain;
                chosen = j;
                at = place;
            }
        }
        if (chosen < 0) {
            continue;
        }
        t->nodes[3 * node] = chosen;
        t->nodes[3 * node + 1] = n_nodes;
        i64 branches = 2;
        if (t->cardinality[chosen] == 0) {
            t->cut[node] = threshold(t, chosen, at, start, stop);
            for (i64 r = start; r < stop; r++) {
                t->side[t->rows[r]] = 0;
            }
            for (i64 r = at; r < own[2 * chosen + 1]; r++) {
                t->side[t->lists[chosen * t->wide + r] & ROW_BITS] = 1;
            }
        } else {
            branches = t->cardinality[chosen];
            for (i64 r = start; r < stop; r++) {
                t->side[t->rows[r]] = t->codes[chosen * t->n + t->rows[r]];
            }
        }
        if (branches == 2) {
            first[0] = start;
            first[1] = halve(t->rows, start, stop, t->side, t->spare);
            first[2] = stop;
        } else {
            deal(t->rows, start, stop, t->side, branches, first, t->spare);
        }
        for (i64 v = 0; v < branches; v++) {
            i64 *entry = stack + 3 * (height + v);
            entry[0] = n_nodes + v;
            entry[1] = first[v];
            entry[2] = first[v + 1];
        }
        for (i64 j = 0; j < d; j++) {
            if (t->cardinality[j] > 0) {
                continue;
            }
            uint32_t *list = t->lists + j * t->wide;
            if (branches == 2) {
                i64 border = halve(list, own[2 * j], own[2 * j + 1], t->side, t->spare);
                here[2 * j] = (int32_t)own[2 * j];
                here[2 * j + 1] = (int32_t)border;
                here[2 * d + 2 * j] = (int32_t)border;
                here[2 * d + 2 * j + 1] = (int32_t)own[2 * j + 1];
            } else {
                deal(list, own[2 * j], own[2 * j + 1], t->side, branches, first, t->spare);
                for (i64 v = 0; v < branches; v++) {
                    here[2 * d * v + 2 * j] = (int32_t)first[v];
                    here[2 * d * v + 2 * j + 1] = (int32_t)first[v + 1];
                }
            }
        }
        n_nodes += branches;
        height += branches;
    }
    return n_nodes;
}

/* Return the branch of row i at a node. */
static i64 child_of(const Trees *t, i64 node, i64 i) {
    i64 j = t->nodes[3 * node];
    double value = t->filled[i * t->d + j];
    if (t->cardinality[j] == 0) {
        return t->nodes[3 * node + 1] + (value <= t->cut[node] ? 0 : 1);
    }
    return t->nodes[3 * node + 1] + (i64)value;
}

/* Prune from the root down: make a leaf if the pruning rows lose nothing. */
static void prune(const Trees *t, const i64 *pruning, i64 n_pruning, i64 n_nodes, i64 *path,
                  i64 *as_leaf, i64 *as_tree) {
    memset(as_leaf, 0, (size_t)n_nodes * sizeof *as_leaf);
    memset(as_tree, 0, (size_t)n_nodes * sizeof *as_tree);
    for (i64 r = 0; r < n_pruning; r++) {
        i64 i = pruning[r], node = 0, length = 0;
        while (true) {
            path[length++] = node;
            as_leaf[node] += t->nodes[3 * node + 2] != t->y[i];
            if (t->nodes[3 * node] == LEAF) {
                break;
            }
            node = child_of(t, node, i);
        }
        i64 wrong = t->nodes[3 * node + 2] != t->y[i];
        for (i64 k = 0; k < length; k++) {
            as_tree[path[k]] += wrong;
        }
    }
    for (i64 node = 0; node < n_nodes; node++) {
        if (as_leaf[node] <= as_tree[node]) {
            t->nodes[3 * node] = LEAF;
        }
    }
}

/* Count the errors of every half. For numeric columns, `known` (d) is the number of rows with a
 * value. `sorted` (d, n) has these rows by value with odd ranks from 1 on, as rank << 16 | row with
 * 16 bits each, then the rows without a value. */
i64 multitest_tree(const double *values, const i64 *cardinality, const bool *whole, i64 unknown,
                   const i64 *y, i64 n, i64 d, i64 n_classes, const uint32_t *sorted,
                   const i64 *known, const uint32_t *seeds, const bool *marks, i64 splits,
                   i64 *errors) {
    Halves halves = halves_of(values, cardinality, whole, unknown, y, n, d, n_classes, marks,
                              splits);
    i64 most = most_of(2, halves.most_values), limit = 2 * n * most + 1;
    /* The maximum number of open nodes. On the way down every numeric cut leaves one open node with
     * at least one row; every nominal column is split once and leaves at most as many nodes as it
     * has values. */
    i64 high = n + halves.all_values + 2;
    Scratch scratch = {0};
    i64 *train = TAKE(&scratch, i64, n), *test = TAKE(&scratch, i64, n);
    i64 *modes = TAKE(&scratch, i64, most), *shuffled = TAKE(&scratch, i64, n);
    i64 *path = TAKE(&scratch, i64, limit), *as_leaf = TAKE(&scratch, i64, limit);
    i64 *as_tree = TAKE(&scratch, i64, limit);
    double *filled = TAKE(&scratch, double, n *d), *fills = TAKE(&scratch, double, d);
    double *log_terms = TAKE(&scratch, double, n + 1), *steps = TAKE(&scratch, double, n + 1);
    Twister *twister = TAKE(&scratch, Twister, 1);
    bool *lacking = TAKE(&scratch, bool, d);
    Trees t = {
        .n = n, .d = d, .n_classes = n_classes, .most = most, .wide = n + 1,
        .values = values, .filled = filled, .cardinality = cardinality, .y = y,
        .known = known, .sorted = sorted,
        .grown = TAKE(&scratch, i64, n), .local = TAKE(&scratch, int32_t, n),
        .listed = TAKE(&scratch, i64, d), .codes = TAKE(&scratch, uint8_t, d *n),
        .classes = TAKE(&scratch, uint8_t, n), .side = TAKE(&scratch, uint8_t, n),
        .lists = TAKE(&scratch, uint32_t, d *(n + 1)), .rows = TAKE(&scratch, uint32_t, n + 1),
        .spare = TAKE(&scratch, uint32_t, n + 1), .log = log_terms, .step = steps,
        .right = TAKE(&scratch, i64, n_classes), .counts = TAKE(&scratch, i64, n_classes),
        .table = TAKE(&scratch, i64, most *n_classes),
        .stack = TAKE(&scratch, i64, 3 * high), .first = TAKE(&scratch, i64, most + 1),
        .own = TAKE(&scratch, i64, 2 * d), .borders = TAKE(&scratch, int32_t, high *d * 2),
        .nodes = TAKE(&scratch, i64, 3 * limit), .cut = TAKE(&scratch, double, limit),
    };
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    begin_filling(&halves, lacking, filled);
    for (i64 k = 1; k <= n; k++) {
        log_terms[k] = (double)k * log((double)k);
        steps[k - 1] = log_terms[k] - log_terms[k - 1];
    }
    for (i64 s = 0; s < 2 * splits; s++) {
        i64 m = split_rows(marks + s / 2 * n, n, s % 2, train, test), size = 0, wrong = 0;
        if (halves.unknown) {
            fill_unknown(&halves, train, m, modes, filled, fills);
        }
        twister_seed(twister, seeds[s]);
        twister_permutation(twister, shuffled, m);
        i64 n_pruning = (i64)(PRUNING_SHARE * (double)m);
        for (i64 i = 0; i < n; i++) {
            t.local[i] = -1;
        }
        for (i64 r = 0; r < m; r++) {
            t.local[train[r]] = 0;
        }
        for (i64 r = 0; r < n_pruning; r++) {
            shuffled[r] = train[shuffled[r]];
            t.local[shuffled[r]] = -1;
        }
        for (i64 r = 0; r < m; r++) {
            i64 i = train[r];
            if (t.local[i] == 0) {
                t.local[i] = (int32_t)size;
                t.grown[size] = i;
                t.classes[size] = (uint8_t)y[i];
                t.rows[size] = (uint32_t)size;
                size++;
            }
        }
        for (i64 j = 0; j < d; j++) {
            if (cardinality[j] == 0) {
                t.listed[j] = known[j] == n ? list_complete(&t, j) : list_column(&t, j, fills[j]);
            } else {
                for (i64 r = 0; r < size; r++) {
                    t.codes[j * n + r] = (uint8_t)filled[t.grown[r] * d + j];
                }
            }
        }
        i64 n_nodes = grow(&t, size);
        prune(&t, shuffled, n_pruning, n_nodes, path, as_leaf, as_tree);
        for (i64 r = 0; r < n - m; r++) {
            i64 node = 0;
            while (t.nodes[3 * node] != LEAF) {
                node = child_of(&t, node, test[r]);
            }
            wrong += t.nodes[3 * node + 2] != y[test[r]];
        }
        errors[s] = wrong;
    }
    scratch_free(&scratch);
    return 0;
}
