/* Convert plans to bits, and predicted bits to codes. */
#include "neighbour.h"

/* Write the bits of fold_of (runs, n) to planes (n, words, digits). */
i64 neighbour_pack_folds(const int32_t *fold_of, i64 runs, i64 n, i64 words, i64 digits,
                         u64 *planes) {
    Scratch scratch = {0};
    u64 *word = TAKE(&scratch, u64, n);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 w = 0; w < words; w++) {
        for (i64 p = 0; p < digits; p++) {
            memset(word, 0, (size_t)n * sizeof *word);
            for (i64 b = 0; b < least_of(64, runs - 64 * w); b++) {
                const int32_t *folds = fold_of + (64 * w + b) * n;
                for (i64 i = 0; i < n; i++) {
                    word[i] |= (u64)((folds[i] >> p) & 1) << b;
                }
            }
            for (i64 i = 0; i < n; i++) {
                planes[(i * words + w) * digits + p] = word[i];
            }
        }
    }
    scratch_free(&scratch);
    return 0;
}

/* Set the bit of `split` for all rows in planes (n, words). */
i64 neighbour_mark(const i64 *rows, i64 n_rows, i64 split, i64 words, u64 *planes) {
    u64 bit = (u64)1 << (split & 63);
    for (i64 r = 0; r < n_rows; r++) {
        planes[rows[r] * words + (split >> 6)] |= bit;
    }
    return 0;
}

/* Find the start of each split in the order (run, fold, row), then the number of rows. */
i64 neighbour_place_folds(const int32_t *fold_of, i64 runs, i64 n, i64 folds, i64 *first) {
    memset(first, 0, (size_t)(runs * folds + 1) * sizeof *first);
    for (i64 r = 0; r < runs; r++) {
        for (i64 i = 0; i < n; i++) {
            first[r * folds + fold_of[r * n + i] + 1]++;
        }
    }
    for (i64 s = 0; s < runs * folds; s++) {
        first[s + 1] += first[s];
    }
    return 0;
}

static void codes_of(const u64 *predicted, i64 code_digits, i64 n, i64 split, i64 *code) {
    memset(code, 0, (size_t)n * sizeof *code);
    for (i64 q = 0; q < code_digits; q++) {
        const u64 *plane = predicted + ((split >> 6) * code_digits + q) * n;
        for (i64 i = 0; i < n; i++) {
            code[i] |= (i64)((plane[i] >> (split & 63)) & 1) << q;
        }
    }
}

/* Write the codes of all rows in the order (run, fold, row). */
i64 neighbour_unpack_folds(const u64 *predicted, i64 code_digits, const int32_t *fold_of,
                           i64 runs, i64 n, i64 folds, const i64 *first, i64 *out) {
    Scratch scratch = {0};
    i64 *code = TAKE(&scratch, i64, n), *at = TAKE(&scratch, i64, folds);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 r = 0; r < runs; r++) {
        codes_of(predicted, code_digits, n, r, code);
        memcpy(at, first + r * folds, (size_t)folds * sizeof *at);
        const int32_t *fold = fold_of + r * n;
        for (i64 i = 0; i < n; i++) {
            out[at[fold[i]]++] = code[i];
        }
    }
    scratch_free(&scratch);
    return 0;
}

/* Write the codes of the rows `tests`, which start at first[s] for split s. */
i64 neighbour_unpack_tests(const u64 *predicted, i64 code_digits, i64 n, const i64 *tests,
                           const i64 *first, i64 splits, i64 *out) {
    Scratch scratch = {0};
    i64 *code = TAKE(&scratch, i64, n);
    if (scratch.failed) {
        scratch_free(&scratch);
        return NO_MEMORY;
    }
    for (i64 s = 0; s < splits; s++) {
        codes_of(predicted, code_digits, n, s, code);
        for (i64 at = first[s]; at < first[s + 1]; at++) {
            out[at] = code[tests[at]];
        }
    }
    scratch_free(&scratch);
    return 0;
}
