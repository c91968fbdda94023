// Threads over pages.
#pragma once

#include <functional>

#include "maxsim.hpp"
#include "maxsim_planes.hpp"

namespace adamerge {

// The three functions of one instruction set.
struct MaxSim {
    MaxSimBytes (*bytes)(const MaxSimJob&);
    void (*pack)(const MaxSimJob&, unsigned char*);
    void (*pages)(const MaxSimJob&, const unsigned char*, std::int64_t, std::int64_t,
                  unsigned char*);
};

// The same for pages that are kept as bit planes.
struct MaxSimPlanes {
    MaxSimBytes (*bytes)(const PlanesJob&);
    void (*pack)(const PlanesJob&, unsigned char*);
    void (*pages)(const PlanesJob&, const unsigned char*, std::int64_t, std::int64_t,
                  unsigned char*);
};

// Calls work(thread, first, last) until every page was in one range, on up to `threads` threads.
void share_pages(std::int64_t pages, int threads,
                 const std::function<void(int, std::int64_t, std::int64_t)>& work);

// Scores all pages; `memory` is that of the packed queries and of every thread. Scores do not
// depend on `threads`.
void scan(const MaxSimJob& job, const MaxSim& isa, MaxSimBytes bytes, int threads,
          unsigned char* memory);

}  // namespace adamerge
