/* The best cut of a numeric column.
 *
 * The general function uses weighted rows by increasing value. If every row is known and has weight
 * 1, three faster functions give the same counts: sorted rows for two classes, sorted rows for more
 * classes, and a table of values by classes for columns of few values. Sorted lists omit the rows
 * with the lowest value of the column; their counts follow from those of the node. */
#include "c45.h"

/* Relative slack that selects gains for an exact comparison, so that none is missed. */
#define ROUNDING 1e-9

static const Test NONE = {-1.0, 0.0, 0.0};

typedef struct {
    double gain, below, above;
    i64 at, cuts;
} Found;

Test numeric_test(const double *column, const uint32_t *order, i64 n_known, const i64 *y,
                  const double *weight, double *left, double *right, i64 n_labels, double total,
                  i64 n_classes, double min_leaf, Terms terms) {
    for (i64 c = 0; c < n_labels; c++) {
        left[c] = 0.0;
        right[c] = 0.0;
    }
    for (i64 at = 0; at < n_known; at++) {
        right[y[order[at]]] += weight[order[at]];
    }
    double known = 0.0, inner = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        known += right[c];
        inner += term(right[c], terms);
    }
    double whole = term(known, terms) - inner;
    double least = least_side(known, n_classes, min_leaf);
    if ((double)n_known < 2.0 * least - TOLERANCE) {
        return NONE;
    }
    i64 cuts = 0, best_at = -1;
    double best = 0.0, left_weight = 0.0, right_weight = known;
    for (i64 at = 1; at < n_known; at++) {
        i64 row = order[at - 1];
        left[y[row]] += weight[row];
        right[y[row]] -= weight[row];
        left_weight += weight[row];
        right_weight -= weight[row];
        if (column[row] + CUT_GAP >= column[order[at]]) {
            continue;
        }
        if (left_weight < least - TOLERANCE) {
            continue;
        }
        if (right_weight < least - TOLERANCE) {
            break;
        }
        cuts++;
        double inside = term(left_weight, terms) + term(right_weight, terms);
        for (i64 c = 0; c < n_labels; c++) {
            inside -= term(left[c], terms);
            inside -= term(right[c], terms);
        }
        double gain = (whole - inside) / total;
        if (gain > best + TOLERANCE) {
            best = gain;
            best_at = at;
        }
    }
    if (best_at < 0) {
        return NONE;
    }
    double gain = best - log2((double)cuts) / total;
    if (gain <= TOLERANCE) {
        return NONE;
    }
    double side = 0.0;
    for (i64 at = 0; at < best_at; at++) {
        side += weight[order[at]];
    }
    double spread = term(side, terms) + term(known - side, terms);
    Test found = {gain, gain_ratio(gain, spread, total - known, total, terms),
                  midpoint(column[order[best_at - 1]], column[order[best_at]])};
    return found;
}

/* reduce the gain for the choice among the cuts */
static Test settle_cut(Found found, i64 n, Terms terms) {
    if (found.at == 0) {
        return NONE;
    }
    double gain = found.gain - log2((double)found.cuts) / (double)n;
    if (gain <= TOLERANCE) {
        return NONE;
    }
    double spread = terms.of[found.at] + terms.of[n - found.at];
    Test test = {gain, gain_ratio(gain, spread, 0.0, (double)n, terms),
                 midpoint(found.below, found.above)};
    return test;
}

/* For two classes, the counts of one class determine both sides. */
static Found best_of_two(const double *RESTRICT column, const uint32_t *RESTRICT listed, i64 m,
                         double lowest, const uint32_t *RESTRICT labels, const double *node, i64 n,
                         i64 first, const double *RESTRICT terms) {
    i64 second = (i64)node[1], above_lowest = 0;
    double rows = (double)n;
    for (i64 i = 0; i < m; i++) {
        above_lowest += labels[listed[i]];
    }
    i64 left_second = second - above_lowest, skipped = n - m;
    double entropy = terms[n] - (terms[n - second] + terms[second]);
    Found found = {0.0, 0.0, 0.0, 0, 0};
    double enough = TOLERANCE * rows * (1.0 - ROUNDING), before = lowest;
    for (i64 i = 0; i < m; i++) {
        uint32_t row = listed[i];
        double value = column[row];
        i64 at = skipped + i;
        if (at > n - first) {
            break;
        }
        if (at >= first) {
            i64 right_second = second - left_second;
            double inside = (terms[at] - (terms[at - left_second] + terms[left_second])) +
                            (terms[n - at] - (terms[n - at - right_second] + terms[right_second]));
            bool apart = before + CUT_GAP < value;
            found.cuts += apart;
            if (entropy - inside > enough && apart) {
                double gain = (entropy - inside) / rows;
                if (gain > found.gain + TOLERANCE) {
                    found.gain = gain;
                    found.at = at;
                    found.below = before;
                    found.above = value;
                    enough = (gain + TOLERANCE) * rows * (1.0 - ROUNDING);
                }
            }
        }
        left_second += labels[row];
        before = value;
    }
    return found;
}

/* For any number of classes, update the sums of terms row by row. */
static Found best_of_many(const double *RESTRICT column, const uint32_t *RESTRICT listed, i64 m,
                          double lowest, const uint32_t *RESTRICT labels, const double *node,
                          i64 n_labels, i64 n, i64 first, u64 *RESTRICT left, u64 *RESTRICT right,
                          const double *RESTRICT terms, const double *RESTRICT steps) {
    double rows = (double)n;
    for (i64 c = 0; c < n_labels; c++) {
        right[c] = 0;
    }
    for (i64 i = 0; i < m; i++) {
        right[labels[listed[i]]]++;
    }
    double node_terms = 0.0, left_terms = 0.0, right_terms = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        u64 here = (u64)node[c];
        left[c] = here - right[c];
        node_terms += terms[here];
        left_terms += terms[left[c]];
        right_terms += terms[right[c]];
    }
    i64 skipped = n - m;
    double entropy = terms[n] - node_terms;
    Found found = {0.0, 0.0, 0.0, 0, 0};
    double enough = TOLERANCE * rows * (1.0 - ROUNDING), before = lowest;
    for (i64 i = 0; i < m; i++) {
        uint32_t row = listed[i];
        double value = column[row];
        i64 at = skipped + i;
        if (at > n - first) {
            break;
        }
        if (at >= first) {
            double inside = (terms[at] - left_terms) + (terms[n - at] - right_terms);
            bool apart = before + CUT_GAP < value;
            found.cuts += apart;
            if (entropy - inside > enough && apart) {
                double gain = (entropy - inside) / rows;
                if (gain > found.gain + TOLERANCE) {
                    found.gain = gain;
                    found.at = at;
                    found.below = before;
                    found.above = value;
                    enough = (gain + TOLERANCE) * rows * (1.0 - ROUNDING);
                }
            }
        }
        uint32_t c = labels[row];
        left_terms += steps[left[c]];
        left[c]++;
        right[c]--;
        right_terms -= steps[right[c]];
        before = value;
    }
    return found;
}

/* `listed` are the rows above the lowest value by increasing value; `node` are class counts. */
Test cut_test(const double *column, const uint32_t *listed, i64 n_listed, double lowest,
              const uint32_t *labels, const double *node, i64 n_labels, u64 *left, u64 *right,
              i64 n_classes, double min_leaf, Terms terms, const double *steps) {
    i64 n = 0;
    for (i64 c = 0; c < n_labels; c++) {
        n += (i64)node[c];
    }
    double least = least_side((double)n, n_classes, min_leaf);
    if ((double)n < 2.0 * least - TOLERANCE || n_listed == 0) {
        return NONE;
    }
    i64 first = most_of((i64)ceil(least - TOLERANCE), 1);
    Found found = n_labels == 2
                      ? best_of_two(column, listed, n_listed, lowest, labels, node, n, first,
                                    terms.of)
                      : best_of_many(column, listed, n_listed, lowest, labels, node, n_labels, n,
                                     first, left, right, terms.of, steps);
    return settle_cut(found, n, terms);
}

/* Like cut_test for a column of at most FEW values. A code is the row's value number times 2 **
 * shift plus its class; `table` has FEW * 2 ** shift counts, which are 0 before and after. */
Test table_test(const uint32_t *codes, uint32_t shift, const double *values, const i64 *rows,
                i64 n, const double *node, i64 n_labels, u64 *table, u64 *left, u64 *right,
                i64 n_classes, double min_leaf, Terms terms) {
    double least = least_side((double)n, n_classes, min_leaf);
    if ((double)n < 2.0 * least - TOLERANCE) {
        return NONE;
    }
    i64 first = most_of((i64)ceil(least - TOLERANCE), 1);
    u64 seen = 0;
    for (i64 e = 0; e < n; e++) {
        uint32_t code = codes[rows[e]];
        table[code]++;
        seen |= (u64)1 << (code >> shift);
    }
    double node_terms = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        left[c] = 0;
        right[c] = (u64)node[c];
        node_terms += terms.of[right[c]];
    }
    double entropy = terms.of[n] - node_terms;
    Found found = {0.0, 0.0, 0.0, 0, 0};
    double left_terms = 0.0, right_terms = 0.0, before = 0.0;
    i64 at = 0;
    while (seen != 0) {
        i64 number = lowest_bit(seen);
        seen &= seen - 1;
        double value = values[number];
        if (first <= at && at <= n - first && before + CUT_GAP < value) {
            found.cuts++;
            double inside = (terms.of[at] - left_terms) + (terms.of[n - at] - right_terms);
            double gain = (entropy - inside) / (double)n;
            if (gain > found.gain + TOLERANCE) {
                found.gain = gain;
                found.at = at;
                found.below = before;
                found.above = value;
            }
        }
        left_terms = 0.0;
        right_terms = 0.0;
        u64 *cells = table + (number << shift);
        for (i64 c = 0; c < n_labels; c++) {
            u64 here = cells[c];
            cells[c] = 0;
            left[c] += here;
            right[c] -= here;
            left_terms += terms.of[left[c]];
            right_terms += terms.of[right[c]];
            at += (i64)here;
        }
        before = value;
    }
    return settle_cut(found, n, terms);
}
