// Softmax, GELU and layer norm of one instruction set. Vectors do most of a row, numbers the rest:
// the functions below are written once for both.
#include "transformer.hpp"

#include "simd.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

using Floats = Simd<float>;
using Vec = Floats::Vec;
typedef std::int32_t IntVec __attribute__((vector_size(BYTES)));
constexpr std::size_t W = Floats::W;

inline Vec from_bits(IntVec bits) { return (Vec)bits; }
inline IntVec to_int(Vec x) { return __builtin_convertvector(x, IntVec); }
inline float from_bits(std::int32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
inline std::int32_t to_int(float x) { return (std::int32_t)x; }

// e^x for x <= 88, to 2 units in the last place; 0 far below. e^x = 2^n e^r with |r| <= ln 2 / 2,
// where Taylor's polynomial of degree 7 is off by less than a float can tell.
template <class V> inline V exponential(V x) {
    const V zero = x - x;
    const V bounded = x < -87.0f ? zero - 87.0f : x;
    const V shifted = bounded * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: rounds to a whole number
    const V n = shifted - 12582912.0f;
    const V r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
    V p = r * (1.0f / 5040) + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    const V power = p * from_bits((to_int(n) + 127) << 23);
    return x < -87.0f ? zero : power;
}

// erf by Abramowitz and Stegun 7.1.26: off by at most 1.5e-7.
template <class V> inline V error_function(V x) {
    const V size = x < 0.0f ? -x : x;
    const V t = 1.0f / (size * 0.3275911f + 1.0f);
    V p = t * 1.061405429f - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const V positive = 1.0f - p * t * exponential(-(size * size));
    return x < 0.0f ? -positive : positive;
}

template <class V> inline V gelu_of(V x) {
    return x * 0.5f * (1.0f + error_function(x * 0.70710678f));
}

float largest_of(const float* row, std::size_t n) {
    float largest = row[0];
    std::size_t i = 0;
    if (n >= W) {
        Vec most = Floats::load(row);
        for (i = W; i + W <= n; i += W) {
            const Vec next = Floats::load(row + i);
            most = most < next ? next : most;
        }
        for (std::size_t lane = 0; lane < W; ++lane)
            largest = most[lane] > largest ? most[lane] : largest;
    }
    for (; i < n; ++i) largest = row[i] > largest ? row[i] : largest;
    return largest;
}

// row[i] = value(i) for every i, and their sum.
template <class Value> float fill(float* row, std::size_t n, Value value) {
    Vec sums = {};
    std::size_t i = 0;
    for (; i + W <= n; i += W) {
        const Vec v = value(Floats::load(row + i), i);
        Floats::store(row + i, v);
        sums += v;
    }
    float sum = Floats::sum_of(sums);
    for (; i < n; ++i) {
        row[i] = value(row[i], i);
        sum += row[i];
    }
    return sum;
}

// What a vector or a number takes from place i of an array.
inline Vec like(Vec, const float* at) { return Floats::load(at); }
inline float like(float, const float* at) { return *at; }

}  // namespace

void softmax(float* x, std::size_t rows, std::size_t n, float scale) {
    for (std::size_t row = 0; row < rows && n > 0; ++row, x += n) {
        const float largest = largest_of(x, n);
        const float sum =
            fill(x, n, [=](auto v, std::size_t) { return exponential((v - largest) * scale); });
        const float inverse = 1.0f / sum;
        fill(x, n, [=](auto v, std::size_t) { return v * inverse; });
    }
}

void gelu(float* x, const float* bias, std::size_t rows, std::size_t n) {
    for (std::size_t row = 0; row < rows; ++row, x += n)
        fill(x, n, [=](auto v, std::size_t i) { return gelu_of(v + like(v, bias + i)); });
}

void layer_norm(const NormJob& job) {
    const std::size_t d = job.d;
    for (std::size_t row = 0; row < job.rows; ++row) {
        float* x = job.x + row * d;
        const float* residual = job.residual + row * d;
        const float sum = fill(x, d, [&](auto v, std::size_t i) {
            return v + like(v, job.bias + i) + like(v, residual + i);
        });
        const float mean = sum / (float)d;
        Vec squares = {};
        float square = 0;
        std::size_t i = 0;
        for (; i + W <= d; i += W) {
            const Vec off = Floats::load(x + i) - mean;
            squares += off * off;
        }
        for (; i < d; ++i) square += (x[i] - mean) * (x[i] - mean);
        const float variance = (square + Floats::sum_of(squares)) / (float)d;
        const float inverse = 1.0f / __builtin_sqrtf(variance + job.epsilon);
        fill(x, d, [&](auto v, std::size_t i) {
            return (v - mean) * inverse * like(v, job.weight + i) + like(v, job.shift + i);
        });
    }
}

}  // namespace adamerge::ADAMERGE_ISA
