// One vector type per instruction set. The files that include this one are compiled once per set
// (see CMakeLists.txt), so they may use nothing of the standard library that the linker could share
// between the copies: a std::vector compiled for AVX-512 must never be picked for a machine without
// it. Raw pointers and static functions only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace adamerge::ADAMERGE_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int BYTES = 64;
#elif defined(__AVX2__)
constexpr int BYTES = 32;
#else
constexpr int BYTES = 16;
#endif

template <class T> struct Simd {
    typedef T Vec __attribute__((vector_size(BYTES)));
    static constexpr int W = BYTES / sizeof(T);

    static Vec load(const T* at) {
        Vec v;
        std::memcpy(&v, at, BYTES);
        return v;
    }
    static void store(T* at, Vec v) { std::memcpy(at, &v, BYTES); }
    // Not x + 0: that is not x when x is -0, and would be computed.
    static Vec splat(T x) { return x - Vec{}; }
    static Vec min(Vec a, Vec b) { return b < a ? b : a; }

    static T min_of(Vec v) {
        T least = v[0];
        for (int i = 1; i < W; ++i) least = v[i] < least ? v[i] : least;
        return least;
    }

    static T sum_of(Vec v) {
        T sum = v[0];
        for (int i = 1; i < W; ++i) sum += v[i];
        return sum;
    }

    // Writes W columns of W rows as rows: to[i][there + t] = from[t][here + i].
    static void transpose(const T* const* from, std::size_t here, T* const* to, std::size_t there) {
        Vec v[W];
        for (int t = 0; t < W; ++t) v[t] = load(from[t] + here);
        swap_blocks<W / 2>(v, std::make_integer_sequence<int, W>{});
        for (int i = 0; i < W; ++i) store(to[i] + there, v[i]);
    }

    // Moves the entries of a row whose `mark` is 0 to its front, in order; what stands after them
    // is of no use. `count` is a multiple of W.
    static void keep_where_zero(T* row, const T* mark, int count) {
        int kept = 0;
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == 4) {
            for (int j = 0; j < count; j += W) {
                const __m512 marks = (__m512)load(mark + j);
                const __mmask16 stays = _mm512_cmp_ps_mask(marks, _mm512_setzero_ps(), _CMP_EQ_OQ);
                store(row + kept, (Vec)_mm512_maskz_compress_ps(stays, (__m512)load(row + j)));
                kept += __builtin_popcount(stays);
            }
            return;
        }
#endif
        for (int j = 0; j < count; ++j)
            if (mark[j] == 0) row[kept++] = row[j];
    }

  private:
    // Exchanges the off-diagonal blocks of size S, then those of S/2 inside, and so on.
    template <int S, int... I>
    static void swap_blocks(Vec (&v)[W], std::integer_sequence<int, I...> lanes) {
        for (int t = 0; t < W; ++t) {
            if (t & S) continue;
            const Vec a = v[t], b = v[t + S];
            v[t] = __builtin_shufflevector(a, b, (I & S ? I - S + W : I)...);
            v[t + S] = __builtin_shufflevector(a, b, (I & S ? I + W : I + S)...);
        }
        if constexpr (S > 1) swap_blocks<S / 2>(v, lanes);
    }
};

// Is any lane of a comparison true?
template <class Mask> inline bool any(Mask mask) {
    static_assert(sizeof(Mask) == BYTES);
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#elif defined(__SSE2__)
    return _mm_movemask_epi8((__m128i)mask) != 0;
#else
    std::uint64_t half[2];
    std::memcpy(half, &mask, BYTES);
    return (half[0] | half[1]) != 0;
#endif
}

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
