// Planes become levels, and levels are multiplied: a row of the page per lane, each value of the
// query broadcast. Nothing is summed across lanes, and all sums are of integers.
#pragma once

#include "align.hpp"
#include "maxsim_int8.hpp"
#include "memory.hpp"
#include "planes_query.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

using U = Simd<std::uint32_t>;

// 16 bytes, once for every 128 bits of a vector, to look up numbers below 16.
struct Table16 {
    std::uint8_t bytes[BYTES];

    U::Vec operator[](U::Vec numbers) const {
        U::Vec found;
#if defined(__AVX512BW__)
        found = (U::Vec)_mm512_shuffle_epi8(_mm512_loadu_si512(bytes), (__m512i)numbers);
#elif defined(__AVX2__)
        const __m256i table = _mm256_loadu_si256((const __m256i*)bytes);
        found = (U::Vec)_mm256_shuffle_epi8(table, (__m256i)numbers);
#else
        std::uint8_t in[BYTES], out[BYTES];
        std::memcpy(in, &numbers, BYTES);
        for (int i = 0; i < BYTES; ++i) out[i] = bytes[in[i]];
        std::memcpy(&found, out, BYTES);
#endif
        return found;
    }
};

// Four planes of the same coordinates -> numbers of four bits, two in every byte. Bits of a byte
// meet those of the other planes first in pairs, then in fours. Number n has coordinates
// FIRST[n] in the low half of a byte and FIRST[n] + 4 in the high half.
constexpr int FIRST[4] = {0, 2, 1, 3};
inline void to_nibbles(const U::Vec (&plane)[4], U::Vec (&nibbles)[4]) {
    const U::Vec odd = U::splat(0xaaaaaaaa), even = U::splat(0x55555555);
    const U::Vec high = U::splat(0xcccccccc), low = U::splat(0x33333333);
    U::Vec pairs[2][2];  // [of even or odd coordinates][of planes 0 and 1, or 2 and 3]
    for (int half = 0; half < 2; ++half) {
        const U::Vec a = plane[2 * half], b = plane[2 * half + 1];
        pairs[0][half] = ((a << 1) & odd) | (b & even);
        pairs[1][half] = (a & odd) | ((b >> 1) & even);
    }
    for (int parity = 0; parity < 2; ++parity) {
        const U::Vec a = pairs[parity][0], b = pairs[parity][1];
        nibbles[2 * parity] = ((a << 2) & high) | (b & low);
        nibbles[2 * parity + 1] = (a & high) | ((b >> 2) & low);
    }
}

class MultiplyPlanes {
  public:
    static constexpr int ROWS = W;     // of a block
    static constexpr int BEST = W;     // lanes that the maxima of a vector of the query take
    using Best = F::Vec;
    static constexpr int QUERIES = 4;  // vectors of the query in a tile
    static constexpr int BLOCKS = BYTES == 64 ? 4 : 2;  // of a tile

    MultiplyPlanes(const PlanesJob& job, std::int64_t most_blocks, Memory& packed, Memory& own)
        : job(job), words((job.plane_bytes() + 3) / 4), groups(words * 8 * PARTS),
          queries(packed.take<std::int32_t>(job.query_vectors() * groups)),
          starts(packed.take<std::int32_t>(job.query_vectors())),
          values(own.take<std::int32_t>(most_blocks * groups * W)),
          cells(own.take<std::uint32_t>(MOST_PLANES * words * W)),
          scales(own.take<float>(most_blocks * W)) {
        const int copies = 1 << (MOST_PLANES - job.bits);  // of a level, where there are fewer bits
        for (int i = 0; i < BYTES; ++i) {
            const std::int8_t level = job.levels[i % 16 / copies];
            levels.bytes[i] = (std::uint8_t)(level + LIFT);
        }
    }

    // Bytes of a block of rows, to choose how many are prepared at once.
    static std::size_t block_bytes(const PlanesJob& job) {
        return round_up(job.plane_bytes(), 4) * 8 * W * sizeof(Value);
    }

    void pack(std::int64_t i, const std::int8_t* query) {
        std::int32_t total = 0;
        for (int k = 0; k < job.d; ++k) {
            const int byte = k / 8, word = byte / 4, part = byte % PARTS;
            const int group = (word * 8 + k % 8) * PARTS + part;
            const Value value = query[k];
            auto* lane = (unsigned char*)(queries + i * groups + group);
            std::memcpy(lane + byte % 4 / PARTS * sizeof(Value), &value, sizeof(Value));
            total += query[k];
        }
        starts[i] = -LIFT * total;
    }

    void prepare(int block, RowRange rows) {
        gather(rows);
        std::int32_t* out = values + (std::size_t)block * groups * W;
        for (int word = 0; word < words; ++word, out += 8 * PARTS * W) {
            U::Vec plane[MOST_PLANES] = {}, nibbles[MOST_PLANES];
#pragma GCC unroll 4
            for (int p = 0; p < MOST_PLANES; ++p)
                if (p < job.bits) plane[p] = U::load(cells + ((std::size_t)p * words + word) * W);
            to_nibbles(plane, nibbles);
#pragma GCC unroll 4
            for (int n = 0; n < 4; ++n) {
                const U::Vec low = U::splat(0x0f0f0f0f);
                put(levels[nibbles[n] & low], out + FIRST[n] * PARTS * W);
                put(levels[(nibbles[n] >> 4) & low], out + (FIRST[n] + 4) * PARTS * W);
            }
        }
        for (int i = 0; i < W; ++i) scales[block * W + i] = job.scales[rows.row(i)];
    }

    template <int R, int Q> void tile(int block, std::int64_t query, F::Vec (&best)[Q]) const {
        const std::int32_t* page = values + (std::size_t)block * groups * W;
        const std::int32_t* asked = queries + query * groups;
        I::Vec sum[R][Q];
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
            for (int j = 0; j < Q; ++j) sum[r][j] = I::splat(starts[query + j]);
        for (int g = 0; g < groups; ++g) {
            I::Vec row[R];
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r) row[r] = I::load(page + ((std::size_t)r * groups + g) * W);
#pragma GCC unroll 16
            for (int j = 0; j < Q; ++j) {
                const I::Vec value = I::splat(asked[(std::size_t)j * groups + g]);
#pragma GCC unroll 16
                for (int r = 0; r < R; ++r) sum[r][j] = add_products(sum[r][j], row[r], value);
            }
        }
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
            for (int j = 0; j < Q; ++j) {
                const F::Vec product = __builtin_convertvector(sum[r][j], F::Vec);
                best[j] = larger(best[j], product * F::load(scales + (block + r) * W));
            }
    }

  private:
    // Vectors of Value that four levels of every lane take. If it is two: bytes 0 and 2, bytes 1
    // and 3.
    static constexpr int PARTS = 4 / GROUP;

    using Words = std::uint32_t __attribute__((vector_size(16)));

    // The planes of a block's rows, four bytes of a row per lane: cells (planes, words, W).
    void gather(RowRange rows) {
        const int bytes = job.plane_bytes();
        std::int64_t starts_at[W];
        for (int i = 0; i < W; ++i) starts_at[i] = rows.row(i) * bytes;
        for (int p = 0; p < job.bits; ++p) {
            std::uint32_t* out = cells + (std::size_t)p * words * W;
            int word = 0;
            for (; 4 * word + 16 <= bytes; word += 4)
                for (int i = 0; i < W; i += 4)
                    transpose(job.planes[p] + 4 * word, starts_at + i, out + word * W + i);
            for (; word < words; ++word)
                for (int i = 0; i < W; ++i) {
                    const int count = bytes - 4 * word < 4 ? bytes - 4 * word : 4;
                    out[word * W + i] = 0;
                    std::memcpy(out + word * W + i, job.planes[p] + starts_at[i] + 4 * word, count);
                }
        }
    }

    // Four words of four rows -> the four rows' first words, their second words, and so on.
    static void transpose(const std::uint8_t* plane, const std::int64_t* rows, std::uint32_t* out) {
        Words row[4];
        for (int i = 0; i < 4; ++i) std::memcpy(&row[i], plane + rows[i], sizeof(Words));
        const Words a = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
        const Words b = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
        const Words c = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
        const Words d = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
        const Words word[4] = {__builtin_shufflevector(a, b, 0, 1, 4, 5),
                               __builtin_shufflevector(a, b, 2, 3, 6, 7),
                               __builtin_shufflevector(c, d, 0, 1, 4, 5),
                               __builtin_shufflevector(c, d, 2, 3, 6, 7)};
        for (int i = 0; i < 4; ++i) std::memcpy(out + i * W, &word[i], sizeof(Words));
    }

    static void put(U::Vec levels, std::int32_t* out) {
        if constexpr (PARTS == 1) {
            I::store(out, (I::Vec)levels);
        } else {
            using S = Simd<std::int16_t>;
            const S::Vec both = (S::Vec)levels;
            I::store(out, (I::Vec)((S::Vec)(both << 8) >> 8));
            I::store(out + W, (I::Vec)(both >> 8));
        }
    }

    const PlanesJob& job;
    int words, groups;
    std::int32_t *queries, *starts;  // (q, groups), (q,)
    std::int32_t* values;            // (blocks, groups, W)
    std::uint32_t* cells;
    float* scales;  // (blocks, W)
    Table16 levels;
};

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
