#include "store/commands/table.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/check.hpp"
#include "base/random.hpp"
#include "heap/configure.hpp"
#include "heap/upkeep.hpp"
#include "store/text.hpp"

namespace isotherm::store {

namespace {

std::size_t hash_of(std::string_view lower) noexcept {
  std::uint32_t hash = 2166136261u;  // FNV-1a: names are short
  for (const char c : lower) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ hash >> 15;
}

/// Commands that write one key after the other, and could miss one when others are written. Their
/// values need not be read.
bool writes_several(const command& invoked) noexcept {
  return (invoked.flags & kWrite) != 0 && invoked.keys.last == -1;
}

std::size_t hash_of(const command& which) noexcept {
  return static_cast<std::size_t>(
      base::mix64(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&which))));
}

std::string unanswered() {
  const std::chrono::duration<double> seconds = heap::read_limits().answers_within;
  return fmt::format(
      "IOERR the disk of cold memory has not answered for {:g} s: the command was given up",
      seconds.count());
}

/// Reads the keys on the way to those of a call. Returns the weightiest outcome; a key that cannot
/// be read is left to the command itself, which comes to it again.
access::outcome look_for_keys(const command& invoked, const call& c) {
  access::outcome met = access::outcome::complete;
  for_each_key(invoked, c.arguments, [&](std::string_view key) {
    c.in().renew();
    c.db.index().contains(c.in(), key);
    met = std::max(met, c.in().result());
  });
  return met == access::outcome::unreadable ? access::outcome::complete : met;
}

/// Whether a command runs in an access: whether it looks for keys.
bool needs_access(const command& invoked) noexcept {
  return invoked.keys.first != 0 || (invoked.flags & kWalks) != 0;
}

/// Runs a command in the access of its call.
void run(const command& invoked, call& c) {
  if (c.inside != nullptr && !c.in().waits() && writes_several(invoked)) {
    c.fail(look_for_keys(invoked, c));
    if (c.failure != access::outcome::complete) return;
    c.in().wait_from_here();  // a part of it must not be written twice
  }
  invoked.run(c);
}

/// Answers for a command that has failed.
executed answer_failure(call& c) {
  switch (c.failure) {
    case access::outcome::missed:
      return executed::missed;
    case access::outcome::must_wait:
      return executed::must_wait;
    case access::outcome::disk_silent:
      c.out.error(unanswered());
      return executed::answered;
    case access::outcome::complete:
    case access::outcome::unreadable:
      break;
  }
  c.out.error(errors::kUnreadable);
  return executed::answered;
}

std::string quote_arguments(std::span<const std::string_view> arguments) {
  constexpr std::size_t kLongest = 128;
  std::string text;
  for (const auto argument : arguments) {
    if (text.size() >= kLongest) break;
    text += fmt::format("'{}' ", argument.substr(0, kLongest - text.size()));
  }
  return text;
}

}  // namespace

command_table::command_table(std::initializer_list<std::span<const command>> families) {
  for (const auto family : families) {
    for (const command& each : family) {
      ISO_CHECK(each.name.size() <= kLongestName && all_.size() < kSlots / 2, "command table full");
      std::size_t at = hash_of(each.name) % kSlots;
      while (slots_[at]) at = (at + 1) % kSlots;
      slots_[at] = &each;
      all_.push_back(&each);
      callables_.push_back({&each, std::string(each.name)});
      for (const command& sub : each.subcommands) {
        callables_.push_back({&sub, fmt::format("{}|{}", each.name, sub.name)});
      }
    }
  }
  ISO_CHECK(callables_.size() < kSlots, "command table full");
  for (std::size_t i = 0; i < callables_.size(); ++i) {
    std::size_t at = hash_of(*callables_[i].called) % numbers_.size();
    while (numbers_[at] != 0) at = (at + 1) % numbers_.size();
    numbers_[at] = static_cast<std::uint16_t>(i + 1);
  }
}

std::size_t command_table::number_of(const command& called) const noexcept {
  std::size_t at = hash_of(called) % numbers_.size();
  while (callables_[numbers_[at] - 1U].called != &called) at = (at + 1) % numbers_.size();
  return numbers_[at] - 1U;
}

const command* command_table::find(std::string_view name) const noexcept {
  char lower[kLongestName];
  if (name.size() > sizeof lower) return nullptr;
  for (std::size_t i = 0; i < name.size(); ++i) {
    lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] | 0x20) : name[i];
  }
  const std::string_view wanted(lower, name.size());
  for (std::size_t at = hash_of(wanted) % kSlots; slots_[at]; at = (at + 1) % kSlots) {
    if (slots_[at]->name == wanted) return slots_[at];
  }
  return nullptr;
}

const command* find_subcommand(const command& container, std::string_view name) noexcept {
  for (const command& each : container.subcommands) {
    if (equals_folded(name, each.name)) return &each;
  }
  return nullptr;
}

const command* command_table::resolve(std::span<const std::string_view> arguments,
                                      reply& out) const {
  const command* found = find(arguments[0]);
  if (!found) [[unlikely]] {
    out.error(fmt::format("ERR unknown command '{}', with args beginning with: {}",
                          arguments[0].substr(0, 128), quote_arguments(arguments.subspan(1))));
    return nullptr;
  }
  if (found->subcommands.empty() || arguments.size() < 2) {
    if (found->accepts(arguments.size())) [[likely]]
      return found;
    out.error(fmt::format("ERR wrong number of arguments for '{}' command", found->name));
    return nullptr;
  }
  const command* sub = find_subcommand(*found, arguments[1]);
  if (!sub) {
    std::string upper(found->name);
    for (char& c : upper) c = static_cast<char>(c & ~0x20);
    out.error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", arguments[1].substr(0, 128),
                          upper));
    return nullptr;
  }
  if (!sub->accepts(arguments.size())) {
    out.error(
        fmt::format("ERR wrong number of arguments for '{}|{}' command", found->name, sub->name));
    return nullptr;
  }
  return sub;
}

void bring_in(const command& invoked, const call& c, values_are old,
              const heap::arrived_reads* arrived) {
  const bool needs_values = old == values_are::read && !writes_several(invoked);
  const auto may_use = arrived != nullptr ? access::copies::allowed : access::copies::refused;
  for_each_key(invoked, c.arguments, [&](std::string_view key) {
    {
      access inside(access::when_cold::wait, arrived, may_use);
      needs_values ? static_cast<void>(c.db.index().find(inside, key))
                   : static_cast<void>(c.db.index().contains(inside, key));
    }
    heap::wait_for_room();  // for what has come back to HOT
  });
}

executed execute(const command& invoked, call& c, std::uint64_t maxmemory_bytes) {
  if (invoked.flags & kDenyOom && c.db.memory().is_over(maxmemory_bytes, c.now)) [[unlikely]] {
    c.out.error(errors::kOutOfMemory);
    return executed::answered;
  }
  if (c.inside != nullptr || !needs_access(invoked)) [[likely]] {
    run(invoked, c);
  } else {
    access waits;
    c.inside = &waits;
    run(invoked, c);
    c.inside = nullptr;
  }
  if (c.failure != access::outcome::complete) [[unlikely]]
    return answer_failure(c);
  if (c.out.overflowed()) [[unlikely]]
    return executed::overflowed;
  c.db.count(c.looked);
  return executed::answered;
}

}  // namespace isotherm::store
