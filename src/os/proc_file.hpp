// Reading the small text files of /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::os {

/// The file's text, or "" when it cannot be read.
std::string read_proc_file(const char* path);

/// The unsigned number that follows `label` and blanks; nullopt when there is none.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view label);

}  // namespace isotherm::os
