// Tiles of a page: inner products of a few rows with a few vectors of the query, and their maxima,
// all in registers.
//
// Wide: a column of the query per lane. Two vectors of columns against MR rows, each value of a row
// broadcast: nothing is summed across lanes, and every sum runs over k in order, so it depends on
// nothing but its two vectors.
//
// Few: when at most W/2 vectors of a query are left over, lanes run along d instead, and W sums are
// folded into one.
#pragma once

#include "simd.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

using F = Simd<float>;
using I = Simd<std::int32_t>;
constexpr int W = F::W;
constexpr int MR = BYTES == 64 ? 12 : 6;  // rows of a tile: 2 MR sums fill the registers
constexpr int FEW = W / 2;                // vectors of a query that are not worth W columns
constexpr int AT_ONCE = 4;                // of which this many are matched together
constexpr int LEAST = 16;                 // rows of a block at least: no tile is higher

inline F::Vec larger(F::Vec a, F::Vec b) { return a > b ? a : b; }

// Float rows of a block, and the panels they meet: (d, 2W) of columns each, the last one (d, W) if
// that is enough.
struct FloatTiles {
    const float* rows;
    std::size_t stride;
    const float* panels;
    int d;

    template <int R, int V> void tile(int i, std::int64_t column, F::Vec (&best)[V]) const {
        const float* row = rows + i * stride;
        const float* panel = panels + column * d;
        F::Vec sum[R][V] = {};
        for (int k = 0; k < d; ++k, panel += V * W) {
            F::Vec p[V];
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) p[v] = F::load(panel + v * W);
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
                for (int v = 0; v < V; ++v) sum[r][v] += F::splat(row[r * stride + k]) * p[v];
        }
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) best[v] = larger(best[v], sum[r][v]);
    }
};

// The rows that come next, fetched into the second cache while this block's are multiplied: some at
// every tile.
struct Ahead {
    const unsigned char *next, *end;
    std::size_t lines;  // of 64 bytes, at a tile

    void fetch() {
        for (std::size_t i = 0; i < lines && next < end; ++i, next += 64)
            __builtin_prefetch(next, 0, 2);
    }
};

// Maxima of V vectors of columns over n >= MR rows. The last tile may overlap: a maximum does not
// mind.
template <int V, class Tiles>
void match(const Tiles& tiles, int n, std::int64_t column, float* maxima, Ahead& ahead) {
    constexpr int STEP = MR / 3;
    F::Vec best[V];
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) best[v] = F::load(maxima + column + v * W);
    int i = 0;
    for (; n - i > 2 * STEP; i += MR) {
        ahead.fetch();
        tiles.template tile<MR, V>(i + MR < n ? i : n - MR, column, best);
    }
    if (n - i > STEP) {
        tiles.template tile<2 * STEP, V>(n - 2 * STEP, column, best);
    } else if (n > i) {
        tiles.template tile<STEP, V>(n - STEP, column, best);
    }
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) F::store(maxima + column + v * W, best[v]);
}

template <class Tiles>
void match_columns(const Tiles& tiles, int n, std::int64_t columns, float* maxima, Ahead ahead) {
    std::int64_t column = 0;
    for (; column + 2 * W <= columns; column += 2 * W) match<2>(tiles, n, column, maxima, ahead);
    if (column < columns) match<1>(tiles, n, column, maxima, ahead);
}

// The sum of v[i] in lane i: at every step two vectors become one that holds half sums of both.
template <int S, int... L>
[[gnu::always_inline]] inline F::Vec fold(F::Vec (&v)[W], std::integer_sequence<int, L...> lanes) {
#pragma GCC unroll 16
    for (int t = 0; t < S; ++t)
        v[t] = __builtin_shufflevector(v[t], v[t + S], (L & S ? L - S + W : L)...) +
               __builtin_shufflevector(v[t], v[t + S], (L & S ? L + W : L + S)...);
    if constexpr (S > 1) return fold<S / 2>(v, lanes);
    return v[0];
}

// Maxima of Q vectors of a query over n >= LEAST rows, both padded with zeros to `length`. Lane
// r Q + j is for vector j.
template <int Q>
void match_few(const float* rows, std::size_t stride, int n, const float* query, int length,
               float* maxima) {
    constexpr int R = W / Q;
    F::Vec best = F::load(maxima);
    for (int i = 0; i < n; i += R) {
        const float* row = rows + (i + R < n ? i : n - R) * stride;
        F::Vec sum[W] = {};
        for (int k = 0; k < length; k += W) {
            F::Vec y[Q];
#pragma GCC unroll 16
            for (int j = 0; j < Q; ++j) y[j] = F::load(query + j * length + k);
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
                for (int j = 0; j < Q; ++j) sum[r * Q + j] += F::load(row + r * stride + k) * y[j];
        }
        best = larger(best, fold<W / 2>(sum, std::make_integer_sequence<int, W>{}));
    }
    F::store(maxima, best);
}

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
