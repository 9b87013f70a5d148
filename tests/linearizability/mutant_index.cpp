// index::make() for one structure of which one step is left out (mutants.py), in place of all.
#include "index/adapter.hpp"
#include "mutant.hpp"

namespace isotherm::index {

const std::vector<std::string_view>& names() {
  static const std::vector<std::string_view> all{mutant<managed>::kName};
  return all;
}

base::result<std::unique_ptr<any_index>> make(std::string_view /*name*/, management /*kind*/,
                                              std::size_t expected_keys) {
  return std::make_unique<adapter<mutant, managed>>(expected_keys);
}

// Mutants place no nodes.
const std::vector<std::string_view>& placed_names() {
  static const std::vector<std::string_view> none;
  return none;
}
base::result<placed_index> make_placed(std::string_view, management, placement::placer&) {
  return std::unexpected(base::error{"a mutant places no nodes", 0});
}

}  // namespace isotherm::index
