#include "harness/lasting_index.hpp"

namespace isotherm::harness {

base::result<index::any_index*> make_lasting_index(std::string_view name, index::management kind,
                                                   std::uint64_t expected_keys) {
  static index::any_index* kept = nullptr;  // where leak checkers find it
  auto made = index::make(name, kind, expected_keys);
  if (!made) return std::unexpected(made.error());
  return kept = made->release();
}

base::result<index::placed_index*> make_lasting_placed(std::string_view name,
                                                       index::management kind,
                                                       placement::placer& chooser) {
  static index::placed_index* kept = nullptr;
  auto made = index::make_placed(name, kind, chooser);
  if (!made) return std::unexpected(made.error());
  return kept = new index::placed_index(std::move(*made));
}

}  // namespace isotherm::harness
