#include "cli/serve/password.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace isotherm::cli {

namespace {

/// The longest argument that a client may send before it has given the password.
constexpr std::size_t kLongestPassword = 16384;

std::unexpected<base::error> refuse(std::string message) {
  return std::unexpected(base::error{std::move(message)});
}

base::result<std::string> check(std::string word, std::string_view source) {
  if (word.ends_with('\r')) word.pop_back();
  if (word.empty()) {
    return refuse(fmt::format("{} holds no password: write one on the first line", source));
  }
  if (word.size() > kLongestPassword) {
    return refuse(
        fmt::format("the password in {} is longer than {} bytes, which no client can send", source,
                    kLongestPassword));
  }
  return word;
}

base::result<std::string> read_first_line(const std::string& path) {
  std::string line;
  if (path == "-") {
    std::getline(std::cin, line);
    return check(std::move(line), "standard input");
  }
  errno = 0;
  std::ifstream file(path);
  std::getline(file, line);
  if (!file && errno != 0) {
    return std::unexpected(base::system_error("cannot read --requirepass-file " + path, errno));
  }
  return check(std::move(line), path);
}

}  // namespace

base::result<std::string> find_password(const password_flags& given) {
  const char* variable = std::getenv(kPasswordVariable);
  const std::optional<std::string> inherited =
      variable ? std::optional<std::string>(variable) : std::nullopt;
  ::unsetenv(kPasswordVariable);  // no child is to inherit it
  if (given.word) return *given.word;
  if (given.file) return read_first_line(*given.file);
  if (!inherited) return std::string();
  return check(*inherited, kPasswordVariable);
}

}  // namespace isotherm::cli
