// MaxSim of queries and pages: what every instruction set offers, compiled once per set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adamerge {

enum class Kind { float32, float16, int8 };

struct MaxSimJob {
    const float* query;  // (q, d)  the vectors of all queries, one query after the other
    const std::int64_t* query_offsets;  // (queries+1,)
    std::int64_t queries;
    int d;
    const void* vectors;  // (rows, d)
    Kind kind;
    const float* scales;  // (rows,)  what a row of int8 is to be multiplied with; else null
    const std::int64_t *begins, *ends;  // (pages,)  the rows of each page
    std::int64_t pages;
    float* scores;  // (queries, pages)
};

struct MaxSimBytes {
    std::size_t packed;  // the queries, packed once and read by all threads
    std::size_t thread;  // what each thread works in
};

#define ADAMERGE_DECLARE_MAXSIM(isa)                                                               \
    namespace isa {                                                                                \
    MaxSimBytes maxsim_bytes(const MaxSimJob& job);                                                \
    void maxsim_pack(const MaxSimJob& job,                                                         \
                     unsigned char* packed); /* memory is aligned to 64; what it holds, any */     \
    void maxsim_pages(const MaxSimJob& job, const unsigned char* packed, std::int64_t first,       \
                      std::int64_t last, unsigned char* memory);                                   \
    }

ADAMERGE_DECLARE_MAXSIM(baseline)
ADAMERGE_DECLARE_MAXSIM(avx2)
ADAMERGE_DECLARE_MAXSIM(avx512)
ADAMERGE_DECLARE_MAXSIM(vnni)

}  // namespace adamerge
