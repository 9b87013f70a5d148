// A chained hash table of three kinds, one in each program: movable values by guides that are
// written by hand, the same by isotherm-clang.so, and plain pointers (table.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace tables {

struct table;
struct table_deleter {
  void operator()(table* made) const noexcept;
};
using table_pointer = std::unique_ptr<table, table_deleter>;

/// Has these keys, each its own value, and as many buckets. Without locks: for one thread.
table_pointer make_table(std::span<const std::uint64_t> keys);
/// Gives each of the keys a new value, one operation a key.
void put_all(table& into, std::span<const std::uint64_t> keys);
/// Sum of what the keys have, one operation a key.
std::uint64_t sum_of(table& in, std::span<const std::uint64_t> keys);

}  // namespace tables
