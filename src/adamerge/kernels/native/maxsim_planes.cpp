// The score of a query and a page that is kept as bit planes. A few blocks of rows at a time are
// prepared in memory that stays in the cache, meet all queries, and only their maxima stay. Sums are
// of integers, so scores are the same to the bit on every instruction set.
#include "maxsim_planes.hpp"

#include "planes_lookup.hpp"
#include "planes_multiply.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

// About what the first cache holds beside a query.
constexpr std::size_t PREPARED = 16384;

template <class Planes> std::int64_t blocks_at_once(const PlanesJob& job) {
    const auto fit = (std::int64_t)(PREPARED / Planes::block_bytes(job));
    return fit > Planes::BLOCKS ? fit : Planes::BLOCKS;
}

template <class Planes> class Pages {
    using Best = typename Planes::Best;

  public:
    Pages(const PlanesJob& job, Memory& packed, Memory& own)
        : job(job), most_blocks(blocks_at_once<Planes>(job)),
          scales(packed.take<float>(job.query_vectors())),
          maxima(own.take<float>(job.query_vectors() * Planes::BEST)),
          rounded(own.take<std::int8_t>(job.d)), planes(job, most_blocks, packed, own) {}

    void pack() {
        const float* vector = job.query + job.query_offsets[0] * job.d;
        for (std::int64_t i = 0; i < job.query_vectors(); ++i, vector += job.d) {
            scales[i] = round_query(vector, job.d, job.steps, rounded);
            planes.pack(i, rounded);
        }
    }

    void score(std::int64_t page) {
        const std::int64_t begin = job.begins[page], end = job.ends[page];
        const std::int64_t lanes = job.query_vectors() * Planes::BEST;
        for (std::int64_t i = 0; i < lanes; ++i) maxima[i] = -__builtin_inff();
        const std::int64_t most_rows = most_blocks * Planes::ROWS;
        for (std::int64_t first = begin; first < end; first += most_rows)
            match({first, first + most_rows < end ? first + most_rows : end});
        for (std::int64_t i = 0; i < job.queries; ++i)
            job.scores[i * job.pages + page] = sum_of_maxima(i, begin == end);
    }

  private:
    void match(RowRange rows) {
        const auto blocks = (int)((rows.last - rows.first + Planes::ROWS - 1) / Planes::ROWS);
        for (int block = 0; block < blocks; ++block)
            planes.prepare(block, {rows.first + block * Planes::ROWS, rows.last});
        std::int64_t query = 0;
        for (; query + Planes::QUERIES <= job.query_vectors(); query += Planes::QUERIES)
            match_queries<Planes::QUERIES>(query, blocks);
        for (; query < job.query_vectors(); ++query) match_queries<1>(query, blocks);
    }

    template <int Q> void match_queries(std::int64_t query, int blocks) {
        Best best[Q];
        std::memcpy(best, maxima + query * Planes::BEST, sizeof best);
        match_blocks<Planes::BLOCKS>(query, 0, blocks, best);
        std::memcpy(maxima + query * Planes::BEST, best, sizeof best);
    }

    // R blocks at a time, then what is left with half as many.
    template <int R, int Q>
    [[gnu::always_inline]] inline void match_blocks(std::int64_t query, int block, int blocks,
                                                    Best (&best)[Q]) {
        for (; block + R <= blocks; block += R) planes.template tile<R, Q>(block, query, best);
        if constexpr (R > 1) match_blocks<R / 2>(query, block, blocks, best);
    }

    float sum_of_maxima(std::int64_t i, bool is_empty) const {
        const std::int64_t first = job.query_offsets[i] - job.query_offsets[0];
        const std::int64_t last = job.query_offsets[i + 1] - job.query_offsets[0];
        if (is_empty && first < last) return -__builtin_inff();
        double sum = 0;
        for (std::int64_t v = first; v < last; ++v)
            sum += (double)largest(maxima + v * Planes::BEST) * scales[v];
        return (float)sum;
    }

    static float largest(const float* lanes) {
        float halves[Planes::BEST];
        std::memcpy(halves, lanes, sizeof halves);
        for (int n = Planes::BEST / 2; n > 0; n /= 2)
            for (int i = 0; i < n; ++i)
                halves[i] = halves[i] > halves[i + n] ? halves[i] : halves[i + n];
        return halves[0];
    }

    const PlanesJob& job;
    std::int64_t most_blocks;
    float* scales;         // (q,)  of each vector of the query
    float* maxima;         // (q, BEST)
    std::int8_t* rounded;  // (d,)
    Planes planes;
};

// Calls `use` with the pages of a job, read in the way that is fastest for it.
template <class Use>
void with_pages(const PlanesJob& job, Memory& packed, Memory& own, const Use& use) {
#if defined(__AVX2__)
    const bool fits_tables = job.steps <= STEPS_IN_TABLES && job.d <= LookUpPlanes<1>::MOST_D;
    if (job.bits == 1 && fits_tables && job.levels[1] == 1) {
        Pages<LookUpPlanes<1>> pages(job, packed, own);
        return use(pages);
    }
    if (job.bits == 2 && fits_tables) {
        Pages<LookUpPlanes<2>> pages(job, packed, own);
        return use(pages);
    }
#endif
    Pages<MultiplyPlanes> pages(job, packed, own);
    use(pages);
}

}  // namespace

MaxSimBytes planes_bytes(const PlanesJob& job) {
    Memory packed, own;
    with_pages(job, packed, own, [](const auto&) {});
    return {packed.bytes(), own.bytes()};
}

void planes_pack(const PlanesJob& job, unsigned char* memory) {
    Memory packed(memory), own(memory + planes_bytes(job).packed);
    with_pages(job, packed, own, [&](auto& pages) {
        std::memset(memory, 0, packed.bytes());
        pages.pack();
    });
}

void planes_pages(const PlanesJob& job, const unsigned char* packed, std::int64_t first,
                  std::int64_t last, unsigned char* memory) {
    Memory queries(const_cast<unsigned char*>(packed)), own(memory);
    with_pages(job, queries, own, [&](auto& pages) {
        for (std::int64_t page = first; page < last; ++page) pages.score(page);
    });
}

}  // namespace adamerge::ADAMERGE_ISA
