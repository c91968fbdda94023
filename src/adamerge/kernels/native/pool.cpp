// Means of groups of one instruction set.
#include "pool.hpp"

#include <cstring>

namespace adamerge::ADAMERGE_ISA {

void pool(const PoolJob& job) {
    double* sum = job.memory;
    for (int g = 0; g < job.m; ++g) {
        const std::int32_t* first = job.order + job.starts[g];
        const std::int32_t* last = job.order + job.starts[g + 1];
        double given = 0, square = 0;
        for (const std::int32_t* i = first; i < last && job.weights; ++i) given += job.weights[*i];
        std::memset(sum, 0, job.d * sizeof(double));
        for (const std::int32_t* i = first; i < last; ++i) {
            const double weight = given > 0 ? job.weights[*i] : 1.0;
            const float* in = job.vectors + (std::size_t)*i * job.d;
            for (int k = 0; k < job.d; ++k) sum[k] += weight * in[k];
        }
        for (int k = 0; k < job.d && job.unit; ++k) square += sum[k] * sum[k];
        double length = given > 0 ? given : (double)(last - first);
        if (square > 0) length = __builtin_sqrt(square);
        float* out = job.out + (std::size_t)g * job.d;
        for (int k = 0; k < job.d; ++k) out[k] = (float)(sum[k] * (1 / length));
    }
}

}  // namespace adamerge::ADAMERGE_ISA
