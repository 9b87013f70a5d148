// The memory of one window by address, in pieces so few that those of all windows can be kept: a
// column of the heat map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pages/ascending_search.hpp"
#include "pages/memory_image.hpp"

namespace isotherm::pages {

/// All mappings of one name and kind.
struct memory_label {
  mapping_kind kind = mapping_kind::unknown;
  std::string name;
  auto operator<=>(const memory_label&) const = default;
};

/// Memory of one label within addresses [begin, begin + step).
struct heat_cell {
  std::size_t label = 0;    ///< position in heat_strip::labels
  std::uint64_t begin = 0;  ///< a multiple of the strip's step
  std::uint64_t held = 0;   ///< bytes of pages that are resident, or were used and given back
  std::uint64_t used = 0;   ///< bytes
};

struct heat_strip {
  std::uint64_t step = 0;  ///< bytes, a power of two of at least 4 KiB
  std::vector<memory_label> labels;
  std::vector<heat_cell> cells;  ///< ascending by label and address; none holds nothing
};

/// Whether a page that was used is in DRAM at the end of the window.
enum class page_state : unsigned char { held, given_back };

/// Makes a window's strip. The image outlives it.
class heat_strip_builder {
 public:
  explicit heat_strip_builder(const memory_image& image);
  /// Adds a page of 4 KiB of which `used` bytes were used. To be called in ascending order.
  void add_touched(std::uint64_t address, std::uint64_t used, page_state state);
  /// Once, last.
  heat_strip finish();

 private:
  struct amounts_of_cell {
    std::uint64_t held = 0, used = 0;
  };
  using cells = std::map<std::pair<std::size_t, std::uint64_t>, amounts_of_cell>;

  void add_resident(const memory_image& image);
  void add(std::size_t label, std::uint64_t address, std::uint64_t held, std::uint64_t used);
  /// Doubles the step.
  void widen();
  /// Returns the position of the label of a mapping, or of none where `at` is past the last.
  std::size_t label_of(std::size_t at) const { return label_of_mapping_[at]; }

  heat_strip made_;
  std::vector<std::size_t> label_of_mapping_;  // the last one: of addresses in no mapping
  ascending_search<mapping> search_;
  cells cells_;
};

}  // namespace isotherm::pages
