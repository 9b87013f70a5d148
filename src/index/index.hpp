// The one interface of the concurrent structures, and its type-erased form.
//
// Keys and values are byte strings of any length, also empty, with zeros inside, one a prefix of
// another. Every operation opens its own scope; callers that need several under one open one
// around them. All operations are linearizable unless the structure says otherwise at its head.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "index/content.hpp"
#include "sync/scope.hpp"

namespace isotherm::index {

using sync::scope;

/// Called with the current value (nullopt: key absent) under the key's lock or in a retry loop, so
/// it must have no side effects but on its own captures, which it must reset when called again.
enum class action : unsigned char { keep, write, erase };
struct decision {
  action what = action::keep;
  /// For write; must live until the next call of the updater or the end of update().
  std::string_view value;
};
using updater = std::function<decision(std::optional<std::string_view> current)>;

/// Called for each pair of a scan, in order; false ends the scan. Views live until the caller's
/// scope closes.
using visitor = std::function<bool(std::string_view key, std::string_view value)>;

/// Answer of operations that may run out of memory, or meet a key or a value that the disk does not
/// give back (guide/unreadable.hpp); with both the structure is as it was.
enum class outcome : unsigned char { done, unchanged, no_memory, unreadable };

/// Any of the structures, held by pointers or by guides. Thread-safe.
class any_index {
 public:
  virtual ~any_index() = default;

  /// Value of `key`, valid until the caller's scope (passed to show that there is one) closes.
  virtual std::optional<std::string_view> find(const scope& inside, std::string_view key) = 0;
  /// Whether the key is there. Reads the key alone: of cold pairs the value stays where it is.
  virtual bool contains(const scope& inside, std::string_view key) = 0;
  /// done: inserted; unchanged: the key was there.
  virtual outcome insert(std::string_view key, const content& value) = 0;
  /// done: inserted or replaced.
  virtual outcome upsert(std::string_view key, const content& value) = 0;
  /// True when the key was there. Does not read the value. False also when it may be there, but a
  /// key on the way to it cannot be read (heap::read_watch tells).
  virtual bool erase(std::string_view key) = 0;
  /// Atomic read-modify-write of one key: done: written or erased; unchanged: decided to keep.
  virtual outcome update(std::string_view key, const updater& decide) = 0;

  /// Ordered structures: pairs with key >= `from` in byte order until the visitor ends it. Each
  /// pair was present at some moment of the scan; keys present throughout are seen once. Visited
  /// pairs count as used, beside them only keys that the search for `from` must read. Unordered
  /// ones visit nothing.
  virtual void scan(const scope& inside, std::string_view from, const visitor& visit) = 0;
  /// As scan(), downwards: pairs with key <= `from`, or all when there is none, greatest first.
  virtual void scan_back(const scope& inside, std::optional<std::string_view> from,
                         const visitor& visit) = 0;
  virtual bool is_ordered() const noexcept = 0;

  /// Every pair in pieces, in the structure's own order: visits the pairs of the piece at `cursor`
  /// (0 at first) and returns the next cursor, 0 at the end. A key present throughout is seen at
  /// least once (as Redis SCAN guarantees), also when the table grows in between. The pairs do not
  /// count as used (guide::peek()). Keys that cannot be read are left out, or visited as such
  /// (guides::is_unreadable()).
  virtual std::uint64_t walk(const scope& inside, std::uint64_t cursor, const visitor& visit) = 0;

  virtual std::size_t size() const noexcept = 0;  ///< keys; exact when no writer runs
  /// Removes all keys; those of concurrent writers may stay, and in some structures those that
  /// cannot be read.
  virtual void clear() = 0;
  virtual std::string_view name() const noexcept = 0;  ///< "hash-pugh"
  virtual bool is_managed() const noexcept = 0;
  virtual bool is_valid() = 0;  ///< walks the structure's invariants; no concurrent writers
};

/// Names that make() knows, in the order in which help texts list them.
const std::vector<std::string_view>& names();

/// A new, empty structure: `expected_keys` sizes hash tables. Fails on an unknown name, naming the
/// known ones.
base::result<std::unique_ptr<any_index>> make(std::string_view name, bool managed,
                                              std::size_t expected_keys = 0);

}  // namespace isotherm::index
