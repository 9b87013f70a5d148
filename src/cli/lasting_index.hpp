// The index of a program that ends with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "index/index.hpp"

namespace isotherm::cli {

/// As index::make(), but the index lives until the process ends and is never taken apart: that
/// would read every cold page back from its disk, to free what the system takes back by itself. For
/// the one index of a program.
inline base::result<index::any_index*> make_lasting_index(std::string_view name, bool managed,
                                                          std::uint64_t expected_keys) {
  static index::any_index* kept = nullptr;  // where leak checkers find it
  auto made = index::make(name, managed, expected_keys);
  if (!made) return std::unexpected(made.error());
  return kept = made->release();
}

}  // namespace isotherm::cli
