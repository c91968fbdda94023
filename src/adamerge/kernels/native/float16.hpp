// float16 <-> float32, one loop per instruction set. Every float16 is a float32; the other way a
// number is rounded to the nearest, of two to the even one. A signalling NaN becomes a quiet one,
// as the instructions of the processor make it.
#pragma once

#include "simd.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

constexpr std::uint32_t INFINITE = 0x7f800000, QUIET = 0x00400000;  // bits of a float32
constexpr int SHIFT = 23 - 10;                                      // digits that float16 lacks

inline std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline float from_bits(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// One number without an instruction for it: the bits in their new places, times what the exponents
// differ. That holds for numbers below the smallest normal one too.
inline float widened(std::uint16_t half) {
    constexpr std::uint32_t infinite = 0x7c00 << SHIFT;
    const std::uint32_t sign = (std::uint32_t)(half & 0x8000) << 16;
    const std::uint32_t bits = (std::uint32_t)(half & 0x7fff) << SHIFT;
    const std::uint32_t finite = bits_of(from_bits(bits) * 0x1p112f);
    const std::uint32_t special = bits | INFINITE | (bits > infinite ? QUIET : 0);
    return from_bits((bits < infinite ? finite : special) | sign);
}

// One number without an instruction for it. Below the smallest normal float16 the sum with 1/2 does
// the rounding: a unit in the last place of 1/2 is the smallest float16. Above, adding just under
// half of what is dropped does, and a digit that overflows goes into the exponent.
inline std::uint16_t narrowed(float value) {
    constexpr std::uint32_t smallest_normal = (127 - 14) << 23, too_large = (127 + 16) << 23;
    const std::uint32_t sign = bits_of(value) & 0x80000000, bits = bits_of(value) ^ sign;
    std::uint32_t half;
    if (bits > INFINITE) {
        half = 0x7e00 | (bits >> SHIFT & 0x1ff);
    } else if (bits >= too_large) {
        half = 0x7c00;
    } else if (bits < smallest_normal) {
        half = bits_of(from_bits(bits) + 0.5f) - bits_of(0.5f);
    } else {
        const std::uint32_t odd = bits >> SHIFT & 1;
        half = (bits - ((127 - 15) << 23) + (1 << (SHIFT - 1)) - 1 + odd) >> SHIFT;
    }
    return (std::uint16_t)(half | sign >> 16);
}

inline void widen(const std::uint16_t* in, std::size_t count, float* out) {
    std::size_t k = 0;
#if defined(__AVX512F__)
    for (; k + 16 <= count; k += 16) {
        const __m256i halves = _mm256_loadu_si256((const __m256i*)(in + k));
        // of two forms the one that GCC 12 does not warn of
        _mm512_storeu_ps(out + k, _mm512_maskz_cvtph_ps(0xffff, halves));
    }
#elif defined(__F16C__)
    for (; k + 8 <= count; k += 8)
        _mm256_storeu_ps(out + k, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(in + k))));
#endif
    for (; k < count; ++k) out[k] = widened(in[k]);
}

inline void narrow(const float* in, std::size_t count, std::uint16_t* out) {
    std::size_t k = 0;
#if defined(__AVX512F__)
    for (; k + 16 <= count; k += 16) {
        const __m512 floats = _mm512_loadu_ps(in + k);
        const __m256i halves = _mm512_maskz_cvtps_ph(0xffff, floats, _MM_FROUND_TO_NEAREST_INT);
        _mm256_storeu_si256((__m256i*)(out + k), halves);
    }
#elif defined(__F16C__)
    for (; k + 8 <= count; k += 8) {
        const __m256 floats = _mm256_loadu_ps(in + k);
        _mm_storeu_si128((__m128i*)(out + k), _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    for (; k < count; ++k) out[k] = narrowed(in[k]);
}

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
