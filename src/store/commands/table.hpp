// All commands of a process, found by name.
#pragma once

#include <array>
#include <initializer_list>
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

  /// The command or subcommand that `arguments` call; null after answering with an error.
  const command* resolve(std::span<const std::string_view> arguments, reply& out) const;

 private:
  static constexpr std::size_t kSlots = 512;
  static constexpr std::size_t kLongestName = 32;
  std::array<const command*, kSlots> slots_{};
  std::vector<const command*> all_;
};

/// The subcommand of that name in any case, or null.
const command* find_subcommand(const command& container, std::string_view name) noexcept;

/// Runs `invoked`, unless it needs memory and the limit is reached: then answers with an error.
void execute(const command& invoked, call& c, std::uint64_t maxmemory_bytes);

}  // namespace isotherm::store
