// The mean of each group, compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adamerge {

struct PoolJob {
    const float* vectors;        // (n, d)
    const std::int32_t* order;   // patches, group by group
    const std::int32_t* starts;  // (m+1,)  where each group begins in `order`
    const float* weights;        // (n,), or null for plain means
    int d, m;
    bool unit;       // scale every mean to length 1; a mean of zero stays zero
    double* memory;  // (d,)
    float* out;      // (m, d)
};

#define ADAMERGE_DECLARE_POOL(isa)                                                                 \
    namespace isa {                                                                                \
    void pool(const PoolJob& job); /* a group of zero weight: its plain mean */                    \
    }

ADAMERGE_DECLARE_POOL(baseline)
ADAMERGE_DECLARE_POOL(avx2)
ADAMERGE_DECLARE_POOL(avx512)

}  // namespace adamerge
