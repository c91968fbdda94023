// Matrix products of one instruction set.
#include "matmul.hpp"

#include "gram.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

void pack(const float* b, int m, int k, float* panels) { pack_panels(b, m, k, panels); }

// A tile of `rows` rows of the output, from column j0 on.
void put(const float (*tile)[NR], std::size_t rows, std::size_t columns, float* out,
         std::size_t stride) {
    for (std::size_t i = 0; i < rows; ++i)
        std::memcpy(out + i * stride, tile[i], columns * sizeof(float));
}

void matmul(const MatmulJob& job) {
    alignas(BYTES) float tile[MR][NR];
    const std::size_t whole = job.n / MR * MR, rest = job.n - whole;
    // the last tile reads rows that are not there
    std::memset(job.memory, 0, MR * job.k * sizeof(float));
    std::memcpy(job.memory, job.a + whole * job.k, rest * job.k * sizeof(float));
    for (std::size_t j0 = 0; j0 < job.m; j0 += NR) {
        const float* panel = job.panels + j0 * job.k;
        const std::size_t columns = job.m - j0 < NR ? job.m - j0 : NR;
        for (std::size_t i0 = 0; i0 < whole; i0 += MR) {
            multiply(job.a + i0 * job.k, panel, (int)job.k, tile);
            put(tile, MR, columns, job.out + i0 * job.m + j0, job.m);
        }
        if (rest > 0) {
            multiply(job.memory, panel, (int)job.k, tile);
            put(tile, rest, columns, job.out + whole * job.m + j0, job.m);
        }
    }
}

}  // namespace

MatmulKernels matmul_kernels() { return {NR, MR, pack, matmul}; }

}  // namespace adamerge::ADAMERGE_ISA
