// The lines at the front of an input that are not sorted, and the names of columns in them.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "os/files/file.hpp"
#include "sort/keys/fields.hpp"

namespace isotherm::sort {

/// The most bytes of a header in which the names of columns are looked for.
inline constexpr std::uint64_t kMostNames = 1 << 20;

/// Returns the size of the byte order mark at the front of `text`: 0 where there is none.
std::size_t order_mark_bytes(bytes_view text) noexcept;

/// Returns the bytes of the header lines at the front of `f`, which has `size` bytes: of as many
/// lines as options.header_lines says and the file has. A byte order mark in front of CSV belongs
/// to the header, also to one without lines. An error if a quote in the header is not closed.
base::result<std::uint64_t> find_header(const os::file& f, std::uint64_t size,
                                        const sort_options& options);

/// Returns the names of columns in the first row of `header`.
std::vector<std::string> column_names(bytes_view header, const sort_options& options);

/// Replaces the names of columns in the keys of `options` by their numbers, from the header of `f`,
/// which has `header_bytes` bytes. An error if a name is not there, or there twice.
base::result<sort_options> with_columns(const sort_options& options, const os::file& f,
                                        std::uint64_t header_bytes);

}  // namespace isotherm::sort
