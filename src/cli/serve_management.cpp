#include "cli/serve_management.hpp"

#include <fmt/format.h>

#include <mutex>

#include "store/text.hpp"

namespace isotherm::cli {

namespace {

constexpr std::string_view kHints[] = {"none", "cold", "pageout"};

base::error bad_value(std::string_view name, std::string_view value, std::string_view wanted) {
  return {fmt::format("{} is '{}', but takes {}", name, value, wanted)};
}

/// Applies "name value" to `chosen`; ranges are the collector's to check.
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
  if (name == "window" || name == "target-promotion-rate") {
    if (!real) return std::unexpected(bad_value(name, value, "a number"));
    (name == "window" ? chosen.window_seconds : chosen.target_promotion_rate) =
        static_cast<double>(*real);
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

class collector_management final : public server::management {
 public:
  explicit collector_management(collector::object_collector& running) : running_(running) {}

  std::string mode() const override {
    return running_.configuration().what == collector::mode::on ? "on" : "track";
  }
  collector::window_statistics last_window() const override { return running_.last_window(); }
  collector::window_statistics collect() override { return running_.run_window(); }

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
            {"protocol", now.protocol}};
  }

  base::result<void> configure(std::string_view name, std::string_view value) override {
    const std::lock_guard lock(mutex_);
    collector::options changed = running_.configuration();
    if (auto applied = apply(changed, name, value); !applied) return applied;
    return running_.reconfigure(changed);
  }

 private:
  collector::object_collector& running_;
  std::mutex mutex_;  // two clients that change different parameters must not undo each other
};

}  // namespace

std::unique_ptr<server::management> make_management(collector::object_collector& running) {
  return std::make_unique<collector_management>(running);
}

base::result<heap::hint> parse_hint(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kHints); ++i) {
    if (text == kHints[i]) return static_cast<heap::hint>(i);
  }
  return std::unexpected(bad_value("hint", text, "none, cold or pageout"));
}

}  // namespace isotherm::cli
