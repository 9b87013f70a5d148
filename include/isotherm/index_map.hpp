// The index map of WiscSort as a building block (WiscSort 3.3): for each record of a file or of
// memory, the first bytes of its key and its position, in 16 bytes of memory. Work on keys alone
// (order, the first few, groups, joins) needs only the map; values are read on demand.
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

/// The keys of one input in memory, in some order; records are named by their position in that
/// order. Movable. Calls on one map must not overlap. After a failed read of the file, each later
/// call returns that first error.
class index_map {
 public:
  /// Reads the keys of `input`, in the order of the input. The options that matter are format,
  /// record_bytes, key_bytes, key_offset, number, separator, csv, keys, line_end, header_lines
  /// (which the map leaves out), random_seed, reverse, stable, memory_bytes and the numbers of
  /// threads. Fails when the map needs more than the memory limit.
  static base::result<index_map> build(const std::string& input, const sort_options& options);
  /// Reads the keys of the records that lie in `input`, which must stay valid and unchanged as long
  /// as the map lives. It counts in memory_bytes as a mapped file does. An error if
  /// options.header_lines is not 0.
  static base::result<index_map> over(std::span<const std::byte> input,
                                      const sort_options& options);

  index_map(index_map&& other) noexcept;
  index_map& operator=(index_map&& other) noexcept;
  ~index_map();

  /// Number of records.
  std::uint64_t size() const noexcept;

  /// Orders all records by key, equal keys as in the input.
  base::result<void> sort();
  /// Orders only the first `count` records so; the others follow in no order. Cheaper than sort().
  base::result<void> sort_first(std::uint64_t count);

  /// Offset and size in bytes of the record at `position` (below size()) in the input. The size of
  /// a last line without a newline includes one.
  struct place {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  base::result<place> locate(std::uint64_t position) const;
  /// Locates the records at as many positions as `places` has room for, from `first` on.
  base::result<void> locate(std::uint64_t first, std::span<place> places) const;
  /// Returns the bytes of all records together, lines with their ends. Requires: over() made the
  /// map.
  std::uint64_t record_bytes() const noexcept;
  /// Writes all records in the map's order, by several threads. Requires: over() made the map and
  /// `target`, which does not overlap the input, has record_bytes() bytes.
  base::result<void> gather(std::span<std::byte> target) const;
  /// The key of the record at `position`. Reads the input only if the map lacks a part of the key.
  base::result<std::vector<std::byte>> key(std::uint64_t position) const;
  /// The whole record at `position`, a line with its newline: late materialisation.
  base::result<std::vector<std::byte>> record(std::uint64_t position) const;

  /// Adjacent records with the same key.
  struct group {
    std::uint64_t first;  ///< position of the first
    std::uint64_t count;
  };
  /// Calls `take` with each group of equal keys, in the map's order, until it returns false. In a
  /// sorted map each key has one group. Reads no values, and keys only where the map lacks a part
  /// of them.
  base::result<void> for_each_group(const std::function<bool(group)>& take) const;

  /// Bytes of the input that key() and record() have read so far; build() is not counted.
  std::uint64_t bytes_materialised() const noexcept;

 private:
  struct state;
  explicit index_map(std::unique_ptr<state> s) noexcept;
  static base::result<index_map> load(std::unique_ptr<state> s, const std::string& name);
  std::unique_ptr<state> state_;
};

}  // namespace isotherm
