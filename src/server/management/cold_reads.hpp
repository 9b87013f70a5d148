// The table of what is told of reads from COLD past its mapping, for INFO and ISOTHERM STATS.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heap/cold/reader.hpp"

namespace isotherm::server {

struct cold_read_field {
  std::string_view name;
  std::string_view help;
  std::uint64_t (*get)(const heap::cold_read_statistics&) noexcept;
};
std::span<const cold_read_field> cold_read_table() noexcept;

}  // namespace isotherm::server
