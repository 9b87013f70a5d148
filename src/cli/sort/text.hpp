// Words that the sorting commands share: sizes, progress, reports.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <string>

namespace isotherm::cli {

/// "64M", "1.5GiB", "4096": bytes, in powers of 1024. Other text ends the command.
std::uint64_t parse_size(const std::string& text);

/// The report as JSON, one object.
std::string to_json(const sort_report& report);
/// The report for a person.
std::string to_text(const sort_report& report);

}  // namespace isotherm::cli
