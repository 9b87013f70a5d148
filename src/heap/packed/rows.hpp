// Side tables of a packed range: a row for each of its extents, outside of the range.
#pragma once

#include <cstddef>

#include "base/error.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {

/// Makes a table of `count` rows, zeroed, that lives as long as the process. Its pages take memory
/// once they are written to.
template <class Row>
base::result<Row*> make_rows(std::size_t count) {
  const std::size_t page = os::page_bytes();
  const std::size_t bytes = (count * sizeof(Row) + page - 1) / page * page;
  auto table = os::reserve(bytes, page);
  if (!table) return std::unexpected(table.error());
  if (auto usable = os::commit(*table, bytes); !usable) return std::unexpected(usable.error());
  return reinterpret_cast<Row*>(*table);
}

}  // namespace isotherm::heap
