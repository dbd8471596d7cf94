/* Group the rows of a plan by the mark that tests them. */
#include "kernels.h"

void group_by_mark(const i64 *marks, i64 n, i64 *order, i64 *ends, i64 n_marks) {
    /* ends has n_marks + 1 cells */
    memset(ends, 0, (size_t)(n_marks + 1) * sizeof *ends);
    for (i64 row = 0; row < n; row++) {
        ends[marks[row] + 1]++;
    }
    for (i64 mark = 1; mark <= n_marks; mark++) {
        ends[mark] += ends[mark - 1];
    }
    for (i64 row = 0; row < n; row++) {
        order[ends[marks[row]]++] = row;
    }
}

/* Copy the cells of `predicted` split by split, test rows ascending; write the split ends. */
i64 cut_by_mark(const i64 *predicted, const i64 *marks, i64 n_lines, i64 n, const i64 *wanted,
                i64 n_wanted, i64 n_marks, i64 *flat, i64 *stops) {
    Scratch scratch = {0};
    i64 *order = TAKE(&scratch, i64, n);
    i64 *ends = TAKE(&scratch, i64, n_marks + 1);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    i64 at = 0, grouped = -1;
    (void)n_lines;
    for (i64 s = 0; s < n_wanted; s++) {
        i64 line = wanted[2 * s], mark = wanted[2 * s + 1];
        if (line != grouped) {
            group_by_mark(marks + line * n, n, order, ends, n_marks);
            grouped = line;
        }
        for (i64 e = mark_begins(ends, mark); e < ends[mark]; e++) {
            flat[at++] = predicted[line * n + order[e]];
        }
        stops[s] = at;
    }
    scratch_free(&scratch);
    return at;
}
