/* The level of this processor, and the sources from which the library was built. */
#include "kernels.h"

#ifndef BESTOFK_SOURCES
#define BESTOFK_SOURCES ""
#endif

const char *kernel_sources(void) { return BESTOFK_SOURCES; }

#if defined(__x86_64__)
#include <cpuid.h>

static u64 saved_states(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((u64)high << 32) | low;
}

static bool has(uint32_t word, uint32_t wanted) { return (word & wanted) == wanted; }

/* Return 1, 3 or 4: the highest of the levels x86-64, x86-64-v3 and x86-64-v4. */
i64 processor_level(void) {
    uint32_t a, b, c, d, extended_c, feature_b;
    if (!__get_cpuid(1, &a, &b, &c, &d)) {
        return 1;
    }
    /* SSE3, SSSE3, FMA, CX16, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX, F16C */
    const uint32_t first = 1u | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 22 |
                           1u << 23 | 1u << 27 | 1u << 28 | 1u << 29;
    if (!has(c, first)) {
        return 1;
    }
    if (!__get_cpuid_count(7, 0, &a, &feature_b, &c, &d)) {
        return 1;
    }
    if (!__get_cpuid(0x80000001u, &a, &b, &extended_c, &d)) {
        return 1;
    }
    u64 saved = saved_states();
    /* BMI1, AVX2, BMI2; LAHF and LZCNT; the system saves the 256-bit registers */
    if (!has(feature_b, 1u << 3 | 1u << 5 | 1u << 8) || !has(extended_c, 1u | 1u << 5) ||
        (saved & 6) != 6) {
        return 1;
    }
    /* AVX512 F, DQ, CD, BW, VL; the system saves the 512-bit registers */
    if (has(feature_b, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) &&
        (saved & 0xe6) == 0xe6) {
        return 4;
    }
    return 3;
}
#else
i64 processor_level(void) { return 1; }
#endif
