// Failures on demand: tests make any call of this layer's files, mappings and threads fail, and
// file systems seem to have little room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace isotherm::os {

/// The calls that a fault hook sees, one for each kind of I/O.
enum class io_call {
  open,
  create,
  stat,
  read,
  write,
  map,
  sync,
  close,
  link,
  rename,
  space,
  resize,  ///< of a file or of the disk space that it takes
  wait,
  submit,  ///< of requests to a ring
  probe    ///< of the operations that a ring has
};

/// Decides the fate of one call: 0 lets it through, an errno value makes it fail so.
using fault_hook = std::function<int(io_call)>;

/// Installs `hook` for all threads until it is replaced; an empty one removes it. For tests; must
/// not run beside I/O of other threads. The hook itself is called by any thread.
void set_fault_hook(fault_hook hook);
/// Makes every file system seem to have so many bytes free; without a value, what it has. For
/// tests, with the same care.
void set_free_space(std::optional<std::uint64_t> bytes);
/// From now on start_thread() fails with this errno value; 0: no more. For tests.
void set_thread_fault(int code);

/// From now on a call that reads past the page cache is given no more than so many bytes at a time,
/// a multiple of a page; without a value, what it asks for. For tests.
void set_longest_read(std::optional<std::size_t> bytes);

/// Returns the hook's answer for a call that is about to be made: 0 or an errno value.
int injected_fault(io_call call);
/// Return the last values of set_free_space(), set_thread_fault() and set_longest_read().
std::optional<std::uint64_t> injected_free_space();
int injected_thread_fault() noexcept;
std::optional<std::size_t> injected_longest_read() noexcept;

}  // namespace isotherm::os
