/* C4.5 for whole plans on binary columns and two classes, with bit sets only.
 *
 * The choices equal those of c45_bits.c and use the same numbers. The rows of the first class
 * precede those of the second, in separate words, so that one pass over a set of rows counts both
 * classes. If a node has at most one word of each class, its rows are renumbered into two words,
 * and its subtree is grown, collapsed and pruned there.
 *
 * Every branch of a tree has rows, even after a subtree was raised, and every column counts in the
 * average gain. */
#include "c45.h"

/* Processors with AVX-512 extract bits quickly; some others need hundreds of cycles. */
#if defined(__AVX512F__) && defined(__BMI2__)
#include <immintrin.h>
#define HAS_FAST_EXTRACT 1
#else
#define HAS_FAST_EXTRACT 0
#endif

/* A node; attribute is -1 for a leaf, the children are first_child and the next. */
typedef struct {
    int32_t attribute, first_child, rows, second;
    double estimate; /* negative until the subtree is pruned */
} Node;

/* An open node; the bits of `columns` are its remaining columns. */
typedef struct {
    i64 node;
    u64 columns;
} Open;

/* An admitted test with the number of rows of the second value, by class. */
typedef struct {
    double gain;
    int32_t column, first, second;
} Admitted;

/* Sets of rows as words, n_first of the first class and then those of the second. */
typedef struct {
    i64 n_first, n_words;
    u64 *values; /* (d, n_words) rows with the second value of each column */
    u64 *masks, *stack_masks; /* a line of words for each level of the tree */
} Rows;

typedef struct {
    i64 d, min_leaf;
    bool by_gain, pruning, raising;
    const double *terms, *entropies;
    Estimates table;
    Pessimist pessimist;
    const u64 *row_bits;
    Node *nodes;
    i64 *below, *visited, *inner;
    double *estimates;
    Admitted *admitted;
    i64 *stack_node, *stack_first, *stack_second;
    Rows small;
} Binary;

/* Count the rows of each class in the intersection of two sets. */
static inline void count_both(const Rows *rows, const u64 *mask, const u64 *held, i64 *first,
                              i64 *second, bool small) {
    if (small) {
        *first = popcount(mask[0] & held[0]);
        *second = popcount(mask[1] & held[1]);
        return;
    }
    i64 in_first = 0, in_second = 0;
    for (i64 w = 0; w < rows->n_first; w++) {
        in_first += popcount(mask[w] & held[w]);
    }
    for (i64 w = rows->n_first; w < rows->n_words; w++) {
        in_second += popcount(mask[w] & held[w]);
    }
    *first = in_first;
    *second = in_second;
}

/* Keep rows with the first value in `here` and move the others to `next`, which may be `here`. */
static inline void part(const Rows *rows, u64 *here, const u64 *held, u64 *next) {
    for (i64 w = 0; w < rows->n_words; w++) {
        u64 word = here[w], with = word & held[w];
        here[w] = word ^ with;
        next[w] = with;
    }
}

static inline i64 errors_of(const Node *node) {
    return least_of(node->second, node->rows - node->second);
}

/* Return whether to split a node. With too few errors, no subtree saves an error and it would
 * collapse. */
static inline bool is_open(const Node *node, i64 min_leaf) {
    return (node->rows >= 2 * min_leaf) & (errors_of(node) > min_leaf / 2);
}

static inline double leaf_estimate(const Binary *work, const Node *node) {
    return estimate_of(node->rows, errors_of(node), work->table, work->pessimist);
}

/* Return rows times entropy, from a table if each class has at most one word of rows. */
static inline double entropy_of(const Binary *work, i64 first, i64 second, bool small) {
    const double *terms = work->terms;
    return small ? work->entropies[first * (WORD + 1) + second]
                 : terms[first + second] - (terms[first] + terms[second]);
}

/* Return the index of the chosen test among the admitted ones, -1 if there is none; `left` are the
 * columns that can be tested below the node. */
static inline i64 choose(const Binary *work, const Rows *rows, const u64 *here, const Node *node,
                         u64 columns, u64 *left, bool small) {
    const double *terms = work->terms;
    Admitted *admitted = work->admitted;
    i64 total = node->rows, in_second = node->second, in_first = total - in_second, n_left = 0;
    double entropy = entropy_of(work, in_first, in_second, small);
    double size = (double)total, least_gain = TOLERANCE / size, gain_sum = 0.0;
    *left = 0;
    while (columns != 0) {
        i64 a = lowest_bit(columns), first, second;
        columns &= columns - 1;
        const u64 *held = rows->values + a * (small ? 2 : rows->n_words);
        count_both(rows, here, held, &first, &second, small);
        i64 one = first + second, zero = total - one;
        double inside = entropy_of(work, in_first - first, in_second - second, small) +
                        entropy_of(work, first, second, small);
        double gain = (entropy - inside) / size;
        gain = gain < least_gain ? 0.0 : gain;
        /* overwritten unless admitted, which avoids a branch */
        bool is_admitted = (one >= work->min_leaf) & (zero >= work->min_leaf);
        gain_sum += is_admitted ? gain : 0.0;
        admitted[n_left].gain = gain;
        admitted[n_left].column = (int32_t)a;
        admitted[n_left].first = (int32_t)first;
        admitted[n_left].second = (int32_t)second;
        n_left += is_admitted;
        *left |= (u64)is_admitted << a;
    }
    double bar = gain_sum / (double)n_left - AVERAGE_SLACK, best = 0.0;
    i64 chosen = -1;
    for (i64 at = 0; at < n_left; at++) {
        double value = admitted[at].gain;
        if (!work->by_gain) {
            i64 one = admitted[at].first + admitted[at].second;
            double information = (terms[total] - (terms[total - one] + terms[one])) / size;
            double ratio = information < TOLERANCE ? 0.0 : value / information;
            value = (value >= bar) & (value > 0.0) ? ratio : 0.0;
        }
        if (value > best + TOLERANCE) {
            best = value;
            chosen = at;
        }
    }
    return chosen;
}

#if HAS_FAST_EXTRACT
/* Renumber the rows of the set `mask` into one word per class and column. */
static void pack(const Binary *work, const Rows *rows, const u64 *mask, u64 columns) {
    while (columns != 0) {
        i64 a = lowest_bit(columns), w = 0;
        const u64 *held = rows->values + a * rows->n_words;
        columns &= columns - 1;
        for (i64 c = 0; c < 2; c++) {
            i64 end = c == 0 ? rows->n_first : rows->n_words, to = 0;
            u64 word = 0;
            for (; w < end; w++) {
                word |= (u64)_pext_u64(held[w], mask[w]) << (to % WORD);
                to += popcount(mask[w]);
            }
            work->small.values[2 * a + c] = word;
        }
    }
}
#else
/* Transpose eight bytes: bit k of byte j becomes bit j of byte k. */
static inline u64 turn_bits(u64 bytes) {
    u64 swapped = (bytes ^ (bytes >> 7)) & 0x00AA00AA00AA00AAu;
    bytes ^= swapped ^ (swapped << 7);
    swapped = (bytes ^ (bytes >> 14)) & 0x0000CCCC0000CCCCu;
    bytes ^= swapped ^ (swapped << 14);
    swapped = (bytes ^ (bytes >> 28)) & 0x00000000F0F0F0F0u;
    return bytes ^ swapped ^ (swapped << 28);
}

/* Renumber the rows of the set `mask` into one word per class and column. */
static void pack(const Binary *work, const Rows *rows, const u64 *mask, u64 columns) {
    i64 w = 0, n_bytes = (work->d + 7) / 8;
    (void)columns;
    for (i64 c = 0; c < 2; c++) {
        i64 end = c == 0 ? rows->n_first : rows->n_words, to = 0;
        uint8_t bytes[8][WORD] = {{0}}, turned[8][8], word[8]; /* eight columns per byte */
        for (; w < end; w++) {
            for (u64 rest = mask[w]; rest != 0; rest &= rest - 1, to++) {
                u64 bits = work->row_bits[WORD * w + lowest_bit(rest)];
                bytes[0][to] = (uint8_t)bits;
                for (i64 k = 1; k < n_bytes; k++) {
                    bytes[k][to] = (uint8_t)(bits >> (8 * k));
                }
            }
        }
        for (i64 k = 0; k < n_bytes; k++) {
            for (i64 block = 0; block < 8; block++) {
                u64 eight;
                memcpy(&eight, bytes[k] + 8 * block, sizeof eight);
                eight = turn_bits(eight);
                memcpy(turned[block], &eight, sizeof eight);
            }
            for (i64 a = 8 * k; a < least_of(8 * k + 8, work->d); a++) {
                for (i64 block = 0; block < 8; block++) {
                    word[block] = turned[block][a % 8];
                }
                memcpy(work->small.values + 2 * a + c, word, sizeof word);
            }
        }
    }
}
#endif

/* Return the estimated errors of the subtree at `top` (not a leaf) on the rows in `mask`, which are
 * those of `node`; infinite once the errors exceed `enough`. */
static double branch_estimate(const Binary *work, const Rows *rows, i64 top, const u64 *mask,
                              const Node *node, double enough) {
    const Node *nodes = work->nodes;
    i64 n_words = rows->n_words, n_stack = 1, n_visited = 0;
    double so_far = 0.0, *estimates = work->estimates;
    for (i64 w = 0; w < n_words; w++) {
        rows->stack_masks[w] = mask[w];
    }
    work->stack_node[0] = top;
    work->stack_first[0] = node->rows - node->second;
    work->stack_second[0] = node->second;
    while (n_stack > 0) {
        n_stack--;
        node = nodes + work->stack_node[n_stack];
        u64 *here = rows->stack_masks + n_stack * n_words;
        const u64 *held = rows->values + node->attribute * n_words;
        i64 first, second, child = node->first_child;
        count_both(rows, here, held, &first, &second, n_words == 2);
        i64 zero_first = work->stack_first[n_stack] - first;
        i64 zero_second = work->stack_second[n_stack] - second;
        bool zero_inner = nodes[child].attribute >= 0, one_inner = nodes[child + 1].attribute >= 0;
        work->visited[n_visited++] = work->stack_node[n_stack];
        if (!zero_inner) {
            estimates[child] = estimate_of(zero_first + zero_second,
                                           least_of(zero_first, zero_second), work->table,
                                           work->pessimist);
            so_far += estimates[child];
        }
        if (!one_inner) {
            estimates[child + 1] = estimate_of(first + second, least_of(first, second),
                                               work->table, work->pessimist);
            so_far += estimates[child + 1];
        }
        if (so_far > enough) {
            return INFINITY;
        }
        if (zero_inner || one_inner) {
            part(rows, here, held, here + zero_inner * n_words);
        }
        work->stack_node[n_stack] = child;
        work->stack_first[n_stack] = zero_first;
        work->stack_second[n_stack] = zero_second;
        n_stack += zero_inner;
        work->stack_node[n_stack] = child + 1;
        work->stack_first[n_stack] = first;
        work->stack_second[n_stack] = second;
        n_stack += one_inner;
    }
    for (i64 back = n_visited - 1; back >= 0; back--) {
        i64 at = work->visited[back], child = nodes[at].first_child;
        estimates[at] = estimates[child] + estimates[child + 1];
    }
    return estimates[top];
}

/* Write the rows of a branch one line below those of its node. */
static u64 *rows_of_branch(const Rows *rows, const Node *node, u64 *mask, i64 value) {
    const u64 *held = rows->values + node->attribute * rows->n_words;
    u64 *to = mask + rows->n_words, turned = value == 1 ? 0 : ~(u64)0;
    for (i64 w = 0; w < rows->n_words; w++) {
        to[w] = mask[w] & (held[w] ^ turned);
    }
    return to;
}

/* Recount the rows in `mask`, those of the node, in its new subtree. */
static void send_again(const Binary *work, const Rows *rows, const Node *node, u64 *mask) {
    Node *children = work->nodes + node->first_child;
    i64 first, second;
    count_both(rows, mask, rows->values + node->attribute * rows->n_words, &first, &second,
               rows->n_words == 2);
    children[1].rows = (int32_t)(first + second);
    children[1].second = (int32_t)second;
    children[0].rows = node->rows - children[1].rows;
    children[0].second = node->second - children[1].second;
    for (i64 v = 0; v < 2; v++) {
        children[v].estimate = -1.0;
        if (children[v].attribute >= 0) {
            send_again(work, rows, children + v, rows_of_branch(rows, node, mask, v));
        }
    }
}

/* Prune from the leaves up by estimated errors, like prune_pessimistic; return the remaining
 * estimate. `mask` has the rows of the node; lines below it are for its branches. */
static double prune(const Binary *work, const Rows *rows, Node *node, u64 *mask) {
    double as_leaf = leaf_estimate(work, node);
    while (node->attribute >= 0) {
        Node *children = work->nodes + node->first_child;
        double below[2];
        for (i64 v = 0; v < 2; v++) {
            Node *child = children + v;
            if (child->attribute < 0) {
                below[v] = leaf_estimate(work, child);
            } else if (child->estimate >= 0.0) {
                below[v] = child->estimate;
            } else {
                below[v] = prune(work, rows, child, rows_of_branch(rows, node, mask, v));
            }
        }
        double as_tree = below[0] + below[1], as_branch = INFINITY;
        const Node *largest = children + (children[1].rows >= children[0].rows);
        if (work->raising && largest->attribute < 0) {
            as_branch = as_leaf;
        } else if (work->raising) {
            /* Above this, the branch is neither raised nor prevents a leaf. */
            double enough = as_tree + PRUNE_SLACK;
            if (as_leaf <= enough + TOLERANCE) {
                enough = as_leaf - PRUNE_SLACK;
            }
            as_branch = branch_estimate(work, rows, largest - work->nodes, mask, node,
                                        enough + 2.0 * TOLERANCE);
        }
        if (as_leaf <= as_tree + PRUNE_SLACK + TOLERANCE &&
            as_leaf <= as_branch + PRUNE_SLACK + TOLERANCE) {
            node->attribute = -1;
        } else if (as_branch <= as_tree + PRUNE_SLACK + TOLERANCE) {
            node->attribute = largest->attribute;
            node->first_child = largest->first_child;
            send_again(work, rows, node, mask);
        } else {
            return as_tree;
        }
    }
    return as_leaf;
}

/* Turn subtrees that save no training error into leaves. A collapsed subtree has as many errors as
 * its leaves, so bottom-up and top-down passes agree. */
static void collapse_inner(const Binary *work, const i64 *inner, i64 n_inner) {
    for (i64 at = n_inner - 1; at >= 0; at--) {
        Node *node = work->nodes + inner[at];
        i64 *below = work->below, errors = below[node->first_child] + below[node->first_child + 1];
        node->attribute = errors >= below[inner[at]] ? -1 : node->attribute;
        below[inner[at]] = least_of(errors, below[inner[at]]);
    }
}

/* Grow, collapse and prune the subtree of the node `top`, whose rows are the first line of the
 * masks; return the number of nodes. `inner` and `open` are large enough. */
static i64 plant(const Binary *work, const Rows *rows, i64 top, u64 columns, i64 n_nodes,
                 i64 *inner, Open *open) {
    i64 n_words = rows->n_words, n_inner = 0, n_open = 1;
    Node *nodes = work->nodes;
    open[0] = (Open){top, columns};
    while (n_open > 0) {
        n_open--;
        Open now = open[n_open];
        Node *node = nodes + now.node;
        u64 *here = rows->masks + n_open * n_words, left;
        if (n_words > 2 && node->second <= WORD && node->rows - node->second <= WORD) {
            pack(work, rows, here, now.columns);
            work->small.masks[0] = ~(u64)0 >> (WORD - (node->rows - node->second));
            work->small.masks[1] = ~(u64)0 >> (WORD - node->second);
            n_nodes = plant(work, &work->small, now.node, now.columns, n_nodes, inner + n_inner,
                            open + n_open);
            continue;
        }
        i64 chosen = n_words == 2 ? choose(work, rows, here, node, now.columns, &left, true)
                                  : choose(work, rows, here, node, now.columns, &left, false);
        if (chosen < 0) {
            continue;
        }
        const Admitted *test = work->admitted + chosen;
        Node *zero = nodes + n_nodes, *one = zero + 1;
        node->attribute = (int32_t)test->column;
        node->first_child = (int32_t)n_nodes;
        inner[n_inner++] = now.node;
        one->rows = (int32_t)(test->first + test->second);
        one->second = (int32_t)test->second;
        zero->rows = node->rows - one->rows;
        zero->second = node->second - one->second;
        one->attribute = zero->attribute = -1;
        one->estimate = zero->estimate = -1.0;
        work->below[n_nodes] = errors_of(zero);
        work->below[n_nodes + 1] = errors_of(one);
        left ^= (u64)1 << test->column;
        /* the second child overwrites the first if that stays a leaf */
        bool zero_open = (left != 0) & is_open(zero, work->min_leaf);
        bool one_open = (left != 0) & is_open(one, work->min_leaf);
        part(rows, here, rows->values + test->column * n_words, here + zero_open * n_words);
        open[n_open] = (Open){n_nodes, left};
        n_open += zero_open;
        open[n_open] = (Open){n_nodes + 1, left};
        n_open += one_open;
        n_nodes += 2;
    }
    collapse_inner(work, inner, n_inner);
    if (work->pruning && n_words == 2 && nodes[top].attribute >= 0) {
        work->small.masks[0] = ~(u64)0 >> (WORD - (nodes[top].rows - nodes[top].second));
        work->small.masks[1] = ~(u64)0 >> (WORD - nodes[top].second);
        nodes[top].estimate = prune(work, rows, nodes + top, rows->masks);
    }
    return n_nodes;
}

/* Add the rows in `mask` that get the second class to `predicted`. */
static void send_tests(const Binary *work, const Rows *rows, const Node *node, u64 *mask,
                       u64 *predicted) {
    if (node->attribute >= 0) {
        const Node *children = work->nodes + node->first_child;
        for (i64 v = 0; v < 2; v++) {
            send_tests(work, rows, children + v, rows_of_branch(rows, node, mask, v), predicted);
        }
    } else if (2 * node->second > node->rows) {
        for (i64 w = 0; w < rows->n_words; w++) {
            predicted[w] |= mask[w];
        }
    }
}

/* Assign a bit to each row; return the number of words of the first class. */
static i64 place_rows(const i64 *y, i64 n, i64 *bit_of) {
    i64 in_first = 0, in_second = 0;
    for (i64 row = 0; row < n; row++) {
        in_first += y[row] == 0;
    }
    i64 n_first = (in_first + WORD - 1) / WORD;
    in_first = 0;
    for (i64 row = 0; row < n; row++) {
        bit_of[row] = y[row] == 0 ? in_first++ : WORD * n_first + in_second++;
    }
    return n_first;
}

/* Predict with a tree for each split; `predicted` is shaped like `marks`. */
i64 binary_plan(const i64 *codes, const i64 *y, i64 n, i64 d, const i64 *marks,
                const i64 *wanted, i64 n_wanted, i64 n_marks, i64 min_leaf, bool by_gain,
                bool pruning, bool raising, Pessimist pessimist, Estimates table,
                const double *terms, i64 *predicted) {
    i64 room = 2 * (n / min_leaf + 1) + 2, n_words = n / WORD + 3, levels = d + 3;
    Scratch scratch = {0};
    i64 *bit_of = TAKE(&scratch, i64, n), *order = TAKE(&scratch, i64, n);
    i64 *ends = TAKE(&scratch, i64, n_marks + 1), *inner = TAKE(&scratch, i64, room);
    Open *open = TAKE(&scratch, Open, 2 * levels);
    u64 *all = TAKE(&scratch, u64, n_words), *found = TAKE(&scratch, u64, n_words);
    u64 *tested = TAKE(&scratch, u64, levels *n_words);
    u64 *row_bits = TAKE(&scratch, u64, n_words *WORD);
    double *entropies = TAKE(&scratch, double, (WORD + 1) * (WORD + 1));
    Rows rows = {
        .values = TAKE(&scratch, u64, d *n_words),
        .masks = TAKE(&scratch, u64, levels *n_words),
        .stack_masks = TAKE(&scratch, u64, levels *n_words),
    };
    Binary work = {
        .d = d, .min_leaf = min_leaf, .by_gain = by_gain, .pruning = pruning, .raising = raising,
        .terms = terms, .entropies = entropies, .table = table, .pessimist = pessimist, .row_bits = row_bits,
        .nodes = TAKE(&scratch, Node, room),
        .below = TAKE(&scratch, i64, room),
        .visited = TAKE(&scratch, i64, room),
        .estimates = TAKE(&scratch, double, room),
        .admitted = TAKE(&scratch, Admitted, d + 1),
        .stack_node = TAKE(&scratch, i64, levels),
        .stack_first = TAKE(&scratch, i64, levels),
        .stack_second = TAKE(&scratch, i64, levels),
        .small = {
            .n_first = 1, .n_words = 2,
            .values = TAKE(&scratch, u64, 2 * d),
            .masks = TAKE(&scratch, u64, 2 * levels),
            .stack_masks = TAKE(&scratch, u64, 2 * levels),
        },
    };
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    rows.n_first = place_rows(y, n, bit_of);
    i64 n_second = 0;
    for (i64 row = 0; row < n; row++) {
        n_second += y[row] == 1;
    }
    rows.n_words = n_words = most_of(3, rows.n_first + (n_second + WORD - 1) / WORD);
    for (i64 row = 0; row < n; row++) {
        u64 bit = (u64)1 << (bit_of[row] % WORD);
        all[bit_of[row] / WORD] |= bit;
        for (i64 a = 0; a < d; a++) {
            rows.values[a * n_words + bit_of[row] / WORD] |= codes[row * d + a] == 1 ? bit : 0;
            row_bits[bit_of[row]] |= (u64)codes[row * d + a] << a;
        }
    }
    for (i64 first = 0; first <= WORD; first++) {
        for (i64 second = 0; second <= least_of(WORD, n - first); second++) {
            entropies[first * (WORD + 1) + second] =
                terms[first + second] - (terms[first] + terms[second]);
        }
    }
    Node *root = work.nodes;
    i64 grouped = -1;
    for (i64 s = 0; s < n_wanted; s++) {
        i64 line = wanted[2 * s], mark = wanted[2 * s + 1], tested_second = 0;
        if (line != grouped) {
            group_by_mark(marks + line * n, n, order, ends, n_marks);
            grouped = line;
        }
        const i64 *test = order + mark_begins(ends, mark);
        i64 n_test = ends[mark] - mark_begins(ends, mark);
        memset(tested, 0, (size_t)n_words * sizeof *tested);
        memset(found, 0, (size_t)n_words * sizeof *found);
        for (i64 at = 0; at < n_test; at++) {
            i64 bit = bit_of[test[at]];
            tested[bit / WORD] |= (u64)1 << (bit % WORD);
        }
        for (i64 w = 0; w < n_words; w++) {
            rows.masks[w] = all[w] ^ tested[w];
            tested_second += w < rows.n_first ? 0 : popcount(tested[w]);
        }
        root->attribute = -1;
        root->rows = (int32_t)(n - n_test);
        root->second = (int32_t)(n_second - tested_second);
        root->estimate = -1.0;
        work.below[0] = errors_of(root);
        if (is_open(root, min_leaf)) {
            plant(&work, &rows, 0, ((u64)1 << d) - 1, 1, inner, open);
        }
        if (pruning && root->attribute >= 0 && root->estimate < 0.0) {
            for (i64 w = 0; w < n_words; w++) {
                rows.masks[w] = all[w] ^ tested[w];
            }
            prune(&work, &rows, root, rows.masks);
        }
        send_tests(&work, &rows, root, tested, found);
        for (i64 at = 0; at < n_test; at++) {
            i64 bit = bit_of[test[at]];
            predicted[line * n + test[at]] = (i64)(found[bit / WORD] >> (bit % WORD) & 1);
        }
    }
    scratch_free(&scratch);
    return 0;
}
