#include "harness/lasting_index.hpp"

namespace isotherm::harness {

base::result<index::any_index*> make_lasting_index(std::string_view name, index::management kind,
                                                   std::uint64_t expected_keys) {
  static index::any_index* kept = nullptr;  // where leak checkers find it
  auto made = index::make(name, kind, expected_keys);
  if (!made) return std::unexpected(made.error());
  return kept = made->release();
}

}  // namespace isotherm::harness
