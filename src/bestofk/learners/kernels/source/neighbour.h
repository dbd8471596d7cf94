/* Declarations shared by the nearest-neighbour sources.
 *
 * Plans are bits, 64 splits per word. Cross-validation has one bit per run: the binary digits of
 * the fold that tests a row are in separate planes, and a row can be a neighbour of another in the
 * runs in which any digit differs. Other plans have one bit per split and one plane that marks
 * where a row trains. Predicted class codes are also stored as one plane per binary digit. */
#ifndef BESTOFK_NEIGHBOUR_H
#define BESTOFK_NEIGHBOUR_H

#include "kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { BY_RANGE, BY_STD, BY_NONE };

#define BLOCK 1024
/* Neighbours in a block, and columns in a bound. */
#define EIGHT 8
/* Numbers per neighbour: its reference distance, then its terms in these columns. */
#define PARTS (EIGHT + 1)
/* Below this, products of small terms may lose digits: always decide by pair_distance. */
#define TINY 1e-20
/* Relative slack for bounds in double precision: far above rounding, far below any gap. */
#define SLACK 1e-9

/* Fused multiply-add if available; only for bounds and estimates, whose margins allow for either
 * rounding. */
#if defined(__FMA__)
#define FUSED(a, b, c) __builtin_fma((a), (b), (c))
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

typedef struct {
    const u64 *planes; /* (n, words, digits) */
    const u64 *wanted; /* (n, words): splits that test each row */
    u64 *predicted;    /* (words, digits of a class code, n), initially 0 */
    const i64 *y;
    i64 n, words, digits, folds, code_digits;
    bool by_fold;
} Plan;

/* Return the splits of word w in which row k trains, given that row i is tested. */
static inline u64 serves(const Plan *plan, i64 i, i64 k, i64 w) {
    const u64 *of_k = plan->planes + (k * plan->words + w) * plan->digits;
    if (!plan->by_fold) {
        return of_k[0];
    }
    const u64 *of_i = plan->planes + (i * plan->words + w) * plan->digits;
    u64 differ = of_k[0] ^ of_i[0];
    for (i64 p = 1; p < plan->digits; p++) {
        differ |= of_k[p] ^ of_i[p];
    }
    return differ;
}

/* Set the class code of row i in the splits `bits` of word w. */
static inline void write_code(const Plan *plan, i64 w, i64 i, u64 bits, i64 code) {
    for (i64 q = 0; q < plan->code_digits; q++) {
        if ((code >> q) & 1) {
            plan->predicted[(w * plan->code_digits + q) * plan->n + i] |= bits;
        }
    }
}

typedef float Singles __attribute__((vector_size(32)));

static inline Singles singles_at(const float *cells) {
    Singles eight;
    memcpy(&eight, cells, sizeof eight);
    return eight;
}

static inline Singles fused(Singles a, Singles b, Singles c) {
#if defined(__FMA__)
    return (Singles)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

static inline float sum_of_singles(Singles eight) {
    return ((eight[0] + eight[4]) + (eight[2] + eight[6])) +
           ((eight[1] + eight[5]) + (eight[3] + eight[7]));
}

/* Return which of the eight are not above the limit, as bits. */
static inline u64 bits_not_above(Singles total, float limit) {
#if defined(__AVX512VL__)
    return (u64)_mm256_cmp_ps_mask((__m256)total, _mm256_set1_ps(limit), _CMP_LE_OQ);
#elif defined(__AVX__)
    return (u64)(uint32_t)_mm256_movemask_ps(
        _mm256_cmp_ps((__m256)total, _mm256_set1_ps(limit), _CMP_LE_OQ));
#elif defined(__SSE2__)
    __m128 low, high, top = _mm_set1_ps(limit);
    memcpy(&low, &total, sizeof low);
    memcpy(&high, (const char *)&total + sizeof low, sizeof high);
    return (u64)(uint32_t)_mm_movemask_ps(_mm_cmple_ps(low, top)) |
           (u64)(uint32_t)_mm_movemask_ps(_mm_cmple_ps(high, top)) << 4;
#else
    u64 bits = 0;
    for (int k = 0; k < EIGHT; k++) {
        bits |= (u64)(total[k] <= limit) << k;
    }
    return bits;
#endif
}

/* Return which of the eight neighbours of a block have bounds not above `limit`, as bits; `blocks`
 * (blocks, PARTS, EIGHT), weights (PARTS). */
static inline u64 not_above(const float *blocks, i64 block, const float *weights, double limit) {
    const float *cells = blocks + block * PARTS * EIGHT;
    /* Three independent sums, because each step of one waits for the previous step. */
    Singles sums[3];
    for (int part = 0; part < 3; part++) {
        sums[part] = singles_at(cells + EIGHT * part) * weights[part];
    }
    for (int part = 3; part < PARTS; part++) {
        float weight = weights[part];
        Singles factor = {weight, weight, weight, weight, weight, weight, weight, weight};
        sums[part % 3] = fused(singles_at(cells + EIGHT * part), factor, sums[part % 3]);
    }
    return bits_not_above((sums[0] + sums[1]) + sums[2], (float)limit);
}

/* Sum products in single precision; `padded` is a multiple of 8. */
static inline double estimate_of_terms(const float *ratio, const float *terms, i64 padded) {
    Singles first = singles_at(ratio) * singles_at(terms);
    i64 j = EIGHT;
    if (padded >= 4 * EIGHT) {
        Singles second = singles_at(ratio + j) * singles_at(terms + j);
        j += EIGHT;
        for (; j + EIGHT < padded; j += 2 * EIGHT) {
            first = fused(singles_at(ratio + j), singles_at(terms + j), first);
            second = fused(singles_at(ratio + j + EIGHT), singles_at(terms + j + EIGHT), second);
        }
        first += second;
    }
    for (; j < padded; j += EIGHT) {
        first = fused(singles_at(ratio + j), singles_at(terms + j), first);
    }
    return (double)sum_of_singles(first);
}

/* neighbour_distance.c */
double pair_distance(const double *x_cells, const double *z_cells, i64 d, const i64 *cardinality,
                     const double *low, const double *high, const double *divisor);
void add_column(double *RESTRICT total, const double *RESTRICT column, i64 count, double x,
                bool nominal, double low, double high, double s);

/* neighbour_order.c: the first m rows in the order (key, row); buffers have 2 m + 64 pairs */
i64 first_rows(const double *keys, i64 n, i64 m, i64 room, double *found_keys, i64 *found_rows,
               double *spare_keys, i64 *spare_rows);
i64 first_byte_rows(const uint8_t *keys, i64 n, i64 m, i64 room, double *found_keys,
                    i64 *found_rows, double *spare_keys, i64 *spare_rows);
/* bit b of word t becomes bit t of word b, for 64 words, in place */
void transpose_bits(u64 *words);

/* The first neighbours of one row, by distance under the reference scales. */
typedef struct {
    i64 *rows;
    double *distance;   /* a lower bound; the distance up to rounding if all is known */
    double *floor;      /* (length / 8): a lower bound for each eight and all later ones */
    bool *twin;         /* whether all values equal those of the row */
    float *terms;       /* (length, padded d): c_j */
    double *score;      /* (d): work space for column contributions */
    i64 *chosen;        /* (EIGHT): the columns in bounds */
    float *blocks;      /* (length / 8, PARTS, EIGHT): eight neighbours at a time, for bounds */
    float *tiles;       /* (length / 64, PARTS, EIGHT): the least of each block */
    float *groups;      /* (length / 512, PARTS, EIGHT): the least of each 64 neighbours */
    float *weights;     /* (PARTS): weights of the parts of a bound */
    u64 *first_masks;   /* (words, 64): which of the first 64 train, for the splits of each word */
    u64 *masks;         /* (length / 64, 64): the same for all neighbours, current word */
    bool *ready;        /* (length / 64): whether the masks are set for the current word */
    bool *filled;       /* (length / 64): whether the terms of 64 neighbours are set */
    i64 n_tiles;
} Near;

/* The scales of every split and of the reference. */
typedef struct {
    i64 d, padded;
    const i64 *cardinality;
    const double *divisor;              /* (d): of the reference */
    const double *low, *high, *divisors; /* (splits, d) */
    const float *ratio;                 /* (splits, padded): r_j */
    const double *least_ratio;          /* (splits): a lower bound of r_j if not constant */
    const bool *estimable;              /* (splits): whether r_j fits single precision */
    const i64 *constant_first, *constant_columns;
    const float *least, *most; /* (padded): the smallest and the largest r_j of any split */
    double floor;              /* the least ratio of all splits and columns */
    const double *excess;      /* (d): the mean over the splits of r_j minus the least ratio */
    const i64 *copies;         /* (n): equal for rows with equal values */
    const double *weight;      /* (d): 1 / divisor squared */
} SplitScales;

/* neighbour_list.c */
void lower_keys(const double *columns, i64 d, i64 n, i64 i, const i64 *cardinality,
                const bool *plain, const double *weight, double one_floor, double both_floor,
                double *keys);
i64 list_first(const double *keys, i64 n, i64 length, i64 room, Near *near, double *spare_keys,
               i64 *spare_rows);
void list_others(const double *keys, i64 n, i64 count, Near *near, uint32_t *number, i64 *bins,
                 bool *listed);
void fill_terms(const double *values, i64 i, i64 start, i64 count, const SplitScales *scales,
                Near *near);
void fill_blocks(const double *columns, i64 n, i64 i, i64 start, i64 count,
                 const SplitScales *scales, Near *near);
void start_list(const double *values, const double *columns, i64 n, i64 i, i64 count,
                const SplitScales *scales, Near *near);
void fill_first_masks(const Plan *plan, i64 i, i64 count, Near *near);
void fill_masks(const Plan *plan, i64 tile, i64 i, i64 w, i64 count, Near *near);

#define BINS (1 << 16)

/* Return the split of bit b of word w; for a run, the one that tests row i. */
static inline i64 split_of(const Plan *plan, i64 i, i64 w, i64 b) {
    i64 s = 64 * w + b, fold = 0;
    if (!plan->by_fold) {
        return s;
    }
    const u64 *of_i = plan->planes + (i * plan->words + w) * plan->digits;
    for (i64 p = 0; p < plan->digits; p++) {
        fold |= (i64)((of_i[p] >> b) & 1) << p;
    }
    return s * plan->folds + fold;
}

/* Compute the weights of the parts of a bound in split s. */
static inline void fill_weights(const SplitScales *scales, i64 s, i64 parts, Near *near) {
    float least = (float)scales->least_ratio[s];
    near->weights[0] = least;
    for (i64 m = 0; m < parts; m++) {
        float over = scales->ratio[s * scales->padded + near->chosen[m]] - least;
        near->weights[m + 1] = over > 0.0f ? over : 0.0f;
    }
}

/* Sum the terms of the columns that are constant in split s but not in the reference. */
static inline double constant_terms(const double *cells, const SplitScales *scales, i64 s) {
    double total = 0.0;
    for (i64 c = scales->constant_first[s]; c < scales->constant_first[s + 1]; c++) {
        i64 j = scales->constant_columns[c];
        if (!isnan(cells[j])) {
            double difference = (cells[j] - scales->low[s * scales->d + j]) / scales->divisor[j];
            total += difference * difference;
        }
    }
    return total * (1.0 + SLACK) + TINY;
}

static inline double estimate(const SplitScales *scales, i64 s, const Near *near, i64 t) {
    return estimate_of_terms(scales->ratio + s * scales->padded, near->terms + t * scales->padded,
                             scales->padded);
}

/* neighbour_class.c */
#define FRIENDS 24
#define RIVALS 64

/* The neighbours of one row by class. */
typedef struct {
    i64 *friends;  /* (FRIENDS): indices in the list of all neighbours */
    Near rivals;
    double *keys;  /* (n): reference distances of the rivals, infinite for friends */
    i64 *nearer;   /* (FRIENDS, RIVALS): rivals that are nearer than a friend in some split */
    i64 *counts;   /* (FRIENDS): their number; -1 if not all are known */
    i64 *first;    /* (words, 64): index of the first friend that trains, for each split */
    u64 *doubtful; /* (words): splits in which a rival may be nearer than this friend */
    i64 n_friends, n_rivals;
} Parted;

i64 part(const Plan *plan, const double *values, const double *columns, i64 i, i64 count,
         const Near *near, const double *keys, const SplitScales *scales, Parted *parted,
         i64 room, double *spare_keys, i64 *spare_rows);
void settle_by_class(const Plan *plan, const double *values, i64 i, u64 *left, i64 friendly,
                     const Near *near, Parted *parted, const SplitScales *scales);

#endif
