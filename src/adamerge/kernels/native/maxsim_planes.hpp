// MaxSim of queries and pages that are kept as bit planes: compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "maxsim.hpp"

namespace adamerge {

constexpr int MOST_PLANES = 4;

// Steps of a query that is looked up: four of its values, twice, still fit a byte.
constexpr int STEPS_IN_TABLES = 15;

struct PlanesJob {
    const float* query;  // (q, d)  the vectors of all queries, rotated as the pages are
    const std::int64_t* query_offsets;  // (queries+1,)
    std::int64_t queries;
    int d, bits;
    int steps;  // a query's values become integers -steps .. steps
    const std::uint8_t* planes[MOST_PLANES];  // (rows, plane_bytes) each, the highest bit first
    const std::int8_t* levels;  // (2^bits,)  what a number stands for; levels[i] = -levels[~i]
    const float* scales;        // (rows,)
    const std::int64_t *begins, *ends;  // (pages,)  the rows of each page
    std::int64_t pages;
    float* scores;  // (queries, pages)

    int plane_bytes() const { return (d + 7) / 8; }
    std::int64_t query_vectors() const { return query_offsets[queries] - query_offsets[0]; }
};

#define ADAMERGE_DECLARE_PLANES(isa)                                                               \
    namespace isa {                                                                                \
    MaxSimBytes planes_bytes(const PlanesJob& job);                                                \
    void planes_pack(const PlanesJob& job, unsigned char* packed); /* aligned to 64 */             \
    void planes_pages(const PlanesJob& job, const unsigned char* packed, std::int64_t first,       \
                      std::int64_t last, unsigned char* memory);                                   \
    }

ADAMERGE_DECLARE_PLANES(baseline)
ADAMERGE_DECLARE_PLANES(avx2)
ADAMERGE_DECLARE_PLANES(avx512)
ADAMERGE_DECLARE_PLANES(vnni)

}  // namespace adamerge
