// What every instruction set offers: the same functions, compiled once per set, chosen when the module is loaded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adamerge {

struct WardJob {
    const float* vectors;   // (n, d)
    int n, d;
    bool unit;              // scale every row to length 1 first
    bool condensed;         // take 1 - cosine for a Euclidean distance, as PyLate and sentence-transformers do; needs unit
    std::int32_t* left;     // (n-1,)  a patch of each side of every merge, in the order made: children before parents
    std::int32_t* right;    // (n-1,)
    double* heights;        // (n-1,)
    double* cosines;        // (n-1,)
    unsigned char* memory;  // ward_bytes(n, d, condensed), aligned to 64; what it holds does not matter
};

// Bytes of memory a job needs: the matrix, the sums of every group, the packed rows.
std::size_t ward_bytes(std::size_t n, std::size_t d, bool condensed);

struct PoolJob {
    const float* vectors;        // (n, d)
    const std::int32_t* order;   // patches, group by group
    const std::int32_t* starts;  // (m+1,)  where each group begins in `order`
    const float* weights;        // (n,), or null for plain means
    int d, m;
    bool unit;                   // scale every mean to length 1; a mean of zero stays zero
    double* memory;              // (d,)
    float* out;                  // (m, d)
};

#define ADAMERGE_DECLARE(level)                                                                                      \
    namespace level {                                                                                                \
    bool ward(const WardJob& job); /* false: a row is not finite, or all zeros and to have unit length */             \
    void gram(const float* vectors, int n, int d, float* memory, float** row); /* X X^T, by rows */                   \
    void pool(const PoolJob& job);                                            /* a group of zero weight: plain mean */ \
    }

ADAMERGE_DECLARE(baseline)
ADAMERGE_DECLARE(avx2)
ADAMERGE_DECLARE(avx512)

// Columns of the matrix: a slot for every patch, and room for n/3 groups before the matrix is compacted.
constexpr int BATCH = 16;
inline std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
inline std::size_t slots_for(std::size_t n) { return round_up(n, BATCH) + round_up(n / 3 > 64 ? n / 3 : 64, 64); }
// An odd number of cache lines: rows a power of two apart would fight for the same places in the cache.
inline std::size_t stride_for(std::size_t n) { return round_up(slots_for(n), 128) + 80; }

}  // namespace adamerge
