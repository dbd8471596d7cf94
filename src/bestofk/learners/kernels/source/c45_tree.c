/* Fit C4.5 trees and predict with them, for one data set or all the splits of a plan. */
#include "c45.h"

enum { UNPRUNED, PESSIMISTIC, HOLDOUT };

/* List the nodes reachable from the root, breadth first; return false without memory. */
static bool list_nodes(Shelf *shelf, const Tree *tree, i64 *count) {
    i64 *queue = INTS(shelf, QUEUE, tree->n_nodes);
    if (queue == NULL) {
        return false;
    }
    i64 n_queue = 1;
    queue[0] = 0;
    for (i64 at = 0; at < n_queue; at++) {
        i64 node = queue[at];
        if (tree->attribute[node] >= 0) {
            for (i64 k = 0; k < tree->n_children[node]; k++) {
                queue[n_queue++] = tree->first_child[node] + k;
            }
        }
    }
    *count = n_queue;
    return true;
}

static bool fit(const Training *training, i64 pruning, const double *held_columns,
                const i64 *held_y, i64 n_held, Shelf *shelf, Tree *tree) {
    if (!grow_tree(training, shelf, tree)) {
        return false;
    }
    collapse(shelf, tree, training->n_labels);
    if (shelf->failed) {
        return false;
    }
    if (pruning == PESSIMISTIC) {
        return prune_pessimistic(training, shelf, tree);
    }
    if (pruning == HOLDOUT) {
        return prune_holdout(training, held_columns, held_y, n_held, shelf, tree);
    }
    return true;
}

static i64 most_values_of(const i64 *cardinality, i64 d) {
    i64 most = 0;
    for (i64 a = 0; a < d; a++) {
        most = most_of(most, cardinality[a]);
    }
    return most;
}

/* Return the number of nodes; write the tree to the arrays if `room` suffices. */
i64 c45_fit(const double *columns, const i64 *cardinality, const i64 *y, i64 d, i64 n,
            i64 n_labels, const i64 *order, const i64 *n_known, const double *held_columns,
            const i64 *held_y, i64 n_held, double min_leaf, i64 by_gain, i64 pruning, i64 raising,
            double confidence, double z, const double *terms, i64 n_terms, i64 room,
            i64 *attribute, double *threshold, i64 *first_child, i64 *n_children,
            double *shares) {
    Training training = {columns, cardinality, y, order, n_known, d, n, n_labels,
                         most_values_of(cardinality, d), min_leaf, by_gain != 0, raising != 0,
                         {terms, n_terms}, {confidence, z}};
    Shelf shelf = {0};
    Tree tree = {0};
    i64 count = 0;
    if (!fit(&training, pruning, held_columns, held_y, n_held, &shelf, &tree) ||
        !list_nodes(&shelf, &tree, &count)) {
        shelf_free(&shelf);
        return NO_MEMORY;
    }
    if (count <= room) {
        const i64 *queue = shelf.cells[QUEUE];
        i64 next_free = 1;
        for (i64 at = 0; at < count; at++) {
            i64 node = queue[at];
            attribute[at] = tree.attribute[node];
            threshold[at] = tree.threshold[node];
            first_child[at] = 0;
            n_children[at] = 0;
            if (attribute[at] >= 0) {
                first_child[at] = next_free;
                n_children[at] = tree.n_children[node];
                next_free += n_children[at];
            }
            memcpy(shares + at * n_labels, tree.shares + node * n_labels,
                   (size_t)n_labels * sizeof *shares);
        }
    }
    shelf_free(&shelf);
    return count;
}

static double sum_of(const double *cells, i64 count) {
    double total = 0.0;
    for (i64 at = 0; at < count; at++) {
        total += cells[at];
    }
    return total;
}

/* Compute class shares of one row: those of its leaf, or weighted over its leaves.
 *
 * A known value with an empty branch gets the shares of the node; an unknown value goes down every
 * branch that is not empty. `waiting` and `carried` have one cell more than there are nodes. */
static void tree_shares(const Tree *tree, i64 n_labels, const i64 *cardinality,
                        const double *cells, i64 *waiting, double *carried, double *out) {
    const double *shares = tree->shares;
    i64 top = 0;
    bool stays = true;
    while (tree->attribute[top] >= 0) {
        i64 a = tree->attribute[top];
        i64 b = branch_of(cells[a], cardinality[a], tree->threshold[top]);
        if (b < 0) {
            stays = false;
            break;
        }
        i64 child = tree->first_child[top] + b;
        if (sum_of(shares + child * n_labels, n_labels) < TOLERANCE) {
            break;
        }
        top = child;
    }
    for (i64 c = 0; c < n_labels; c++) {
        out[c] = 0.0;
    }
    if (stays) {
        double total = sum_of(shares + top * n_labels, n_labels);
        for (i64 c = 0; c < n_labels; c++) {
            out[c] = shares[top * n_labels + c] / total;
        }
        return;
    }
    waiting[0] = top;
    carried[0] = 1.0;
    i64 n_waiting = 1;
    while (n_waiting > 0) {
        n_waiting--;
        i64 node = waiting[n_waiting], a = tree->attribute[node];
        double part = carried[n_waiting], total = sum_of(shares + node * n_labels, n_labels);
        if (a >= 0) {
            i64 b = branch_of(cells[a], cardinality[a], tree->threshold[node]);
            if (b < 0) {
                /* Push the last branch first, so that sums follow the order of the branches. */
                for (i64 k = tree->n_children[node] - 1; k >= 0; k--) {
                    i64 child = tree->first_child[node] + k;
                    double weight = sum_of(shares + child * n_labels, n_labels);
                    if (weight >= TOLERANCE) {
                        waiting[n_waiting] = child;
                        carried[n_waiting++] = part * weight / total;
                    }
                }
                continue;
            }
            i64 child = tree->first_child[node] + b;
            if (sum_of(shares + child * n_labels, n_labels) >= TOLERANCE) {
                waiting[n_waiting] = child;
                carried[n_waiting++] = part;
                continue;
            }
        }
        for (i64 c = 0; c < n_labels; c++) {
            out[c] += part * shares[node * n_labels + c] / total;
        }
    }
}

/* Return the first class whose share no other exceeds by more than the tolerance. */
static i64 first_largest(const double *shares, i64 n_labels) {
    i64 best = 0;
    for (i64 c = 1; c < n_labels; c++) {
        if (shares[c] > shares[best] + TOLERANCE) {
            best = c;
        }
    }
    return best;
}

/* Compute class shares and the predicted class of each row. */
i64 c45_rows(const i64 *attribute, const double *threshold, const i64 *first_child,
             const i64 *n_children, const double *shares, i64 n_nodes, i64 n_labels,
             const i64 *cardinality, const double *values, i64 n, i64 d, double *out,
             i64 *codes) {
    Shelf shelf = {0};
    i64 *waiting = INTS(&shelf, WAITING, n_nodes + 1);
    double *carried = FLOATS(&shelf, CARRIED, n_nodes + 1);
    if (shelf.failed) {
        shelf_free(&shelf);
        return NO_MEMORY;
    }
    Tree tree = {.n_nodes = n_nodes,
                 .attribute = (i64 *)attribute,
                 .threshold = (double *)threshold,
                 .first_child = (i64 *)first_child,
                 .n_children = (i64 *)n_children,
                 .shares = (double *)shares};
    for (i64 row = 0; row < n; row++) {
        double *here = out + row * n_labels;
        tree_shares(&tree, n_labels, cardinality, values + row * d, waiting, carried, here);
        codes[row] = first_largest(here, n_labels);
    }
    shelf_free(&shelf);
    return 0;
}

/* Sort a subset of the rows from columns sorted once; `position` is a row's index in the subset, -1
 * outside. */
static void keep_rows(const i64 *order, const i64 *n_known, const i64 *position,
                      const i64 *cardinality, i64 d, i64 n, i64 n_kept, i64 *kept,
                      i64 *n_kept_known) {
    for (i64 a = 0; a < d; a++) {
        i64 to = 0;
        if (cardinality[a] == 0) {
            for (i64 at = 0; at < n_known[a]; at++) {
                /* overwritten unless kept, which avoids a branch */
                i64 place = position[order[a * n + at]];
                if (to < n_kept) {
                    kept[a * n_kept + to] = place;
                }
                to += place >= 0;
            }
        }
        n_kept_known[a] = to;
    }
}

/* Predict with a tree for each split, as if fitted and predicted split by split.
 *
 * held_masks[held_at[size]] marks the rows that a training set of this size holds out. */
i64 c45_plan(const double *columns, const i64 *cardinality, const i64 *y, i64 d, i64 n,
             i64 n_labels, const i64 *order, const i64 *n_known, const i64 *marks,
             const i64 *wanted, i64 n_wanted, const i64 *held_at, const bool *held_masks,
             double min_leaf, i64 by_gain, i64 pruning, i64 raising, double confidence, double z,
             const double *terms, i64 n_terms, i64 *predicted) {
    Scratch scratch = {0};
    i64 *position = TAKE(&scratch, i64, n), *train = TAKE(&scratch, i64, n);
    i64 *held = TAKE(&scratch, i64, n), *kept = TAKE(&scratch, i64, d *n);
    i64 *n_kept = TAKE(&scratch, i64, d), *train_y = TAKE(&scratch, i64, n);
    i64 *held_y = TAKE(&scratch, i64, n);
    double *train_columns = TAKE(&scratch, double, d *n);
    double *held_columns = TAKE(&scratch, double, pruning == HOLDOUT ? d * n : 1);
    double *cells = TAKE(&scratch, double, d), *out = TAKE(&scratch, double, n_labels);
    Shelf shelf = {0};
    i64 failed = scratch.failed ? NO_MEMORY : 0;
    i64 most_values = most_values_of(cardinality, d);
    for (i64 s = 0; s < n_wanted && !failed; s++) {
        i64 line = wanted[2 * s], fold = wanted[2 * s + 1], n_all = 0;
        const i64 *here = marks + line * n;
        for (i64 row = 0; row < n; row++) {
            n_all += here[row] != fold;
        }
        const bool *mask = held_masks + held_at[n_all] * n;
        i64 at = 0, n_train = 0, n_held = 0;
        for (i64 row = 0; row < n; row++) {
            position[row] = -1;
            if (here[row] != fold) {
                if (pruning == HOLDOUT && mask[at]) {
                    held[n_held++] = row;
                } else {
                    position[row] = n_train;
                    train[n_train++] = row;
                }
                at++;
            }
        }
        keep_rows(order, n_known, position, cardinality, d, n, n_train, kept, n_kept);
        for (i64 a = 0; a < d; a++) {
            for (i64 i = 0; i < n_train; i++) {
                train_columns[a * n_train + i] = columns[a * n + train[i]];
            }
            for (i64 i = 0; i < n_held; i++) {
                held_columns[a * n_held + i] = columns[a * n + held[i]];
            }
        }
        for (i64 i = 0; i < n_train; i++) {
            train_y[i] = y[train[i]];
        }
        for (i64 i = 0; i < n_held; i++) {
            held_y[i] = y[held[i]];
        }
        Training training = {train_columns, cardinality, train_y, kept, n_kept, d, n_train,
                             n_labels, most_values, min_leaf, by_gain != 0, raising != 0,
                             {terms, n_terms}, {confidence, z}};
        Tree tree = {0};
        if (!fit(&training, pruning, held_columns, held_y, n_held, &shelf, &tree)) {
            failed = NO_MEMORY;
            break;
        }
        i64 *waiting = INTS(&shelf, WAITING, tree.n_nodes + 1);
        double *carried = FLOATS(&shelf, CARRIED, tree.n_nodes + 1);
        if (shelf.failed) {
            failed = NO_MEMORY;
            break;
        }
        for (i64 row = 0; row < n; row++) {
            if (here[row] == fold) {
                for (i64 a = 0; a < d; a++) {
                    cells[a] = columns[a * n + row];
                }
                tree_shares(&tree, n_labels, cardinality, cells, waiting, carried, out);
                predicted[line * n + row] = first_largest(out, n_labels);
            }
        }
    }
    shelf_free(&shelf);
    scratch_free(&scratch);
    return failed;
}
