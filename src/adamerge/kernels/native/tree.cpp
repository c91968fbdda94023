#include "tree.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "linkage.hpp"

namespace adamerge {
namespace {

struct Roots {
    std::vector<std::int32_t> parent;

    explicit Roots(int n) : parent(n) { std::iota(parent.begin(), parent.end(), 0); }

    std::int32_t of(std::int32_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    }
};

}  // namespace

std::size_t ward_bytes(std::size_t n, std::size_t d, bool condensed) {
    const std::size_t distance = condensed ? 8 : 4, slots = stride_for(n), pieces = 16;
    return (n + 1) * slots * distance + n * (d + 1) * 8 + (2 * n + 64) * d * 4 +
           slots * (8 + 3 * distance + 8) + n * 4 + pieces * 64;
}

void sort_tree(int n, const std::int32_t* left, const std::int32_t* right, double* heights,
               double* cosines, std::int32_t* out) {
    // A parent can fall below its child by a rounding error; raised to it, a stable sort keeps
    // children first.
    std::vector<double> floor(n, 0.0);
    for (int t = 0; t < n - 1; ++t)
        heights[t] = floor[left[t]] = std::max({heights[t], floor[left[t]], floor[right[t]]});

    std::vector<std::int32_t> order(n - 1), node(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [=](int s, int t) { return heights[s] < heights[t]; });

    const std::vector<double> h(heights, heights + n - 1), c(cosines, cosines + n - 1);
    Roots roots(n);
    std::iota(node.begin(), node.end(), 0);
    for (int t = 0; t < n - 1; ++t) {
        const int from = order[t];
        const std::int32_t a = roots.of(left[from]), b = roots.of(right[from]);
        std::int32_t* joined = out + 2 * (std::size_t)t;
        joined[0] = std::min(node[a], node[b]);
        joined[1] = std::max(node[a], node[b]);
        roots.parent[b] = a;
        node[a] = n + t;
        heights[t] = h[from];
        cosines[t] = c[from];
    }
}

void group_patches(int n, const std::int32_t* merges, int made, std::int32_t* groups) {
    std::vector<std::int32_t> top(n + made);
    std::iota(top.begin(), top.end(), 0);
    for (int t = made - 1; t >= 0; --t) {  // parents first
        const std::int32_t* joined = merges + 2 * (std::size_t)t;
        top[joined[0]] = top[n + t];
        top[joined[1]] = top[n + t];
    }
    std::vector<std::int32_t> number(n + made, -1);
    std::int32_t next = 0;
    for (int i = 0; i < n; ++i) {
        std::int32_t& group = number[top[i]];
        groups[i] = group < 0 ? group = next++ : group;
    }
}

}  // namespace adamerge
