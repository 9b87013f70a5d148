// All commands of a process, found by name.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "store/commands/command.hpp"

namespace isotherm::store {

/// Immutable after construction; thread-safe.
class command_table {
 public:
  explicit command_table(std::initializer_list<std::span<const command>> families);

  /// The command of that name in any case, or null.
  const command* find(std::string_view name) const noexcept;
  const std::vector<const command*>& all() const noexcept { return all_; }

  /// A command or a subcommand.
  struct callable {
    const command* called;
    std::string name;  ///< "get", "config|set"
  };
  /// All that resolve() may return, each command before its subcommands.
  const std::vector<callable>& callables() const noexcept { return callables_; }
  /// The place of `called` among these. Constant time.
  std::size_t number_of(const command& called) const noexcept;

  /// The command or subcommand that `arguments` call; null after answering with an error.
  const command* resolve(std::span<const std::string_view> arguments, reply& out) const;

 private:
  static constexpr std::size_t kSlots = 512;
  static constexpr std::size_t kLongestName = 32;
  std::array<const command*, kSlots> slots_{};
  std::vector<const command*> all_;
  std::vector<callable> callables_;
  std::array<std::uint16_t, 2 * kSlots> numbers_{};  ///< one more than the number; 0: none
};

/// The subcommand of that name in any case, or null.
const command* find_subcommand(const command& container, std::string_view name) noexcept;

/// Positions of the keys among the arguments of a call that `invoked` accepts: calls visit(key) for
/// each.
template <class Visit>
void for_each_key(const command& invoked, std::span<const std::string_view> arguments,
                  Visit visit) {
  const key_positions& at = invoked.keys;
  if (at.first == 0) return;
  const auto count = static_cast<int>(arguments.size());
  const int last = at.last < 0 ? count + at.last : std::min(at.last, count - 1);
  for (int i = at.first; i <= last; i += at.step) visit(arguments[static_cast<std::size_t>(i)]);
}

/// The end of a call.
enum class executed : std::uint8_t {
  answered,
  /// The command neither answered nor changed anything: it missed objects, which the call's access
  /// has recorded. The same call is to be made again when they have been read.
  missed,
  /// The command neither answered nor changed anything: only an access that waits can do it.
  must_wait,
  /// The reply was longer than its limit, and is not whole. A command that writes has written.
  overflowed
};
/// Runs `invoked` in call::inside, unless it needs memory and the limit is reached: then answers
/// with an error. Counts the look-ups of what was answered.
executed execute(const command& invoked, call& c, std::uint64_t maxmemory_bytes);

/// Waits for the objects that a command is going to read, but for those that have `arrived`, key by
/// key: execute() would wait for them under the locks of the keys, or within one scope.
enum class values_are : std::uint8_t {
  read,     ///< the command may ask for the old values
  replaced  ///< the command does not ask for them
};
void bring_in(const command& invoked, const call& c, values_are old = values_are::read,
              const heap::arrived_reads* arrived = nullptr);

}  // namespace isotherm::store
