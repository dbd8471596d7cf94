/* The first m of n keys in the order (key, row), and the transpose of 64 words of bits. */
#include "neighbour.h"

#define RUN 16
/* Above this length, finding the m-th key first is faster. */
#define LONG 128

static void swap_bits(u64 *words, int j, u64 mask) {
    for (int start = 0; start < 64; start += 2 * j) {
        for (int k = start; k < start + j; k++) {
            u64 swap = ((words[k] >> j) ^ words[k + j]) & mask;
            words[k] ^= swap << j;
            words[k + j] ^= swap;
        }
    }
}

void transpose_bits(u64 *words) {
    swap_bits(words, 32, 0x00000000FFFFFFFFu);
    swap_bits(words, 16, 0x0000FFFF0000FFFFu);
    swap_bits(words, 8, 0x00FF00FF00FF00FFu);
    swap_bits(words, 4, 0x0F0F0F0F0F0F0F0Fu);
    swap_bits(words, 2, 0x3333333333333333u);
    swap_bits(words, 1, 0x5555555555555555u);
}

/* Sort the first `count` pairs by key with a stable merge sort. */
static void sort_pairs(double *keys, i64 *rows, i64 count, double *spare_keys, i64 *spare_rows) {
    for (i64 start = 0; start < count; start += RUN) {
        for (i64 right = start + 1; right < least_of(start + RUN, count); right++) {
            double key = keys[right];
            i64 row = rows[right], left = right - 1;
            while (left >= start && keys[left] > key) {
                keys[left + 1] = keys[left];
                rows[left + 1] = rows[left];
                left--;
            }
            keys[left + 1] = key;
            rows[left + 1] = row;
        }
    }
    double *from_keys = keys, *to_keys = spare_keys;
    i64 *from_rows = rows, *to_rows = spare_rows;
    for (i64 width = RUN; width < count; width *= 2) {
        for (i64 start = 0; start < count; start += 2 * width) {
            i64 middle = least_of(start + width, count), stop = least_of(start + 2 * width, count);
            i64 left = start, right = middle;
            for (i64 at = start; at < stop; at++) {
                if (left < middle && (right >= stop || from_keys[left] <= from_keys[right])) {
                    to_keys[at] = from_keys[left];
                    to_rows[at] = from_rows[left++];
                } else {
                    to_keys[at] = from_keys[right];
                    to_rows[at] = from_rows[right++];
                }
            }
        }
        double *keys_here = from_keys;
        i64 *rows_here = from_rows;
        from_keys = to_keys;
        from_rows = to_rows;
        to_keys = keys_here;
        to_rows = rows_here;
    }
    if (from_keys != keys) {
        memcpy(keys, from_keys, (size_t)count * sizeof *keys);
        memcpy(rows, from_rows, (size_t)count * sizeof *rows);
    }
}

/* Return the key at an index of the sorted order (Hoare's selection). */
static double select_key(double *keys, i64 n, i64 place) {
    i64 low = 0, high = n - 1;
    while (low < high) {
        double pivot = keys[(low + high) >> 1];
        i64 left = low, right = high;
        while (left <= right) {
            while (keys[left] < pivot) {
                left++;
            }
            while (keys[right] > pivot) {
                right--;
            }
            if (left <= right) {
                double key = keys[left];
                keys[left++] = keys[right];
                keys[right--] = key;
            }
        }
        if (place <= right) {
            high = right;
        } else if (place >= left) {
            low = left;
        } else {
            break;
        }
    }
    return keys[place];
}

static bool any_below(const double *keys, double limit) {
    i64 any = 0;
    for (int k = 0; k < 32; k++) {
        any |= keys[k] < limit ? 1 : 0;
    }
    return any != 0;
}

static bool any_byte_below(const uint8_t *keys, double limit) {
    if (limit > 255.0) {
        return true;
    }
    uint8_t top = (uint8_t)limit, any = 0;
    for (int k = 0; k < 32; k++) {
        any |= keys[k] < top ? 1 : 0;
    }
    return any != 0;
}

/* Rows are ascending, so a later row with the key of the current m-th loses. */
#define FIRST_ROWS(NAME, KEY, ANY_BELOW)                                                          \
    i64 NAME(const KEY *keys, i64 n, i64 m, i64 room, double *found_keys, i64 *found_rows,        \
             double *spare_keys, i64 *spare_rows) {                                               \
        i64 count = 0;                                                                            \
        m = least_of(m, n);                                                                       \
        if (m > LONG) {                                                                           \
            for (i64 k = 0; k < n; k++) {                                                         \
                spare_keys[k] = (double)keys[k];                                                  \
            }                                                                                     \
            double last = select_key(spare_keys, n, m - 1);                                       \
            for (i64 k = 0; k < n; k++) {                                                         \
                if ((double)keys[k] < last) {                                                     \
                    found_keys[count] = (double)keys[k];                                          \
                    found_rows[count++] = k;                                                      \
                }                                                                                 \
            }                                                                                     \
            for (i64 k = 0; k < n && count < m; k++) {                                            \
                if ((double)keys[k] == last) {                                                    \
                    found_keys[count] = (double)keys[k];                                          \
                    found_rows[count++] = k;                                                      \
                }                                                                                 \
            }                                                                                     \
            sort_pairs(found_keys, found_rows, count, spare_keys, spare_rows);                    \
            return count;                                                                         \
        }                                                                                         \
        i64 capacity = least_of(2 * m + 64, room);                                                \
        double limit = INFINITY;                                                                  \
        for (i64 start = 0; start < n; start += 32) {                                             \
            i64 stop = least_of(start + 32, n);                                                   \
            if (stop == start + 32 && !ANY_BELOW(keys + start, limit)) {                          \
                continue;                                                                         \
            }                                                                                     \
            for (i64 k = start; k < stop; k++) {                                                  \
                if ((double)keys[k] < limit) {                                                    \
                    if (count == capacity) {                                                      \
                        sort_pairs(found_keys, found_rows, count, spare_keys, spare_rows);        \
                        count = m;                                                                \
                        limit = found_keys[m - 1];                                                \
                        if ((double)keys[k] >= limit) {                                           \
                            continue;                                                             \
                        }                                                                         \
                    }                                                                             \
                    found_keys[count] = (double)keys[k];                                          \
                    found_rows[count++] = k;                                                      \
                }                                                                                 \
            }                                                                                     \
        }                                                                                         \
        sort_pairs(found_keys, found_rows, count, spare_keys, spare_rows);                        \
        return least_of(count, m);                                                                \
    }

FIRST_ROWS(first_rows, double, any_below)
FIRST_ROWS(first_byte_rows, uint8_t, any_byte_below)
