// Objects of many sizes in a table of guides, driven as a store of records is.
#pragma once

#include <cstdint>
#include <vector>

#include "guide/guide.hpp"
#include "lab/workload/target.hpp"

namespace isotherm::library {

/// Returns the size of an object, in bytes: from 16 B to 1 MiB, so that each octave of sizes has as
/// many bytes.
std::size_t size_of(std::uint64_t number) noexcept;

/// The objects 0 .. count - 1, none made yet. A read looks at each page of an object, and checks
/// that it is the one that was asked for.
class objects final : public workload::target {
 public:
  explicit objects(std::uint64_t count) : guides_(count) {}

  base::result<std::unique_ptr<workload::session>> connect() override;
  bool can_scan() const noexcept override { return false; }
  place runs_in() const noexcept override { return place::caller; }

  /// Any thread; concurrent reads of `number` end as workload::answer::missing.
  void remove(std::uint64_t number) noexcept;
  std::uint64_t count() const noexcept { return guides_.size(); }

 private:
  std::vector<guide<bytes>> guides_;
};

}  // namespace isotherm::library
