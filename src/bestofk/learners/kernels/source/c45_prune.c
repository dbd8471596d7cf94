/* Collapse and prune a C4.5 tree. */
#include "c45.h"

/* Return the added errors for one error or more. */
static double many_errors(double n, double errors, double z) {
    if (errors + 0.5 >= n) {
        return 0.0 > n - errors ? 0.0 : n - errors;
    }
    double f = (errors + 0.5) / n;
    double bound =
        (f + z * z / (2.0 * n) + z * sqrt(f / n - f * f / n + z * z / (4.0 * n * n))) /
        (1.0 + z * z / n);
    return bound * n - errors;
}

/* Return the pessimistic addition to the errors observed among n rows. For no error it is the upper
 * confidence bound of the binomial. Up to one error it is interpolated. From there on it is the
 * normal approximation with continuity correction; z is the normal quantile of 1 - confidence. */
double added_errors(double n, double errors, Pessimist pessimist) {
    if (errors < 1.0) {
        double base = n * (1.0 - pow(pessimist.confidence, 1.0 / n));
        if (errors == 0.0) {
            return base;
        }
        return base + errors * (many_errors(n, 1.0, pessimist.z) - base);
    }
    return many_errors(n, errors, pessimist.z);
}

/* Return the total weight; write the weight outside the largest class. */
static double weight_of(const double *counts, i64 n_labels, double *errors) {
    double total = 0.0, largest = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        total += counts[c];
        largest = counts[c] > largest ? counts[c] : largest;
    }
    *errors = total - largest;
    return total;
}

/* Return the estimated errors of a leaf with these class weights. */
static double leaf_estimate(const double *counts, i64 n_labels, Pessimist pessimist) {
    double errors, total = weight_of(counts, n_labels, &errors);
    return total < TOLERANCE ? 0.0 : errors + added_errors(total, errors, pessimist);
}

/* Turn subtrees that save no training error into leaves, from the root down. */
void collapse(Shelf *shelf, Tree *tree, i64 n_labels) {
    double *below = FLOATS(shelf, BELOW, tree->n_nodes), *own = FLOATS(shelf, OWN, tree->n_nodes);
    if (shelf->failed) {
        return;
    }
    for (i64 node = tree->n_nodes - 1; node >= 0; node--) {
        weight_of(tree->shares + node * n_labels, n_labels, own + node);
        below[node] = own[node];
        if (tree->attribute[node] >= 0) {
            below[node] = 0.0;
            for (i64 k = 0; k < tree->n_children[node]; k++) {
                below[node] += below[tree->first_child[node] + k];
            }
        }
    }
    for (i64 node = 0; node < tree->n_nodes; node++) {
        if (tree->attribute[node] >= 0 && below[node] >= own[node] - COLLAPSE_SLACK) {
            tree->attribute[node] = -1;
        }
    }
}

/* Return the estimated errors of the subtree at `top` on the entries of `from`.
 *
 * The result is infinite once the errors exceed `enough`, or without memory. */
static double branch_estimate(const Training *training, Shelf *shelf, const Tree *tree, i64 top,
                              i64 from, double enough) {
    i64 n_labels = training->n_labels, most = most_of(2, training->most_values);
    i64 n_rows = tree->length[from];
    i64 *size = INTS(shelf, SIZE, most), *starts = INTS(shelf, STARTS, most);
    double *share = FLOATS(shelf, SHARE, most);
    i64 *branch = INTS(shelf, BRANCH, training->n);
    double *counts = FLOATS(shelf, LEAF_COUNTS, n_labels);
    /* Open nodes use ranges of one buffer; the last opened node uses its end. */
    i64 *held_row = INTS(shelf, HELD_ROW, n_rows);
    double *held_weight = FLOATS(shelf, HELD_WEIGHT, n_rows);
    i64 *taken_row = INTS(shelf, TAKEN_ROW, training->n);
    double *taken_weight = FLOATS(shelf, TAKEN_WEIGHT, training->n);
    i64 *open_node = INTS(shelf, BRANCH_NODE, 16 + most);
    i64 *open_start = INTS(shelf, BRANCH_START, 16 + most);
    i64 *open_length = INTS(shelf, BRANCH_LENGTH, 16 + most);
    /* In node order, so that sums equal those of the recursion. */
    double *estimate = FLOATS(shelf, OTHER_ESTIMATE, tree->n_nodes);
    i64 *visited = INTS(shelf, VISITED, tree->n_nodes);
    if (shelf->failed) {
        return INFINITY;
    }
    memcpy(held_row, tree->entry_row + tree->start[from], (size_t)n_rows * sizeof *held_row);
    memcpy(held_weight, tree->entry_weight + tree->start[from],
           (size_t)n_rows * sizeof *held_weight);
    open_node[0] = top;
    open_start[0] = 0;
    open_length[0] = n_rows;
    i64 n_open = 1, n_visited = 0;
    double so_far = 0.0;
    while (n_open > 0) {
        n_open--;
        i64 node = open_node[n_open], begin = open_start[n_open], here = open_length[n_open];
        visited[n_visited++] = node;
        if (tree->attribute[node] < 0) {
            for (i64 c = 0; c < n_labels; c++) {
                counts[c] = 0.0;
            }
            for (i64 e = begin; e < begin + here; e++) {
                counts[training->y[held_row[e]]] += held_weight[e];
            }
            estimate[node] = leaf_estimate(counts, n_labels, training->pessimist);
            so_far += estimate[node];
            if (so_far > enough) {
                return INFINITY;
            }
            continue;
        }
        i64 a = tree->attribute[node], n_branches = tree->n_children[node];
        memcpy(taken_row, held_row + begin, (size_t)here * sizeof *taken_row);
        memcpy(taken_weight, held_weight + begin, (size_t)here * sizeof *taken_weight);
        send_down(training->columns + a * training->n, training->cardinality[a],
                  tree->threshold[node], n_branches, taken_row, taken_weight, here, branch, size,
                  share);
        i64 at = begin;
        open_node = INTS(shelf, BRANCH_NODE, n_open + n_branches);
        open_start = INTS(shelf, BRANCH_START, n_open + n_branches);
        open_length = INTS(shelf, BRANCH_LENGTH, n_open + n_branches);
        if (shelf->failed) {
            return INFINITY;
        }
        for (i64 b = 0; b < n_branches; b++) {
            starts[b] = at;
            open_node[n_open] = tree->first_child[node] + b;
            open_start[n_open] = at;
            open_length[n_open] = size[b];
            n_open++;
            at += size[b];
        }
        held_row = INTS(shelf, HELD_ROW, at);
        held_weight = FLOATS(shelf, HELD_WEIGHT, at);
        if (shelf->failed) {
            return INFINITY;
        }
        deal_entries(taken_row, taken_weight, here, branch, n_branches, share, starts, held_row,
                     held_weight);
    }
    for (i64 back = n_visited - 1; back >= 0; back--) {
        i64 node = visited[back];
        if (tree->attribute[node] >= 0) {
            double total = 0.0;
            for (i64 k = 0; k < tree->n_children[node]; k++) {
                total += estimate[tree->first_child[node] + k];
            }
            estimate[node] = total;
        }
    }
    return estimate[top];
}

/* Send the entries of `top` down its new subtree; update class weights and entries. */
static bool send_again(const Training *training, Shelf *shelf, Tree *tree, i64 top) {
    i64 n_labels = training->n_labels, most = most_of(2, training->most_values);
    i64 *size = INTS(shelf, SIZE, most), *starts = INTS(shelf, STARTS, most);
    double *share = FLOATS(shelf, SHARE, most);
    i64 *branch = INTS(shelf, BRANCH, training->n);
    i64 *waiting = INTS(shelf, WAITING, tree->n_nodes + 1);
    if (shelf->failed) {
        return false;
    }
    waiting[0] = top;
    i64 n_waiting = 1;
    while (n_waiting > 0) {
        i64 node = waiting[--n_waiting], a = tree->attribute[node];
        if (a < 0) {
            continue;
        }
        i64 n_branches = tree->n_children[node], n_rows = tree->length[node];
        send_down(training->columns + a * training->n, training->cardinality[a],
                  tree->threshold[node], n_branches, tree->entry_row + tree->start[node],
                  tree->entry_weight + tree->start[node], n_rows, branch, size, share);
        i64 begin = tree->start[node], at = tree->n_entries;
        for (i64 b = 0; b < n_branches; b++) {
            i64 child = tree->first_child[node] + b;
            tree->start[child] = at;
            tree->length[child] = size[b];
            starts[b] = at;
            at += size[b];
            waiting[n_waiting++] = child;
        }
        tree->entry_row = INTS(shelf, ENTRY_ROW, at);
        tree->entry_weight = FLOATS(shelf, ENTRY_WEIGHT, at);
        if (shelf->failed) {
            return false;
        }
        tree->n_entries = at;
        deal_entries(tree->entry_row + begin, tree->entry_weight + begin, n_rows, branch,
                     n_branches, share, starts, tree->entry_row, tree->entry_weight);
        for (i64 b = 0; b < n_branches; b++) {
            i64 child = tree->first_child[node] + b;
            double *shares = tree->shares + child * n_labels;
            for (i64 c = 0; c < n_labels; c++) {
                shares[c] = 0.0;
            }
            for (i64 e = tree->start[child]; e < tree->start[child] + tree->length[child]; e++) {
                shares[training->y[tree->entry_row[e]]] += tree->entry_weight[e];
            }
        }
    }
    return true;
}

/* Prune from the leaves up by estimated errors, with subtree raising; return false without
 * memory. */
bool prune_pessimistic(const Training *training, Shelf *shelf, Tree *tree) {
    i64 n_labels = training->n_labels;
    double *estimate = FLOATS(shelf, ESTIMATE, tree->n_nodes);
    i64 *path = INTS(shelf, PATH, tree->n_nodes + 1), *turn = INTS(shelf, TURN, tree->n_nodes + 1);
    if (shelf->failed) {
        return false;
    }
    i64 depth = 0;
    path[0] = 0;
    turn[0] = 0;
    while (depth >= 0) {
        i64 node = path[depth];
        const double *shares = tree->shares + node * n_labels;
        if (tree->attribute[node] < 0) {
            estimate[node] = leaf_estimate(shares, n_labels, training->pessimist);
            depth--;
            continue;
        }
        if (turn[depth] < tree->n_children[node]) {
            path[depth + 1] = tree->first_child[node] + turn[depth];
            turn[depth + 1] = 0;
            turn[depth]++;
            depth++;
            continue;
        }
        double as_leaf = leaf_estimate(shares, n_labels, training->pessimist);
        double as_tree = 0.0, most = 0.0;
        i64 largest = -1;
        for (i64 k = 0; k < tree->n_children[node]; k++) {
            i64 child = tree->first_child[node] + k;
            double errors;
            as_tree += estimate[child];
            double weight = weight_of(tree->shares + child * n_labels, n_labels, &errors);
            if (weight > most - TOLERANCE) {
                most = weight;
                largest = child;
            }
        }
        double as_branch = INFINITY;
        if (training->raising) {
            if (tree->attribute[largest] < 0) {
                as_branch = as_leaf;
            } else {
                /* Above this, the branch is neither raised nor prevents a leaf. */
                double enough = as_tree + PRUNE_SLACK;
                if (as_leaf <= enough + TOLERANCE) {
                    enough = as_leaf - PRUNE_SLACK;
                }
                enough += 2.0 * TOLERANCE;
                as_branch = branch_estimate(training, shelf, tree, largest, node, enough);
                if (shelf->failed) {
                    return false;
                }
            }
        }
        if (as_leaf <= as_tree + PRUNE_SLACK + TOLERANCE &&
            as_leaf <= as_branch + PRUNE_SLACK + TOLERANCE) {
            tree->attribute[node] = -1;
            estimate[node] = as_leaf;
            depth--;
        } else if (as_branch <= as_tree + PRUNE_SLACK + TOLERANCE) {
            tree->attribute[node] = tree->attribute[largest];
            tree->threshold[node] = tree->threshold[largest];
            tree->first_child[node] = tree->first_child[largest];
            tree->n_children[node] = tree->n_children[largest];
            if (!send_again(training, shelf, tree, node)) {
                return false;
            }
            turn[depth] = 0;
        } else {
            estimate[node] = as_tree;
            depth--;
        }
    }
    return true;
}

/* Prune from the leaves up: make a leaf unless the subtree has fewer errors on held-out rows. */
bool prune_holdout(const Training *training, const double *held_columns, const i64 *held_y,
                   i64 n_held, Shelf *shelf, Tree *tree) {
    i64 n_nodes = tree->n_nodes, n_labels = training->n_labels;
    i64 *label = INTS(shelf, NODE_LABEL, n_nodes), *parent = INTS(shelf, PARENT, n_nodes);
    double *weight = FLOATS(shelf, NODE_WEIGHT, n_nodes);
    /* Held-out weight by node and class; row by row, so that memory does not grow. */
    double *held = FLOATS(shelf, HELD_BY_NODE, n_nodes *n_labels);
    double *errors = FLOATS(shelf, HELD_ERRORS, n_nodes);
    i64 *waiting = INTS(shelf, WAITING, n_nodes + 1);
    double *carried = FLOATS(shelf, CARRIED, n_nodes + 1);
    if (shelf->failed) {
        return false;
    }
    for (i64 node = 0; node < n_nodes; node++) {
        parent[node] = -1;
    }
    memset(held, 0, (size_t)(n_nodes * n_labels) * sizeof *held);
    for (i64 node = 0; node < n_nodes; node++) {
        double wrong;
        weight[node] = weight_of(tree->shares + node * n_labels, n_labels, &wrong);
        label[node] = argmax_f64(tree->shares + node * n_labels, n_labels);
        if (weight[node] < TOLERANCE && parent[node] >= 0) {
            label[node] = label[parent[node]];
        }
        if (tree->attribute[node] >= 0) {
            for (i64 k = 0; k < tree->n_children[node]; k++) {
                parent[tree->first_child[node] + k] = node;
            }
        }
    }
    for (i64 row = 0; row < n_held; row++) {
        waiting[0] = 0;
        carried[0] = 1.0;
        i64 n_waiting = 1;
        while (n_waiting > 0) {
            n_waiting--;
            i64 node = waiting[n_waiting];
            double part = carried[n_waiting];
            held[node * n_labels + held_y[row]] += part;
            i64 a = tree->attribute[node];
            if (a < 0) {
                continue;
            }
            i64 b = branch_of(held_columns[a * n_held + row], training->cardinality[a],
                              tree->threshold[node]);
            for (i64 k = 0; k < tree->n_children[node]; k++) {
                i64 child = tree->first_child[node] + k;
                if (b == k) {
                    waiting[n_waiting] = child;
                    carried[n_waiting++] = part;
                } else if (b < 0 && weight[child] > TOLERANCE) {
                    waiting[n_waiting] = child;
                    carried[n_waiting++] = part * weight[child] / weight[node];
                }
            }
        }
    }
    for (i64 node = n_nodes - 1; node >= 0; node--) {
        double as_leaf = -held[node * n_labels + label[node]];
        for (i64 c = 0; c < n_labels; c++) {
            as_leaf += held[node * n_labels + c];
        }
        errors[node] = as_leaf;
        if (tree->attribute[node] >= 0) {
            double as_tree = 0.0;
            for (i64 k = 0; k < tree->n_children[node]; k++) {
                as_tree += errors[tree->first_child[node] + k];
            }
            if (as_leaf <= as_tree + TOLERANCE) {
                tree->attribute[node] = -1;
            } else {
                errors[node] = as_tree;
            }
        }
    }
    return true;
}
