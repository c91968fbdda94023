// Arrays in, arrays out: the door between NumPy and the kernels. Callers check their input
// (compress/*.py); here is only what keeps the memory safe. The interpreter's lock is free while a
// kernel works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>

#include "instruction_set.hpp"
#include "linkage.hpp"
#include "matmul.hpp"
#include "pool.hpp"
#include "scan.hpp"
#include "transformer.hpp"
#include "tree.hpp"

namespace nb = nanobind;
using namespace adamerge;

template <class T, int Rank>
using In = nb::ndarray<const T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;
using Rows =
    nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // of a type to be asked for
using InOut = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // written over
template <class T, int Rank> using Out = nb::ndarray<nb::numpy, T, nb::ndim<Rank>>;

namespace {

struct InstructionSet {
    std::string name;
    bool (*ward)(const WardJob&);
    void (*gram)(const float*, int, int, float*, float**);
    void (*pool)(const PoolJob&);
    TransformerKernels transformer;
    MatmulKernels products;
    MaxSim maxsim;
};

#define ADAMERGE_KERNELS(isa)                                                                      \
    isa::ward, isa::gram, isa::pool, {isa::softmax, isa::gelu, isa::layer_norm},                   \
        isa::matmul_kernels()
#define ADAMERGE_MAXSIM(isa) {isa::maxsim_bytes, isa::maxsim_pack, isa::maxsim_pages}

// The instruction sets of this machine, best first.
std::vector<InstructionSet> instruction_sets() {
    std::vector<InstructionSet> found;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    if (avx512 && __builtin_cpu_supports("avx512vnni"))
        found.push_back({"vnni", ADAMERGE_KERNELS(avx512), ADAMERGE_MAXSIM(vnni)});
    if (avx512) found.push_back({"avx512", ADAMERGE_KERNELS(avx512), ADAMERGE_MAXSIM(avx512)});
    // Every machine with AVX2 has F16C; compilers that cannot ask for it are still in use.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        found.push_back({"avx2", ADAMERGE_KERNELS(avx2), ADAMERGE_MAXSIM(avx2)});
#endif
    found.push_back({"baseline", ADAMERGE_KERNELS(baseline), ADAMERGE_MAXSIM(baseline)});
    return found;
}

const InstructionSet& isa_named(const std::optional<std::string>& name) {
    static const std::vector<InstructionSet> all = instruction_sets();
    if (!name) return all.front();
    for (const InstructionSet& isa : all)
        if (isa.name == *name) return isa;
    throw std::invalid_argument("this machine has no instruction set '" + *name + "'");
}

// Memory that a thread keeps for its next page: fresh pages from the system would cost as much as
// the linkage.
class Workspace {
  public:
    explicit Workspace(std::size_t bytes) {
        if (bytes <= kept.size) return;
        kept.resize(bytes);
    }
    ~Workspace() {
        if (kept.size > KEPT) kept.resize(0);
    }
    template <class T> T* as() const { return reinterpret_cast<T*>(kept.memory); }

  private:
    static constexpr std::size_t KEPT = std::size_t(64) << 20;
    struct Kept {
        unsigned char* memory = nullptr;
        std::size_t size = 0;
        ~Kept() { std::free(memory); }  // when its thread ends
        void resize(std::size_t bytes) {
            std::free(memory);
            memory = bytes
                         ? static_cast<unsigned char*>(std::aligned_alloc(64, round_up(bytes, 64)))
                         : nullptr;
            size = memory ? bytes : 0;
            if (bytes && !memory) throw std::bad_alloc();
        }
    };
    static thread_local Kept kept;
};
thread_local Workspace::Kept Workspace::kept;

template <class T> Out<T, 1> array(std::size_t n) {
    T* data = new T[n];
    return Out<T, 1>(data, {n},
                     nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

template <class T> Out<T, 3> array(std::size_t b, std::size_t n, std::size_t d) {
    T* data = new T[b * n * d];
    return Out<T, 3>(data, {b, n, d},
                     nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

template <class T> Out<T, 2> array(std::size_t n, std::size_t d) {
    T* data = new T[n * d];
    return Out<T, 2>(data, {n, d},
                     nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

std::tuple<Out<std::int32_t, 2>, Out<double, 1>, Out<double, 1>>
ward(const In<float, 2>& vectors, bool unit, bool condensed,
     const std::optional<std::string>& isa) {
    const std::size_t n = vectors.shape(0), d = vectors.shape(1),
                      steps = std::max<std::size_t>(n, 1) - 1;
    if (condensed && !unit)
        throw std::invalid_argument(
            "condensed takes 1 - cosine of unit vectors: unit must be true");
    auto merges = array<std::int32_t>(steps, 2);
    auto heights = array<double>(steps), cosines = array<double>(steps);
    const InstructionSet& chosen = isa_named(isa);
    bool usable = true;
    if (steps > 0) {
        nb::gil_scoped_release unlocked;
        std::vector<std::int32_t> left(steps), right(steps);
        const Workspace memory(ward_bytes(n, d, condensed));
        usable =
            chosen.ward({vectors.data(), (int)n, (int)d, unit, condensed, left.data(), right.data(),
                         heights.data(), cosines.data(), memory.as<unsigned char>()});
        if (usable)
            sort_tree((int)n, left.data(), right.data(), heights.data(), cosines.data(),
                      merges.data());
    }
    if (!usable)
        throw std::invalid_argument(
            "vectors must be finite, and none all zeros where unit is true");
    return {merges, heights, cosines};
}

Out<float, 2> gram(const In<float, 2>& vectors, const std::optional<std::string>& isa) {
    const std::size_t n = vectors.shape(0), d = vectors.shape(1);
    auto out = array<float>(n, n);
    const InstructionSet& chosen = isa_named(isa);
    nb::gil_scoped_release unlocked;
    std::vector<float*> row(n);
    for (std::size_t i = 0; i < n; ++i) row[i] = out.data() + i * n;
    const Workspace memory((2 * n + 192) * d * sizeof(float));
    chosen.gram(vectors.data(), (int)n, (int)d, memory.as<float>(), row.data());
    return out;
}

Out<std::int32_t, 1> groups(const In<std::int32_t, 2>& merges, int made) {
    const int steps = (int)merges.shape(0);
    if (merges.shape(1) != 2 || made < 0 || made > steps)
        throw std::invalid_argument("merges (n-1, 2), 0 <= made < n");
    for (int t = 0; t < made; ++t)
        for (int side = 0; side < 2; ++side) {
            const std::int32_t node = merges.data()[2 * t + side];
            if (node < 0 || node > steps + t)
                throw std::invalid_argument("merge t joins nodes below n + t");
        }
    auto out = array<std::int32_t>(steps + 1);
    nb::gil_scoped_release unlocked;
    group_patches(steps + 1, merges.data(), made, out.data());
    return out;
}

Out<float, 2> pool(const In<float, 2>& vectors, const In<std::int32_t, 1>& groups,
                   const std::optional<In<float, 1>>& weights, int m, bool unit,
                   const std::optional<std::string>& isa) {
    const int n = (int)vectors.shape(0), d = (int)vectors.shape(1);
    const bool sized = (int)groups.shape(0) == n && (!weights || (int)weights->shape(0) == n);
    const auto* g = groups.data();
    if (!sized || std::any_of(g, g + n, [=](std::int32_t i) { return i < -1 || i >= m; }))
        throw std::invalid_argument("groups (n,) of -1 .. m-1, weights (n,)");
    auto out = array<float>(m, d);
    const InstructionSet& chosen = isa_named(isa);
    nb::gil_scoped_release unlocked;
    // counting sort: starts[g + 1] walks from the start of g to its end
    std::vector<std::int32_t> order(n), starts(m + 2);
    for (int i = 0; i < n; ++i)
        if (g[i] >= 0) ++starts[g[i] + 2];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (int i = 0; i < n; ++i)
        if (g[i] >= 0) order[starts[g[i] + 1]++] = i;
    std::vector<double> memory(d);
    chosen.pool({vectors.data(), order.data(), starts.data(), weights ? weights->data() : nullptr,
                 d, m, unit, memory.data(), out.data()});
    return out;
}

// The kind of the vectors; int8 comes with a scale per row, the others without.
Kind kind_of(const Rows& vectors, const std::optional<In<float, 1>>& scales) {
    const bool scaled = scales && scales->shape(0) == vectors.shape(0);
    if (vectors.dtype() == nb::dtype<std::int8_t>() && scaled) return Kind::int8;
    if (vectors.dtype() == nb::dtype<float>() && !scales) return Kind::float32;
    const auto type = vectors.dtype();
    if (type.code == (std::uint8_t)nb::dlpack::dtype_code::Float && type.bits == 16 && !scales)
        return Kind::float16;
    throw std::invalid_argument(
        "vectors are float32 or float16 without scales, or int8 with scales (rows,)");
}

void check_ranges(const MaxSimJob& job, std::size_t q, std::size_t rows) {
    const std::int64_t* at = job.query_offsets;
    bool inside = at[0] >= 0 && at[job.queries] <= (std::int64_t)q &&
                  std::is_sorted(at, at + job.queries + 1);
    if (!inside)
        throw std::invalid_argument("query_offsets rise from 0 to the number of query vectors");
    for (std::int64_t p = 0; p < job.pages; ++p)
        inside &=
            0 <= job.begins[p] && job.begins[p] <= job.ends[p] && job.ends[p] <= (std::int64_t)rows;
    if (!inside) throw std::invalid_argument("pages need 0 <= begins <= ends <= rows");
}

Out<float, 2> maxsim(const In<float, 2>& query, const In<std::int64_t, 1>& query_offsets,
                     const Rows& vectors, const std::optional<In<float, 1>>& scales,
                     const In<std::int64_t, 1>& begins, const In<std::int64_t, 1>& ends,
                     int threads, const std::optional<std::string>& isa) {
    const std::size_t pages = begins.shape(0), d = query.shape(1);
    const std::size_t most = 1 << 16;  // int32 holds no more products of int8
    if (query_offsets.shape(0) < 1 || ends.shape(0) != pages || vectors.shape(1) != d || d > most ||
        threads < 1)
        throw std::invalid_argument(
            "query (q, d), query_offsets (queries+1,), vectors (rows, d), d <= 65536, "
            "begins and ends (pages,), threads >= 1");
    const std::size_t queries = query_offsets.shape(0) - 1;
    auto scores = array<float>(queries, pages);
    const MaxSimJob job{query.data(),
                        query_offsets.data(),
                        (std::int64_t)queries,
                        (int)d,
                        vectors.data(),
                        kind_of(vectors, scales),
                        scales ? scales->data() : nullptr,
                        begins.data(),
                        ends.data(),
                        (std::int64_t)pages,
                        scores.data()};
    check_ranges(job, query.shape(0), vectors.shape(0));
    const InstructionSet& chosen = isa_named(isa);
    threads = (int)std::clamp<std::size_t>(pages, 1, threads);
    nb::gil_scoped_release unlocked;
    const MaxSimBytes bytes = chosen.maxsim.bytes(job);
    const Workspace memory(bytes.packed + bytes.thread * threads);
    scan(job, chosen.maxsim, bytes, threads, memory.as<unsigned char>());
    return scores;
}

Out<float, 3> pack(const In<float, 2>& b, const std::optional<std::string>& isa) {
    const MatmulKernels& kernels = isa_named(isa).products;
    const std::size_t m = b.shape(0), k = b.shape(1), rows = kernels.panel_rows;
    auto panels = array<float>(round_up(m, rows) / rows, k, rows);
    nb::gil_scoped_release unlocked;
    kernels.pack(b.data(), (int)m, (int)k, panels.data());
    return panels;
}

Out<float, 2> matmul_packed(const In<float, 2>& a, const In<float, 3>& panels, std::size_t m,
                            const std::optional<std::string>& isa) {
    const MatmulKernels& kernels = isa_named(isa).products;
    const std::size_t n = a.shape(0), k = a.shape(1), rows = kernels.panel_rows;
    const bool fits = panels.shape(0) == round_up(m, rows) / rows && panels.shape(1) == k &&
                      panels.shape(2) == rows;
    if (!fits)
        throw std::invalid_argument(
            "a (n, k), panels of a matrix (m, k) packed for the same instruction set");
    auto out = array<float>(n, m);
    nb::gil_scoped_release unlocked;
    const Workspace memory(kernels.tile_rows * k * sizeof(float));
    kernels.matmul({a.data(), panels.data(), n, m, k, memory.as<float>(), out.data()});
    return out;
}

Out<float, 3> matmul_batch(const In<float, 3>& a, const In<float, 3>& b,
                           const std::optional<std::string>& isa) {
    const MatmulKernels& kernels = isa_named(isa).products;
    const std::size_t count = a.shape(0), n = a.shape(1), k = a.shape(2), m = b.shape(1);
    if (b.shape(0) != count || b.shape(2) != k)
        throw std::invalid_argument("a (batch, n, k), b (batch, m, k)");
    auto out = array<float>(count, n, m);
    nb::gil_scoped_release unlocked;
    const std::size_t tile = kernels.tile_rows * k;
    const Workspace memory((tile + round_up(m, kernels.panel_rows) * k) * sizeof(float));
    float* panels = memory.as<float>() + tile;
    for (std::size_t i = 0; i < count; ++i) {
        kernels.pack(b.data() + i * m * k, (int)m, (int)k, panels);
        kernels.matmul(
            {a.data() + i * n * k, panels, n, m, k, memory.as<float>(), out.data() + i * n * m});
    }
    return out;
}

void softmax(InOut x, float scale, const std::optional<std::string>& isa) {
    const InstructionSet& chosen = isa_named(isa);
    nb::gil_scoped_release unlocked;
    chosen.transformer.softmax(x.data(), x.shape(0), x.shape(1), scale);
}

void gelu(InOut x, const In<float, 1>& bias, const std::optional<std::string>& isa) {
    if (bias.shape(0) != x.shape(1)) throw std::invalid_argument("x (rows, n), bias (n,)");
    const InstructionSet& chosen = isa_named(isa);
    nb::gil_scoped_release unlocked;
    chosen.transformer.gelu(x.data(), bias.data(), x.shape(0), x.shape(1));
}

void layer_norm(InOut x, const In<float, 2>& residual, const In<float, 1>& bias,
                const In<float, 1>& weight, const In<float, 1>& shift, float epsilon,
                const std::optional<std::string>& isa) {
    const std::size_t rows = x.shape(0), d = x.shape(1);
    const bool sized = residual.shape(0) == rows && residual.shape(1) == d && bias.shape(0) == d &&
                       weight.shape(0) == d && shift.shape(0) == d;
    if (!sized)
        throw std::invalid_argument("x and residual (rows, d), bias, weight and shift (d,)");
    const InstructionSet& chosen = isa_named(isa);
    nb::gil_scoped_release unlocked;
    chosen.transformer.layer_norm(
        {x.data(), residual.data(), bias.data(), weight.data(), shift.data(), rows, d, epsilon});
}

}  // namespace

std::string adamerge::instruction_set_named(const std::optional<std::string>& name) {
    return isa_named(name).name;
}

NB_MODULE(_native, module) {
    bind_planes(module);
    bind_convert(module);
    module.def("ward", &ward, nb::arg("vectors"), nb::arg("unit") = true,
               nb::arg("condensed") = false, nb::arg("isa") = nb::none());
    module.def("gram", &gram, nb::arg("vectors"), nb::arg("isa") = nb::none());
    module.def("groups", &groups, nb::arg("merges"), nb::arg("made"));
    module.def("pool", &pool, nb::arg("vectors"), nb::arg("groups"), nb::arg("weights").none(),
               nb::arg("m"), nb::arg("unit") = false, nb::arg("isa") = nb::none());
    module.def("maxsim", &maxsim, nb::arg("query"), nb::arg("query_offsets"),
               nb::arg("vectors").noconvert(), nb::arg("scales").none(), nb::arg("begins"),
               nb::arg("ends"), nb::arg("threads"), nb::arg("isa") = nb::none());
    module.def("pack", &pack, nb::arg("b"), nb::arg("isa") = nb::none());
    module.def("matmul_packed", &matmul_packed, nb::arg("a"), nb::arg("panels"), nb::arg("m"),
               nb::arg("isa") = nb::none());
    module.def("matmul_batch", &matmul_batch, nb::arg("a"), nb::arg("b"),
               nb::arg("isa") = nb::none());
    module.def("softmax", &softmax, nb::arg("x").noconvert(), nb::arg("scale"),
               nb::arg("isa") = nb::none());
    module.def("gelu", &gelu, nb::arg("x").noconvert(), nb::arg("bias"),
               nb::arg("isa") = nb::none());
    module.def("layer_norm", &layer_norm, nb::arg("x").noconvert(), nb::arg("residual"),
               nb::arg("bias"), nb::arg("weight"), nb::arg("shift"), nb::arg("epsilon"),
               nb::arg("isa") = nb::none());
    module.def("ward_bytes", [](std::size_t n, std::size_t d) { return ward_bytes(n, d, false); });
    module.def("instruction_sets", [] {
        std::vector<std::string> names;
        for (const InstructionSet& isa : instruction_sets()) names.push_back(isa.name);
        return names;
    });
}
