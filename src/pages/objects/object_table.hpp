// The live objects of the observed program, by their addresses.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "pages/objects/allocation.hpp"

namespace isotherm::pages {

/// An object that the program has allocated and not freed.
struct object {
  std::uint64_t address = 0;
  std::uint64_t asked = 0;    ///< bytes
  std::uint64_t usable = 0;   ///< bytes, which the allocator rounds `asked` up to
  std::uint64_t made_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint32_t site = 0;     ///< index in object_table::sites()
  std::uint64_t end() const noexcept { return address + usable; }
};

/// The call stack of an allocation: return addresses, innermost first.
struct call_site {
  std::vector<std::uint64_t> frames;
};

/// Owned by one thread.
class object_table {
 public:
  /// Takes all events that the log holds. The other side may append meanwhile.
  void take(allocation_log& log);
  void apply(const allocation_event& event);

  /// Returns the live objects in the order of their addresses. They do not overlap: where an
  /// allocator freed one unseen and gave its memory away, only the newer one is left. Takes
  /// O(n log n) for n objects.
  std::vector<object> ascending() const;
  const std::vector<call_site>& sites() const noexcept { return sites_; }

 private:
  std::uint32_t site_of(const allocation_event& event);

  std::unordered_map<std::uint64_t, object> live_;
  std::vector<call_site> sites_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of sites, by their frames' bytes
};

}  // namespace isotherm::pages
