// Ward's tree and the Gram matrix of one instruction set: ADAMERGE_ISA names it, the compiler's
// flags make it.
#include "linkage.hpp"

#include "chain.hpp"
#include "gram.hpp"
#include "memory.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

constexpr double UNUSABLE = -1;

// vectors -> float64 sums, of unit length if asked; returns the largest squared length. UNUSABLE if
// a row is not finite, or is all zeros and was to have unit length: distances that are not numbers
// would lead the chain nowhere.
double prepare(const WardJob& job, double* sums) {
    using V = Simd<double>;
    double largest = 0;
    for (int i = 0; i < job.n; ++i) {
        const float* in = job.vectors + (std::size_t)i * job.d;
        double* sum = sums + (std::size_t)i * job.d;
        V::Vec squares = {};
        double square = 0;
        int k = 0;
        for (int j = 0; j < job.d; ++j) sum[j] = in[j];
        for (; k + V::W <= job.d; k += V::W) squares += V::load(sum + k) * V::load(sum + k);
        for (; k < job.d; ++k) square += sum[k] * sum[k];
        square += V::sum_of(squares);
        if (!(square < __builtin_inf()) || (job.unit && square == 0)) return UNUSABLE;
        if (job.unit) {
            const double inverse = 1 / __builtin_sqrt(square);
            for (int j = 0; j < job.d; ++j) sum[j] *= inverse;
            square = 1;
        }
        largest = square > largest ? square : largest;
    }
    return largest;
}

// The power of two that brings a squared length to 1/4 .. 1. Rows times it lose nothing, and their
// float32 distances neither overflow nor vanish, however large or small the vectors are.
double scale_for(double largest) {
    int exponent = 0;
    if (largest > 0) (void)__builtin_frexp(largest, &exponent);
    return __builtin_ldexp(1.0, -((exponent + 1) >> 1));
}

double square_of(const float* row, int d) {
    double sum = 0;
    for (int k = 0; k < d; ++k) sum += (double)row[k] * row[k];
    return sum;
}

// Squared distances of all pairs of rows, on both sides of the diagonal.
template <class T>
void fill_distances(const WardJob& job, const float* rows, const float* panels, T* squares,
                    T** row) {
    for (int i = 0; i < job.n; ++i)
        squares[i] = job.unit ? T(1) : T(square_of(rows + (std::size_t)i * job.d, job.d));
    const bool condensed = job.condensed;
    const auto put = [=](int i0, int count, int j0, int columns, float (*tile)[NR]) {
        for (int i = 0; i < count; ++i) {
            T* out = row[i0 + i] + j0;
            const T square = squares[i0 + i];
            for (int j = 0; j < columns; ++j) {
                const T product = tile[i][j], off = 1 - product;
                const T apart = condensed ? off * off : square + squares[j0 + j] - 2 * product;
                out[j] = apart > 0 ? apart : T(0);
            }
        }
    };
    each_tile(rows, panels, job.n, job.d, put);
    mirror(row, job.n);
    for (int i = 0; i < job.n; ++i) row[i][i] = Chain<T>::FAR;
}

// The arrays of a chain over n single patches; the matrix is still to be filled.
template <class T> Chain<T> lay_out(const WardJob& job, Memory& memory) {
    const std::size_t n = job.n, slots = stride_for(n);
    Chain<T> c;
    T* matrix = memory.take<T>((n + 1) * slots);
    c.nowhere = matrix + n * slots;
    c.row = memory.take<T*>(slots);
    c.away = memory.take<T>(slots);
    c.size = memory.take<T>(slots);
    c.patch = memory.take<std::int32_t>(slots);
    c.kept = memory.take<std::int32_t>(slots);
    c.chain = memory.take<std::int32_t>(n + 1);
    c.centroids = {memory.take<double>(n * job.d), memory.take<double>(n), job.d};
    std::memset(c.nowhere, 0, slots * sizeof(T));
    for (std::size_t i = 0; i < slots; ++i) {
        c.away[i] = i < n ? T(0) : Chain<T>::FAR;
        c.size[i] = 1;
    }
    for (std::size_t i = 0; i < n; ++i) {
        c.row[i] = matrix + i * slots;
        std::memset(c.row[i] + n, 0, (slots - n) * sizeof(T));
        c.centroids.counts[i] = 1;
        c.patch[i] = (std::int32_t)i;
    }
    c.length = 0;
    c.start(job.n);
    return c;
}

// False if a row is UNUSABLE.
template <class T> bool run(const WardJob& job) {
    const std::size_t n = job.n, d = job.d;
    Memory memory{job.memory};
    Chain<T> c = lay_out<T>(job, memory);
    float* rows = memory.take<float>((n + MR) * d);
    float* panels = memory.take<float>((n + NR) * d);
    T* squares = memory.take<T>(n);
    std::memset(rows + n * d, 0, MR * d * sizeof(float));
    const double largest = prepare(job, c.centroids.sums);
    if (largest == UNUSABLE) return false;
    const double scale = job.unit ? 1 : scale_for(largest);
    for (std::size_t k = 0; k < n * d; ++k) rows[k] = (float)(c.centroids.sums[k] * scale);
    c.scale = (T)(largest * scale * scale);
    pack_panels(rows, job.n, job.d, panels);
    fill_distances(job, rows, panels, squares, c.row);

    // A float32 sum of d products is off by about sqrt(d) half-units in the last place, and
    // distances inherit that.
    c.refereed = !job.condensed;
    c.tolerance = c.refereed ? T(4 * 6e-8 * __builtin_sqrt((double)d)) : T(0);

    for (int t = 0; t < job.n - 1; ++t) {
        int x, y;
        c.pair(x, y);
        job.left[t] = c.patch[x];  // join() names the new group by its first argument
        job.right[t] = c.patch[y];
        double squared;
        c.centroids.join(c.patch[x], c.patch[y], squared, job.cosines[t]);
        const T between = c.join(x, y);
        job.heights[t] = __builtin_sqrt(job.condensed ? (double)between : squared);
    }
    return true;
}

}  // namespace

bool ward(const WardJob& job) { return job.condensed ? run<double>(job) : run<float>(job); }

void gram(const float* vectors, int n, int d, float* memory, float** row) {
    float* panels = memory;
    float* rows = memory + round_up(n + NR, 64) * (std::size_t)d;
    std::memcpy(rows, vectors, (std::size_t)n * d * sizeof(float));
    std::memset(rows + (std::size_t)n * d, 0, (std::size_t)MR * d * sizeof(float));
    pack_panels(rows, n, d, panels);
    each_tile(rows, panels, n, d, [=](int i0, int count, int j0, int columns, float (*tile)[NR]) {
        for (int i = 0; i < count; ++i)
            std::memcpy(row[i0 + i] + j0, tile[i], columns * sizeof(float));
    });
    mirror(row, n);
}

}  // namespace adamerge::ADAMERGE_ISA
