// Planes are looked up: four bits of a plane choose one of 16 sums of four values of the query, for
// 16 rows and several bytes of each row at once. For 1 and 2 bits this takes a fraction of the
// time of multiplying.
//
// Two bits are two planes: levels -b, -a, a, b are (b + a) / 2 times the first sign plus (b - a) / 2
// times the second.
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
    static constexpr int ROWS = 16;  // of a block
    static constexpr int BEST = W;   // lanes that the maxima of a vector of the query take
    using Best = F::Vec;
    static constexpr int QUERIES = 4;  // vectors of the query in a tile
    static constexpr int BLOCKS = 1;   // of a tile

    static constexpr int MOST_D = 1024;  // up to which a sum surely is an int16

    LookUpPlanes(const PlanesJob& job, std::int64_t most_blocks, Memory& packed, Memory& own)
        : job(job), vectors((job.plane_bytes() + TOGETHER - 1) / TOGETHER),
          tables(packed.take<std::uint8_t>(job.query_vectors() * plane_size())),
          numbers(own.take<std::uint8_t>(most_blocks * BITS * plane_size())),
          scales(own.take<float>(most_blocks * ROWS)) {}

    // Bytes of a block of rows, to choose how many are prepared at once.
    static std::size_t block_bytes(const PlanesJob& job) {
        return BITS * size_of(job);
    }

    // The sums of four values with every choice of signs, lifted so that the least is 0.
    void pack(std::int64_t i, const std::int8_t* query) {
        for (int byte = 0; byte < vectors * TOGETHER; ++byte)
            for (int half = 0; half < 2; ++half) {
                std::uint8_t* table = tables + i * plane_size() + place(byte, half);
                for (int choice = 0; choice < 16; ++choice) {
                    int sum = LIFTED;
                    for (int bit = 0; bit < 4; ++bit) {
                        const int k = byte * 8 + half * 4 + bit;
                        const int value = k < job.d ? query[k] : 0;
                        sum += choice >> bit & 1 ? value : -value;
                    }
                    table[choice] = (std::uint8_t)sum;
                }
            }
    }

    void prepare(int block, RowRange rows) {
        for (int p = 0; p < BITS; ++p) {
            std::uint8_t* out = numbers + (block * BITS + p) * plane_size();
            for (int at = 0; at < job.plane_bytes(); at += 16) {
                __m128i columns[16];
                transpose(job.planes[p] + at, rows, job.plane_bytes() - at, columns);
#pragma GCC unroll 16
                for (int i = 0; i < 16; ++i) {
                    const __m128i four_bits = _mm_set1_epi8(15);
                    const __m128i low = _mm_and_si128(columns[i], four_bits);
                    const __m128i high = _mm_and_si128(_mm_srli_epi16(columns[i], 4), four_bits);
                    _mm_store_si128((__m128i*)(out + place(at + i, 0)), low);
                    _mm_store_si128((__m128i*)(out + place(at + i, 1)), high);
                }
            }
        }
        // in the order of the sums: even rows, then odd ones
        for (int i = 0; i < ROWS; ++i)
            scales[block * ROWS + i] = job.scales[rows.row(i < 8 ? 2 * i : 2 * i - 15)];
    }

    template <int R, int Q> void tile(int block, std::int64_t query, Best (&best)[Q]) const {
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
    static constexpr int TOGETHER = BYTES / 16;         // bytes of a row in a vector
    static constexpr int LIFTED = 4 * STEPS_IN_TABLES;  // makes the least sum 0

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
        S::Vec both[R][Q] = {}, odd[R][Q] = {};
        for (std::size_t at = 0; at < used; at += 2 * BYTES) {
            B::Vec low[R], high[R];
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                low[r] = B::load(page + r * BITS * size + at);
                high[r] = B::load(page + r * BITS * size + at + BYTES);
            }
#pragma GCC unroll 4
            for (int j = 0; j < Q; ++j) {
                const B::Vec of_low = B::load(table + j * size + at);
                const B::Vec of_high = B::load(table + j * size + at + BYTES);
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) {
                    const auto sum = (S::Vec)(choose(of_low, low[r]) + choose(of_high, high[r]));
                    both[r][j] += sum;
                    odd[r][j] += sum >> 8;
                }
            }
        }
        const __m256i lifted = _mm256_set1_epi16((short)(2 * LIFTED * TOGETHER * vectors));
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int j = 0; j < Q; ++j) {
                const S::Vec even = both[r][j] - (odd[r][j] << 8);
                sums[r][j] = _mm256_sub_epi16(fold(even, odd[r][j]), lifted);
            }
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
    static I::Vec widen(__m256i sums, int) { return (I::Vec)_mm512_maskz_cvtepi16_epi32(0xffff, sums); }
#else
    static __m256i halves_added(S::Vec x) { return (__m256i)x; }
    static I::Vec widen(__m256i sums, int part) {
        const __m128i half =
            part == 0 ? _mm256_castsi256_si128(sums) : _mm256_extracti128_si256(sums, 1);
        return (I::Vec)_mm256_cvtepi16_epi32(half);
    }
#endif

    // Up to 16 bytes of 16 rows -> a vector for every byte, the rows in its lanes.
    void transpose(const std::uint8_t* plane, RowRange rows, int count,
                   __m128i (&columns)[16]) const {
        const int stride = job.plane_bytes();
        if (count >= 16) {
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i)
                columns[i] = _mm_loadu_si128((const __m128i*)(plane + rows.row(i) * stride));
        } else {
            for (int i = 0; i < 16; ++i) {
                columns[i] = _mm_setzero_si128();
                std::memcpy(&columns[i], plane + rows.row(i) * stride, count);
            }
        }
#pragma GCC unroll 4
        for (int turn = 0; turn < 4; ++turn) {
            __m128i next[16];
#pragma GCC unroll 8
            for (int i = 0; i < 8; ++i) {
                next[2 * i] = _mm_unpacklo_epi8(columns[i], columns[i + 8]);
                next[2 * i + 1] = _mm_unpackhi_epi8(columns[i], columns[i + 8]);
            }
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) columns[i] = next[i];
        }
    }

    const PlanesJob& job;
    int vectors;            // pairs of them that the bytes of a row take
    std::uint8_t* tables;   // (q, plane_size)
    std::uint8_t* numbers;  // (blocks, BITS, plane_size)
    float* scales;          // (blocks, ROWS)
};

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
#endif
