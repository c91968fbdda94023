// Ward's tree and the Gram matrix: the same functions, compiled once per instruction set. The
// module chooses one when it is loaded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "align.hpp"

namespace adamerge {

struct WardJob {
    const float* vectors;  // (n, d)
    int n, d;
    bool unit;              // scale every row to length 1 first
    bool condensed;         // take 1 - cosine for a Euclidean distance, as PyLate does; needs unit
    std::int32_t* left;     // (n-1,)  a patch of each side of every merge, in the order made:
    std::int32_t* right;    // (n-1,)  children before parents
    double* heights;        // (n-1,)
    double* cosines;        // (n-1,)
    unsigned char* memory;  // ward_bytes(n, d, condensed), aligned to 64; its content is not read
};

// Bytes of memory a job needs: the matrix, the sums of every group, the packed rows.
std::size_t ward_bytes(std::size_t n, std::size_t d, bool condensed);

#define ADAMERGE_DECLARE_LINKAGE(isa)                                                              \
    namespace isa {                                                                                \
    /* false: a row is not finite, or all zeros where unit is true */                              \
    bool ward(const WardJob& job);                                                                 \
    /* X X^T, by rows */                                                                           \
    void gram(const float* vectors, int n, int d, float* memory, float** row);                     \
    }

ADAMERGE_DECLARE_LINKAGE(baseline)
ADAMERGE_DECLARE_LINKAGE(avx2)
ADAMERGE_DECLARE_LINKAGE(avx512)

// Columns of the matrix: a slot for every patch, and room for n/3 groups before the matrix is
// compacted.
constexpr int BATCH = 16;
inline std::size_t slots_for(std::size_t n) {
    return round_up(n, BATCH) + round_up(n / 3 > 64 ? n / 3 : 64, 64);
}
// An odd number of cache lines: rows a power of two apart would fight for the same places in the
// cache.
inline std::size_t stride_for(std::size_t n) { return round_up(slots_for(n), 128) + 80; }

}  // namespace adamerge
