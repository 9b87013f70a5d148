#include "collector/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/numbers.hpp"
#include "collector/policy/threshold.hpp"
#include "collector/protocol/protocol.hpp"

namespace isotherm::collector {

namespace {

constexpr double kWeek = 7 * 86400;
constexpr double kLongestWindow = 1e9;  // seconds; in nanoseconds it fits the clock

constexpr std::string_view kModes[] = {"track", "on"};
constexpr std::string_view kPolicies[] = {"budget", "published"};
constexpr std::string_view kHints[] = {"none", "cold", "pageout"};

/// An enum whose values count `Words` from 0.
template <auto Member, const auto& Words>
constexpr choice_value choice() {
  return {.words = [] { return std::span<const std::string_view>(Words); },
          .get = [](const options& from) { return Words[static_cast<std::size_t>(from.*Member)]; },
          .set =
              [](options& into, std::string_view word) {
                using chosen = std::remove_reference_t<decltype(into.*Member)>;
                into.*Member = static_cast<chosen>(std::ranges::find(Words, word) - Words);
              }};
}

constexpr choice_value kProtocol{
    .words = [] { return std::span<const std::string_view>(protocol_names()); },
    .get = [](const options& from) { return std::string_view(from.protocol); },
    .set = [](options& into, std::string_view word) { into.protocol = word; }};

// Windows shorter than a millisecond would be all that the collector does; a rate or a rest without
// end would mean never, which is a hint of "none".
constexpr option kTable[] = {
    {"manage", "", "what the collector does", settable::by_the_server,
     choice<&options::manage, kModes>()},
    {"window", "seconds", "length of a collector's window", settable::always,
     real_value{&options::window_seconds, 0.001, kWeek}},
    {"hint", "", "how cold pages are to leave DRAM", settable::always,
     choice<&options::hint, kHints>()},
    {"policy", "", "what decides that an object is cold", settable::always,
     choice<&options::policy, kPolicies>()},
    {"memory-target", "size",
     "DRAM that the process is held to; needs policy budget and hint pageout", settable::always,
     size_value{&options::memory_target_bytes}},
    {"miss-share", "", "without a target: share of the objects used that may come from COLD",
     settable::always, real_value{&options::miss_share, 0, 1}},
    {"misses-per-second", "objects",
     "without a target: objects used in a second that may come from COLD", settable::always,
     real_value{&options::misses_per_second, 0, 1e9}},
    {"cold-threshold", "windows", "windows without use after which an object is cold, at the start",
     settable::always, whole_value{&options::cold_threshold, kMinThreshold, kMaxThreshold}},
    {"adaptive-threshold", "", "whether the cold threshold follows the promotion rate",
     settable::while_running, switch_value{&options::adaptive_threshold}},
    {"target-promotion-rate", "", "share of the working set that may come from COLD in a minute",
     settable::always, real_value{&options::target_promotion_rate, 0, 1e6}},
    {"min-rest", "seconds", "rest of COLD's pages from which they may leave above the target rate",
     settable::always, real_value{&options::min_rest_seconds, 0, kWeek}},
    {"protocol", "", "how moves are made safe; counts needs policy published", settable::at_start,
     kProtocol},
};

/// Plain digits where they are few.
std::string text_of(double number) {
  char text[64];
  const double size = std::abs(number);
  const bool is_plain = number == 0 || (size >= 1e-4 && size < 1e16);
  const auto end =
      std::to_chars(text, text + sizeof text, number,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text, end.ptr};
}

/// "none, cold or pageout".
std::string one_of(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

std::string range_of(const real_value& value) {
  return "a number from " + text_of(value.least) + " to " + text_of(value.greatest);
}
std::string range_of(const whole_value& value) {
  return std::to_string(value.least) + " to " + std::to_string(value.greatest);
}
std::string range_of(const size_value&) { return "none, or bytes as 512mb or 2gb"; }
std::string range_of(const switch_value&) { return "yes or no"; }
std::string range_of(const choice_value& value) { return one_of(value.words()); }

std::string read(const real_value& value, const options& from) {
  return text_of(from.*value.member);
}
std::string read(const whole_value& value, const options& from) {
  return std::to_string(from.*value.member);
}
std::string read(const size_value& value, const options& from) {
  const std::uint64_t bytes = from.*value.member;
  return bytes == 0 ? "none" : base::format_bytes(bytes);
}
std::string read(const switch_value& value, const options& from) {
  return from.*value.member ? "yes" : "no";
}
std::string read(const choice_value& value, const options& from) {
  return std::string(value.get(from));
}

/// False: out of range.
template <class T>
bool write(const T& value, options& into, std::string_view text)
  requires requires { value.least; }
{
  const auto number = base::parse_number(text, value.least, value.greatest);
  if (number) into.*value.member = *number;
  return number.has_value();
}
bool write(const size_value& value, options& into, std::string_view text) {
  const auto bytes = base::parse_bytes(text);
  if (text != "none" && bytes.value_or(0) == 0) return false;
  into.*value.member = bytes.value_or(0);
  return true;
}
bool write(const switch_value& value, options& into, std::string_view text) {
  if (text != "yes" && text != "no") return false;
  into.*value.member = text == "yes";
  return true;
}
bool write(const choice_value& value, options& into, std::string_view text) {
  const auto words = value.words();
  if (std::ranges::find(words, text) == words.end()) return false;
  value.set(into, text);
  return true;
}

}  // namespace

std::string option::range() const {
  const std::string range = std::visit([](const auto& held) { return range_of(held); }, value);
  return std::holds_alternative<whole_value>(value) ? range + ' ' + std::string(unit) : range;
}

std::string option::get(const options& from) const {
  return std::visit([&](const auto& held) { return read(held, from); }, value);
}

base::result<void> option::set(options& into, std::string_view text) const {
  if (std::visit([&](const auto& held) { return write(held, into, text); }, value)) return {};
  return std::unexpected(
      base::error{std::string(name) + " is '" + std::string(text) + "', but takes " + range()});
}

base::result<void> check(const options& chosen) {
  const auto refuse = [](const char* why) { return std::unexpected(base::error{why}); };
  if (!(chosen.window_seconds > 0 && chosen.window_seconds <= kLongestWindow)) {
    return refuse("the window must be longer than 0 seconds and at most 1e9");
  }
  if (chosen.cold_threshold < kMinThreshold || chosen.cold_threshold > kMaxThreshold) {
    return refuse("the cold threshold must be between 1 and 31 windows");
  }
  if (!(chosen.target_promotion_rate >= 0)) return refuse("the promotion rate can't be negative");
  if (!(chosen.min_rest_seconds >= 0)) return refuse("the rest of COLD can't be negative");
  if (chosen.batch_bytes == 0) return refuse("a batch must hold at least one byte");
  if (!(chosen.miss_share >= 0 && chosen.misses_per_second >= 0 &&
        std::isfinite(chosen.miss_share) && std::isfinite(chosen.misses_per_second))) {
    return refuse("a budget of misses can't be negative, nor without end");
  }
  if (const auto& device = chosen.cold_device;
      device && !(device->write_bytes_per_second > 0 && device->read_bytes_per_second > 0 &&
                  device->interference >= 0)) {
    return refuse("the profile of COLD's device needs bandwidths of reads and of writes above 0");
  }
  auto protocol = make_protocol(chosen.protocol);
  if (!protocol) return std::unexpected(protocol.error());
  if (chosen.memory_target_bytes != 0 &&
      (chosen.policy != policy_name::budget || chosen.hint != heap::hint::pageout)) {
    return refuse("a memory target is held by the policy 'budget' with the hint 'pageout'");
  }
  if (chosen.policy == policy_name::budget &&
      (*protocol)->use_of_words() != guides::word_use::history) {
    return refuse("the policy 'budget' needs the protocol 'veto': choose the policy 'published'");
  }
  return {};
}

std::span<const option> option_table() noexcept { return kTable; }

const option* find_option(std::string_view name) noexcept {
  const auto* found = std::ranges::find(kTable, name, &option::name);
  return found == std::end(kTable) ? nullptr : found;
}

}  // namespace isotherm::collector
