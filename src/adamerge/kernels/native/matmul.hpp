// Matrix products a bᵀ with the tiles of gram.hpp. Our own and not BLAS: one thread, whatever BLAS
// is set to, so callers run side by side, and a result that depends on nothing but its two rows.
#pragma once

#include <cstddef>

namespace adamerge {

struct MatmulJob {
    const float* a;       // (n, k)
    const float* panels;  // (m / panel rows, k, panel rows), as pack() makes them of b (m, k)
    std::size_t n, m, k;
    float* memory;  // tile rows * k
    float* out;     // (n, m)
};

struct MatmulKernels {
    int panel_rows, tile_rows;
    void (*pack)(const float* b, int m, int k, float* panels);
    void (*matmul)(const MatmulJob& job);
};

#define ADAMERGE_DECLARE_MATMUL(isa)                                                               \
    namespace isa {                                                                                \
    MatmulKernels matmul_kernels();                                                                \
    }

ADAMERGE_DECLARE_MATMUL(baseline)
ADAMERGE_DECLARE_MATMUL(avx2)
ADAMERGE_DECLARE_MATMUL(avx512)

}  // namespace adamerge
