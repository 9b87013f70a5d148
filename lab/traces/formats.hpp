// The formats, and the one that a file has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lab/traces/columns.hpp"

namespace isotherm::traces {

/// The parts of a format that its lines, or its records, need.
enum class kind_of_format : std::uint8_t {
  header,   ///< CSV whose first line names the columns
  lines,    ///< text with fixed columns
  numbers,  ///< binary: a list of keys of one size
  oracle    ///< libCacheSim's binary oracleGeneral
};

struct format {
  std::string_view name;
  std::string_view about;  ///< for the help
  kind_of_format kind;
  // For lines:
  std::string_view columns = {};
  char separator = ',';
  double time_unit_us = 1'000'000;
  // For numbers:
  unsigned bytes = 0;
  bool is_big_endian = false;
};

std::span<const format> formats() noexcept;
/// The format of that name; null: there is none.
const format* find_format(std::string_view name) noexcept;
/// The layout of a format of fixed columns.
layout layout_of(const format& fixed);
/// Guesses the format from the beginning of a file's contents. Null where they leave it open, as a
/// binary list of keys does.
const format* guess_format(std::string_view beginning) noexcept;

}  // namespace isotherm::traces
