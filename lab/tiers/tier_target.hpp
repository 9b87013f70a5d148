// An index as the target of a workload, with keys in the order of their numbers: neighbours in
// number are neighbours in the tree, as a contiguous hot region needs (SINLK, 6.1).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "index/index.hpp"
#include "lab/workload/target.hpp"

namespace isotherm::lab {

/// Bytes of a key, 8 or more, of which the last eight are its number, and of a value, 8 or more.
struct tier_record {
  std::size_t key_size = 8;
  std::size_t value_size = 8;
};

/// Returns the key of record `number`, of `bytes` bytes: big-endian, so that the order of keys is
/// that of numbers.
std::string tier_key(std::uint64_t number, std::size_t bytes);

/// Drives `index`, which must outlive it and its sessions. Records 0 .. keys - 1 are loaded in an
/// order in which neighbours in number come far apart, so that neighbours in memory are strangers
/// in the tree, as after the life of a tree.
class tier_target final : public workload::target {
 public:
  tier_target(index::any_index& index, const tier_record& format, std::uint64_t keys)
      : index_(index), format_(format), keys_(keys) {}
  base::result<std::unique_ptr<workload::session>> connect() override;
  bool can_scan() const noexcept override { return true; }
  place runs_in() const noexcept override { return place::caller; }

 private:
  index::any_index& index_;
  const tier_record format_;
  const std::uint64_t keys_;
};

}  // namespace isotherm::lab
