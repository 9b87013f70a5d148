// The figures of a window: how much of the memory that a program holds it used, and how its use
// spreads over pages (Dissertation 4.1, 4.3.1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pages/heat/strip.hpp"
#include "pages/memory_image.hpp"
#include "pages/objects/figures.hpp"
#include "pages/shadow.hpp"
#include "pages/source.hpp"

namespace isotherm::pages {

/// Sizes in bytes. Pages are of 4 KiB.
///   held = resident pages; touched + untouched = held, where residency is known
struct amounts {
  std::uint64_t mapped = 0;     ///< address space
  std::uint64_t resident = 0;   ///< pages in DRAM at the end of the window
  std::uint64_t untouched = 0;  ///< resident pages that were not used
  std::uint64_t touched = 0;    ///< pages that were used, resident at the end or not
  std::uint64_t used = 0;       ///< bytes that were used; of sources of grain::page: touched
  std::uint64_t lines = 0;      ///< lines of 64 bytes with a byte that was used, in bytes
  void add(const amounts& other) noexcept;
};

/// The distribution of touched pages over their utilization, in steps of a thousandth.
class utilization_histogram {
 public:
  static constexpr unsigned kSteps = 1000;
  /// Counts a page of which `used` of `size` bytes were used (0 < used <= size).
  void add(std::uint64_t used, std::uint64_t size) noexcept;
  std::uint64_t pages() const noexcept { return pages_; }
  /// Returns the share of pages of which at most `per_mille` thousandths were used; 0 of no pages.
  double share_up_to(unsigned per_mille) const noexcept;

 private:
  std::array<std::uint64_t, kSteps + 1> counts_{};
  std::uint64_t pages_ = 0;
};

/// The touched pages of one size.
struct page_figures {
  std::uint64_t pages = 0;
  std::uint64_t capacity = 0;  ///< bytes of the pages
  std::uint64_t used = 0;      ///< bytes
  std::uint64_t lines = 0;     ///< bytes of used lines
  utilization_histogram by_bytes;
  utilization_histogram by_lines;
  /// The share of the capacity that was used (Dissertation 4.1); 0 of no pages.
  double utilization() const noexcept;
};

/// All mappings of one name and kind.
struct mapping_figures {
  mapping_kind kind = mapping_kind::unknown;
  std::string name;
  amounts sizes;
};

struct window_report {
  double seconds = 0;
  std::uint64_t accesses = 0;
  bool knows_resident = false;
  amounts all;
  std::array<amounts, kMappingKinds> by_kind;
  std::vector<mapping_figures> mappings;  ///< largest first, by what is resident, then touched
  page_figures small;                     ///< as if all pages had 4 KiB
  page_figures huge;                      ///< as if all pages had 2 MiB
  page_figures real;                      ///< of the size that each page has in its mapping
  std::uint64_t resident_in_huge = 0;     ///< bytes of `all.resident` in real pages of 2 MiB
  std::optional<object_figures> objects;  ///< where the source traces allocations
  heat_strip heat;

  /// Bytes that could leave DRAM as the memory lies: resident pages that were not used.
  std::uint64_t could_leave() const noexcept { return all.untouched; }
  /// Bytes that could leave beside these, if used lines lay together.
  std::uint64_t could_leave_in_order() const noexcept;
};

/// Counts the marks of the window's area. Errors: the shadow cannot be read.
base::result<window_report> measure(const shadow& marks, const window& ended);

}  // namespace isotherm::pages
