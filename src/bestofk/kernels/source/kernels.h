/* The functions that Python calls, and what all sources share.
 *
 * Arrays are C-contiguous; the caller checks types and sizes. A function returns a number that is
 * not negative, or NO_MEMORY. Floating point is evaluated as written: the same bits everywhere. */
#ifndef BESTOFK_KERNELS_H
#define BESTOFK_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define NO_MEMORY (-9999)
#define RESTRICT restrict

typedef int64_t i64;
typedef uint64_t u64;

/* Memory that a function takes once, at its beginning, and gives back at its end. */
typedef struct {
    void *blocks[64];
    int used;
    bool failed;
} Scratch;

static inline void *scratch_take(Scratch *scratch, i64 count, size_t size) {
    /* calloc: cells that are never written are read as 0, never as what was there before */
    void *block = NULL;
    if (scratch->used < 64) {
        block = calloc(count > 0 ? (size_t)count : 1, size);
    }
    if (block == NULL) {
        scratch->failed = true;
        return NULL;
    }
    scratch->blocks[scratch->used++] = block;
    return block;
}

static inline void scratch_free(Scratch *scratch) {
    for (int at = 0; at < scratch->used; at++) {
        free(scratch->blocks[at]);
    }
    scratch->used = 0;
}

#define TAKE(scratch, type, count) ((type *)scratch_take((scratch), (count), sizeof(type)))

static inline i64 least_of(i64 a, i64 b) { return a < b ? a : b; }
static inline i64 most_of(i64 a, i64 b) { return a > b ? a : b; }
static inline i64 popcount(u64 word) { return (i64)__builtin_popcountll(word); }
/* the place of the lowest one bit of a word that is not 0 */
static inline i64 lowest_bit(u64 word) { return (i64)__builtin_ctzll(word); }

static inline i64 bits_of(double number) {
    i64 bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double float_of(i64 bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* the first of the largest */
static inline i64 argmax_i64(const i64 *cells, i64 count) {
    i64 best = 0;
    for (i64 at = 1; at < count; at++) {
        if (cells[at] > cells[best]) {
            best = at;
        }
    }
    return best;
}

/* processor.c */
EXPORT i64 processor_level(void);
EXPORT const char *kernel_sources(void);

#endif
