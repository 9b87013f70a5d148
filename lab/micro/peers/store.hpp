// The subject of the benchmark: a concurrent map of byte strings, ours or a library's. One virtual
// call an operation, the same for all.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace isotherm::peers {

/// Thread-safe between enter_thread() and leave_thread() of each thread.
class store {
 public:
  virtual ~store() = default;
  virtual void enter_thread() {}
  virtual void leave_thread() {}
  /// Copies the value of `key` to `out`, which has room; false: there is none.
  virtual bool read(std::string_view key, char* out) = 0;
  /// Inserts or replaces.
  virtual void write(std::string_view key, std::string_view value) = 0;
};

using factory = std::unique_ptr<store> (*)();

std::unique_ptr<store> make_tbb();   ///< oneTBB concurrent_hash_map of std::string
std::unique_ptr<store> make_urcu();  ///< liburcu's lock-free hash table, RCU readers
std::unique_ptr<store> make_absl();  ///< absl::btree_map under a reader-writer lock
std::unique_ptr<store> make_std();   ///< std::map under a reader-writer lock

}  // namespace isotherm::peers
