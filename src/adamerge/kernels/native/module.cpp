// Arrays in, arrays out: the door between NumPy and the kernels. Callers check their input (compress/*.py); here is only
// what keeps the memory safe. The interpreter's lock is free while a kernel works.
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

#include "level.hpp"
#include "tree.hpp"

namespace nb = nanobind;
using namespace adamerge;

template <class T, int Rank> using In = nb::ndarray<const T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;
template <class T, int Rank> using Out = nb::ndarray<nb::numpy, T, nb::ndim<Rank>>;

namespace {

struct Level {
    std::string name;
    void (*ward)(const WardJob&);
    void (*gram)(const float*, int, int, float*, float**);
    void (*pool)(const PoolJob&);
};

// The instruction sets of this machine, best first.
std::vector<Level> levels() {
    std::vector<Level> found;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) found.push_back({"avx512", avx512::ward, avx512::gram, avx512::pool});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        found.push_back({"avx2", avx2::ward, avx2::gram, avx2::pool});
#endif
    found.push_back({"baseline", baseline::ward, baseline::gram, baseline::pool});
    return found;
}

const Level& level_named(const std::optional<std::string>& name) {
    static const std::vector<Level> all = levels();
    if (!name) return all.front();
    for (const Level& level : all)
        if (level.name == *name) return level;
    throw std::invalid_argument("this machine has no instruction set '" + *name + "'");
}

// Memory that a thread keeps for its next page: fresh pages from the system would cost as much as the linkage.
class Workspace {
  public:
    explicit Workspace(std::size_t bytes) {
        if (bytes <= size) return;
        std::free(memory);
        memory = static_cast<unsigned char*>(std::aligned_alloc(64, round_up(bytes, 64)));
        size = memory ? bytes : 0;
        if (!memory) throw std::bad_alloc();
    }
    ~Workspace() {
        if (size > KEPT) std::free(memory), memory = nullptr, size = 0;
    }
    template <class T> T* as() const { return reinterpret_cast<T*>(memory); }

  private:
    static constexpr std::size_t KEPT = std::size_t(64) << 20;
    static thread_local unsigned char* memory;
    static thread_local std::size_t size;
};
thread_local unsigned char* Workspace::memory = nullptr;
thread_local std::size_t Workspace::size = 0;

template <class T> Out<T, 1> array(std::size_t n) {
    T* data = new T[n];
    return Out<T, 1>(data, {n}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

template <class T> Out<T, 2> array(std::size_t n, std::size_t d) {
    T* data = new T[n * d];
    return Out<T, 2>(data, {n, d}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

std::tuple<Out<std::int32_t, 2>, Out<double, 1>, Out<double, 1>> ward(In<float, 2> vectors, bool unit, bool condensed,
                                                                      std::optional<std::string> level) {
    const std::size_t n = vectors.shape(0), d = vectors.shape(1), steps = std::max<std::size_t>(n, 1) - 1;
    auto merges = array<std::int32_t>(steps, 2);
    auto heights = array<double>(steps), cosines = array<double>(steps);
    const Level& chosen = level_named(level);
    if (steps > 0) {
        nb::gil_scoped_release unlocked;
        std::vector<std::int32_t> left(steps), right(steps);
        const Workspace memory(ward_bytes(n, d, condensed));
        chosen.ward({vectors.data(), (int)n, (int)d, unit, condensed, left.data(), right.data(), heights.data(),
                     cosines.data(), memory.as<unsigned char>()});
        sort_tree((int)n, left.data(), right.data(), heights.data(), cosines.data(), merges.data());
    }
    return {merges, heights, cosines};
}

Out<float, 2> gram(In<float, 2> vectors, std::optional<std::string> level) {
    const std::size_t n = vectors.shape(0), d = vectors.shape(1);
    auto out = array<float>(n, n);
    const Level& chosen = level_named(level);
    nb::gil_scoped_release unlocked;
    std::vector<float*> row(n);
    for (std::size_t i = 0; i < n; ++i) row[i] = out.data() + i * n;
    const Workspace memory((2 * n + 192) * d * sizeof(float));
    chosen.gram(vectors.data(), (int)n, (int)d, memory.as<float>(), row.data());
    return out;
}

Out<std::int32_t, 1> groups(In<std::int32_t, 2> merges, int made) {
    const int steps = (int)merges.shape(0);
    if (merges.shape(1) != 2 || made < 0 || made > steps) throw std::invalid_argument("merges (n-1, 2), 0 <= made < n");
    for (int t = 0; t < made; ++t)
        for (int side = 0; side < 2; ++side) {
            const std::int32_t node = merges.data()[2 * t + side];
            if (node < 0 || node > steps + t) throw std::invalid_argument("merge t joins nodes below n + t");
        }
    auto out = array<std::int32_t>(steps + 1);
    nb::gil_scoped_release unlocked;
    group_patches(steps + 1, merges.data(), made, out.data());
    return out;
}

Out<float, 2> pool(In<float, 2> vectors, In<std::int32_t, 1> groups, std::optional<In<float, 1>> weights, int m,
                   bool unit, std::optional<std::string> level) {
    const int n = (int)vectors.shape(0), d = (int)vectors.shape(1);
    const bool sized = (int)groups.shape(0) == n && (!weights || (int)weights->shape(0) == n);
    const auto* g = groups.data();
    if (!sized || std::any_of(g, g + n, [=](std::int32_t i) { return i < -1 || i >= m; }))
        throw std::invalid_argument("groups (n,) of -1 .. m-1, weights (n,)");
    auto out = array<float>(m, d);
    const Level& chosen = level_named(level);
    nb::gil_scoped_release unlocked;
    std::vector<std::int32_t> order(n), starts(m + 2);  // counting sort: starts[g + 1] walks from the start of g to its end
    for (int i = 0; i < n; ++i)
        if (g[i] >= 0) ++starts[g[i] + 2];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (int i = 0; i < n; ++i)
        if (g[i] >= 0) order[starts[g[i] + 1]++] = i;
    std::vector<double> memory(d);
    chosen.pool({vectors.data(), order.data(), starts.data(), weights ? weights->data() : nullptr, d, m, unit,
                 memory.data(), out.data()});
    return out;
}

}  // namespace

NB_MODULE(_native, module) {
    module.def("ward", &ward, nb::arg("vectors"), nb::arg("unit") = true, nb::arg("condensed") = false,
               nb::arg("level") = nb::none());
    module.def("gram", &gram, nb::arg("vectors"), nb::arg("level") = nb::none());
    module.def("groups", &groups, nb::arg("merges"), nb::arg("made"));
    module.def("pool", &pool, nb::arg("vectors"), nb::arg("groups"), nb::arg("weights").none(), nb::arg("m"),
               nb::arg("unit") = false, nb::arg("level") = nb::none());
    module.def("ward_bytes", [](std::size_t n, std::size_t d) { return ward_bytes(n, d, false); });
    module.def("levels", [] {
        std::vector<std::string> names;
        for (const Level& level : levels()) names.push_back(level.name);
        return names;
    });
}
