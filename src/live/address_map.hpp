// The address space of the heaps as cells of some pages each: what is in DRAM, how much of it the
// last window used, and how warm it is; and the objects of one page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collector/collector.hpp"
#include "heap/kind.hpp"
#include "live/view.hpp"

namespace isotherm::live {

/// An answer, or when to ask again.
struct map_answer {
  std::string json;  ///< empty: not now
  std::uint64_t retry_after_ms = 0;
};

/// For one thread, the page's. Looks at all pages with a third of a per cent of a processor at
/// most, at those of parts with as much again, so that a small part need not wait for a large
/// whole; and for objects, which are asked for page by page, with a twentieth.
class address_map {
 public:
  /// Cells of an answer at most, for each heap; a cell is a power of two of pages.
  static constexpr std::uint64_t kCells = 4096;
  /// Pages that an answer about a part of a heap covers at most.
  static constexpr std::uint64_t kPagesMost = std::uint64_t{1} << 20;

  explicit address_map(collector::object_collector& of) : collector_(of) {}

  /// All heaps, each as a whole, as new as that allows.
  map_answer overview();
  /// `count` pages of a heap from page `from` of it on; fewer where the heap ends.
  map_answer part(heap::kind where, std::uint64_t from, std::uint64_t count);
  /// Page `number` of a heap, with its objects.
  map_answer page(heap::kind where, std::uint64_t number);

 private:
  collector::object_collector& collector_;
  pace looking_{300}, zooming_{300}, searching_{20};
  std::string overview_;
};

}  // namespace isotherm::live
