// Planes are looked up: four bits of a plane choose one of 16 sums of four values of the query, for
// 16 rows and several bytes of each row at once. For 1 and 2 bits this takes a fraction of the
// time of multiplying.
//
// Two bits are two planes: levels -b, -a, a, b are (b + a) / 2 times the first sign plus (b - a) /
// 2 times the second.
#pragma once

#include "align.hpp"
#include "maxsim_tiles.hpp"
#include "memory.hpp"
#include "planes_query.hpp"

#if defined(__AVX2__)
namespace adamerge::ADAMERGE_ISA {
namespace {

template <int BITS> class LookUpPlanes {
    using B = Simd<std::uint8_t>;
    using S = Simd<std::uint16_t>;

  public:
    static constexpr int ROWS = 16;    // of a block
    static constexpr int QUERIES = 4;  // vectors of the query in a tile
    static constexpr int BLOCKS = 1;   // of a tile

    static constexpr int MOST_D = 1024;  // up to which a sum surely is an int16

    LookUpPlanes(const PlanesJob& job, std::int64_t most_blocks, Memory& packed, Memory& own)
        : job(job), vectors((int)round_up(job.plane_bytes(), TOGETHER * PAIRS) / TOGETHER),
          tables(packed.take<std::uint8_t>(job.query_vectors() * plane_size())),
          numbers(own.take<std::uint8_t>(most_blocks * BITS * plane_size())),
          spare(own.take<std::uint8_t>(ROWS * job.plane_bytes())),
          scales(own.take<float>(most_blocks * ROWS)) {}

    // Bytes of a block of rows, to choose how many are prepared at once.
    static std::size_t block_bytes(const PlanesJob& job) { return BITS * size_of(job); }

    // The sums of four values with every choice of signs, lifted so that the least is 0.
    void pack(std::int64_t i, const std::int8_t* query) {
        for (int byte = 0; byte < vectors * TOGETHER; ++byte)
            for (int half = 0; half < 2; ++half) {
                std::uint8_t* table = tables + i * plane_size() + place(byte, half);
                int sum = LIFTED;
                for (int bit = 0; bit < 4; ++bit) sum -= value(query, byte, half, bit);
                table[0] = (std::uint8_t)sum;
                // a choice with one more sign turned: twice the value more
                for (int bit = 0; bit < 4; ++bit)
                    for (int choice = 0; choice < 1 << bit; ++choice)
                        table[choice + (1 << bit)] =
                            (std::uint8_t)(table[choice] + 2 * value(query, byte, half, bit));
            }
    }

    void prepare(int block, RowRange rows) {
        const bool is_full = rows.last - rows.first >= ROWS;
        for (int p = 0; p < BITS; ++p) {
            const std::uint8_t* plane = job.planes[p] + rows.first * job.plane_bytes();
            if (!is_full) plane = filled_up(job.planes[p], rows);
            std::uint8_t* out = numbers + (block * BITS + p) * plane_size();
            for (int at = 0; at < job.plane_bytes(); at += 16) {
                B::Vec columns[16 / TOGETHER];
                transpose(plane + at, job.plane_bytes() - at, columns);
#pragma GCC unroll 16
                for (int i = 0; i < 16 / TOGETHER; ++i) {
                    std::uint8_t* to = out + place(at + i * TOGETHER, 0);
                    B::store(to, columns[i] & 15);
                    B::store(to + BYTES, (B::Vec)((S::Vec)columns[i] >> 4) & 15);
                }
            }
        }
        // in the order of the sums: even rows, then odd ones
        float own[ROWS], *out = scales + block * ROWS;
        for (int i = 0; i < ROWS && !is_full; ++i) own[i] = job.scales[rows.row(i)];
        const float* in = is_full ? job.scales + rows.first : own;
        for (int i = 0; i < ROWS / 2; ++i) {
            out[i] = in[2 * i];
            out[ROWS / 2 + i] = in[2 * i + 1];
        }
    }

    template <int R, int Q> void tile(int block, std::int64_t query, F::Vec (&best)[Q]) const {
        const std::uint8_t* page = numbers + block * BITS * plane_size();
        const std::uint8_t* table = tables + query * plane_size();
        __m256i sums[BITS][R][Q];
#pragma GCC unroll 2
        for (int p = 0; p < BITS; ++p) add_up<R, Q>(page + p * plane_size(), table, sums[p]);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int j = 0; j < Q; ++j)
#pragma GCC unroll 4
                for (int part = 0; part < ROWS / W; ++part) {
                    I::Vec sum = widen(sums[0][r][j], part);
                    if constexpr (BITS == 2) {
                        const int inner = job.levels[2], outer = job.levels[3];
                        const I::Vec second = widen(sums[BITS - 1][r][j], part);
                        sum = (sum * (outer + inner) + second * (outer - inner)) >> 1;
                    }
                    const float* scale = scales + (block + r) * ROWS + part * W;
                    const F::Vec product = __builtin_convertvector(sum, F::Vec);
                    best[j] = larger(best[j], product * F::load(scale));
                }
    }

  private:
    static constexpr int TOGETHER = BYTES / 16;               // bytes of a row in a vector
    static constexpr int LIFTED = 4 * steps_in_tables(BITS);  // makes the least sum 0
    static constexpr int PAIRS = BITS == 1 ? 2 : 1;           // of vectors that are added as bytes

    int value(const std::int8_t* query, int byte, int half, int bit) const {
        const int k = byte * 8 + half * 4 + bit;
        return k < job.d ? query[k] : 0;
    }

    // Tables of a vector of the query, and numbers of a plane of a block, lie alike: a vector for
    // the lower halves of TOGETHER bytes, then one for the upper halves.
    std::size_t plane_size() const { return size_of(job); }
    static std::size_t size_of(const PlanesJob& job) {
        return 2 * 16 * round_up(job.plane_bytes(), 16);
    }
    static std::size_t place(int byte, int half) {
        return ((std::size_t)byte / TOGETHER * 2 + half) * BYTES + byte % TOGETHER * 16;
    }

    // Sums of R blocks of a plane with Q vectors of the query: 16 int16 each, even rows before odd
    // ones. A lane of 16 bits has an even row below an odd one; it wraps around, and the difference
    // is right all the same.
    template <int R, int Q>
    [[gnu::always_inline]] inline void add_up(const std::uint8_t* page, const std::uint8_t* table,
                                              __m256i (&sums)[R][Q]) const {
        const std::size_t size = plane_size(), used = (std::size_t)vectors * 2 * BYTES;
        // What the sums are lifted by is taken away before they begin.
        const S::Vec start = S::splat((std::uint16_t)(-2 * LIFTED * vectors));
        S::Vec both[R][Q], odd[R][Q];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int j = 0; j < Q; ++j) {
                both[r][j] = start + (start << 8);
                odd[r][j] = start;
            }
        for (std::size_t at = 0; at < used; at += PAIRS * 2 * BYTES) {
            B::Vec number[R][PAIRS * 2];
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
                for (int i = 0; i < PAIRS * 2; ++i)
                    number[r][i] = B::load(page + r * BITS * size + at + i * BYTES);
#pragma GCC unroll 4
            for (int j = 0; j < Q; ++j)
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) {
                    B::Vec sum = {};
#pragma GCC unroll 4
                    for (int i = 0; i < PAIRS * 2; ++i)
                        sum += choose(B::load(table + j * size + at + i * BYTES), number[r][i]);
                    both[r][j] += (S::Vec)sum;
                    odd[r][j] += (S::Vec)sum >> 8;
                }
        }
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int j = 0; j < Q; ++j) sums[r][j] = fold(both[r][j] - (odd[r][j] << 8), odd[r][j]);
    }

    static B::Vec choose(B::Vec table, B::Vec numbers) {
#if defined(__AVX512BW__)
        return (B::Vec)_mm512_shuffle_epi8((__m512i)table, (__m512i)numbers);
#else
        return (B::Vec)_mm256_shuffle_epi8((__m256i)table, (__m256i)numbers);
#endif
    }

    // The sums over all 128-bit parts: eight of `even`, then eight of `odd`.
    static __m256i fold(S::Vec even, S::Vec odd) {
        const __m256i a = halves_added(even), b = halves_added(odd);
        return _mm256_add_epi16(_mm256_permute2x128_si256(a, b, 0x20),
                                _mm256_permute2x128_si256(a, b, 0x31));
    }
#if defined(__AVX512BW__)
    static __m256i halves_added(S::Vec x) {
        __m256i halves[2];
        std::memcpy(halves, &x, sizeof x);
        return _mm256_add_epi16(halves[0], halves[1]);
    }
    static I::Vec widen(__m256i sums, int) {
        return (I::Vec)_mm512_maskz_cvtepi16_epi32(0xffff, sums);
    }
#else
    static __m256i halves_added(S::Vec x) { return (__m256i)x; }
    static I::Vec widen(__m256i sums, int part) {
        const __m128i half =
            part == 0 ? _mm256_castsi256_si128(sums) : _mm256_extracti128_si256(sums, 1);
        return (I::Vec)_mm256_cvtepi16_epi32(half);
    }
#endif

    // The rows of a block that is not full, the last one again and again.
    const std::uint8_t* filled_up(const std::uint8_t* plane, RowRange rows) {
        const int bytes = job.plane_bytes();
        for (int i = 0; i < ROWS; ++i)
            std::memcpy(spare + i * bytes, plane + rows.row(i) * bytes, bytes);
        return spare;
    }

#if defined(__AVX512BW__)
    using U = Simd<std::uint32_t>;

    static U::Vec beside(__m128i a, __m128i b, __m128i c, __m128i d) {
        const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
        const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
        return (U::Vec)__builtin_shufflevector((__v4di)low, (__v4di)high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    // Of every 128 bits: words X and Y of a and b in turns.
    template <int X, int Y> static U::Vec pairs(U::Vec a, U::Vec b) {
        return __builtin_shufflevector(a, b, X, 16 + X, Y, 16 + Y, 4 + X, 20 + X, 4 + Y, 20 + Y,
                                       8 + X, 24 + X, 8 + Y, 24 + Y, 12 + X, 28 + X, 12 + Y,
                                       28 + Y);
    }
    // Of every 128 bits: words X and X + 1 of a, then those of b.
    template <int X> static U::Vec halves(U::Vec a, U::Vec b) {
        return __builtin_shufflevector(a, b, X, X + 1, 16 + X, 17 + X, 4 + X, 5 + X, 20 + X, 21 + X,
                                       8 + X, 9 + X, 24 + X, 25 + X, 12 + X, 13 + X, 28 + X,
                                       29 + X);
    }
#endif

    // Up to 16 bytes of 16 rows -> the bytes column by column, TOGETHER columns in a vector.
    void transpose(const std::uint8_t* rows, int count, B::Vec (&columns)[16 / TOGETHER]) const {
        const int stride = job.plane_bytes();
        __m128i row[16];
        if (count >= 16) {
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i)
                row[i] = _mm_loadu_si128((const __m128i*)(rows + i * stride));
        } else {
            for (int i = 0; i < 16; ++i) {
                row[i] = _mm_setzero_si128();
                std::memcpy(&row[i], rows + i * stride, count);
            }
        }
#if defined(__AVX512BW__)
        // Four rows in a vector: first words of four bytes are exchanged between vectors, then
        // bytes within 128 bits, then words between the 128 bits.
        U::Vec z[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) z[i] = beside(row[i], row[4 + i], row[8 + i], row[12 + i]);
        const U::Vec a = pairs<0, 1>(z[0], z[1]), b = pairs<0, 1>(z[2], z[3]);
        const U::Vec c = pairs<2, 3>(z[0], z[1]), d = pairs<2, 3>(z[2], z[3]);
        const U::Vec words[4] = {halves<0>(a, b), halves<2>(a, b), halves<0>(c, d),
                                 halves<2>(c, d)};
        const __m512i by_byte = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const U::Vec bytes = (U::Vec)_mm512_shuffle_epi8((__m512i)words[i], by_byte);
            columns[i] = (B::Vec)__builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 1, 5, 9, 13, 2,
                                                         6, 10, 14, 3, 7, 11, 15);
        }
#else
        // Four times: bytes of two rows become neighbours.
#pragma GCC unroll 4
        for (int turn = 0; turn < 4; ++turn) {
            __m128i next[16];
#pragma GCC unroll 8
            for (int i = 0; i < 8; ++i) {
                next[2 * i] = _mm_unpacklo_epi8(row[i], row[i + 8]);
                next[2 * i + 1] = _mm_unpackhi_epi8(row[i], row[i + 8]);
            }
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) row[i] = next[i];
        }
        std::memcpy(columns, row, sizeof row);
#endif
    }

    const PlanesJob& job;
    int vectors;            // pairs of them that the bytes of a row take
    std::uint8_t* tables;   // (q, plane_size)
    std::uint8_t* numbers;  // (blocks, BITS, plane_size)
    std::uint8_t* spare;    // (ROWS, plane_bytes)
    float* scales;          // (blocks, ROWS)
};

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
#endif
