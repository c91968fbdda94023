// Inner products of all pairs of rows, each computed once: half the work of a matrix product.
//
// Panels of NR rows are packed side by side, so that one step over k multiplies MR broadcast values
// with two vectors and keeps 2 MR sums in registers. Every sum runs over k in order: the result
// depends on nothing but the two rows.
#pragma once

#include "simd.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

using F = Simd<float>;
constexpr int NR = 2 * F::W;              // rows of a panel
constexpr int MR = BYTES == 64 ? 12 : 6;  // rows of a tile: 2 MR sums fill the registers

// rows (n, d) -> panels (n/NR, d, NR), the last one filled up with zeros
inline void pack_panels(const float* rows, int n, int d, float* panels) {
    constexpr int W = F::W;
    const float* from[W];
    float* to[W];
    for (int j0 = 0; j0 < n; j0 += W) {
        float* panel = panels + (std::size_t)(j0 / NR) * NR * d + j0 % NR;
        int k = 0;
        for (int q = 0; q < W; ++q) from[q] = rows + (std::size_t)(j0 + q) * d;
        for (; k + W <= d && j0 + W <= n; k += W) {
            for (int q = 0; q < W; ++q) to[q] = panel + (std::size_t)(k + q) * NR;
            F::transpose(from, k, to, 0);
        }
        for (; k < d; ++k)
            for (int q = 0; q < W; ++q)
                panel[(std::size_t)k * NR + q] = j0 + q < n ? from[q][k] : 0.f;
    }
    for (int j = (n + W - 1) / W * W; j < (n + NR - 1) / NR * NR; ++j)
        for (int k = 0; k < d; ++k)
            panels[(std::size_t)(j / NR) * NR * d + (std::size_t)k * NR + j % NR] = 0.f;
}

// MR rows times one panel -> tile (MR, NR)
inline void multiply(const float* rows, const float* panel, int d, float tile[MR][NR]) {
    F::Vec sum[MR][2] = {};
    for (int k = 0; k < d; ++k, panel += NR) {
        const F::Vec p0 = F::load(panel), p1 = F::load(panel + F::W);
#pragma GCC unroll 12
        for (int r = 0; r < MR; ++r) {
            const F::Vec x = F::splat(rows[(std::size_t)r * d + k]);
            sum[r][0] += x * p0;
            sum[r][1] += x * p1;
        }
    }
    for (int r = 0; r < MR; ++r) {
        F::store(tile[r], sum[r][0]);
        F::store(tile[r] + F::W, sum[r][1]);
    }
}

// Calls put(i0, rows, j0, columns, tile) for tiles of inner products that cover every pair i <= j.
// `rows` has MR - 1 readable rows after its n.
template <class Put> void each_tile(const float* rows, const float* panels, int n, int d, Put put) {
    alignas(BYTES) float tile[MR][NR];
    for (int j0 = 0; j0 < n; j0 += NR) {
        const float* panel = panels + (std::size_t)j0 * d;
        const int columns = n - j0 < NR ? n - j0 : NR, end = j0 + columns;
        for (int i0 = 0; i0 < end; i0 += MR) {
            multiply(rows + (std::size_t)i0 * d, panel, d, tile);
            put(i0, end - i0 < MR ? end - i0 : MR, j0, columns, tile);
        }
    }
}

// Copies what is above the diagonal of n rows below it.
template <class T> void mirror(T* const* row, int n) {
    constexpr int W = Simd<T>::W;
    for (int j0 = 0; j0 < n; j0 += W)
        for (int i0 = 0; i0 <= j0; i0 += W)
            if (j0 + W <= n && i0 < j0) {
                Simd<T>::transpose(row + i0, j0, row + j0, i0);
            } else {
                for (int j = j0; j < j0 + W && j < n; ++j)
                    for (int i = i0; i < i0 + W && i < j; ++i) row[j][i] = row[i][j];
            }
}

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
