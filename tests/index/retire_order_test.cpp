// Nothing published leads to what is retired. Retired memory is freed when the scopes that were
// open when a reclaimer came have closed; so a reclaimer comes here at once, and a reader after it,
// while the operation that retires is still under way (sync/retire_hook.hpp). Nodes that the reader
// finds must outlive its scope's last look. Builds without a sanitizer have no such hook and would
// not see the access; there a reclaimer merely runs beside readers and writers.
#include <atomic>
#include <chrono>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

#include "index/any_index.hpp"
#include "index/masstree/nodes.hpp"
#include "sync/retire_hook.hpp"

namespace isotherm::index {
namespace {

std::string key_of(std::uint64_t i) {
  return std::string(9 * (i % 3), 'p') + "key" + std::to_string(i);
}

class RetireOrder : public any_index_test {};

// Few keys, so that inserts and erases of one key meet; all is cleared now and then.
TEST_P(RetireOrder, WhatReadersHoldStaysWhileAReclaimerDoesItsWorst) {
#if defined(ISOTHERM_SANITIZED)
  const std::uint64_t steps = 1000 * test_scale();
#else
  const std::uint64_t steps = 20000 * test_scale();
#endif
  auto index = make_index();
  const std::uint64_t seed = test_seed();
  constexpr std::uint64_t kKeys = 24;
  std::atomic<bool> is_done{false};
  std::vector<std::jthread> others;
  others.emplace_back([&] {
    while (!is_done.load()) sync::reclaim_ready();
  });
  for (unsigned r = 0; r < 2; ++r) {
    others.emplace_back([&, r] {
      base::random random(seed + 100 + r);
      while (!is_done.load()) {
        const std::string key = key_of(random.below(kKeys));
        access inside;
        if (const auto found = index->find(inside, key)) {
          std::this_thread::yield();
          ASSERT_EQ(*found, key);
        }
        if (random.below(8) != 0) continue;
        index->walk(inside, 0, [&](auto k, auto value) {
          EXPECT_EQ(k, value);
          return true;
        });
      }
    });
  }
  std::vector<std::jthread> writers;
  for (unsigned t = 0; t < 3; ++t) {
    writers.emplace_back([&, t] {
      base::random random(seed + t);
      for (std::uint64_t i = 0; i < steps; ++i) {
        const std::string key = key_of(random.below(kKeys));
        if (t == 0 && i % 64 == 0) index->clear();
        if (random.below(2)) {
          index->upsert(key, key);
        } else {
          index->erase(key);
        }
      }
    });
  }
  writers.clear();
  is_done.store(true);
  others.clear();
  EXPECT_TRUE(index->is_valid());
}

#if defined(ISOTHERM_SANITIZED)

/// Calls a function at every retire() of the thread that made it, while it lives.
class at_retire {
 public:
  explicit at_retire(std::function<void(void*)> call) : call_(std::move(call)) {
    armed = this;
    sync::after_retire.store_release([](void* object) noexcept {
      // The call is not made for blocks that it retires itself.
      if (at_retire* const mine = std::exchange(armed, nullptr)) {
        mine->call_(object);
        armed = mine;
      }
    });
  }
  ~at_retire() {
    sync::after_retire.store_release(nullptr);
    armed = nullptr;
  }
  at_retire(const at_retire&) = delete;
  at_retire& operator=(const at_retire&) = delete;

 private:
  static inline thread_local at_retire* armed = nullptr;
  std::function<void(void*)> call_;
};

/// A thread that, when asked, opens a scope, looks, holds what it found until it is told that all
/// that can be freed has been, and looks again.
class late_reader {
 public:
  late_reader(any_index& index, bool finds, unsigned keys)
      : index_(index), finds_(finds), keys_(keys) {}

  /// Returns when the reader has looked, or waits, as it seems, for a lock of the caller's.
  void look() {
    sync::reclaim_ready();
    become(asked);
    now_.wait(asked);
    has_looked_.try_acquire_for(std::chrono::milliseconds(5));
  }
  /// Whether it was ever asked to look.
  bool finish() {
    const bool was_asked = now_.load() != idle;
    if (was_asked) {
      now_.wait(looking);
      for (int i = 0; i < 3; ++i) sync::reclaim_ready();
    }
    become(freed);
    thread_.join();
    return was_asked;
  }

 private:
  enum state : std::uint8_t { idle, asked, looking, looked, freed };

  void become(state next) {
    now_.store(next);
    now_.notify_all();
  }
  void run() {
    now_.wait(idle);
    if (now_.load() == freed) return;
    access inside;
    become(looking);
    if (finds_) {
      find_all(inside);
    } else {
      traverse(inside);
    }
  }
  void hold() {
    become(looked);
    has_looked_.release();
    now_.wait(looked);
  }
  void find_all(access& inside) {
    std::vector<std::pair<std::string, std::string_view>> found;
    for (unsigned i = 0; i < keys_; ++i) {
      const auto value = index_.find(inside, key_of(i));
      if (value) found.emplace_back(key_of(i), *value);
    }
    hold();
    for (const auto& [key, value] : found) EXPECT_EQ(value, key);
  }
  /// Stops at the third pair.
  void traverse(access& inside) {
    unsigned visited = 0;
    const visitor visit = [&](std::string_view key, std::string_view value) {
      if (++visited == 3) hold();
      EXPECT_EQ(value, key);
      return true;
    };
    if (index_.is_ordered()) {
      index_.scan(inside, "", visit);
    } else {
      index_.walk(inside, 0, [&](auto key, auto value) { return visit(*key, *value); });
    }
    if (visited < 3) hold();
  }

  any_index& index_;
  const bool finds_;
  const unsigned keys_;
  std::atomic<state> now_{idle};
  std::binary_semaphore has_looked_{0};
  std::jthread thread_{[this] { run(); }};
};

TEST_P(RetireOrder, AScopeThatOpensAfterItFindsNothingOfWhatIsRetired) {
  constexpr unsigned kKeys = 200;
  const std::function<void(any_index&)> kOperations[] = {[](any_index& index) { index.clear(); },
                                                         [](any_index& index) {
                                                           for (unsigned i = 0; i < kKeys; ++i)
                                                             index.erase(key_of(i));
                                                         },
                                                         [](any_index& index) {
                                                           for (unsigned i = 0; i < kKeys; ++i)
                                                             index.upsert(key_of(i), key_of(i));
                                                         },
                                                         [](any_index& index) {
                                                           for (unsigned i = kKeys; i < 3 * kKeys;
                                                                ++i)
                                                             index.insert(key_of(i), key_of(i));
                                                         }};
  for (const auto& operation : kOperations) {
    for (const bool finds : {true, false}) {
      bool was_asked = true;
      for (unsigned skip = 0; was_asked; skip += 1 + skip / 2) {
        auto index = make_index();
        for (unsigned i = 0; i < kKeys; ++i) index->insert(key_of(i), key_of(i));
        late_reader reader(*index, finds, kKeys);
        {
          unsigned left = skip;
          const at_retire hook([&](void*) {
            if (left-- == 0) reader.look();
          });
          operation(*index);
        }
        was_asked = reader.finish();
        EXPECT_TRUE(index->is_valid());
      }
    }
  }
}

namespace masstree_nodes {

using masstree_detail::border;
using masstree_detail::interior;
using masstree_detail::kGoesOn;
using masstree_detail::kNoSlot;
using masstree_detail::kTestMemory;
using masstree_detail::link_to;
using masstree_detail::node;
using masstree_detail::removal;
using masstree_detail::version;
using masstree_detail::wanted;

TEST(MasstreeRetireOrder, ALayerIsOutOfItsEntryBeforeItIsRetired) {
  border* const upper = kTestMemory.make_border(version::kRoot, masstree_detail::kSlots, {});
  border* const layer =
      kTestMemory.make_border(version::kRoot, masstree_detail::kFewSlots, {.level = 1});
  const wanted sought(7, kGoesOn);
  upper->insert(sought, link_to(layer));
  unsigned retired = 0;
  {
    access inside;
    const at_retire hook([&](void* object) {
      EXPECT_EQ(object, layer);
      EXPECT_EQ(upper->find(upper->order(), sought), kNoSlot);
      ++retired;
    });
    EXPECT_EQ(masstree_detail::remove_layer(upper, sought, kTestMemory), removal::done);
  }
  EXPECT_EQ(retired, 1u);
  kTestMemory.free(upper);
}

bool leads_to(node* from, const void* wanted_node) {
  if (from == wanted_node) return true;
  if (from->is_border()) return false;
  auto* const inner = static_cast<interior*>(from);
  for (unsigned i = 0; i <= inner->count.load_acquire(); ++i) {
    if (leads_to(inner->children[i].load_acquire(), wanted_node)) return true;
  }
  return false;
}

// The second border node is its parent's only child: the parent goes as well.
TEST(MasstreeRetireOrder, ANodeIsOutOfItsParentsBeforeItIsRetired) {
  const masstree_detail::two_lonely_nodes nodes;
  std::vector<void*> retired;
  {
    access inside;
    const at_retire hook([&](void* object) {
      EXPECT_FALSE(leads_to(nodes.top, object));
      EXPECT_NE(nodes.first->next.load_acquire(), object);
      retired.push_back(object);
    });
    EXPECT_EQ(masstree_detail::remove_border(nodes.second, kTestMemory), removal::done);
  }
  EXPECT_EQ(retired, (std::vector<void*>{nodes.second, nodes.lower[1]}));
}

}  // namespace masstree_nodes

#endif

INSTANTIATE_TEST_SUITE_P(All, RetireOrder, all_kinds(), kind_name);

}  // namespace
}  // namespace isotherm::index
