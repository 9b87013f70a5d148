// The interval tree of rbi_tree, whose intervals are copied with their values. Two threads insert,
// remove and look up, each in a tree of its own, while a collector moves values as fast as it can;
// a map tells what the answers must be.
#include <intervaltree.hpp>

#include <map>
#include <random>

#include "collect.hpp"

namespace {

using foreign::reading;
constexpr std::uint64_t kThreads = 2, kKeys = 1000, kSteps = 100'000, kLength = 10;

using tree = Intervals::IntervalTree<std::uint64_t, reading>;

class user {
 public:
  explicit user(std::uint64_t seed) : random_(seed) {}

  /// One operation: half of them on a twentieth of the keys.
  void step() {
    const std::uint64_t chosen = random_();
    const std::uint64_t keys = (chosen & 1) != 0 ? kKeys : kKeys / 20;
    const std::uint64_t key = (chosen >> 20) % keys;
    const tree::Interval of(key, key + kLength, reading(key));
    switch ((chosen >> 8) % 8) {
      case 0:
        wrong_ += tree_.insert(of) != own_.emplace(key, key + kLength).second;
        break;
      case 1:
        wrong_ += tree_.remove(of) != (own_.erase(key) == 1);
        break;
      case 2:
        look_up(key);
        break;
      default:
        wrong_ += tree_.contains(of) != own_.contains(key);
    }
  }
  std::size_t size() const { return tree_.size(); }
  /// Answers that were wrong, and whether the number of intervals is.
  std::uint64_t wrong() const { return wrong_ + (tree_.size() != own_.size()); }

 private:
  /// All intervals that contain `point`.
  void look_up(std::uint64_t point) {
    auto next = own_.lower_bound(point < kLength ? 0 : point - kLength);
    for (const tree::Interval& each : tree_.findIntervalsContainPoint(point)) {
      if (next == own_.end() || each.low != next->first || each.high != next->second ||
          each.value->key != each.low || !each.value->is_intact()) {
        ++wrong_;
        return;
      }
      ++next;
    }
    wrong_ += next != own_.end() && next->first <= point;
  }

  tree tree_;
  std::mt19937_64 random_;
  std::map<std::uint64_t, std::uint64_t> own_;
  std::uint64_t wrong_ = 0;
};

}  // namespace

int main() {
  std::vector<user> users;
  for (std::uint64_t number = 0; number < kThreads; ++number) users.emplace_back(number + 1);
  foreign::run_beside_collector(users, kSteps);

  std::uint64_t wrong = 0;
  std::size_t intervals = 0;
  for (const user& each : users) {
    wrong += each.wrong();
    intervals += each.size();
  }
  std::printf("%zu intervals, %lu wrong answers\n", intervals, wrong);
  return wrong == 0 ? 0 : 1;
}
