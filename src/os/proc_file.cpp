#include "os/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace isotherm::os {
namespace {

std::string_view skip_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

std::string read_proc_file(const char* path) {
  std::string text;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  return leading_number(skip_blanks(text.substr(at + label.size())));
}

}  // namespace isotherm::os
