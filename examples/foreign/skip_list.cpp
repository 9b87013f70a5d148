// The skip list of orderedstructs. Two threads insert, remove and look up while a collector moves
// values as fast as it can; each knows from a multiset of its own what the answers must be.
#include <SkipList.h>

#include <random>
#include <set>

#include "collect.hpp"

namespace {

using foreign::reading;
constexpr std::uint64_t kThreads = 2, kKeys = 2000, kSteps = 100'000;

using list = OrderedStructs::SkipList::HeadNode<reading>;

/// Uses keys that no other thread inserts or removes.
class user {
 public:
  user(list& shared, std::uint64_t number) : list_(shared), number_(number), random_(number) {
    for (std::uint64_t key = number; key < kKeys * kThreads; key += kThreads) insert(key);
  }

  /// One operation: half of them on a twentieth of the keys. Only what is there is searched for,
  /// since this list needs exponential time to find that a value is missing.
  void step() {
    const std::uint64_t chosen = random_();
    const std::uint64_t keys = (chosen & 1) != 0 ? kKeys : kKeys / 20;
    const std::uint64_t key = (chosen >> 20) % keys * kThreads + number_;
    const auto known = own_.lower_bound(key);
    const bool inserts = (chosen >> 8) % 16 == 0 && own_.size() < 2 * kKeys;
    if (known == own_.end() || inserts) {
      return insert(key);
    }
    const reading of(*known);
    switch ((chosen >> 8) % 16) {
      case 1: {
        const reading removed = list_.remove(of);
        wrong_ += !removed.is_intact() || removed.key != of.key;
        own_.erase(known);
        break;
      }
      case 2:
        look_at(chosen >> 40);
        break;
      default:
        wrong_ += !list_.has(of);
    }
  }
  const std::multiset<std::uint64_t>& own() const { return own_; }
  std::uint64_t wrong() const { return wrong_; }

 private:
  void insert(std::uint64_t key) {
    list_.insert(reading(key));
    own_.insert(key);
  }
  void look_at(std::uint64_t chosen) {
    try {
      wrong_ += !list_.at(chosen % kKeys).is_intact();
    } catch (const OrderedStructs::SkipList::IndexError&) {  // there are fewer
    }
  }

  list& list_;
  const std::uint64_t number_;
  std::mt19937_64 random_;
  std::multiset<std::uint64_t> own_;
  std::uint64_t wrong_ = 0;
};

/// Whether `all` holds what its users say, in order.
bool is_right(const list& all, const std::multiset<std::uint64_t>& expected) {
  if (all.lacksIntegrity() != 0 || all.size() != expected.size()) return false;
  std::vector<reading> found;
  all.at(0, all.size(), found);
  auto next = expected.begin();
  for (const reading& each : found) {
    if (!each.is_intact() || each.key != *next++) return false;
  }
  return true;
}

}  // namespace

int main() {
  OrderedStructs::SkipList::seedRand(1);
  list shared;
  std::vector<user> users;
  for (std::uint64_t number = 0; number < kThreads; ++number) users.emplace_back(shared, number);
  foreign::run_beside_collector(users, kSteps);

  std::multiset<std::uint64_t> expected;
  std::uint64_t wrong = 0;
  for (const user& each : users) {
    expected.insert(each.own().begin(), each.own().end());
    wrong += each.wrong();
  }
  const bool is_whole = is_right(shared, expected);
  std::printf("%zu values, %lu wrong answers, the list is %s\n", shared.size(), wrong,
              is_whole ? "in order" : "not in order");
  return wrong == 0 && is_whole ? 0 : 1;
}
