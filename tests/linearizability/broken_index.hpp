// Wrappers that break an index on purpose, so that the checker of histories is seen to see.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "index/forwarding_index.hpp"
#include "index/index.hpp"

namespace isotherm::index {

/// Each thread answers every other find of a key from what it saw the last time.
class stale_read_index final : public forwarding_index {
 public:
  using forwarding_index::forwarding_index;
  std::optional<std::string_view> find(access& inside, std::string_view key) override {
    thread_local std::unordered_map<std::string, std::string> cache;
    const auto known = cache.find(std::string(key));
    if (known != cache.end()) {
      answer_ = std::move(known->second);
      cache.erase(known);
      return answer_;
    }
    const auto found = forwarding_index::find(inside, key);
    if (found) cache.emplace(key, *found);
    return found;
  }

 private:
  static inline thread_local std::string answer_;
};

/// update() reads and then writes, so what was written in between is lost.
class lost_update_index final : public forwarding_index {
 public:
  using forwarding_index::forwarding_index;
  outcome update(access& inside, std::string_view key, const updater& decide) override {
    std::optional<std::string> current;
    if (const auto found = find(inside, key)) current = *found;
    const decision decided = decide(current);
    std::this_thread::yield();
    if (decided.act == action::keep) return outcome::unchanged;
    if (decided.act == action::write) return upsert(inside, key, decided.value);
    return erase(inside, key) ? outcome::done : outcome::unchanged;
  }
};

/// A scan that leaves out the key it met first.
class short_scan_index final : public forwarding_index {
 public:
  using forwarding_index::forwarding_index;
  void scan(access& inside, std::string_view from, const visitor& visit) override {
    bool is_first = true;
    forwarding_index::scan(inside, from, [&](std::string_view key, std::string_view value) {
      return std::exchange(is_first, false) || visit(key, value);
    });
  }
};

inline const std::vector<std::string_view>& broken_names() {
  static const std::vector<std::string_view> names{"stale-read", "lost-update", "short-scan"};
  return names;
}

/// `inner` behind the defect `name`; `sound`: as it is.
inline std::unique_ptr<any_index> make_broken(std::string_view name,
                                              std::unique_ptr<any_index> inner) {
  if (name == "stale-read") return std::make_unique<stale_read_index>(std::move(inner));
  if (name == "lost-update") return std::make_unique<lost_update_index>(std::move(inner));
  if (name == "short-scan") return std::make_unique<short_scan_index>(std::move(inner));
  ISO_CHECK(name == "sound", "no such defect is known");
  return inner;
}

}  // namespace isotherm::index
