/* Tree-augmented naive Bayes on nominal codes: counts of pairs, the tree, the tables.
 *
 * Counts of pairs are in one table: cell [offset[i] + v, offset[j] + w, c] counts the rows of class
 * c with value v of column i and w of column j. */
#include "kernels.h"

/* The number added to each cell of a table. */
#define ALPHA 0.5

void tan_add_pairs(const i64 *codes, i64 d, const i64 *y, const i64 *rows, i64 n_rows, i64 sign,
                   const i64 *offset, i64 n_labels, i64 *pairs, i64 *class_counts) {
    i64 wide = offset[d];
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows == NULL ? at : rows[at], c = y[row];
        const i64 *cells = codes + row * d;
        class_counts[c] += sign;
        for (i64 i = 0; i < d; i++) {
            i64 *line = pairs + (offset[i] + cells[i]) * wide * n_labels + c;
            for (i64 j = 0; j < d; j++) {
                line[(offset[j] + cells[j]) * n_labels] += sign;
            }
        }
    }
}

/* Return the Bayesian score of column i given the class. */
static double alone_score(const i64 *pairs, const i64 *class_counts, i64 n_labels,
                          const i64 *offset, i64 wide, i64 i, const double *gammas) {
    i64 v = offset[i + 1] - offset[i];
    double score = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        if (class_counts[c] == 0) {
            continue;
        }
        for (i64 place = offset[i]; place < offset[i + 1]; place++) {
            score += gammas[2 * pairs[(place * wide + place) * n_labels + c] + 1];
        }
        score -= gammas[2 * class_counts[c] + v];
        score -= (double)v * gammas[1];
        score += gammas[v];
    }
    return score;
}

/* Return the Bayesian score of column i given the class and column j. */
static double pair_score(const i64 *pairs, const i64 *class_counts, i64 n_labels,
                         const i64 *offset, i64 wide, i64 i, i64 j, const double *gammas) {
    i64 v = offset[i + 1] - offset[i];
    double score = 0.0;
    for (i64 c = 0; c < n_labels; c++) {
        if (class_counts[c] == 0) {
            continue;
        }
        for (i64 other = offset[j]; other < offset[j + 1]; other++) {
            for (i64 place = offset[i]; place < offset[i + 1]; place++) {
                score += gammas[2 * pairs[(place * wide + other) * n_labels + c] + 1];
            }
            score -= gammas[2 * pairs[(other * wide + other) * n_labels + c] + v];
            score -= (double)v * gammas[1];
            score += gammas[v];
        }
    }
    return score;
}

/* Compute the gain in the score of column i with column j as another parent, at (i, j). */
void tan_arc_gains(const i64 *pairs, const i64 *class_counts, i64 n_labels, const i64 *offset,
                   i64 d, const double *gammas, double *gains) {
    i64 wide = offset[d];
    for (i64 i = 0; i < d; i++) {
        double alone = alone_score(pairs, class_counts, n_labels, offset, wide, i, gammas);
        for (i64 j = 0; j < d; j++) {
            gains[i * d + j] = 0.0;
            if (i != j) {
                gains[i * d + j] = pair_score(pairs, class_counts, n_labels, offset, wide, i, j,
                                              gammas) -
                                   alone;
            }
        }
    }
}

/* Find the other parent of each column, -1 for the column with only the class. */
static void find_parents(const i64 *pairs, const i64 *class_counts, i64 n_labels,
                         const i64 *offset, i64 d, const double *gammas, double *scores,
                         bool *linked, i64 *parent) {
    tan_arc_gains(pairs, class_counts, n_labels, offset, d, gammas, scores);
    for (i64 i = 0; i < d; i++) {
        parent[i] = -1;
        linked[i] = false;
    }
    for (i64 link = 0; link < d - 1; link++) {
        i64 best_i = -1, best_j = -1;
        for (i64 i = 0; i < d; i++) {
            for (i64 j = 0; j < d; j++) {
                if (i == j || (link > 0 && linked[i] == linked[j])) {
                    continue;
                }
                if (best_i < 0 || scores[i * d + j] > scores[best_i * d + best_j]) {
                    best_i = i;
                    best_j = j;
                }
            }
        }
        linked[best_i] = true;
        linked[best_j] = true;
        if (parent[best_j] < 0) {
            parent[best_j] = best_i;
        } else {
            parent[best_i] = best_j;
        }
    }
}

/* Tabulate the log gamma function: cell m is that of m / 2, cell 0 is 0. */
i64 tan_gammas(i64 count, double *table) {
    table[0] = 0.0;
    for (i64 m = 1; m < count; m++) {
        table[m] = lgamma((double)m * ALPHA);
    }
    return 0;
}

/* Compute the start of the log table of each column; the last cell is the size. */
static void first_place(const i64 *offset, const i64 *parent, i64 d, i64 *start) {
    i64 at = 0;
    for (i64 i = 0; i < d; i++) {
        start[i] = at;
        i64 v = offset[i + 1] - offset[i];
        i64 w = parent[i] < 0 ? 1 : offset[parent[i] + 1] - offset[parent[i]];
        at += v * w;
    }
    start[d] = at;
}

/* Compute logs of P(value | class, value of the parent) and of P(class), and table starts. */
void tan_log_tables(const i64 *pairs, const i64 *class_counts, i64 n_labels, const i64 *offset,
                    i64 d, const i64 *parent, i64 *start, double *tables, double *prior) {
    i64 n = 0, present = 0, wide = offset[d];
    first_place(offset, parent, d, start);
    for (i64 c = 0; c < n_labels; c++) {
        n += class_counts[c];
        present += class_counts[c] > 0;
    }
    for (i64 c = 0; c < n_labels; c++) {
        prior[c] = class_counts[c] > 0 ? log(((double)class_counts[c] + ALPHA) /
                                             ((double)n + ALPHA * (double)present))
                                       : -INFINITY;
    }
    for (i64 i = 0; i < d; i++) {
        i64 v = offset[i + 1] - offset[i], j = parent[i];
        i64 w = j < 0 ? 1 : offset[j + 1] - offset[j];
        for (i64 c = 0; c < n_labels; c++) {
            for (i64 other = 0; other < w; other++) {
                i64 known = class_counts[c];
                if (j >= 0) {
                    i64 at = offset[j] + other;
                    known = pairs[(at * wide + at) * n_labels + c];
                }
                double below = (double)known + ALPHA * (double)v;
                for (i64 value = 0; value < v; value++) {
                    i64 place = offset[i] + value;
                    i64 beside = j < 0 ? place : offset[j] + other;
                    i64 count = pairs[(place * wide + beside) * n_labels + c];
                    tables[(start[i] + other * v + value) * n_labels + c] =
                        log(((double)count + ALPHA) / below);
                }
            }
        }
    }
}

/* Compute the log of the joint probability by class. */
void tan_row_logs(const i64 *codes, i64 d, const i64 *offset, const i64 *parent,
                  const i64 *start, const double *tables, const double *prior, i64 n_labels,
                  double *out) {
    for (i64 c = 0; c < n_labels; c++) {
        out[c] = 0.0;
    }
    for (i64 i = 0; i < d; i++) {
        i64 place = start[i] + codes[i];
        if (parent[i] >= 0) {
            place += codes[parent[i]] * (offset[i + 1] - offset[i]);
        }
        for (i64 c = 0; c < n_labels; c++) {
            out[c] += tables[place * n_labels + c];
        }
    }
    for (i64 c = 0; c < n_labels; c++) {
        out[c] += prior[c];
    }
}

/* Find the most frequent known value of each column, first of ties; counts has offset[d] cells. */
static void find_modes(const i64 *codes, i64 d, const i64 *rows, i64 n_rows, const i64 *offset,
                       i64 *counts, i64 *modes) {
    memset(counts, 0, (size_t)offset[d] * sizeof *counts);
    for (i64 at = 0; at < n_rows; at++) {
        i64 row = rows == NULL ? at : rows[at];
        for (i64 a = 0; a < d; a++) {
            if (codes[row * d + a] >= 0) {
                counts[offset[a] + codes[row * d + a]]++;
            }
        }
    }
    for (i64 a = 0; a < d; a++) {
        modes[a] = argmax_i64(counts + offset[a], offset[a + 1] - offset[a]);
    }
}

static void fill(const i64 *codes, i64 n, i64 d, const i64 *modes, i64 *filled) {
    for (i64 row = 0; row < n; row++) {
        for (i64 a = 0; a < d; a++) {
            i64 code = codes[row * d + a];
            filled[row * d + a] = code < 0 ? modes[a] : code;
        }
    }
}

i64 tan_fit(const i64 *codes, i64 n, i64 d, const i64 *offset, const i64 *y, i64 n_labels,
            const double *gammas, i64 *modes, i64 *parent, i64 *start, double *tables,
            double *prior) {
    Scratch scratch = {0};
    i64 wide = offset[d];
    i64 *counts = TAKE(&scratch, i64, wide);
    i64 *filled = TAKE(&scratch, i64, n *d);
    i64 *pairs = TAKE(&scratch, i64, wide *wide *n_labels);
    i64 *class_counts = TAKE(&scratch, i64, n_labels);
    double *scores = TAKE(&scratch, double, d *d);
    bool *linked = TAKE(&scratch, bool, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    find_modes(codes, d, NULL, n, offset, counts, modes);
    fill(codes, n, d, modes, filled);
    tan_add_pairs(filled, d, y, NULL, n, 1, offset, n_labels, pairs, class_counts);
    find_parents(pairs, class_counts, n_labels, offset, d, gammas, scores, linked, parent);
    tan_log_tables(pairs, class_counts, n_labels, offset, d, parent, start, tables, prior);
    scratch_free(&scratch);
    return start[d];
}

i64 tan_rows(const i64 *codes, i64 n, i64 d, const i64 *modes, const i64 *offset,
             const i64 *parent, const i64 *start, const double *tables, const double *prior,
             i64 n_labels, double *logs) {
    Scratch scratch = {0};
    i64 *filled = TAKE(&scratch, i64, d);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 row = 0; row < n; row++) {
        fill(codes + row * d, 1, d, modes, filled);
        tan_row_logs(filled, d, offset, parent, start, tables, prior, n_labels,
                     logs + row * n_labels);
    }
    scratch_free(&scratch);
    return 0;
}
