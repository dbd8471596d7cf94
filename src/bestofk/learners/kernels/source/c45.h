/* Declarations shared by the C4.5 sources: rules that admit a test, estimates, the tree. */
#ifndef BESTOFK_C45_H
#define BESTOFK_C45_H

#include "kernels.h"

/* Weights, gains or estimates that differ by less than this are equal. */
#define TOLERANCE 1e-6
/* Adjacent numeric values that differ by at most this are not separated. */
#define CUT_GAP 1e-5
/* A test may be chosen if its gain is this much below the average. */
#define AVERAGE_SLACK 1e-3
/* A side of a numeric cut never needs more weight than this. */
#define LARGEST_MINIMUM 25.0
/* Nominal attributes with this many values per training row do not count in the average gain. */
#define MANY_VALUES 0.3
/* Keep a subtree if it saves at least this many training errors. */
#define COLLAPSE_SLACK 1e-3
/* Prefer a simpler tree unless its estimate is worse by more than this many errors. */
#define PRUNE_SLACK 0.1
/* Count columns of up to this many values in a table. */
#define FEW 32
#define WORD 64

/* k log2 k for k = 0..count - 1; all tree builders use these terms, so their sums are equal */
typedef struct {
    const double *of;
    i64 count;
} Terms;

typedef struct {
    double gain, ratio, cut;
} Test;

typedef struct {
    double confidence, z;
} Pessimist;

/* Training rows by column (NaN is unknown) and tree settings. */
typedef struct {
    const double *columns;
    const i64 *cardinality, *y, *order, *n_known;
    i64 d, n, n_labels, most_values;
    double min_leaf;
    bool by_gain, raising;
    Terms terms;
    Pessimist pessimist;
} Training;

/* A tree with the weighted rows of each node. A row with an unknown value goes down every branch.
 * The entries stay in one buffer, because pruning sends them down again. The children of a node
 * have consecutive numbers above that of the node; attribute is -1 for a leaf. */
typedef struct {
    i64 n_nodes, n_entries;
    i64 *attribute, *first_child, *n_children, *start, *length, *entry_row;
    double *threshold, *shares, *entry_weight;
} Tree;

/* Growable buffers that are reused for the next tree. */
enum {
    ATTRIBUTE, THRESHOLD, FIRST_CHILD, N_CHILDREN, START, LENGTH, SHARES, ENTRY_ROW, ENTRY_WEIGHT,
    SORTED_VALUES, OPEN_NODE, OPEN_AT, OPEN_KNOWN, OPEN_SIDE, FIRST_SIDE, SECOND_SIDE, LABELS,
    FEW_FLAGS, FEW_VALUES, VALUE_CODES, TABLE, STEPS, WEIGHT, ROW_BRANCH, BRANCH, VALUE_COUNTS,
    KNOWN_COUNTS, LEFT, RIGHT, GAINS, RATIOS, CUTS, SIZE, SHARE, STARTS, INTO, KNOWN_HERE,
    LEFT_COUNT, RIGHT_COUNT, COUNTED, BELOW, OWN, ESTIMATE, PATH, TURN, HELD_ROW, HELD_WEIGHT,
    TAKEN_ROW, TAKEN_WEIGHT, BRANCH_NODE, BRANCH_START, BRANCH_LENGTH, OTHER_ESTIMATE, VISITED,
    LEAF_COUNTS, WAITING, CARRIED, NODE_LABEL, PARENT, NODE_WEIGHT, HELD_BY_NODE, HELD_ERRORS,
    QUEUE, N_BUFFERS
};

typedef struct {
    void *cells[N_BUFFERS];
    size_t bytes[N_BUFFERS];
    bool failed;
} Shelf;

/* Return the buffer, grown to `count` cells of `size` bytes; its contents are kept. */
static inline void *shelf_reach(Shelf *shelf, int which, i64 count, size_t size) {
    size_t needed = (size_t)(count > 0 ? count : 1) * size;
    if (needed > shelf->bytes[which]) {
        size_t wanted = needed > 2 * shelf->bytes[which] ? needed : 2 * shelf->bytes[which];
        void *cells = realloc(shelf->cells[which], wanted);
        if (cells == NULL) {
            shelf->failed = true;
            return NULL;
        }
        shelf->cells[which] = cells;
        shelf->bytes[which] = wanted;
    }
    return shelf->cells[which];
}

static inline void shelf_free(Shelf *shelf) {
    for (int which = 0; which < N_BUFFERS; which++) {
        free(shelf->cells[which]);
        shelf->cells[which] = NULL;
        shelf->bytes[which] = 0;
    }
}

#define INTS(shelf, which, count) ((i64 *)shelf_reach((shelf), (which), (count), sizeof(i64)))
#define FLOATS(shelf, which, count)                                                               \
    ((double *)shelf_reach((shelf), (which), (count), sizeof(double)))
#define WORDS(shelf, which, count)                                                                \
    ((uint32_t *)shelf_reach((shelf), (which), (count), sizeof(uint32_t)))
#define FLAGS(shelf, which, count) ((bool *)shelf_reach((shelf), (which), (count), sizeof(bool)))

/* x log2 x, from the table if x is a tabulated count */
static inline double term(double x, Terms terms) {
    i64 k = (i64)x;
    if ((double)k == x && k < terms.count) {
        return terms.of[k];
    }
    return x < TOLERANCE ? 0.0 : x * log2(x);
}

/* Return gain / split information; unknown rows count as one more branch. */
static inline double gain_ratio(double gain, double spread, double unknown, double total,
                                Terms terms) {
    double information = (term(total, terms) - spread - term(unknown, terms)) / total;
    return information < TOLERANCE ? 0.0 : gain / information;
}

/* Return the minimum weight of each side of a numeric cut. */
static inline double least_side(double known, i64 n_classes, double min_leaf) {
    double least = 0.1 * known / (double)n_classes;
    if (least <= min_leaf) {
        return min_leaf;
    }
    return LARGEST_MINIMUM < least ? LARGEST_MINIMUM : least;
}

/* Return the branch of a value, -1 if it is unknown. */
static inline i64 branch_of(double value, i64 cardinality, double threshold) {
    if (isnan(value)) {
        return -1;
    }
    if (cardinality > 0) {
        return (i64)value;
    }
    return value - threshold < TOLERANCE ? 0 : 1;
}

/* c45_cut.c */
Test numeric_test(const double *column, const uint32_t *order, i64 n_known, const i64 *y,
                  const double *weight, double *left, double *right, i64 n_labels, double total,
                  i64 n_classes, double min_leaf, Terms terms);
Test cut_test(const double *column, const uint32_t *listed, i64 n_listed, double lowest,
              const uint32_t *labels, const double *node, i64 n_labels, u64 *left, u64 *right,
              i64 n_classes, double min_leaf, Terms terms, const double *steps);
Test table_test(const uint32_t *codes, uint32_t shift, const double *values, const i64 *rows,
                i64 n, const double *node, i64 n_labels, u64 *table, u64 *left, u64 *right,
                i64 n_classes, double min_leaf, Terms terms);

/* c45_grow.c */
void takes_part(const i64 *cardinality, i64 d, i64 n_rows, bool *counted);
bool grow_tree(const Training *training, Shelf *shelf, Tree *tree);
void send_down(const double *column, i64 cardinality, double threshold, i64 n_branches,
               const i64 *rows, const double *weights, i64 n_rows, i64 *branch, i64 *size,
               double *share);
void deal_entries(const i64 *rows, const double *weights, i64 n_rows, const i64 *branch,
                  i64 n_branches, const double *share, i64 *starts, i64 *out_rows,
                  double *out_weights);

/* c45_prune.c */
double added_errors(double n, double errors, Pessimist pessimist);
void collapse(Shelf *shelf, Tree *tree, i64 n_labels);
bool prune_pessimistic(const Training *training, Shelf *shelf, Tree *tree);
bool prune_holdout(const Training *training, const double *held_columns, const i64 *held_y,
                   i64 n_held, Shelf *shelf, Tree *tree);

/* c45_bits.c */
typedef struct {
    const double *cells;
    i64 size;
} Estimates;

/* Return the estimated errors of a leaf, 0 if it is empty. */
static inline double estimate_of(i64 rows, i64 errors, Estimates table, Pessimist pessimist) {
    if (rows < table.size) {
        return table.cells[rows * table.size + errors];
    }
    return (double)errors + added_errors((double)rows, (double)errors, pessimist);
}

/* c45_binary.c */
i64 binary_plan(const i64 *codes, const i64 *y, i64 n, i64 d, const i64 *marks,
                const i64 *wanted, i64 n_wanted, i64 n_marks, i64 min_leaf, bool by_gain,
                bool pruning, bool raising, Pessimist pessimist, Estimates table,
                const double *terms, i64 *predicted);

#endif
