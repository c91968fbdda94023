// The door of widen and narrow: here is only what keeps the memory safe.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "convert.hpp"
#include "instruction_set.hpp"

namespace nb = nanobind;

namespace adamerge {
namespace {

// A float16 for NumPy; kernels see its bits.
struct Half {
    std::uint16_t bits;
};

}  // namespace
}  // namespace adamerge

template <> struct nanobind::detail::dtype_traits<adamerge::Half> {
    static constexpr dlpack::dtype value{(std::uint8_t)dlpack::dtype_code::Float, 16, 1};
    static constexpr auto name = const_name("float16");
};

namespace adamerge {
namespace {

template <class T> using In = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

ConvertKernels kernels_of(const std::string& isa) {
#if defined(__x86_64__)
    if (isa == "vnni" || isa == "avx512") return avx512::convert_kernels();
    if (isa == "avx2") return avx2::convert_kernels();
#endif
    return baseline::convert_kernels();
}

template <class T> Out<T> array(std::size_t n, std::size_t d) {
    T* data = new T[n * d];
    return Out<T>(data, {n, d},
                  nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

Out<float> widen(const In<Half>& halves, const std::optional<std::string>& isa) {
    const std::size_t n = halves.shape(0), d = halves.shape(1);
    auto out = array<float>(n, d);
    const ConvertKernels kernels = kernels_of(instruction_set_named(isa));
    nb::gil_scoped_release unlocked;
    kernels.widen(&halves.data()->bits, n * d, out.data());
    return out;
}

Out<Half> narrow(const In<float>& vectors, const std::optional<std::string>& isa) {
    const std::size_t n = vectors.shape(0), d = vectors.shape(1);
    auto out = array<Half>(n, d);
    const ConvertKernels kernels = kernels_of(instruction_set_named(isa));
    nb::gil_scoped_release unlocked;
    kernels.narrow(vectors.data(), n * d, &out.data()->bits);
    return out;
}

}  // namespace

void bind_convert(nb::module_& module) {
    module.def("widen", &widen, nb::arg("halves").noconvert(), nb::arg("isa") = nb::none());
    module.def("narrow", &narrow, nb::arg("vectors").noconvert(), nb::arg("isa") = nb::none());
}

}  // namespace adamerge
