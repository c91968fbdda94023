// The door of maxsim_planes: here is only what keeps the memory safe.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

#include "align.hpp"
#include "instruction_set.hpp"
#include "scan.hpp"

namespace nb = nanobind;

namespace adamerge {
namespace {

template <class T, int Rank>
using In = nb::ndarray<const T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<nb::numpy, float, nb::ndim<2>>;
using Planes = std::vector<In<std::uint8_t, 2>>;

#define ADAMERGE_PLANES(isa) {isa::planes_bytes, isa::planes_pack, isa::planes_pages}

MaxSimPlanes kernels_of(const std::string& isa) {
#if defined(__x86_64__)
    if (isa == "vnni") return ADAMERGE_PLANES(vnni);
    if (isa == "avx512") return ADAMERGE_PLANES(avx512);
    if (isa == "avx2") return ADAMERGE_PLANES(avx2);
#endif
    return ADAMERGE_PLANES(baseline);
}

void check_planes(const Planes& planes, const In<std::int8_t, 1>& levels,
                  const In<float, 1>& scales, std::size_t d) {
    const std::size_t bits = planes.size(), rows = scales.shape(0);
    bool fits = bits == 1 || bits == 2 || bits == 4;
    for (const auto& plane : planes)
        fits &= plane.shape(0) == rows && plane.shape(1) == (d + 7) / 8;
    if (!fits)
        throw std::invalid_argument("1, 2 or 4 planes (rows, ceil(d / 8)), scales (rows,)");

    const std::size_t count = std::size_t(1) << bits;
    bool symmetric = levels.shape(0) == count;
    for (std::size_t i = 0; symmetric && i < count; ++i)
        symmetric = levels.data()[i] == -levels.data()[count - 1 - i];
    if (!symmetric)
        throw std::invalid_argument("levels (2^planes,), each with its opposite at the other end");
}

void check_ranges(const PlanesJob& job, std::size_t q, std::size_t rows) {
    const std::int64_t* at = job.query_offsets;
    const bool inside = at[0] >= 0 && at[job.queries] <= (std::int64_t)q &&
                        std::is_sorted(at, at + job.queries + 1);
    if (!inside)
        throw std::invalid_argument("query_offsets rise from 0 to the number of query vectors");
    for (std::int64_t p = 0; p < job.pages; ++p) {
        const std::int64_t begin = job.begins[p], end = job.ends[p];
        if (begin < 0 || begin > end || end > (std::int64_t)rows)
            throw std::invalid_argument("pages need 0 <= begins <= ends <= rows");
    }
}

struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
};

void scan_planes(const PlanesJob& job, const MaxSimPlanes& isa, int threads) {
    const MaxSimBytes bytes = isa.bytes(job);
    const std::size_t all = bytes.packed + bytes.thread * threads;
    const std::unique_ptr<unsigned char, Free> memory(
        static_cast<unsigned char*>(std::aligned_alloc(64, round_up(all + 64, 64))));
    if (!memory) throw std::bad_alloc();
    unsigned char* packed = memory.get();
    isa.pack(job, packed);
    share_pages(job.pages, threads, [&](int thread, std::int64_t first, std::int64_t last) {
        isa.pages(job, packed, first, last, packed + bytes.packed + thread * bytes.thread);
    });
}

Scores maxsim_planes(const In<float, 2>& query, const In<std::int64_t, 1>& query_offsets,
                     const Planes& planes, const In<std::int8_t, 1>& levels,
                     const In<float, 1>& scales, const In<std::int64_t, 1>& begins,
                     const In<std::int64_t, 1>& ends, int steps, int threads,
                     const std::optional<std::string>& isa) {
    const std::size_t pages = begins.shape(0), d = query.shape(1);
    const std::size_t most = 1 << 16;  // int32 holds no more products of int8
    if (query_offsets.shape(0) < 1 || ends.shape(0) != pages || d > most || threads < 1 ||
        steps < 1 || steps > 127)
        throw std::invalid_argument(
            "query (q, d), d <= 65536, query_offsets (queries+1,), begins and ends (pages,), "
            "1 <= steps <= 127, threads >= 1");
    check_planes(planes, levels, scales, d);
    const std::size_t queries = query_offsets.shape(0) - 1;
    auto* scores = new float[queries * pages];
    Scores out(scores, {queries, pages},
               nb::capsule(scores, [](void* p) noexcept { delete[] static_cast<float*>(p); }));
    PlanesJob job{};
    job.query = query.data();
    job.query_offsets = query_offsets.data();
    job.queries = (std::int64_t)queries;
    job.d = (int)d;
    job.bits = (int)planes.size();
    job.steps = steps;
    for (std::size_t p = 0; p < planes.size(); ++p) job.planes[p] = planes[p].data();
    job.levels = levels.data();
    job.scales = scales.data();
    job.begins = begins.data();
    job.ends = ends.data();
    job.pages = (std::int64_t)pages;
    job.scores = scores;
    check_ranges(job, query.shape(0), scales.shape(0));
    const MaxSimPlanes kernels = kernels_of(instruction_set_named(isa));
    threads = (int)std::clamp<std::size_t>(pages, 1, threads);
    nb::gil_scoped_release unlocked;
    scan_planes(job, kernels, threads);
    return out;
}

}  // namespace

void bind_planes(nb::module_& module) {
    module.def("maxsim_planes", &maxsim_planes, nb::arg("query"), nb::arg("query_offsets"),
               nb::arg("planes").noconvert(), nb::arg("levels"), nb::arg("scales"),
               nb::arg("begins"), nb::arg("ends"), nb::arg("steps"), nb::arg("threads"),
               nb::arg("isa") = nb::none());
}

}  // namespace adamerge
