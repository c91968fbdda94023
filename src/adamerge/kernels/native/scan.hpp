// Threads over pages.
#pragma once

#include "maxsim.hpp"

namespace adamerge {

// The three functions of one instruction set.
struct MaxSim {
    MaxSimBytes (*bytes)(const MaxSimJob&);
    void (*pack)(const MaxSimJob&, unsigned char*);
    void (*pages)(const MaxSimJob&, const unsigned char*, std::int64_t, std::int64_t,
                  unsigned char*);
};

// Scores all pages; `memory` is that of the packed queries and of every thread. Scores do not
// depend on `threads`.
void scan(const MaxSimJob& job, const MaxSim& isa, MaxSimBytes bytes, int threads,
          unsigned char* memory);

}  // namespace adamerge
