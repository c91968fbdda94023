#include "scan.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace adamerge {

void scan(const MaxSimJob& job, const MaxSim& isa, MaxSimBytes bytes, int threads,
          unsigned char* memory) {
    isa.pack(job, memory);
    // Whoever is free takes the next pages: long and short ones even out, and so do busy and idle
    // cores.
    const std::int64_t chunk =
        std::clamp<std::int64_t>(job.pages / (16 * (std::int64_t)threads), 1, 64);
    std::atomic<std::int64_t> next{0};
    const auto work = [&](int thread) {
        unsigned char* own = memory + bytes.packed + thread * bytes.thread;
        for (std::int64_t first; (first = next.fetch_add(chunk)) < job.pages;)
            isa.pages(job, memory, first, std::min(first + chunk, job.pages), own);
    };
    std::vector<std::thread> others;
    try {
        for (int thread = 1; thread < threads && thread * chunk < job.pages; ++thread)
            others.emplace_back(work, thread);
    } catch (const std::system_error&) {
        // the system gives no more threads: those there are do the work
    }
    work(0);
    for (std::thread& other : others) other.join();
}

}  // namespace adamerge
