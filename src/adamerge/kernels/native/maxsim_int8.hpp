// Tiles of int8 rows: integer inner products of 2 or 4 values at a time, which are exact, then one
// scale per row.
#pragma once

#include "maxsim_tiles.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

#if defined(__AVX512VNNI__)
// The instruction multiplies unsigned with signed bytes, so a page's values get 128 added; 128
// times the sum of the query's values is taken away again before the first product.
using Value = std::int8_t;
constexpr std::int32_t LIFT = 128;
inline void widen(const std::int8_t* in, int d, Value* out) {
    for (int k = 0; k < d; ++k) out[k] = (std::int8_t)(in[k] ^ -128);
}
inline I::Vec add_products(I::Vec sum, I::Vec page, I::Vec query) {
    return (I::Vec)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)page, (__m512i)query);
}
#else
using Value = std::int16_t;
constexpr std::int32_t LIFT = 0;
inline void widen(const std::int8_t* in, int d, Value* out) {
    for (int k = 0; k < d; ++k) out[k] = in[k];
}
inline I::Vec add_products(I::Vec sum, I::Vec page, I::Vec query) {
#if defined(__AVX512BW__)
    return sum + (I::Vec)_mm512_madd_epi16((__m512i)page, (__m512i)query);
#elif defined(__AVX2__)
    return sum + (I::Vec)_mm256_madd_epi16((__m256i)page, (__m256i)query);
#elif defined(__SSE2__)
    return sum + (I::Vec)_mm_madd_epi16((__m128i)page, (__m128i)query);
#else
    const I::Vec low = (page << 16 >> 16) * (query << 16 >> 16);
    const I::Vec high = (page >> 16) * (query >> 16);
    return sum + low + high;
#endif
}
#endif
constexpr int GROUP = sizeof(std::int32_t) / sizeof(Value);  // values of one lane

struct ByteTiles {
    const std::int32_t* rows;  // (n, stride), GROUP values each
    std::size_t stride;
    const float* scales;         // (n,)
    const std::int32_t* panels;  // (groups, 2W) of columns each
    const std::int32_t* starts;  // (columns,)
    int groups;

    template <int R, int V> void tile(int i, std::int64_t column, F::Vec (&best)[V]) const {
        const std::int32_t* row = rows + i * stride;
        const std::int32_t* panel = panels + column * groups;
        I::Vec sum[R][V];
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) sum[r][v] = I::load(starts + column + v * W);
        for (int g = 0; g < groups; ++g, panel += V * W) {
            I::Vec p[V];
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) p[v] = I::load(panel + v * W);
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
                for (int v = 0; v < V; ++v)
                    sum[r][v] = add_products(sum[r][v], I::splat(row[r * stride + g]), p[v]);
        }
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) {
                const F::Vec product = __builtin_convertvector(sum[r][v], F::Vec);
                best[v] = larger(best[v], product * F::splat(scales[i + r]));
            }
    }
};

// One vector of a query -> a column of int8 values, its lanes `apart`, and their total; returns the
// scale. The same numbers as quantise() in kernels/int8.py.
inline float quantise(const float* query, int d, std::int32_t* column, int apart,
                      std::int32_t& total) {
    float largest = 0;
    for (int k = 0; k < d; ++k) {
        const float size = __builtin_fabsf(query[k]);
        largest = size > largest ? size : largest;
    }
    const float scale = largest / 127.f;
    total = 0;
    for (int k = 0; k < d && scale > 0; ++k) {
        float rounded = __builtin_rintf(query[k] / scale);
        if (rounded > 127.f) rounded = 127.f;
        if (rounded < -127.f) rounded = -127.f;
        const Value value = (Value)rounded;
        auto* lane = (unsigned char*)(column + (std::size_t)(k / GROUP) * apart);
        std::memcpy(lane + k % GROUP * sizeof(Value), &value, sizeof(Value));
        total += value;
    }
    return scale;
}

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
