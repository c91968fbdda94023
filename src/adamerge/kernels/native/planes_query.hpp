// A vector of a query as integers, and the rows of a page that a block takes.
#pragma once

#include "maxsim_planes.hpp"
#include "simd.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

// One vector of a query as integers -steps .. steps; returns the scale. Rounded to nearest, halves
// to even, as in the twin of reference.py.
inline float round_query(const float* query, int d, int steps, std::int8_t* values) {
    float largest = 0;
    for (int k = 0; k < d; ++k) {
        const float size = __builtin_fabsf(query[k]);
        largest = size > largest ? size : largest;
    }
    const float most = (float)steps, scale = largest / most;
    for (int k = 0; k < d; ++k) {
        float rounded = scale > 0 ? __builtin_rintf(query[k] / scale) : 0.f;
        if (rounded > most) rounded = most;
        if (rounded < -most) rounded = -most;
        values[k] = (std::int8_t)rounded;
    }
    return scale;
}

// Some rows of a page. Those behind the last are the last again: a maximum does not mind.
struct RowRange {
    std::int64_t first, last;

    std::int64_t row(std::int64_t i) const { return first + i < last ? first + i : last - 1; }
};

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
