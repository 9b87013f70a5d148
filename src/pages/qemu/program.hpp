// The program that is to run under observation, and the files that this takes.
#pragma once

#include <string>

#include "base/error.hpp"

namespace isotherm::pages {

/// Returns the path of the program that a shell would run for `name`. Errors, in one line that says
/// what to do: there is none, it may not be executed, it is a script, it has 32 bits or is for
/// another processor, it would get another user's rights (set-user-ID), which QEMU does not give.
base::result<std::string> find_program(const std::string& name);

/// Returns the path of user-mode QEMU. Error: it is not installed, which names the package.
base::result<std::string> find_qemu();

/// Returns whether the program loads shared libraries, as its file says; a static one does not.
bool loads_libraries(const std::string& path);

/// Returns the path of the plugin that QEMU is to load, beside this program's executable: as built,
/// or as installed. Error: it is in neither place.
base::result<std::string> find_plugin();

/// Returns the path of the library that the program is to load, so that its objects are known.
/// Error: as of find_plugin().
base::result<std::string> find_preload();

}  // namespace isotherm::pages
