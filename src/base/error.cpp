#include "base/error.hpp"

#include <system_error>

namespace isotherm::base {

error system_error(std::string what, int code) {
  what += ": ";
  what += std::generic_category().message(code);
  return error{std::move(what), code};
}

}  // namespace isotherm::base
