// Hands out a job's memory piece by piece, each aligned to 64. Without memory it only counts.
#pragma once

#include "align.hpp"
#include "simd.hpp"

namespace adamerge::ADAMERGE_ISA {
namespace {

class Memory {
  public:
    explicit Memory(unsigned char* memory = nullptr) : start((std::uintptr_t)memory), next(start) {}

    template <class T> T* take(std::size_t count) {
        T* piece = reinterpret_cast<T*>(next);
        next += round_up(count * sizeof(T), 64);
        return piece;
    }
    std::size_t bytes() const { return next - start; }

  private:
    std::uintptr_t start, next;
};

}  // namespace
}  // namespace adamerge::ADAMERGE_ISA
