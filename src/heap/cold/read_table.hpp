// The table of what is told of reads from COLD past its mapping: ISOTHERM STATS, INFO and the live
// page go through it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heap/cold/reader.hpp"

namespace isotherm::heap {

struct cold_read_field {
  enum class course : std::uint8_t {
    total,  ///< only grows while the process lives
    now
  };
  std::string_view name;
  std::string_view unit;
  std::string_view help;
  course over_time;
  std::uint64_t (*get)(const cold_read_statistics&) noexcept;
};
std::span<const cold_read_field> cold_read_table() noexcept;

}  // namespace isotherm::heap
