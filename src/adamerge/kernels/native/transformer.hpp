// What a transformer does to the rows of a matrix between two matrix products; NumPy would need a
// pass over memory for every step of them. All of them write over what they read.
#pragma once

#include <cstddef>

namespace adamerge {

struct NormJob {
    float* x;               // (rows, d): becomes norm(x + bias + residual)
    const float* residual;  // (rows, d)
    const float* bias;      // (d,)
    const float* weight;    // (d,)
    const float* shift;     // (d,)
    std::size_t rows, d;
    float epsilon;
};

// Rows become softmax(scale * row).
using Softmax = void (*)(float* x, std::size_t rows, std::size_t n, float scale);
// Rows become gelu(row + bias), gelu(x) = x (1 + erf(x / sqrt 2)) / 2.
using Gelu = void (*)(float* x, const float* bias, std::size_t rows, std::size_t n);
// Rows become weight (y - mean y) / sqrt(var y + epsilon) + shift, y = row + bias + residual.
using LayerNorm = void (*)(const NormJob& job);

struct TransformerKernels {
    Softmax softmax;
    Gelu gelu;
    LayerNorm layer_norm;
};

#define ADAMERGE_DECLARE_TRANSFORMER(isa)                                                          \
    namespace isa {                                                                                \
    void softmax(float* x, std::size_t rows, std::size_t n, float scale);                          \
    void gelu(float* x, const float* bias, std::size_t rows, std::size_t n);                       \
    void layer_norm(const NormJob& job);                                                           \
    }

ADAMERGE_DECLARE_TRANSFORMER(baseline)
ADAMERGE_DECLARE_TRANSFORMER(avx2)
ADAMERGE_DECLARE_TRANSFORMER(avx512)

}  // namespace adamerge
