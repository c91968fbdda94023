#pragma once

#include <cstddef>

namespace adamerge {

// The least multiple of `to` that is at least n.
inline std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace adamerge
