// Numbers for the keys of a trace, by their hashes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace isotherm::replay {

/// Hash that stands for a key. Two keys of a trace with one hash would be taken for one: of a
/// hundred million keys that has a chance of 1 in 3,700.
inline std::uint64_t hash_of(std::string_view key) noexcept {
  return base::mix64(std::hash<std::string_view>{}(key));
}

/// A table with open addressing, at most two thirds full: 18 to 36 bytes a key. find() is
/// thread-safe while no add() runs.
class key_numbers {
 public:
  /// Returns the number of the key with this hash: the keys are numbered in the order in which they
  /// come. The number of a new key is the size() before.
  std::uint32_t add(std::uint64_t hash) {
    if (3 * (size_ + 1) > 2 * hashes_.size()) grow();
    const std::size_t at = slot_of(hash);
    if (hashes_[at] == kEmpty) {
      hashes_[at] = used(hash);
      numbers_[at] = size_++;
    }
    return numbers_[at];
  }
  std::optional<std::uint32_t> find(std::uint64_t hash) const noexcept {
    if (hashes_.empty()) return std::nullopt;
    const std::size_t at = slot_of(hash);
    return hashes_[at] == kEmpty ? std::nullopt : std::optional(numbers_[at]);
  }
  std::uint32_t size() const noexcept { return size_; }
  std::uint64_t bytes() const noexcept { return hashes_.size() * (sizeof(std::uint64_t) + 4); }

 private:
  static constexpr std::uint64_t kEmpty = 0;
  static std::uint64_t used(std::uint64_t hash) noexcept { return hash == kEmpty ? 1 : hash; }

  /// The slot that holds the hash, or in which it would be put.
  std::size_t slot_of(std::uint64_t hash) const noexcept {
    const std::size_t mask = hashes_.size() - 1;
    std::size_t at = hash & mask;
    while (hashes_[at] != kEmpty && hashes_[at] != used(hash)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    key_numbers larger;
    const std::size_t slots = hashes_.empty() ? 1024 : 2 * hashes_.size();
    larger.hashes_.resize(slots);
    larger.numbers_.resize(slots);
    larger.size_ = size_;
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      if (hashes_[i] == kEmpty) continue;
      const std::size_t at = larger.slot_of(hashes_[i]);
      larger.hashes_[at] = hashes_[i];
      larger.numbers_[at] = numbers_[i];
    }
    *this = std::move(larger);
  }

  std::vector<std::uint64_t> hashes_;  ///< a power of two
  std::vector<std::uint32_t> numbers_;
  std::uint32_t size_ = 0;
};

}  // namespace isotherm::replay
