// Owner, rights and extended attributes that a file takes over from the one that it replaces.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// Gives `to` the owner, group, mode, access control list and extended attributes of the file at
/// `path`, if there is one, but not those that let its contents act for another user
/// (set-user-ID, capabilities), signatures of the contents, and the attribute `but`. If the process
/// may not give the file away, it keeps the file, and no user gets more rights than before.
/// Attributes that the process may not set are left out.
base::result<void> take_attributes(const file& to, const std::string& path, std::string_view but);

}  // namespace isotherm::os
