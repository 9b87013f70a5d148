// How failures of the library reach Python.
#pragma once

#include <utility>

#include "base/error.hpp"

namespace isotherm::python {

/// Thrown to become an isotherm.Error, with the message and the code of the library's error.
struct failure {
  base::error error;
};

/// Returns the value of `r`, or throws its error as a failure.
template <class T>
T value_of(base::result<T> r) {
  if (!r) throw failure{std::move(r.error())};
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

}  // namespace isotherm::python
