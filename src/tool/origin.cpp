#include "tool/origin.hpp"

#include <fmt/chrono.h>

#include <ctime>
#include <string>
#include <string_view>

#include "os/machine.hpp"

namespace isotherm::tool {
namespace {

bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

/// Quotes a word as a shell takes it.
std::string quoted(const std::string& word) {
  if (is_plain(word)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return text + "'";
}

/// The program by its name alone: its folder is of no use elsewhere.
std::string command_line() {
  auto words = os::command_words();
  if (words.empty()) return {};
  words.front().erase(0, words.front().rfind('/') + 1);
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

}  // namespace

nlohmann::json origin() {
  const os::machine machine = os::this_machine();
  return {{"command", command_line()},
          {"processor", machine.processor},
          {"processors", machine.processors},
          {"memory_bytes", machine.memory_bytes},
          {"system", machine.system},
          {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))}};
}

std::string text_of(const nlohmann::json& result, int indent) {
  return result.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace isotherm::tool
