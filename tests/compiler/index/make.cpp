// index::make() for the table whose pointers the compiler has made guides, in place of all indexes.
#include "compiler/index/chained_table.hpp"

namespace isotherm::index {

const std::vector<std::string_view>& names() {
  static const std::vector<std::string_view> all{chained::table::kName};
  return all;
}

base::result<std::unique_ptr<any_index>> make(std::string_view /*name*/, management /*kind*/,
                                              std::size_t /*expected_keys*/) {
  return std::make_unique<chained::table>();
}

// None of its nodes are placed.
const std::vector<std::string_view>& placed_names() {
  static const std::vector<std::string_view> none;
  return none;
}
base::result<placed_index> make_placed(std::string_view, management, placement::placer&) {
  return std::unexpected(base::error{"the nodes of this table are not placed", 0});
}

}  // namespace isotherm::index
