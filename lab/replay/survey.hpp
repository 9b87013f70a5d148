// The first pass over a trace: its keys, and what a replay must know of them before.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/replay/key_numbers.hpp"
#include "lab/replay/options.hpp"
#include "lab/traces/source.hpp"

namespace isotherm::replay {

/// Makes the key that a store gets: the trace's, filled up with 'x' to the recorded size. A thread
/// has its own; the key is valid until the next one.
class stored_key {
 public:
  static constexpr std::uint32_t kLongest = 64 << 10;  ///< bytes, of filled ones

  std::string_view operator()(const traces::request& next) {
    if (next.key_size <= next.key.size() || next.key_size > kLongest) return next.key;
    text_.assign(next.key);
    text_.resize(next.key_size, 'x');
    return text_;
  }

 private:
  std::string text_;
};

/// The result of that pass.
struct survey {
  key_numbers numbers;
  std::vector<std::uint32_t> first_sizes;  ///< of each key's value, the first that is told; or 0
  std::vector<bool> is_read_first;         ///< whether a key's first request is a get
  std::uint64_t requests = 0;              ///< that are replayed
  std::array<std::uint64_t, traces::kOperations> by_kind{};
  std::uint64_t first_us = 0, last_us = 0;
  std::string format;
  bool has_times = false;
  traces::malformed_lines malformed;
  std::uint64_t key_bytes = 0, value_bytes = 0;  ///< of all keys, with the sizes above

  std::uint64_t keys() const noexcept { return numbers.size(); }
  /// Size of the value of a key that is written without one.
  std::uint32_t size_of(std::uint32_t number, std::uint32_t otherwise) const noexcept {
    return first_sizes[number] > 0 ? first_sizes[number] : otherwise;
  }
  std::uint64_t keys_read_first() const noexcept;
  /// Memory that the replay takes for all this.
  std::uint64_t bytes() const noexcept;
};

/// Reads the trace once. Errors: it cannot be read, or the store of `asked` cannot replay it.
base::result<survey> look_through(const replay_options& asked);

}  // namespace isotherm::replay
