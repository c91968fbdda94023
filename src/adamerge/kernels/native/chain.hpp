// Ward's tree by the nearest-neighbour chain (Benzecri 1982, Murtagh 1983): follow nearest
// neighbours until two groups are each other's nearest, join them, go on from what is left of the
// chain. O(n^2) time, one matrix of squared distances.
//
// Distances: Lance and Williams, a row at a time,
//     d(ab, j) = ((a+j) d(a,j) + (b+j) d(b,j) - j d(a,b)) / (a+b+j)
//
// Exactness: float32 distances only propose. Where two neighbours differ by less than the rounding
// error, a referee measures both from float64 centroids. So the tree is that of float64 arithmetic.
//
// Cache: a new group takes the next free column. Columns are written to the other rows BATCH at a
// time, one cache line a row; until then a row fetches them when it is read. Each compaction drops
// the dead columns.
#pragma once

#include "linkage.hpp"
#include "simd.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

// The members of every group as a sum and a count, in float64. A group is named by one of its
// patches.
struct Centroids {
    double* sums;    // (n, d)
    double* counts;  // (n,)
    int d;

    using V = Simd<double>;

    // Squared Ward distance of two groups: 2ab/(a+b) |A/a - B/b|^2, the same to the bit for (a, b)
    // and (b, a): a fused x p - y q rounds only one of its products, and a chain of distances that
    // differ by that would never end.
    double distance(int a, int b) const {
        if (a > b) return distance(b, a);
        const double *x = sums + (std::size_t)a * d, *y = sums + (std::size_t)b * d;
        const double p = 1 / counts[a], q = 1 / counts[b];
        V::Vec sum = {};
        int k = 0;
        for (; k + V::W <= d; k += V::W) {
            const V::Vec t = V::load(x + k) * p - V::load(y + k) * q;
            sum += t * t;
        }
        double total = V::sum_of(sum);
        for (; k < d; ++k) total += (x[k] * p - y[k] * q) * (x[k] * p - y[k] * q);
        return 2 * counts[a] * counts[b] / (counts[a] + counts[b]) * total;
    }

    // Adds group b to group a; returns the squared distance and the cosine they had. A centroid of
    // zero has cosine 0.
    void join(int a, int b, double& squared, double& cosine) {
        double *x = sums + (std::size_t)a * d, *y = sums + (std::size_t)b * d;
        const double p = 1 / counts[a], q = 1 / counts[b];
        V::Vec parts[4] = {};
        double apart = 0, product = 0, left = 0, right = 0;
        int k = 0;
        for (; k + V::W <= d; k += V::W) {
            const V::Vec s = V::load(x + k), t = V::load(y + k), off = s * p - t * q;
            parts[0] += off * off;
            parts[1] += s * t;
            parts[2] += s * s;
            parts[3] += t * t;
            V::store(x + k, s + t);
        }
        for (; k < d; ++k) {
            apart += (x[k] * p - y[k] * q) * (x[k] * p - y[k] * q);
            product += x[k] * y[k];
            left += x[k] * x[k];
            right += y[k] * y[k];
            x[k] += y[k];
        }
        squared =
            2 * counts[a] * counts[b] / (counts[a] + counts[b]) * (V::sum_of(parts[0]) + apart);
        const double norms = (V::sum_of(parts[2]) + left) * (V::sum_of(parts[3]) + right);
        cosine = norms > 0 ? (V::sum_of(parts[1]) + product) / __builtin_sqrt(norms) : 0;
        if (cosine > 1) cosine = 1;
        if (cosine < -1) cosine = -1;
        counts[a] += counts[b];
    }
};

template <class T> struct Chain {
    using V = Simd<T>;
    static constexpr T FAR = T(1e30);

    // One entry per slot; a slot is a group that lives, one that is dead, or one not used yet.
    T** row;              // its distances to the other slots; `nowhere` for the dead
    T* nowhere;           // a row that nobody reads
    T* away;              // 0 where it lives, FAR where not: added to a row, it hides the dead
    T* size;              // patches of the group
    std::int32_t* patch;  // a patch that names its group
    std::int32_t* chain;  // slots, each the nearest neighbour of the one before
    std::int32_t* kept;   // scratch of compact()
    int width, limit;     // slots in use; slots at which to compact
    int flushed;          // columns from here on are only in their own rows
    int length;           // of the chain
    // Distances x < y of a group of n are told apart if y - x > tolerance (2 n scale + x): d(a, b)
    // holds 2ab/(a+b) <= 2n squared differences of centroids, each with its error.
    T tolerance, scale;
    bool refereed;
    Centroids centroids;

    // Completes a row with the columns of groups that are younger than the last flush.
    void fetch(int slot) {
        for (int z = flushed > slot + 1 ? flushed : slot + 1; z < width; ++z)
            row[slot][z] = row[z][slot];
    }

    // The slot nearest to `slot`; among equals `before`, so that the chain ends, then the first.
    int nearest(int slot, int before) {
        const T* distance = row[slot];
        typename V::Vec least[4];
        for (auto& v : least) v = V::splat(2 * FAR);
        for (int j = 0; j < width; j += 4 * V::W)
            for (int q = 0; q < 4; ++q)
                least[q] = V::min(least[q],
                                  V::load(distance + j + q * V::W) + V::load(away + j + q * V::W));
        const T best = V::min_of(V::min(V::min(least[0], least[1]), V::min(least[2], least[3])));
        const T within = best + tolerance * (2 * size[slot] * scale + best);
        const T most = FAR / 2;  // FAR are the dead and the slot itself
        return among(slot, before, within < most ? within : most);
    }

    // The nearest of all slots at most `within` from `slot`: nearly always there is just one, so
    // most blocks of four vectors are passed over by one comparison.
    int among(int slot, int before, T within) {
        const T* distance = row[slot];
        const auto bound = V::splat(within);
        int found = -1;
        double squared = -1;
        for (int block = 0; block < width; block += 4 * V::W) {
            if (!any(least_of_four(distance, block) <= bound)) continue;
            for (int j = block; j < block + 4 * V::W; j += V::W) {
                if (!any(V::load(distance + j) + V::load(away + j) <= bound)) continue;
                for (int z = j; z < j + V::W; ++z)
                    if (distance[z] + away[z] <= within) consider(z, slot, before, found, squared);
            }
        }
        return found;
    }

    // The least of the distances j, j + V::W, ... of four vectors, lane by lane; the dead are far.
    typename V::Vec least_of_four(const T* distance, int j) const {
        typename V::Vec part[4];
        for (int q = 0; q < 4; ++q)
            part[q] = V::load(distance + j + q * V::W) + V::load(away + j + q * V::W);
        return V::min(V::min(part[0], part[1]), V::min(part[2], part[3]));
    }

    // Puts slot z in the place of `found` if it is nearer to `slot`, or as near and `before`.
    // `squared` is the distance of `found` that the referee measured, negative if it did not yet.
    void consider(int z, int slot, int before, int& found, double& squared) const {
        if (found < 0) {
            found = z;
            return;
        }
        if (!refereed) {
            if (z == before) found = z;
            return;
        }
        if (squared < 0) squared = centroids.distance(patch[slot], patch[found]);
        if (squared == 0 && z != before) return;  // nothing is nearer than a twin
        const double other = centroids.distance(patch[slot], patch[z]);
        if (other < squared || (other == squared && z == before)) {
            found = z;
            squared = other;
        }
    }

    // Two groups that are each other's nearest, taken off the end of the chain.
    void pair(int& x, int& y) {
        if (length == 0) {
            int first = 0;
            while (away[first] != 0) ++first;
            chain[length++] = first;
        }
        for (;;) {
            y = chain[length - 1];
            const int before = length > 1 ? chain[length - 2] : -1;
            fetch(y);
            x = nearest(y, before);
            if (x == before) break;
            follow(x);
        }
        length -= 2;
    }

    // Lengthens the chain. Distances fall along it, so it never meets itself; if rounding makes it,
    // what lies between is forgotten and the referee decides alone from here on.
    void follow(int slot) {
        int at = 0;
        while (at < length && chain[at] != slot) ++at;
        if (at < length && refereed) tolerance = FAR;
        chain[at] = slot;
        length = at + 1;
    }

    // Joins slots x and y in a new slot, which takes over the row of x.
    T join(int x, int y) {
        fetch(x);
        fetch(y);
        T *a = row[x], *b = row[y];
        const T between = a[y];
        const auto na = V::splat(size[x]), nb = V::splat(size[y]), nab = na + nb;
        const auto dab = V::splat(between);
        for (int j = 0; j < width; j += V::W) {
            const auto nj = V::load(size + j);
            const auto sum = (na + nj) * V::load(a + j) + (nb + nj) * V::load(b + j) - nj * dab;
            V::store(a + j, sum / (nab + nj));
        }
        const int z = width++;
        row[x] = row[y] = nowhere;
        row[z] = a;
        row[z][z] = FAR;
        size[z] = size[x] + size[y];
        patch[z] = patch[x];
        away[x] = away[y] = FAR;
        away[z] = 0;
        if (width == flushed + BATCH) flush();
        if (width == limit) compact();
        return between;
    }

    // Writes the columns of the last BATCH groups to all other rows.
    void flush() {
        for (int z = flushed; z < width; z += V::W)
            for (int j = 0; j < flushed; j += V::W) V::transpose(row + z, j, row + j, z);
        for (int z = flushed; z < width; ++z) fetch(z);
        flushed = width;
    }

    // Moves the living to the front: their rows, columns and names.
    void compact() {
        int alive = 0;
        for (int j = 0; j < width; ++j)
            if (away[j] == 0) kept[alive++] = j;
        for (int i = 0; i < alive; ++i) {
            T* r = row[i] = row[kept[i]];
            V::keep_where_zero(r, away, width);
            size[i] = size[kept[i]];
            patch[i] = patch[kept[i]];
        }
        for (int q = 0, j = 0; q < length; ++q) {  // where is chain[q] now? the chain is not sorted
            j = 0;
            while (kept[j] != chain[q]) ++j;
            chain[q] = j;
        }
        for (int j = 0; j < width; ++j) away[j] = j < alive ? T(0) : FAR;
        start(alive);
    }

    void start(int alive) {
        width = flushed = (int)round_up(alive, BATCH);
        for (int j = alive; j < width; ++j) row[j] = nowhere;
        limit = (int)slots_for(alive);
    }
};

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
