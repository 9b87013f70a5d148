// The one interface of the concurrent structures, and its type-erased form.
//
// Keys and values are byte strings of any length, also empty, with zeros inside, one a prefix of
// another. Every operation takes an access (guide/access.hpp), which has a scope open: addresses
// that several operations give are valid together in one access. An operation begins the access
// anew: afterwards its result() is that of this operation. All operations are linearizable unless
// the head of the structure's file says otherwise.
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
#include "guide/access.hpp"
#include "index/content.hpp"
#include "placement/placed_tree.hpp"
#include "placement/placer.hpp"

namespace isotherm::index {

using sync::scope;

/// The action that update() is to take on a key.
enum class action : unsigned char { keep, write, erase };
struct decision {
  action act = action::keep;
  /// For write; must live until the next call of the updater or the end of update().
  std::string_view value;
};
/// Called with the current value (nullopt: the key is absent) under the key's lock or in a retry
/// loop. It must have no side effects except on its own captures, which it must reset when called
/// again.
using updater = std::function<decision(std::optional<std::string_view> current)>;

/// Called for each pair of a scan, in order; false ends the scan. Views live as long as the access.
using visitor = std::function<bool(std::string_view key, std::string_view value)>;
/// Called for each pair of a walk; false ends the piece. nullopt: the key could not be had, and
/// then nothing is known of the value, or the value has left DRAM, or cannot be read.
using pair_visitor =
    std::function<bool(std::optional<std::string_view> key, std::optional<std::string_view> value)>;

/// Result of operations that may run out of memory, or need a key or a value that could not be had
/// (access::result()); in both cases the structure is as it was.
enum class outcome : unsigned char { done, unchanged, no_memory, incomplete };

/// Any of the structures, held by pointers or by guides. Thread-safe.
class any_index {
 public:
  virtual ~any_index() = default;

  /// Value of `key`, valid as long as the access. Also nullopt when the access is not complete
  /// afterwards.
  virtual std::optional<std::string_view> find(access& inside, std::string_view key) = 0;
  /// Whether the key is present. Reads only keys: a cold value stays where it is. Also false when
  /// the access is not complete afterwards.
  virtual bool contains(access& inside, std::string_view key) = 0;
  /// done: inserted; unchanged: the key was present.
  virtual outcome insert(access& inside, std::string_view key, const content& value) = 0;
  /// done: inserted or replaced. Does not read the value.
  virtual outcome upsert(access& inside, std::string_view key, const content& value) = 0;
  /// True when the key was present. Does not read the value. False with an access that is not
  /// complete: the key may be present. True with one: it was removed, and the structure could not
  /// be tidied up.
  virtual bool erase(access& inside, std::string_view key) = 0;
  /// Atomic read-modify-write of one key. done: written or erased; unchanged: kept as it was.
  virtual outcome update(access& inside, std::string_view key, const updater& decide) = 0;

  // Run in an access of their own, which waits for objects that are out of DRAM.
  outcome insert(std::string_view key, const content& value) {
    access inside;
    return insert(inside, key, value);
  }
  outcome upsert(std::string_view key, const content& value) {
    access inside;
    return upsert(inside, key, value);
  }
  bool erase(std::string_view key) {
    access inside;
    return erase(inside, key);
  }
  outcome update(std::string_view key, const updater& decide) {
    access inside;
    return update(inside, key, decide);
  }

  /// In ordered structures: visits the pairs with key >= `from` in byte order until the visitor
  /// ends the scan. Each pair visited was present at some moment of the scan; a key present
  /// throughout is visited once. The visited pairs count as used, and so do keys that the search
  /// for `from` must read, but no others. The scan ends, and the access is not complete, at a pair
  /// that could not be had. Unordered structures visit nothing.
  virtual void scan(access& inside, std::string_view from, const visitor& visit) = 0;
  /// Like scan(), downwards: pairs with key <= `from`, or all without it, greatest key first.
  virtual void scan_back(access& inside, std::optional<std::string_view> from,
                         const visitor& visit) = 0;
  virtual bool is_ordered() const noexcept = 0;

  /// Visits every pair, in pieces and in the structure's own order: the pairs of the piece at
  /// `cursor` (0 at first). Returns the next cursor, 0 at the end. A key present throughout is
  /// visited at least once (as Redis SCAN guarantees), also when the table grows meanwhile. The
  /// pairs do not count as used (guide::peek()). Values that have left DRAM are not read. A key
  /// that could not be had is visited as nullopt; but a piece of a skip list may begin behind one
  /// whose first 12 bytes are those of the last key before the piece, and leave out what is
  /// between. When the access has missed a key, the piece at `cursor` is to be walked again; an
  /// ordered structure returns `cursor` then, and its piece ends only where the visitor ends it, or
  /// with the last key.
  virtual std::uint64_t walk(access& inside, std::uint64_t cursor, const pair_visitor& visit) = 0;

  virtual std::size_t size() const noexcept = 0;  ///< keys; exact while no writer runs
  /// Removes all keys, except perhaps those that concurrent writers add. Reads neither keys nor
  /// values.
  virtual void clear() = 0;
  virtual std::string_view name() const noexcept = 0;  ///< "hash-pugh"
  virtual bool is_managed() const noexcept = 0;
  virtual bool is_valid() = 0;  ///< checks the structure's invariants; without concurrent writers
};

/// Names that make() knows, in the order in which help texts list them.
const std::vector<std::string_view>& names();

/// Whether the collector may move an index's keys and values: they are held by guides, or by plain
/// pointers (storage.hpp).
enum class management : unsigned char { off, on };

/// A new, empty structure; `expected_keys` sizes hash tables. An unknown name is an error, whose
/// message lists the known ones.
base::result<std::unique_ptr<any_index>> make(std::string_view name, management kind,
                                              std::size_t expected_keys = 0);

/// Like make(), but the index lives until the process ends and is never taken apart: that would
/// read every cold page back from its disk, to free memory that the system takes back by itself.
/// For the one index of a program.
base::result<any_index*> make_lasting(std::string_view name, management kind,
                                      std::size_t expected_keys);

/// A tree whose nodes lie where a placer says; `nodes` is a part of `index`.
struct placed_index {
  std::unique_ptr<any_index> index;
  placement::placed_tree* nodes = nullptr;
};

/// Names that make_placed() knows.
const std::vector<std::string_view>& placed_names();

/// A new, empty tree over placement::open_node_memory(), which must have been called. `chooser`
/// must outlive it. An unknown name, and one of a structure whose nodes cannot be placed, is an
/// error, whose message lists the others.
base::result<placed_index> make_placed(std::string_view name, management kind,
                                       placement::placer& chooser);
/// Like make_placed(), for the one index of a program, which lasts as make_lasting()'s does; so
/// must `chooser`.
base::result<placed_index*> make_lasting_placed(std::string_view name, management kind,
                                                placement::placer& chooser);

}  // namespace isotherm::index
