#include "base/error.hpp"

#include <system_error>

namespace isotherm::base {

error system_error(std::string subject, int code) {
  subject += ": ";
  subject += std::generic_category().message(code);
  return error{std::move(subject), code};
}

}  // namespace isotherm::base
