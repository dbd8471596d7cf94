/* Exact sums: convert floats to limbs, and sums of limbs to floats. */
#include "kernels.h"

#define FRACTION ((i64)1 << 52) - 1

/* Return the integer mantissa of |number| = mantissa * 2**exponent; NaN counts as 0. */
static i64 mantissa_and_exponent(i64 bits, i64 *exponent) {
    i64 field = (bits >> 52) & 0x7ff, mantissa = bits & (FRACTION);
    if (field == 0x7ff) {
        *exponent = 0;
        return 0;
    }
    if (field == 0) {
        *exponent = -1074;
        return mantissa;
    }
    *exponent = field - 1075;
    return mantissa | ((i64)1 << 52);
}

/* Find per column the exponent of its lowest used bit, and the one above its highest. */
i64 limb_exponents(const i64 *bits, i64 n, i64 d, i64 *low, i64 *high) {
    for (i64 j = 0; j < d; j++) {
        low[j] = 2000;
        high[j] = -2000;
    }
    for (i64 i = 0; i < n; i++) {
        for (i64 j = 0; j < d; j++) {
            i64 exponent, mantissa = mantissa_and_exponent(bits[i * d + j], &exponent);
            if (mantissa == 0) {
                continue;
            }
            high[j] = most_of(high[j], exponent + 53);
            i64 below = low[j] - exponent;
            if (below > 0 && (below > 52 || (mantissa & (((i64)1 << below) - 1)))) {
                low[j] = least_of(low[j], exponent + lowest_bit((u64)mantissa));
            }
        }
    }
    for (i64 j = 0; j < d; j++) {
        if (low[j] > high[j]) {
            low[j] = 0;
            high[j] = 1;
        }
    }
    return 0;
}

/* Write the limbs of every number; `digits` is zero before. */
i64 split_into_limbs(const i64 *bits, i64 n, i64 d, const i64 *first, const i64 *low, i64 width,
                     i64 *digits, i64 n_limbs) {
    for (i64 i = 0; i < n; i++) {
        for (i64 j = 0; j < d; j++) {
            i64 exponent, mantissa = mantissa_and_exponent(bits[i * d + j], &exponent);
            if (mantissa == 0) {
                continue;
            }
            i64 place = exponent - low[j];
            if (place < 0) {
                mantissa >>= -place;
                place = 0;
            }
            i64 sign = bits[i * d + j] < 0 ? -1 : 1;
            i64 limb = first[j] + place / width, shift = place % width;
            while (mantissa) {
                i64 piece = mantissa & (((i64)1 << (width - shift)) - 1);
                digits[i * n_limbs + limb] = sign * (piece << shift);
                mantissa >>= width - shift;
                shift = 0;
                limb++;
            }
        }
    }
    return 0;
}

/* Return the float nearest to the sum of part[k] * 2**(low + k * width); limb has `count` cells. */
double rounded_sum(const i64 *part, i64 count, i64 low, i64 width, i64 *limb) {
    if (count == 1) {
        return ldexp((double)part[0], (int)low);
    }
    const i64 mask = ((i64)1 << width) - 1;
    bool flipped = false;
    memcpy(limb, part, (size_t)count * sizeof *limb);
    while (true) {
        for (i64 k = 0; k < count - 1; k++) {
            i64 carry = limb[k] >> width;
            limb[k] &= mask;
            limb[k + 1] += carry;
        }
        if (limb[count - 1] >= 0) {
            break;
        }
        flipped = true;
        for (i64 k = 0; k < count; k++) {
            limb[k] = -limb[k];
        }
    }
    i64 top = count - 1;
    while (top > 0 && limb[top] == 0) {
        top--;
    }
    i64 head = limb[top], bits = 0;
    while (bits < 62 && (head >> bits) != 0) {
        bits++;
    }
    i64 exponent = low + top * width;
    bool rest = false;
    for (i64 k = top - 1; k >= 0; k--) {
        i64 take = least_of(width, 62 - bits);
        head = (i64)((u64)head << take) | (limb[k] >> (width - take));
        if (limb[k] & (((i64)1 << (width - take)) - 1)) {
            rest = true;
        }
        bits += take;
        exponent -= take;
    }
    if (rest) { /* the last of 62 bits is below the 53 kept bits and only breaks ties */
        head |= 1;
    }
    double value = ldexp((double)head, (int)exponent);
    return flipped ? -value : value;
}
