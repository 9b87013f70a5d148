// The collector's options, and the table of those that are set by name. Code that sets or shows an
// option (flags of serve and bench, ISOTHERM CONFIG, reports) goes through the table: a new option
// is a member and a row.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "heap/configure.hpp"

namespace isotherm::collector {

enum class mode : std::uint8_t {
  track,  ///< watches and reports; moves nothing
  on      ///< watches and moves
};

/// The policy that decides that an object is cold (policy/policy.hpp).
enum class policy_name : std::uint8_t { budget, published };

/// The numbers of a BRAID profile that placement needs (policy/write_cost.hpp).
struct device_costs {
  double write_bytes_per_second;  ///< sequential, with as many writers as the device wants; > 0
  double read_bytes_per_second;   ///< random, with as many readers as it wants; > 0
  double interference;            ///< one writer divides the bandwidth of reads by 1 + this; >= 0
};

struct options {
  double window_seconds = 10;  ///< any positive duration up to 1e9
  mode manage = mode::on;
  /// `budget` needs the protocol "veto"; a memory target needs `budget`.
  policy_name policy = policy_name::budget;
  /// DRAM that the process is held to, in bytes, with what is in memory of COLD; 0: none is given.
  /// Under the limit of a control group the process stays a little below that in any case. Needs
  /// the policy `budget`, the hint `pageout`, and a COLD that can leave DRAM.
  std::uint64_t memory_target_bytes = 0;
  /// Without any target: of the objects used in a window, the share that may come from COLD.
  double miss_share = 0.15;
  /// And no more in a second than these. The default is what a solid-state disk reads with a
  /// twentieth of its time.
  double misses_per_second = 1000;
  /// How COLD is asked to leave DRAM; a memory target needs `pageout`. The policy `published` gives
  /// it when COLD is used little enough (page_out.hpp).
  heap::hint hint = heap::hint::pageout;
  unsigned cold_threshold = 3;          ///< of `published`, as what follows: initial, 1..31 windows
  double target_promotion_rate = 0.01;  ///< a minute
  /// Mean time between two uses of a COLD page, in seconds, from which the hint is given though the
  /// promotion rate is above target. The five-minute rule's 300 fit SATA disks; its break-even
  /// falls with the price of a read, and is about a minute and less on NVMe.
  double min_rest_seconds = 60;
  bool adaptive_threshold = true;  ///< false: the threshold stays as given
  std::uint64_t page_out_bytes_per_window = std::uint64_t{4} << 30;
  std::uint64_t epoch_timeout_us = 100'000;  ///< wait for scopes before an epoch is abandoned
  /// Bytes moved in one epoch, each object counted with 1 KiB more for its move; a batch ends with
  /// the object that reaches it.
  std::uint64_t batch_bytes = std::uint64_t{4} << 20;
  /// Profile of the device behind a direct COLD, whose writes are limited by it;
  /// nullopt: they are not.
  std::optional<device_costs> cold_device = std::nullopt;
  /// Migration protocol, one of protocol_names(); `counts` needs the policy `published`.
  std::string protocol = "veto";
};

/// Returns the length of a window.
inline std::chrono::nanoseconds length_of(const options& chosen) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(chosen.window_seconds * 1e9));
}

/// Refuses, with the reason, what a collector cannot work with.
base::result<void> check(const options& chosen);

/// How a value is held. Ranges are those of values given by name, and narrower than what the
/// collector works with (object_collector::start()).
struct real_value {
  double options::* member;
  double least, greatest;
};
struct whole_value {
  unsigned options::* member;
  unsigned least, greatest;
};
struct size_value {
  std::uint64_t options::* member;  ///< bytes; a text may end in K, M, G or T; "none": 0
};
struct switch_value {
  bool options::* member;  ///< "yes" or "no"
};
struct choice_value {
  std::span<const std::string_view> (*words)();
  std::string_view (*get)(const options&);
  void (*set)(options&, std::string_view word);  ///< one of words()
};

enum class settable : std::uint8_t {
  at_start,       ///< by a flag
  while_running,  ///< by ISOTHERM CONFIG SET, from the next window on
  always,         ///< by both
  by_the_server   ///< shown only: what sets it is not the collector's alone
};

struct option {
  std::string_view name;  ///< "min-rest", of the flag --min-rest
  std::string_view unit;  ///< of the value; empty: none
  std::string_view help;
  settable when;
  std::variant<real_value, whole_value, size_value, switch_value, choice_value> value;

  constexpr bool is_flag() const noexcept {
    return when == settable::at_start || when == settable::always;
  }
  constexpr bool is_live() const noexcept {
    return when == settable::while_running || when == settable::always;
  }
  /// Returns the values that are allowed: "a number from 0 to 604800", "none, cold or pageout".
  std::string range() const;
  std::string get(const options& from) const;
  /// Refuses what is out of range, and changes nothing then.
  base::result<void> set(options& into, std::string_view text) const;
};

std::span<const option> option_table() noexcept;
/// Returns null if there is none of that name.
const option* find_option(std::string_view name) noexcept;

}  // namespace isotherm::collector
