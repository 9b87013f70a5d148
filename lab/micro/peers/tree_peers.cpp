#include <absl/container/btree_map.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "lab/micro/peers/store.hpp"

namespace isotherm::peers {
namespace {

/// A sequential ordered map under one reader-writer lock.
template <class Map>
class locked_store final : public store {
 public:
  bool read(std::string_view key, char* out) override {
    const std::shared_lock guard(lock_);
    const auto found = map_.find(key);
    if (found == map_.end()) return false;
    std::ranges::copy(found->second, out);
    return true;
  }
  void write(std::string_view key, std::string_view value) override {
    const std::lock_guard guard(lock_);
    const auto at = map_.lower_bound(key);
    if (at != map_.end() && at->first == key) {
      at->second = value;
    } else {
      map_.emplace_hint(at, key, value);
    }
  }

 private:
  std::shared_mutex lock_;
  Map map_;
};

}  // namespace

std::unique_ptr<store> make_absl() {
  return std::make_unique<locked_store<absl::btree_map<std::string, std::string, std::less<>>>>();
}
std::unique_ptr<store> make_std() {
  return std::make_unique<locked_store<std::map<std::string, std::string, std::less<>>>>();
}

}  // namespace isotherm::peers
