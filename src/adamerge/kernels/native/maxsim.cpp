// The score of a query and a page: for every vector of the query the largest inner product with a
// row of the page, all added up. No similarity matrix is stored: a block of rows meets all queries,
// then the next block comes.
#include "maxsim.hpp"

#include "align.hpp"
#include "float16.hpp"
#include "maxsim_int8.hpp"
#include "memory.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

// Where the vectors of one query went: `wide` columns of panels, then `few` rows in groups of their
// own.
struct Place {
    std::int64_t column, group;
    std::int32_t wide, few;

    int groups() const { return (few + AT_ONCE - 1) / AT_ONCE; }
    // Vectors of a group, as matched: 1, 2 or 4, the third of three beside one of zeros.
    int width(int g) const { return few - g * AT_ONCE < 3 ? few - g * AT_ONCE : AT_ONCE; }
};

// All queries as the tiles want them. How a query is split depends on that query alone, and so does
// its score.
struct Packed {
    std::int64_t columns, groups;  // columns are a multiple of W
    Place* places;                 // (queries,)
    std::int32_t* panels;          // columns of float, or of GROUP values of int8
    float* rows;                   // (groups, AT_ONCE, length)
    std::int32_t* starts;          // (columns,)  int8: what each sum starts with
    float* scales;                 // (columns,)  int8: of each vector of the query
};

// Steps over k of a panel, and cells of a padded row.
int steps_of(const MaxSimJob& job) {
    return job.kind == Kind::int8 ? (job.d + GROUP - 1) / GROUP : job.d;
}
int length_of(const MaxSimJob& job) { return (int)round_up(steps_of(job), W); }

// Rows of a block lie an odd number of cache lines apart, or those of a power of two would fight
// for the same places.
std::size_t stride_of(const MaxSimJob& job) { return round_up(length_of(job), 32) + 16; }

// Rows of a block: about what the first cache holds beside a panel.
int block_rows(const MaxSimJob& job) {
    const int fit = (int)(32768 / (stride_of(job) * sizeof(float)));
    return fit > LEAST ? fit : LEAST;
}

Place place_of(const MaxSimJob& job, std::int64_t i) {
    const auto q = (std::int32_t)(job.query_offsets[i + 1] - job.query_offsets[i]);
    const std::int32_t few = job.kind != Kind::int8 && q % W <= FEW ? q % W : 0;
    return {0, 0, q - few, few};
}

Packed lay_out(const MaxSimJob& job, Memory& memory) {
    Packed packed = {};
    for (std::int64_t i = 0; i < job.queries; ++i) {
        const Place place = place_of(job, i);
        packed.columns += place.wide;
        packed.groups += place.groups();
    }
    packed.columns = (std::int64_t)round_up(packed.columns, W);
    packed.places = memory.take<Place>(job.queries);
    packed.panels = memory.take<std::int32_t>(packed.columns * steps_of(job));
    packed.rows = memory.take<float>(packed.groups * AT_ONCE * length_of(job));
    packed.starts = memory.take<std::int32_t>(packed.columns);
    packed.scales = memory.take<float>(packed.columns);
    return packed;
}

// One vector of a query into its column.
void pack_column(const MaxSimJob& job, const Packed& packed, const float* vector,
                 std::int64_t column) {
    const std::int64_t first = column / (2 * W) * (2 * W);
    const int apart = packed.columns - first < 2 * W ? W : 2 * W;
    std::int32_t* cells = packed.panels + first * steps_of(job) + (column - first);
    if (job.kind == Kind::int8) {
        std::int32_t total;
        packed.scales[column] = quantise(vector, job.d, cells, apart, total);
        packed.starts[column] = -LIFT * total;
    } else {
        for (int k = 0; k < job.d; ++k)
            std::memcpy(cells + (std::size_t)k * apart, vector + k, sizeof(float));
    }
}

// Rows as the tiles want them: float32 is copied, float16 is widened (float16.hpp).
inline void widen(const float* in, std::size_t d, float* out) {
    std::memcpy(out, in, d * sizeof(float));
}

// Rows first .. first + n of the vectors, at least LEAST: the last one again and again. What is
// beyond d is zero.
template <class From, class To>
void fill(const MaxSimJob& job, std::int64_t first, int n, std::int32_t* buffer) {
    const std::size_t stride = stride_of(job);
    const From* in = (const From*)job.vectors + first * job.d;
    const int length = length_of(job), used = (int)(job.d * sizeof(To) / sizeof(*buffer));
    for (int i = 0; i < n; ++i) {
        std::int32_t* row = buffer + i * stride;
        for (int k = used; k < length; ++k) row[k] = 0;
        widen(in + (std::size_t)i * job.d, job.d, (To*)row);
    }
    const std::size_t bytes = length * sizeof(*buffer);
    for (int i = n; i < LEAST; ++i)
        std::memcpy(buffer + i * stride, buffer + (n - 1) * stride, bytes);
}

// What one thread works in.
struct Scratch {
    float* maxima;         // (columns + groups W,)
    std::int32_t* buffer;  // (block_rows, stride)
    float* scales;         // (block_rows,)

    Scratch(const MaxSimJob& job, const Packed& packed, Memory& memory)
        : maxima(memory.take<float>(packed.columns + packed.groups * W)),
          buffer(memory.take<std::int32_t>(block_rows(job) * stride_of(job))),
          scales(memory.take<float>(block_rows(job))) {}
};

// Bytes of a number.
std::size_t size_of(Kind kind) {
    if (kind == Kind::float32) return sizeof(float);
    return kind == Kind::float16 ? sizeof(std::uint16_t) : sizeof(std::int8_t);
}

// As many rows as were just read, from where those end: what comes next when pages lie one after
// the other. It is a hint and reads nothing, so it may point behind the last row.
Ahead behind(const MaxSimJob& job, const Packed& packed, std::int64_t first, int n) {
    const std::size_t row = job.d * size_of(job.kind);
    const auto* next = (const unsigned char*)job.vectors + (first + n) * row;
    const std::size_t panels = (packed.columns + 2 * W - 1) / (2 * W);
    return {next, next + n * row, MR * row / 64 / (panels > 0 ? panels : 1) + 1};
}

void match_bytes(const MaxSimJob& job, const Packed& packed, const Scratch& own, std::int64_t first,
                 int n) {
    fill<std::int8_t, Value>(job, first, n, own.buffer);
    const int rows = n < LEAST ? LEAST : n;
    for (int i = 0; i < rows; ++i) own.scales[i] = job.scales[first + (i < n ? i : n - 1)];
    const ByteTiles tiles{own.buffer,    stride_of(job), own.scales,
                          packed.panels, packed.starts,  steps_of(job)};
    match_columns(tiles, rows, packed.columns, own.maxima, behind(job, packed, first, n));
}

void match_floats(const MaxSimJob& job, const Packed& packed, const Scratch& own,
                  std::int64_t first, int n) {
    // Even float32 is copied: to read one row after the other and then twelve at once from the
    // cache takes half the time of reading twelve at once from memory.
    const auto copy = job.kind == Kind::float16 ? fill<std::uint16_t, float> : fill<float, float>;
    copy(job, first, n, own.buffer);
    const float* rows = (const float*)own.buffer;
    const std::size_t stride = stride_of(job);
    const FloatTiles tiles{rows, stride, (const float*)packed.panels, job.d};
    const Ahead ahead = behind(job, packed, first, n);
    n = n < LEAST ? LEAST : n;
    match_columns(tiles, n, packed.columns, own.maxima, ahead);
    const int length = length_of(job);
    for (std::int64_t i = 0; i < job.queries && packed.groups; ++i) {
        const Place& place = packed.places[i];
        const float* query = packed.rows + place.group * AT_ONCE * length;
        float* maxima = own.maxima + packed.columns + place.group * W;
        for (int g = 0; g < place.groups(); ++g, query += AT_ONCE * length, maxima += W) {
            const int width = place.width(g);
            if (width == 1) {
                match_few<1>(rows, stride, n, query, length, maxima);
            } else if (width == 2) {
                match_few<2>(rows, stride, n, query, length, maxima);
            } else {
                match_few<AT_ONCE>(rows, stride, n, query, length, maxima);
            }
        }
    }
}

// The sum of a query's maxima.
float score(const MaxSimJob& job, const Packed& packed, const Place& place, const float* maxima) {
    double sum = 0;
    for (std::int64_t c = place.column; c < place.column + place.wide; ++c)
        sum += job.kind == Kind::int8 ? (double)maxima[c] * packed.scales[c] : maxima[c];
    for (int j = 0; j < place.few; ++j) {
        const float* lanes = maxima + packed.columns + (place.group + j / AT_ONCE) * W;
        float best = -__builtin_inff();
        for (int lane = j % AT_ONCE; lane < W; lane += place.width(j / AT_ONCE))
            best = lanes[lane] > best ? lanes[lane] : best;
        sum += best;
    }
    return (float)sum;
}

void match_page(const MaxSimJob& job, const Packed& packed, const Scratch& own, std::int64_t page) {
    const std::int64_t n = job.ends[page] - job.begins[page];
    const std::int64_t most = block_rows(job), blocks = (n + most - 1) / most;
    const std::int64_t maxima = packed.columns + packed.groups * W;
    for (std::int64_t i = 0; i < maxima; ++i) own.maxima[i] = -__builtin_inff();
    for (std::int64_t b = 0; b < blocks; ++b) {
        const std::int64_t first = n * b / blocks, last = n * (b + 1) / blocks;
        const auto match = job.kind == Kind::int8 ? match_bytes : match_floats;
        match(job, packed, own, job.begins[page] + first, (int)(last - first));
    }
    for (std::int64_t i = 0; i < job.queries; ++i) {
        const Place& place = packed.places[i];
        const bool nothing = n == 0 && place.wide + place.few > 0;
        job.scores[i * job.pages + page] =
            nothing ? -__builtin_inff() : score(job, packed, place, own.maxima);
    }
}

}  // namespace

MaxSimBytes maxsim_bytes(const MaxSimJob& job) {
    Memory packed, thread;
    const Packed queries = lay_out(job, packed);
    Scratch(job, queries, thread);
    return {packed.bytes(), thread.bytes()};
}

void maxsim_pack(const MaxSimJob& job, unsigned char* memory) {
    Memory pieces(memory);
    const Packed packed = lay_out(job, pieces);
    const int length = length_of(job);
    std::memset(memory, 0, pieces.bytes());
    std::int64_t column = 0, group = 0;
    for (std::int64_t i = 0; i < job.queries; ++i) {
        const float* vector = job.query + job.query_offsets[i] * job.d;
        Place& place = packed.places[i] = place_of(job, i);
        place.column = column;
        place.group = group;
        for (int j = 0; j < place.wide; ++j, vector += job.d)
            pack_column(job, packed, vector, column++);
        for (int j = 0; j < place.few; ++j, vector += job.d)
            std::memcpy(packed.rows + (group * AT_ONCE + j) * length, vector,
                        job.d * sizeof(float));
        group += place.groups();
    }
}

void maxsim_pages(const MaxSimJob& job, const unsigned char* packed, std::int64_t first,
                  std::int64_t last, unsigned char* memory) {
    Memory queries(const_cast<unsigned char*>(packed)), pieces(memory);
    const Packed all = lay_out(job, queries);
    const Scratch scratch(job, all, pieces);
    for (std::int64_t page = first; page < last; ++page) match_page(job, all, scratch, page);
}

}  // namespace adamerge::ADAMERGE_ISA
