// The index map of WiscSort as a building block (WiscSort 3.3): of each record of a file the
// first bytes of its key and where it lies, 16 bytes in memory. What works on keys alone (order,
// the first few, groups, joins) works on the map; values are read only when they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <isotherm/sort.hpp>

namespace isotherm {

/// The keys of one file, in memory, in an order; records by position in that order. Movable. Calls
/// on one map must not overlap. A map that has failed to read its file stays failed: each later
/// call returns the first error.
class index_map {
 public:
  /// Reads the keys of `input`. Of the options it heeds format, record_bytes, key_bytes,
  /// key_offset, separator, field, reverse, stable, memory_bytes and the numbers of threads. The
  /// order is at first the input's. Fails when the map needs more than the memory limit.
  static base::result<index_map> build(const std::string& input, const sort_options& options);

  index_map(index_map&& other) noexcept;
  index_map& operator=(index_map&& other) noexcept;
  ~index_map();

  /// Number of records.
  std::uint64_t size() const noexcept;

  /// Orders all records by key, equal keys as in the input.
  base::result<void> sort();
  /// Orders only the first `count` so: the rest stays behind them in no order. Cheaper than sort().
  base::result<void> sort_first(std::uint64_t count);

  /// Offset and size of the record at `position` (below size()) in the input. Of a last line
  /// without a newline the size counts one all the same.
  struct place {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  base::result<place> locate(std::uint64_t position) const;
  /// The key of the record at `position`. Reads the input only if the map does not hold all of it.
  base::result<std::vector<std::byte>> key(std::uint64_t position) const;
  /// The whole record at `position`, lines with their newline: late materialisation.
  base::result<std::vector<std::byte>> record(std::uint64_t position) const;

  /// Records with the same key, which stand together in a sorted map.
  struct group {
    std::uint64_t first;  ///< position of the first
    std::uint64_t count;
  };
  /// Hands `take` each run of equal keys, in the map's order, until it returns false. Reads no
  /// values, and of keys only what the map does not hold.
  base::result<void> for_each_group(const std::function<bool(group)>& take) const;

  /// Bytes of the input that key() and record() have read by now: what building costs not counted.
  std::uint64_t bytes_materialised() const noexcept;

 private:
  struct state;
  explicit index_map(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace isotherm
