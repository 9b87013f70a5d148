#include "cli/serve_management.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "heap/readable.hpp"
#include "store/text.hpp"

namespace isotherm::cli {

namespace {

constexpr std::string_view kHints[] = {"none", "cold", "pageout"};

base::error bad_value(std::string_view name, std::string_view value, std::string_view wanted) {
  return {fmt::format("{} is '{}', but takes {}", name, value, wanted)};
}

/// Parameters that are real numbers. Windows shorter than a millisecond would be all that the
/// collector does; a rate or a rest without end would mean never, which is a hint of "none".
struct real_parameter {
  std::string_view name;
  double collector::options::* member;
  double least, greatest;
};
constexpr double kWeek = 7 * 86400;
constexpr real_parameter kReal[] = {
    {"window", &collector::options::window_seconds, 0.001, kWeek},
    {"target-promotion-rate", &collector::options::target_promotion_rate, 0, 1e6},
    {"min-rest", &collector::options::min_rest_seconds, 0, kWeek}};

std::string range_of(const real_parameter& parameter) {
  return fmt::format("a number from {} to {}", parameter.least, parameter.greatest);
}

/// Applies "name value" to `chosen`; ranges are checked afterwards.
base::result<void> apply(collector::options& chosen, std::string_view name,
                         std::string_view value) {
  const auto real = store::parse_float(value);
  const auto whole = store::parse_integer(value);
  if (name == "hint") {
    const auto hint = parse_hint(value);
    if (!hint) return std::unexpected(hint.error());
    chosen.hint = *hint;
    return {};
  }
  for (const real_parameter& each : kReal) {
    if (name != each.name) continue;
    if (!real) return std::unexpected(bad_value(name, value, range_of(each)));
    chosen.*each.member = static_cast<double>(*real);
    return {};
  }
  if (name == "cold-threshold") {
    if (!whole || *whole < 0 || *whole > 1000) {
      return std::unexpected(bad_value(name, value, "1 to 31 windows"));
    }
    chosen.cold_threshold = static_cast<unsigned>(*whole);
    return {};
  }
  if (name == "adaptive-threshold") {
    if (value != "yes" && value != "no") {
      return std::unexpected(bad_value(name, value, "yes or no"));
    }
    chosen.adaptive_threshold = value == "yes";
    return {};
  }
  return std::unexpected(base::error{
      fmt::format("unknown or fixed parameter '{}'; ISOTHERM CONFIG lists them", name)});
}

/// What an operator has to do about a COLD heap without room.
std::string explain_full(const heap::cold_backing& cold) {
  const int code = heap::cold_refusal_code();
  const std::string why = code == 0 ? "its address range is used up" : std::strerror(code);
  const std::string place = cold.where == heap::cold_backing::type::file
                                ? fmt::format("in '{}'", cold.directory)
                                : std::string("in memory and swap");
  return fmt::format("COLD is full ({}): objects that grow cold stay where they are; make room {}",
                     why, place);
}

/// What an operator has to know of a disk that does not give back what COLD wrote to it.
std::string explain_unreadable(const heap::cold_backing& cold) {
  return fmt::format(
      "COLD cannot be read: commands that need a page of it answer IOERR until the key is deleted "
      "or "
      "overwritten; check the disk of '{}'",
      cold.directory);
}

class collector_management final : public server::management {
 public:
  collector_management(collector::object_collector& running, heap::cold_backing cold)
      : running_(running), cold_(std::move(cold)) {
    running_.on_window(
        [this](const collector::window_statistics& seen) { note_problem(seen.reclaim_problem); });
  }

  std::string mode() const override {
    return running_.configuration().what == collector::mode::on ? "on" : "track";
  }
  collector::window_statistics last_window() const override { return running_.last_window(); }
  collector::window_statistics collect() override { return running_.run_window(); }

  std::string problem() const override {
    if (heap::lost_reads() > 0) return explain_unreadable(cold_);
    const std::lock_guard lock(problem_mutex_);
    return problem_;
  }
  std::uint64_t refused_cold_objects() const override {
    return heap::refused_allocations(heap::kind::cold);
  }

  std::vector<std::pair<std::string, heap::usage>> heaps() const override {
    return {{"new", heap::usage_of(heap::kind::fresh)},
            {"hot", heap::usage_of(heap::kind::hot)},
            {"cold", heap::usage_of(heap::kind::cold)},
            {"node", heap::node_usage()}};
  }

  std::vector<std::pair<std::string, std::string>> configuration() const override {
    const collector::options now = running_.configuration();
    return {{"manage", mode()},
            {"window", fmt::format("{}", now.window_seconds)},
            {"hint", std::string(kHints[static_cast<std::size_t>(now.hint)])},
            {"cold-threshold", fmt::format("{}", now.cold_threshold)},
            {"adaptive-threshold", now.adaptive_threshold ? "yes" : "no"},
            {"target-promotion-rate", fmt::format("{}", now.target_promotion_rate)},
            {"min-rest", fmt::format("{}", now.min_rest_seconds)},
            {"protocol", now.protocol}};
  }

  base::result<void> configure(std::string_view name, std::string_view value) override {
    const std::lock_guard lock(mutex_);
    collector::options changed = running_.configuration();
    if (auto applied = apply(changed, name, value); !applied) return applied;
    if (auto sensible = check_parameters(changed); !sensible) return sensible;
    return running_.reconfigure(changed);
  }

 private:
  /// At a window's end. Says a problem once, not window by window.
  void note_problem(const std::string& reclaim_problem) {
    const std::uint64_t refused = heap::refused_allocations(heap::kind::cold);
    const std::lock_guard lock(problem_mutex_);
    std::string now = refused > refused_before_ ? explain_full(cold_) : reclaim_problem;
    refused_before_ = refused;
    if (heap::lost_reads() > 0) now = explain_unreadable(cold_);
    if (now == problem_) return;
    problem_ = std::move(now);
    std::fprintf(stderr, "isotherm: %s\n",
                 problem_.empty() ? "cold memory: the problem is over" : problem_.c_str());
  }

  collector::object_collector& running_;
  const heap::cold_backing cold_;
  mutable std::mutex problem_mutex_;
  std::string problem_;
  std::uint64_t refused_before_ = 0;
  std::mutex mutex_;  // two clients that change different parameters must not undo each other
};

}  // namespace

std::unique_ptr<server::management> make_management(collector::object_collector& running,
                                                    const heap::cold_backing& cold) {
  return std::make_unique<collector_management>(running, cold);
}

base::result<void> check_parameters(const collector::options& chosen) {
  for (const real_parameter& each : kReal) {
    const double value = chosen.*each.member;
    if (value >= each.least && value <= each.greatest) continue;
    return std::unexpected(bad_value(each.name, fmt::format("{}", value), range_of(each)));
  }
  return {};
}

base::result<heap::hint> parse_hint(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kHints); ++i) {
    if (text == kHints[i]) return static_cast<heap::hint>(i);
  }
  return std::unexpected(bad_value("hint", text, "none, cold or pageout"));
}

}  // namespace isotherm::cli
