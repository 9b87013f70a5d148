// Figures: numbers that a process reports of itself. A part of the program that counts something
// has a table of them, and each report (INFO, ISOTHERM STATS, JSON, /metrics) goes through the
// tables, so that a new row is in each report.
#pragma once

#include <cstdint>
#include <string_view>

namespace isotherm::base {

/// The words of a figure.
struct figure {
  enum class course : std::uint8_t {
    gauge,
    counter  ///< only grows while the process lives
  };
  std::string_view name;
  std::string_view unit;  ///< empty: none, as of a share
  std::string_view help;
  course over_time = course::gauge;
};

/// A row of a table: a figure, and the function that reads it from a Source.
template <class Source, class Value = std::uint64_t>
struct figure_of : figure {
  Value (*get)(const Source&);
};

/// Reads a member of a source, for figure_of::get. A function, since gcc 12 makes no pointer of a
/// generic lambda in a variable template.
template <auto member, class Source>
constexpr auto kMember(const Source& source) noexcept {
  return source.*member;
}

}  // namespace isotherm::base
