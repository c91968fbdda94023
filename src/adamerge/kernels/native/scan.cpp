#include "scan.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace adamerge {

void share_pages(std::int64_t pages, int threads,
                 const std::function<void(int, std::int64_t, std::int64_t)>& work) {
    // Whoever is free takes the next pages: long and short ones even out, and so do busy and idle
    // cores.
    const std::int64_t chunk =
        std::clamp<std::int64_t>(pages / (16 * (std::int64_t)threads), 1, 64);
    std::atomic<std::int64_t> next{0};
    const auto take = [&](int thread) {
        for (std::int64_t first; (first = next.fetch_add(chunk)) < pages;)
            work(thread, first, std::min(first + chunk, pages));
    };
    std::vector<std::thread> others;
    try {
        for (int thread = 1; thread < threads && thread * chunk < pages; ++thread)
            others.emplace_back(take, thread);
    } catch (const std::system_error&) {
        // the system gives no more threads: those there are do the work
    }
    take(0);
    for (std::thread& other : others) other.join();
}

void scan(const MaxSimJob& job, const MaxSim& isa, MaxSimBytes bytes, int threads,
          unsigned char* memory) {
    isa.pack(job, memory);
    share_pages(job.pages, threads, [&](int thread, std::int64_t first, std::int64_t last) {
        isa.pages(job, memory, first, last, memory + bytes.packed + thread * bytes.thread);
    });
}

}  // namespace adamerge
