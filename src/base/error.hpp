// Expected failures: a sentence that says what to do, and errno where one exists.
#pragma once

#include <expected>
#include <string>

namespace isotherm::base {

/// A failure, told in one line for a person; `code` is an errno value or 0.
struct error {
  std::string message;
  int code = 0;
};

/// A value, or the reason why there is none.
template <class T>
using result = std::expected<T, error>;

/// The error "`subject`: No space left on device" (the text of `code`), with the errno `code` kept.
error system_error(std::string subject, int code);

}  // namespace isotherm::base
