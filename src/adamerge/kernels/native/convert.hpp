// float16 <-> float32, compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adamerge {

struct ConvertKernels {
    void (*widen)(const std::uint16_t* in, std::size_t count, float* out);
    void (*narrow)(const float* in, std::size_t count, std::uint16_t* out);
};

#define ADAMERGE_DECLARE_CONVERT(isa)                                                              \
    namespace isa {                                                                                \
    ConvertKernels convert_kernels();                                                              \
    }

ADAMERGE_DECLARE_CONVERT(baseline)
ADAMERGE_DECLARE_CONVERT(avx2)
ADAMERGE_DECLARE_CONVERT(avx512)

}  // namespace adamerge
