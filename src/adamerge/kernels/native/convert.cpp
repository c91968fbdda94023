// float16 <-> float32 of one instruction set.
#include "convert.hpp"

#include "float16.hpp"

namespace adamerge::ADAMERGE_ISA {

ConvertKernels convert_kernels() { return {widen, narrow}; }

}  // namespace adamerge::ADAMERGE_ISA
