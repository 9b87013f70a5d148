// The sources of the store's password.
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"

namespace isotherm::cli {

/// The environment variable that holds the password where no flag does.
inline constexpr const char* kPasswordVariable = "ISOTHERM_REQUIREPASS";

/// The operator's flags: at most one of the two.
struct password_flags {
  std::optional<std::string> word;  ///< --requirepass
  std::optional<std::string> file;  ///< --requirepass-file; "-" is the standard input
};

/// The password, empty when none is asked for: the flag's, the first line of the file, or the
/// variable's, which is taken out of the environment. A file and a variable must hold one, as an
/// empty one would leave the server open. Fails with one line.
base::result<std::string> find_password(const password_flags& given);

}  // namespace isotherm::cli
