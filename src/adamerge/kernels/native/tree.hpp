// What is done with a tree once it is linked: O(n log n) work that needs no special instructions.
#pragma once

#include <cstdint>

namespace adamerge {

// Sorts merges by height and renumbers them as SciPy does: merge t makes node n + t, the smaller
// node comes first. left, right (n-1,) name a patch of each side, children before parents; out
// (n-1, 2).
void sort_tree(int n, const std::int32_t* left, const std::int32_t* right, double* heights,
               double* cosines, std::int32_t* out);

// The group of every patch after the first `made` merges of a tree (n-1, 2); groups are numbered by
// their first patch.
void group_patches(int n, const std::int32_t* merges, int made, std::int32_t* groups);

}  // namespace adamerge
