#include "sort/algorithms/algorithm.hpp"

#include <fmt/format.h>

namespace isotherm::sort {

base::result<void> take_all_options(const sort_options&) { return {}; }

base::result<void> take_whole_fixed_records(const sort_options& o) {
  if (o.format == record_format::fixed && o.writes_all()) return {};
  return std::unexpected(
      base::error{fmt::format("--algorithm {} sorts fixed records, all of them: without --klv, "
                              "lines, --unique, --top and --count",
                              name(o.algorithm)),
                  0});
}

}  // namespace isotherm::sort
