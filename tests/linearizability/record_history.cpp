// Records what threads asked of an index and were answered, with the times of call and return, for
// the checker beside it. Meanwhile a collector moves every object as often as it can.
//
//   linearizability_recorder --list
//   linearizability_recorder INDEX PROTOCOL BROKEN SEED FILE
//
// BROKEN is `sound`, or the name of a defect that a wrapper puts before the index: the checker must
// see it. Keys are few, so that operations meet. All threads, the collector's too, are stopped at
// random by a signal, wherever they are; and they pause inside of callbacks and while they hold
// what they found. Two more threads, whose operations are not recorded, fill and empty the
// neighbourhood of those keys, so that nodes split and merge, layers come and go and tables grow
// under them. Another thread moves the nodes of placed trees, "placed:NAME", between fast and slow
// memory without a pause. Each round has a fresh index, and in FILE its keys have new numbers.
#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"
#include "collector/collector.hpp"
#include "collector/protocol/protocol.hpp"
#include "index/index.hpp"
#include "index/placed/node_mover.hpp"
#include "linearizability/broken_index.hpp"
#include "linearizability/napping_threads.hpp"
#include "os/clock.hpp"

namespace isotherm::index {
namespace {

constexpr unsigned kThreads = 4, kChurners = 2;
constexpr std::uint64_t kKeys = 6, kRounds = 4, kSteps = 500, kNeighbours = 400;
// A round ends with its time where its steps take longer: on a busy machine a thread that naps is
// late to wake, and others wait for its locks. Some steps there are always.
constexpr std::uint64_t kStepsLeast = 50, kRoundNs = 1'000'000'000;

struct event {
  std::string_view operation;
  std::uint64_t key;
  std::uint64_t written = 0;
  bool is_done = false;
  std::uint64_t seen = 0;  // 0: absent
  std::uint64_t call_ns = 0, return_ns = 0;
};

/// Keys of different lengths, one a prefix of the next.
std::string key_of(std::uint64_t key) { return std::string(key * 5, 'k') + "key"; }

/// Right behind one of those keys, which it begins with, or somewhat before it. Ends in a digit.
std::string neighbour_of(std::uint64_t number) {
  std::string key = key_of(number % kKeys);
  if (number % 2 != 0) key.pop_back();
  return key + std::to_string(number / kKeys);
}
bool is_neighbour(std::string_view key) { return key.back() != 'y'; }

/// Fills and empties one churner's part of the neighbourhood until `is_done`.
void churn(any_index& index, unsigned churner, const std::atomic<bool>& is_done,
           naps::napping_threads& napping) {
  const naps::napping_threads::member here(napping);
  while (!is_done.load()) {
    for (std::uint64_t i = churner; i < kNeighbours && !is_done.load(); i += kChurners) {
      index.upsert(neighbour_of(i), "neighbour");
    }
    for (std::uint64_t i = churner; i < kNeighbours && !is_done.load(); i += kChurners) {
      index.erase(neighbour_of(i));
    }
  }
}

/// A value names itself; its length, up to some cache lines, follows from its number.
std::string value_of(std::uint64_t id) {
  return fmt::format("{}:{}", id, std::string(id % 300, '.'));
}

std::uint64_t id_of(std::string_view value) {
  std::uint64_t id = 0;
  std::from_chars(value.data(), value.data() + value.size(), id);
  ISO_CHECK(value == value_of(id), "a value is not what was written");
  return id;
}

class client {
 public:
  client(unsigned thread, std::uint64_t seed) : random_(seed + thread), next_id_(1 + thread) {
    events_.reserve(2 * kSteps * kRounds);
  }

  /// On an index that was empty when the round began.
  void run(any_index& index, std::uint64_t round) {
    index_ = &index;
    first_key_ = round * kKeys;
    const std::uint64_t end_ns = os::monotonic_ns() + kRoundNs;
    for (std::uint64_t i = 0; i < kSteps && (i < kStepsLeast || os::monotonic_ns() < end_ns); ++i) {
      step();
      maybe_pause();
    }
  }
  const std::vector<event>& events() const noexcept { return events_; }

 private:
  void step() {
    const std::uint64_t number = random_.below(kKeys);
    event e{.operation = "find", .key = first_key_ + number};
    const std::string key = key_of(number);
    switch (random_.below(8)) {
      case 0:
        return write(e, "insert", [&](std::string_view value) {
          e.is_done = index_->insert(key, value) == outcome::done;
        });
      case 1:
        return write(e, "upsert", [&](std::string_view value) {
          e.is_done = index_->upsert(key, value) == outcome::done;
        });
      case 2:
        e.operation = "erase";
        return timed(e, [&] { e.is_done = index_->erase(key); });
      case 3:
        return write(e, "swap", [&](std::string_view value) { swap(e, key, value); });
      case 4:
        e.operation = "take";
        return timed(e, [&] { take(e, key); });
      case 5:
        return scan();
      default:
        timed(e, [&] { find(e, key); });
    }
  }

  /// Runs `work` between the two times. The fences keep its loads and stores between them, as the
  /// thread sees that is told the answer.
  template <class Work>
  void timed(event& e, Work work) {
    e.call_ns = os::monotonic_ns();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    naps::is_amid_operation = 1;
    work();
    naps::is_amid_operation = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    e.return_ns = os::monotonic_ns();
    events_.push_back(e);
  }
  template <class Work>
  void write(event& e, std::string_view operation, Work work) {
    e.operation = operation;
    e.written = next_id_;
    next_id_ += kThreads;
    const std::string value = value_of(e.written);
    timed(e, [&] { work(value); });
  }

  void find(event& e, const std::string& key) {
    access inside;
    const auto found = index_->find(inside, key);
    if (!found) return;
    maybe_pause();
    e.seen = id_of(*found);
  }
  void swap(event& e, const std::string& key, std::string_view value) {
    const auto done = index_->update(key, [&](std::optional<std::string_view> current) {
      maybe_pause();
      e.seen = current ? id_of(*current) : 0;
      maybe_pause();
      return decision{action::write, value};
    });
    e.is_done = done == outcome::done;
  }
  void take(event& e, const std::string& key) {
    index_->update(key, [&](std::optional<std::string_view> current) {
      maybe_pause();
      e.seen = current ? id_of(*current) : 0;
      maybe_pause();
      return decision{current ? action::erase : action::keep, {}};
    });
  }

  /// Records the promise of a scan or walk, key by key: it found what the key held at some moment
  /// of it. A walk may show a key twice; only ordered structures show it once.
  void scan() {
    if (!index_->is_ordered()) return;
    const bool backwards = random_.below(2) == 0;
    std::vector<std::uint64_t> seen(kKeys, 0);
    event e{.operation = "find", .key = 0};
    e.call_ns = os::monotonic_ns();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    {
      access inside;
      const auto note = [&](std::string_view key, std::string_view value) {
        if (is_neighbour(key)) return true;
        seen[key.size() / 5] = id_of(value);
        maybe_pause();
        return true;
      };
      if (backwards) {
        index_->scan_back(inside, std::nullopt, note);
      } else {
        index_->scan(inside, "", note);
      }
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    e.return_ns = os::monotonic_ns();
    for (std::uint64_t number = 0; number < kKeys; ++number) {
      e.key = first_key_ + number;
      e.seen = seen[number];
      events_.push_back(e);
    }
  }

  void maybe_pause() {
    switch (random_.below(16)) {
      case 0:
        return std::this_thread::yield();
      case 1:
        for (std::uint64_t turns = random_.below(200); turns > 0; --turns) base::spin_pause();
    }
  }

  any_index* index_ = nullptr;
  std::uint64_t first_key_ = 0;  ///< the round's, in events
  base::random random_;
  std::uint64_t next_id_;  // own residue class modulo kThreads: unique
  std::vector<event> events_;
};

/// Windows without a pause until `is_done`, and until something moved, which what is left in the
/// index does soon; returns the objects moved.
std::uint64_t collect_until(const std::atomic<bool>& is_done, std::string_view protocol,
                            naps::napping_threads& napping) {
  const naps::napping_threads::member here(napping);
  collector::options chosen;
  chosen.window_seconds = 0.001;
  chosen.policy = collector::policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  chosen.protocol = protocol;
  collector::object_collector collector(chosen);
  std::uint64_t moved = 0;
  for (unsigned more = 100; !is_done.load() || (moved == 0 && more > 0);) {
    const auto window = collector.run_window();
    moved += window.demoted.objects + window.promoted.objects;
    more -= is_done.load();
  }
  ISO_CHECK(moved > 0, "no object moved beside the operations");
  return moved;
}

void save(const std::vector<client>& clients, const char* path) {
  std::FILE* file = std::fopen(path, "w");
  ISO_CHECK(file, "cannot write the history");
  for (std::size_t c = 0; c < clients.size(); ++c) {
    for (const event& e : clients[c].events()) {
      fmt::print(file, "{} {} {} {} {} {} {} {}\n", c, e.operation, e.key, e.written,
                 e.is_done ? 1 : 0, e.seen, e.call_ns, e.return_ns);
    }
  }
  ISO_CHECK(std::fclose(file) == 0, "cannot write the history");
}

/// An index to use for a round, and its nodes, where they are to be moved meanwhile.
struct used_index {
  std::unique_ptr<any_index> index;
  placement::placed_tree* nodes = nullptr;
};

/// "placed:NAME" stands for a tree whose nodes are placed.
constexpr std::string_view kPlaced = "placed:";

used_index make_used(std::string_view name, std::string_view broken, random_placer& chooser) {
  if (!name.starts_with(kPlaced)) {
    return {make_broken(broken, std::move(*make(name, management::on)))};
  }
  ISO_CHECK(placement::open_node_memory(), "no memory for placed nodes");
  auto made = *make_placed(name.substr(kPlaced.size()), management::on, chooser);
  return {std::move(made.index), made.nodes};
}

/// Moves nodes, placed ones, until `is_done`, and adds them to `moved`.
void move_nodes(placement::placed_tree* nodes, std::uint64_t seed, const std::atomic<bool>& is_done,
                naps::napping_threads& napping, placement::migration_counts& moved) {
  if (!nodes) return;
  const naps::napping_threads::member here(napping);
  node_mover moves(*nodes, seed);
  while (!is_done.load()) moves.step();
  moved.promoted_nodes += moves.counts().promoted_nodes;
  moved.demoted_nodes += moves.counts().demoted_nodes;
}

/// False when the index's invariants do not hold any more.
bool run_round(const used_index& used, std::vector<client>& clients, std::uint64_t round,
               naps::napping_threads& napping, placement::migration_counts& moved) {
  any_index& index = *used.index;
  std::atomic<bool> is_done{false};
  std::jthread moving([&] { move_nodes(used.nodes, round, is_done, napping, moved); });
  std::vector<std::jthread> churners, threads;
  for (unsigned c = 0; c < kChurners; ++c) {
    churners.emplace_back([&, c] { churn(index, c, is_done, napping); });
  }
  for (client& each : clients) {
    threads.emplace_back([&each, &index, round, &napping] {
      const naps::napping_threads::member here(napping);
      each.run(index, round);
    });
  }
  threads.clear();
  is_done.store(true);
  churners.clear();
  moving.join();
  return index.is_valid();
}

int record(std::string_view name, std::string_view protocol, std::string_view broken,
           std::uint64_t seed, const char* path) {
  std::vector<client> clients;
  for (unsigned t = 0; t < kThreads; ++t) clients.emplace_back(t, seed);
  std::atomic<bool> is_done{false};
  std::uint64_t moved = 0;
  naps::napping_threads napping(seed);
  std::jthread collecting([&] { moved = collect_until(is_done, protocol, napping); });
  random_placer chooser(seed);
  used_index used;
  placement::migration_counts moved_nodes;
  bool is_valid = true;
  for (std::uint64_t round = 0; round < kRounds && is_valid; ++round) {
    used = make_used(name, broken, chooser);
    is_valid = run_round(used, clients, round, napping, moved_nodes);
  }
  is_done.store(true);
  collecting.join();
  save(clients, path);
  const std::uint64_t amid = naps::amid_operations.load();
  ISO_CHECK(amid > 0, "no thread was stopped amid an operation");
  // Over all rounds: a round may end before its mover gets a processor.
  ISO_CHECK(!used.nodes || (moved_nodes.promoted_nodes > 0 && moved_nodes.demoted_nodes > 0),
            "no node moved beside the operations");
  fmt::print("{} {} {} seed {}: {} objects moved, {} naps, {} of them amid operations\n", name,
             protocol, broken, seed, moved, naps::taken.load(), amid);
  if (is_valid) return 0;
  // Its history is saved all the same.
  std::cerr << name << ": the index's invariants do not hold\n";
  return 1;
}

}  // namespace
}  // namespace isotherm::index

int main(int count, char** words) {
  using namespace isotherm;
  if (count == 2 && std::string_view(words[1]) == "--list") {
    for (const auto name : index::names()) std::cout << "index " << name << '\n';
    for (const auto name : index::placed_names()) {
      std::cout << "placed " << index::kPlaced << name << '\n';
    }
    for (const auto name : collector::protocol_names()) std::cout << "protocol " << name << '\n';
    for (const auto name : index::broken_names()) std::cout << "broken " << name << '\n';
    return 0;
  }
  if (count != 6) {
    std::cerr << "usage: --list | INDEX PROTOCOL BROKEN SEED FILE\n";
    return 2;
  }
  return index::record(words[1], words[2], words[3], std::strtoull(words[4], nullptr, 10),
                       words[5]);
}
