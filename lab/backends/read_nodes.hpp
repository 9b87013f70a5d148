// How many reads found their value on a fast memory node.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "lab/bench/index_target.hpp"

namespace isotherm::lab {

/// Asks the kernel for the node of each 32nd value that is read: of its first byte's page, after
/// the read. A page that the read itself has moved counts where it has come to. Thread-safe.
class read_nodes final : public read_observer {
 public:
  explicit read_nodes(std::vector<unsigned> fast) : fast_(std::move(fast)) {}

  void see(std::string_view value) noexcept override;

  struct sums {
    std::uint64_t seen = 0;  ///< values whose node was asked for
    std::uint64_t fast = 0;  ///< of them, on a fast node
    sums operator-(const sums& earlier) const noexcept {
      return {.seen = seen - earlier.seen, .fast = fast - earlier.fast};
    }
  };
  sums counts() const noexcept {
    return {.seen = seen_.load_relaxed(), .fast = on_fast_.load_relaxed()};
  }

 private:
  std::vector<unsigned> fast_;
  base::atomic<std::uint64_t> reads_{0}, seen_{0}, on_fast_{0};
};

}  // namespace isotherm::lab
