// The figures of a trace for a person, for a machine and as a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lab/traces/analyze/figures.hpp"

namespace isotherm::traces {

/// Some sixty lines. `name` is the file's.
std::string to_text(const figures& found, const std::string& name);
/// One object, with all figures; the rank curve at ranks 1, 2, 5, 10, 20 ...
nlohmann::ordered_json to_json(const figures& found, const std::string& name);

/// Number of the ranks 1, 2, 5, 10 .. that `keys` keys have, and the uses there.
struct rank_point {
  std::uint64_t rank;  ///< from 1, of the followed keys
  std::uint64_t uses;
};
std::vector<rank_point> rank_curve(const figures& found);

/// Shade of a cell of the heat map, 0..1: 0 without uses, else by the logarithm of its uses between
/// the least and the greatest of the map.
class shades {
 public:
  explicit shades(const heat_map& map) noexcept;
  double operator()(double uses) const noexcept;

 private:
  double least_ = 0, greatest_ = 0;  ///< logarithms
};

}  // namespace isotherm::traces
