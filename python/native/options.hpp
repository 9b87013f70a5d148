// Options of sorts, by the names of the tool's options.
#pragma once

#include <nanobind/nanobind.h>
#include <isotherm/sort.hpp>

#include <cstdint>

namespace isotherm::python {

/// Makes options of the keyword arguments `given`. Throws a TypeError for a name or a type that
/// does not fit, and a failure for a value that does not.
sort_options options_of(const nanobind::dict& given);

/// Returns the number of bytes that `value`, a number or a text as '500mb', says.
std::uint64_t bytes_of(nanobind::handle value);

}  // namespace isotherm::python
