// The origin of a result.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace isotherm::tool {

/// "origin" of a result: command (as a shell takes it; "" without /proc), processor, processors,
/// memory_bytes, system and date (of now, UTC). Any thread.
nlohmann::json origin();

/// A result as text, in one line or indented by so many spaces. Bytes that are no UTF-8, as a
/// command line may have, are replaced: the result is not lost for them.
std::string text_of(const nlohmann::json& result, int indent = -1);

}  // namespace isotherm::tool
