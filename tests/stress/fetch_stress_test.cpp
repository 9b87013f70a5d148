// Nothing is lost, torn or taken for something else while threads read objects that are in a file:
// each reads all keys, without waiting for what has left DRAM, and writes its own, by new values,
// by new nodes and by copies of nodes, while a collector demotes, pages out and brings back as fast
// as it can. Values carry a checksum, and the thread that writes a key knows what it holds. Reads
// are short, late, interrupted, given up, or fail: then an object is not there for this once.
//
// ISOTHERM_STRESS_OPS sets the steps of each thread (default: a short run); ISOTHERM_TEST_SEED
// repeats a run.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/page.hpp"
#include "base/random.hpp"
#include "collector/collector.hpp"
#include "guide/fetcher.hpp"
#include "guide/guide.hpp"
#include "heap/cold/cold_file.hpp"
#include "heap/cold/reader.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "os/faults.hpp"
#include "stress/mix.hpp"

namespace isotherm {
namespace {

using engine = os::read_queue::engine;

constexpr unsigned kThreads = 4;
constexpr std::uint64_t kKeys = 4000;
/// When nothing was read from the file in so many times the steps, the test fails.
constexpr std::uint64_t kPatience = 200;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

struct node {
  explicit node(owned<bytes>&& made) : held(std::move(made)) {}
  node(relocation how, node& from) : held(how, from.held) {}
  guide<bytes> held;
};
void* node_memory() { return ::operator new(sizeof(node)); }
void free_memory(void* gone) noexcept { ::operator delete(gone); }
void free_node(void* gone) noexcept {
  std::destroy_at(static_cast<node*>(gone));
  free_memory(gone);
}

/// Keys and their nodes; each key has one thread that writes it.
class node_table {
 public:
  node_table() {
    for (auto& each : nodes_) each.store(::new (node_memory()) node({}));
  }
  ~node_table() {
    for (auto& each : nodes_) free_node(each.load());
    sync::reclaim_ready();
  }
  node_table(const node_table&) = delete;
  node_table& operator=(const node_table&) = delete;

  node& at(std::uint64_t key) { return *nodes_[key].load(std::memory_order_acquire); }
  /// Puts another node in the place of that key's.
  void renew(std::uint64_t key, owned<bytes>&& made) {
    node* const next = ::new (node_memory()) node(std::move(made));
    sync::retire(nodes_[key].exchange(next), &free_node);
  }
  /// Moves that key's node elsewhere.
  void relocate(std::uint64_t key) {
    node& old = at(key);
    node* const copy = ::new (node_memory()) node(relocation{}, old);
    nodes_[key].store(copy, std::memory_order_release);
    copy->held.finish_relocation();
    sync::retire(&old, &free_memory);
  }

 private:
  std::array<std::atomic<node*>, kKeys> nodes_{};
};

struct counts {
  std::atomic<std::uint64_t> missed{0}, copies{0}, objects{0}, demoted{0}, windows{0};
  const std::uint64_t least_copies;  // with "published" whatever is read comes back
  bool has_seen_all() const { return copies >= least_copies && objects > 50 && demoted > 0; }
};

struct way {
  const char* name;
  collector::policy_name policy;
  const char* protocol;
  bool has_budget() const { return policy == collector::policy_name::budget; }
  /// Not with counts, which stay with the node (guide<T>::guide(relocation, ..)).
  bool moves_nodes() const { return protocol != std::string_view("counts"); }
};

bool lies_in_a_heap(const void* object) {
  const auto contains = [object](heap::kind k) { return heap::range_of(k).contains(object); };
  return contains(heap::kind::newborn) || contains(heap::kind::hot) || contains(heap::kind::cold);
}

engine engine_of(unsigned thread) {
  constexpr engine kAll[] = {engine::best, engine::threads, engine::polled};
  return kAll[thread % std::size(kAll)];
}

class worker {
 public:
  worker(node_table& nodes, const way& how, counts& seen, unsigned thread, std::uint64_t seed)
      : nodes_(nodes),
        how_(how),
        seen_(seen),
        thread_(thread),
        random_(seed + thread),
        expected_(kKeys / kThreads),
        reader_(std::move(*heap::cold_reader::make(engine_of(thread)))),
        fetcher_(std::move(*fetcher::make())) {}

  void fill() {
    for (std::uint64_t i = 0; i < expected_.size(); ++i) replace(own_key(i));
  }
  void run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps || (!seen_.has_seen_all() && i < kPatience * steps); ++i) {
      if (testing::Test::HasFailure()) return;
      step();
    }
  }
  /// While no read fails.
  void check_all_own() {
    for (std::uint64_t i = 0; i < expected_.size(); ++i) {
      access waits;
      const bytes* const found = nodes_.at(own_key(i)).held.get(waits);
      ASSERT_EQ(waits.result(), access::outcome::complete);
      check(own_key(i), found);
    }
  }

 private:
  bool is_own(std::uint64_t key) const { return key % kThreads == thread_; }
  std::uint64_t own_key(std::uint64_t i) const { return i * kThreads + thread_; }
  std::string& expected(std::uint64_t key) { return expected_[key / kThreads]; }

  void step() {
    const std::uint64_t own = own_key(random_.below(expected_.size()));
    switch (random_.below(16)) {
      case 0:
        return replace(own);
      case 1:
        return renew(own);
      case 2:
        return how_.moves_nodes() ? nodes_.relocate(own) : renew(own);
      case 3:
        return clear(own);
      case 4:
        return replace_what_is_there(own);
      case 5:
      case 6:
        return fetch(random_.below(kKeys));
      case 7:
      case 8:
        return read({own});
      default:
        return read({random_.below(kKeys), random_.below(kKeys), own, random_.below(kKeys)});
    }
  }

  owned<bytes> make(std::uint64_t key) {
    const std::size_t size = random_.below(200) == 0 ? 30'000 : random_.below(3000);
    expected(key) = index::make_value(index::numbered_key(key), size, random_);
    const auto birth = random_.below(4) == 0 ? heap::kind::hot : heap::kind::newborn;
    return make_bytes_in(birth, expected(key));
  }
  void replace(std::uint64_t key) {
    const scope inside;
    ASSERT_TRUE(nodes_.at(key).held.replace(inside, make(key)));
  }
  void renew(std::uint64_t key) { nodes_.renew(key, make(key)); }
  void clear(std::uint64_t key) {
    const scope inside;
    ASSERT_EQ(nodes_.at(key).held.clear(inside), !expected(key).empty());
    expected(key).clear();
  }
  /// Does as a thread that needs the object itself, and may meet readers and the collector.
  void replace_what_is_there(std::uint64_t key) {
    access waits;
    const scope& inside = waits.scope();
    guide<bytes>& held = nodes_.at(key).held;
    const bytes* const there = held.get(waits);
    if (waits.has_lost()) {  // its read has failed
      ASSERT_EQ(waits.result(), access::outcome::unreadable);
      ASSERT_EQ(there, nullptr);
      ASSERT_FALSE(held.is_null());
      return;
    }
    ASSERT_EQ(there != nullptr, !expected(key).empty());
    if (there == nullptr) return;
    ASSERT_TRUE(there->view() == expected(key)) << key;
    const std::string before = expected(key);
    owned<bytes> next = make(key);
    // No collector moves it while it is in use here, but a reader may bring it back to HOT.
    if (!held.compare_replace(inside, there, next)) expected(key) = before;
  }

  void check(std::uint64_t key, const bytes* found) {
    if (is_own(key)) {
      ASSERT_TRUE(found ? found->view() == expected(key) : expected(key).empty()) << key;
    }
    if (found == nullptr) return;
    ASSERT_TRUE(index::is_intact(index::numbered_key(key), found->view())) << key;
    std::this_thread::yield();  // held across a switch: it must stay what it is
    ASSERT_TRUE(index::is_intact(index::numbered_key(key), found->view())) << key;
  }
  /// Like a command of a server: it begins anew when what it missed has been read.
  void read(const std::vector<std::uint64_t>& keys) {
    constexpr int kMostAttempts = 4;
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      const auto may_use = random_.below(2) ? access::copies::allowed : access::copies::refused;
      std::vector<heap::miss> missed;
      {
        access inside(access::when_cold::record, &arrived_, may_use);
        if (attempt + 1 == kMostAttempts) inside.wait_from_here();
        for (const std::uint64_t key : keys) {
          inside.begin();
          const bytes* const found = nodes_.at(key).held.get(inside);
          if (inside.has_lost()) continue;
          check(key, found);
          if (attempt > 0 && found != nullptr)
            ++(lies_in_a_heap(found) ? seen_.objects : seen_.copies);
        }
        missed = inside.take_misses();
      }
      if (missed.empty()) break;
      read_from_the_file(std::move(missed));
    }
    arrived_.clear();
  }
  void read_from_the_file(std::vector<heap::miss> missed) {
    std::vector<std::shared_ptr<const heap::cold_read>> reads;
    seen_.missed += missed.size();
    for (heap::miss& each : missed) reads.push_back(reader_->read(std::move(each), 0));
    reader_->submit();
    if (random_.below(32) == 0) give_up();
    for (std::size_t told = 0; told < reads.size();) {
      reader_->wait(-1);
      reader_->take_ended([&told](std::uint64_t) { ++told; });
    }
    for (auto& each : reads) {
      ASSERT_TRUE(each->has_ended());
      const int error = each->error();
      ASSERT_TRUE(error == 0 || error == EIO || error == ETIME) << error;
      arrived_.add(each);
    }
  }
  /// Models a disk that has not answered for long, while no other thread has looked.
  void give_up() {
    const auto now = std::chrono::steady_clock::now();
    for (int part = 0; part <= 4; ++part) {
      reader_->end_unanswered(now + part * heap::read_limits().answers_within / 4);
    }
  }
  /// Like a program with a fetcher.
  void fetch(std::uint64_t key) {
    std::optional<heap::miss> missed;
    {
      access inside;
      const guide<bytes>& held = nodes_.at(key).held;
      auto found = held.try_get(inside.scope());
      if (found && *found != nullptr) return check(key, *found);
      if (found) {
        const bytes* const again = held.get(inside);
        if (!inside.has_lost()) check(key, again);  // or its read has failed
        return;
      }
      missed.emplace(std::move(found.error()));
    }
    fetcher_.fetch(std::move(*missed), [this, key] { fetch(key); });
    if (is_running_) return;  // within run()
    is_running_ = true;
    while (fetcher_.waiting() > 0) fetcher_.run_within(-1);
    is_running_ = false;
  }

  node_table& nodes_;
  const way& how_;
  counts& seen_;
  const unsigned thread_;
  base::random random_;
  std::vector<std::string> expected_;  // of its own keys; empty: nothing is there
  std::unique_ptr<heap::cold_reader> reader_;
  heap::arrived_reads arrived_;
  fetcher fetcher_;
  bool is_running_ = false;
};

collector::options options_of(const way& how) {
  collector::options chosen;
  chosen.window_seconds = 0.001;
  chosen.policy = how.policy;
  chosen.protocol = how.protocol;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.target_promotion_rate = 1e18;
  chosen.memory_target_bytes = how.has_budget() ? 1 << 20 : 0;
  chosen.hint = heap::hint::pageout;
  return chosen;
}

void collect_until(const std::atomic<bool>& is_done, collector::object_collector& collector,
                   counts& seen) {
  do {
    seen.demoted += collector.run_window().demoted.objects;
    ++seen.windows;
  } while (!is_done);
}

/// The fate of a part of a read.
int fate_of_read(os::io_call call) {
  if (call != os::io_call::read) return 0;
  static std::atomic<std::uint64_t> calls{0};
  switch (base::mix64(++calls) % 64) {
    case 0:
      return EIO;
    case 1:
      return EINTR;
    case 2: {
      const auto late = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
      while (std::chrono::steady_clock::now() < late) std::this_thread::yield();
      return 0;
    }
    default:
      return 0;
  }
}

class FetchStress : public testing::TestWithParam<way> {
 protected:
  static void SetUpTestSuite() { testing_help::cold_in_a_file(); }
  FetchStress() {
    os::set_fault_hook(&fate_of_read);
    os::set_longest_read(2 * base::kPageBytes);
  }
  ~FetchStress() override {
    os::set_longest_read(std::nullopt);
    os::set_fault_hook({});
  }
};

TEST_P(FetchStress, ValuesAreWholeAndRight) {
  const std::uint64_t seed = number_from("ISOTHERM_TEST_SEED", std::random_device{}());
  std::cout << "ISOTHERM_TEST_SEED=" << seed << '\n';
  const std::uint64_t steps = number_from("ISOTHERM_STRESS_OPS", 1000);
  collector::object_collector collector(options_of(GetParam()));
  collector.run_window();  // from here on words are used as its protocol says
  counts seen{.least_copies = GetParam().has_budget() ? 50U : 0U};
  {
    node_table nodes;
    std::vector<std::unique_ptr<worker>> workers;
    for (unsigned t = 0; t < kThreads; ++t) {
      workers.push_back(std::make_unique<worker>(nodes, GetParam(), seen, t, seed));
      workers.back()->fill();
    }
    std::atomic<bool> is_done{false};
    std::jthread collecting([&] { collect_until(is_done, collector, seen); });
    {
      std::vector<std::jthread> threads;
      for (auto& each : workers) threads.emplace_back([&each, steps] { each->run(steps); });
    }
    is_done = true;
    collecting.join();
    os::set_fault_hook({});
    for (auto& each : workers) each->check_all_own();
  }
  EXPECT_TRUE(seen.has_seen_all());
  EXPECT_EQ(heap::cold_reads().under_way, 0u);
  EXPECT_EQ(heap::cold_reads().unanswered, 0u);
  EXPECT_TRUE(heap::is_valid());
  std::cout << seen.windows << " windows, " << seen.demoted << " demoted, " << seen.missed
            << " missed, then " << seen.copies << " copies and " << seen.objects << " objects, "
            << heap::cold_reads().failed_reads << " reads failed\n";
}

INSTANTIATE_TEST_SUITE_P(Ways, FetchStress,
                         testing::Values(way{"Published", collector::policy_name::published,
                                             "veto"},
                                         way{"Counts", collector::policy_name::published, "counts"},
                                         way{"Budget", collector::policy_name::budget, "veto"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace isotherm
