#include "lab/tiers/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "lab/emulation/slow_memory.hpp"
#include "lab/simulation/simulated_trees.hpp"
#include "lab/tiers/best_placement.hpp"
#include "lab/tiers/placements.hpp"
#include "placement/node_memory.hpp"
#include "sync/retire.hpp"

namespace isotherm::lab {
namespace {

using placement::tier;
using workload::operation;

constexpr std::uint64_t kStepsPerSecond = 10, kStepsPerCheck = 5;
/// Requests at the end of the warm-up that go through the caches, so that these are warm.
constexpr std::uint64_t kCacheWarming = 500'000;
constexpr double kShift = 0.17;  // of the keys: the hot region moves so far

bool is_computed(std::string_view name) noexcept {
  return name == kBestPlacement || name == kSlowFastPlacement;
}

/// Keeps all nodes where they are while a placement is computed.
class slow_placement final : public tier_placement, placement::placer {
 public:
  placement::placer& chooser() noexcept override { return *this; }
  tier choose(std::size_t, const placement::node_place&) noexcept override { return tier::slow; }
  base::result<void> begin(placement::placed_tree&, const request_drive&) override { return {}; }
  std::uint64_t fast_bytes() const noexcept override { return 0; }
};

base::result<std::unique_ptr<tier_placement>> make_any(std::string_view name,
                                                       const placement_options& chosen) {
  if (is_computed(name)) return std::make_unique<slow_placement>();
  return make_placement(name, chosen);
}

/// Frees all that was retired, so that no time that freeing takes decides what is freed when.
void reclaim_all() {
  for (int i = 0; i < 16 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
}

/// The requests, in the order and number that the options say.
class request_source {
 public:
  request_source(const tiers_run& run, std::uint64_t seed)
      : requests_(run.requests), keys_by_(run.keys_by), keys_(run.keys), seed_(seed) {
    begin_stream();
  }
  const workload::request& next(std::uint64_t records) {
    if (at_ == batch_.size()) {
      stream_->grow_to(records);
      stream_->fill(batch_);
      at_ = 0;
    }
    return batch_[at_++];
  }
  bool draws_ages() const noexcept { return chooser_->draws_ages(); }
  void move_hot_region() {
    keys_by_.hotspot_at = std::fmod(keys_by_.hotspot_at.value_or(0) + kShift, 1.0);
    ++seed_;
    begin_stream();
  }
  /// First key of the hot region and number of keys in it.
  std::pair<std::uint64_t, std::uint64_t> hot_region() const noexcept {
    return {
        static_cast<std::uint64_t>(keys_by_.hotspot_at.value_or(0) * static_cast<double>(keys_)),
        workload::hot_keys_of(keys_by_, keys_)};
  }
  bool has_hot_region() const noexcept { return keys_by_.hotspot_at.has_value(); }
  void skip(std::uint64_t requests) { stream_->skip(requests / workload::kBatch); }

 private:
  void begin_stream() {
    chooser_ = std::make_unique<workload::key_chooser>(keys_by_, keys_);
    stream_ = std::make_unique<workload::request_stream>(requests_.shares, *chooser_, seed_, 0);
    at_ = batch_.size();
  }

  const workload::ycsb_workload requests_;
  workload::key_choice keys_by_;
  const std::uint64_t keys_;
  std::uint64_t seed_;
  std::unique_ptr<workload::key_chooser> chooser_;
  std::unique_ptr<workload::request_stream> stream_;
  std::vector<workload::request> batch_ = std::vector<workload::request>(workload::kBatch);
  std::size_t at_ = 0;
};

class simulation {
 public:
  simulation(const tiers_options& asked, const tiers_run& run, std::uint64_t seed)
      : asked_(asked), run_(run), seed_(seed), source_(run, seed), records_(run.keys) {}

  base::result<simulated_result> run();

 private:
  base::result<std::uint64_t> measure_nodes();
  base::result<void> make_tree(std::uint64_t node_bytes);
  base::result<void> load(workload::target& store, const std::function<void()>& each_step);
  base::result<void> drive(std::uint64_t requests);
  base::result<void> foresee();
  base::result<void> measure();
  base::result<void> perform(const workload::request& next);
  base::result<void> send(const workload::request& next, std::uint64_t number);
  void visit_record(std::uint64_t number);
  record_place records() const noexcept {
    return asked_.simulated.has_records_in_leaves ? record_place::in_leaf : record_place::outside;
  }
  void step();
  void watch_hot_leaves();
  void check_hot_leaves();
  bool are_hot_leaves_fast();
  double visit_ns() const noexcept {
    // Measured with 2 million keys, on a processor at 2 to 3 GHz.
    constexpr double kArtNs = 36, kBorderNs = 350;
    if (asked_.simulated.visit_ns > 0) return asked_.simulated.visit_ns;
    return run_.index == "art" ? kArtNs : kBorderNs;
  }
  std::uint64_t visits_of_leaves() const { return placed_->details().value("visits", 0); }
  std::uint64_t requests_in(double seconds) const noexcept {
    // Whole batches, so that the measured requests begin with one.
    const double requests = seconds * static_cast<double>(asked_.simulated.rate);
    return static_cast<std::uint64_t>(requests) / workload::kBatch * workload::kBatch;
  }

  const tiers_options& asked_;
  const tiers_run& run_;
  const std::uint64_t seed_;
  request_source source_;
  visit_counter counter_;
  std::unique_ptr<tier_placement> placed_;
  index::placed_index tree_;
  std::unique_ptr<tier_target> store_;
  std::unique_ptr<workload::session> session_;
  workload::touched_keys unused_{0};
  std::uint64_t records_;
  std::uint64_t since_step_ = 0, steps_ = 0;  // requests, and steps
  std::uint64_t watched_from_ = 0, visits_before_ = 0;
  bool is_watching_ = false;
  simulated_result found_;
};

base::result<void> simulation::load(workload::target& store,
                                    const std::function<void()>& each_step) {
  auto session = store.connect();
  if (!session) return std::unexpected(session.error());
  const std::uint64_t piece = std::max<std::uint64_t>(asked_.simulated.rate / kStepsPerSecond, 1);
  for (std::uint64_t first = 0; first < run_.keys; first += piece) {
    {
      const sync::scope inside;
      const auto loaded = (*session)->load(first, std::min(first + piece, run_.keys));
      if (!loaded) return loaded;
    }
    reclaim_all();
    each_step();
  }
  return {};
}

base::result<std::uint64_t> simulation::measure_nodes() {
  slow_placement slow;
  auto made = make_simulated(run_.index, slow.chooser(), records());
  if (!made) return std::unexpected(made.error());
  tier_target store(*made->index, asked_.record, run_.keys);
  if (auto loaded = load(store, [] {}); !loaded) return std::unexpected(loaded.error());
  const std::uint64_t bytes = placement::used_bytes(tier::slow);
  made->index.reset();
  reclaim_all();
  return bytes;
}

base::result<void> simulation::make_tree(std::uint64_t node_bytes) {
  found_.node_bytes = node_bytes;
  found_.fast_bytes_limit =
      static_cast<std::uint64_t>(run_.fast_share * static_cast<double>(node_bytes));
  const auto& policy = asked_.policy;
  found_.leaves_per_turn = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(policy.trigger_share * 1e6 * policy.trigger_ms / visit_ns()), 1);
  auto placed = make_any(
      run_.placement, {.fast_bytes = found_.fast_bytes_limit, .sinlk = policy, .is_stepped = true});
  if (!placed) return std::unexpected(placed.error());
  placed_ = std::move(*placed);
  auto tree = make_simulated(run_.index, placed_->chooser(), records());
  if (!tree) return std::unexpected(tree.error());
  tree_ = std::move(*tree);
  store_ = std::make_unique<tier_target>(*tree_.index, asked_.record, run_.keys);
  auto session = store_->connect();
  if (!session) return std::unexpected(session.error());
  session_ = std::move(*session);
  return load(*store_, [this] { step(); });
}

/// Visits a record that is no part of its leaf.
void simulation::visit_record(std::uint64_t number) {
  if (records() == record_place::in_leaf) return;
  counter_.visit_record(number, asked_.record.key_size + asked_.record.value_size);
}

base::result<void> simulation::send(const workload::request& next, std::uint64_t number) {
  const auto result = [](auto&& how) {
    return how ? base::result<void>() : base::result<void>(std::unexpected(how.error()));
  };
  switch (next.kind) {
    case operation::insert:
      return result(session_->insert(number));
    case operation::scan: {
      const auto how = session_->scan(number, next.scan_length, unused_);
      for (unsigned i = 0; i < next.scan_length; ++i) visit_record(number + i);
      return result(how);
    }
    case operation::modify:
      if (const auto how = session_->read(number); !how) return result(how);
      [[fallthrough]];
    case operation::update: {
      const auto how = session_->update(number);
      visit_record(number);
      return result(how);
    }
    default: {
      const auto how = session_->read(number);
      visit_record(number);
      return result(how);
    }
  }
}

base::result<void> simulation::perform(const workload::request& next) {
  std::uint64_t number = next.key;
  if (next.kind == operation::insert) {
    number = records_++;
  } else if (source_.draws_ages()) {
    number = records_ - 1 - next.key;
  }
  // Visits of the placement's own are not counted.
  counted_visits = &counter_;
  counter_.begin_request(number);
  auto sent = send(next, number);
  counter_.end_request();
  counted_visits = nullptr;
  return sent;
}

/// Sends requests, and takes the steps that are due.
base::result<void> simulation::drive(std::uint64_t requests) {
  const std::uint64_t piece = std::max<std::uint64_t>(asked_.simulated.rate / kStepsPerSecond, 1);
  while (requests > 0) {
    {
      const sync::scope inside;
      for (; requests > 0 && since_step_ < piece; --requests, ++since_step_) {
        if (auto sent = perform(source_.next(records_)); !sent) return sent;
      }
    }
    reclaim_all();
    if (since_step_ < piece) break;
    since_step_ = 0;
    step();
  }
  return {};
}

/// Sends the requests that are going to be measured, but those that would change the tree.
base::result<void> simulation::foresee() {
  request_source future(run_, seed_);
  future.skip(requests_in(asked_.warmup));
  for (std::uint64_t sent = 0; sent < asked_.simulated.requests;) {
    {
      const sync::scope inside;
      for (std::size_t i = 0; i < workload::kBatch; ++i, ++sent) {
        const workload::request& next = future.next(records_);
        if (next.kind == operation::insert) continue;
        if (auto how = perform(next); !how) return how;
      }
    }
    reclaim_all();
  }
  return {};
}

void simulation::step() {
  const std::uint64_t moved_before = placed_->moved_bytes();
  placed_->step(*tree_.nodes, found_.leaves_per_turn);
  found_.most_moved_bytes =
      std::max(found_.most_moved_bytes, placed_->moved_bytes() - moved_before);
  reclaim_all();
  if (++steps_ % kStepsPerCheck == 0 && is_watching_) check_hot_leaves();
}

void simulation::watch_hot_leaves() {
  if (!source_.has_hot_region()) return;
  found_.until_hot_fast.emplace_back();
  is_watching_ = true;
  watched_from_ = steps_;
  visits_before_ = visits_of_leaves();
}

void simulation::check_hot_leaves() {
  if (!are_hot_leaves_fast()) return;
  found_.until_hot_fast.back() = {
      .seconds = static_cast<double>(steps_ - watched_from_) / kStepsPerSecond,
      .visits = visits_of_leaves() - visits_before_};
  is_watching_ = false;
}

bool simulation::are_hot_leaves_fast() {
  constexpr double kEnough = 0.95;
  const auto [first, count] = source_.hot_region();
  const auto key_of = [this](std::uint64_t number) {
    return tier_key(number, asked_.record.key_size);
  };
  std::string cursor = first > 0 ? key_of(first - 1) : std::string();
  const std::string end = key_of(std::min(first + count, run_.keys) - 1);
  std::uint64_t leaves = 0, fast = 0;
  const sync::scope inside;
  for (bool is_more = true; is_more && cursor < end;) {
    // The first leaf of a call may be the last of the one before, and its only progress the second.
    unsigned left = 2;
    is_more = tree_.nodes->visit_leaves(inside, cursor, [&](const placement::visited_leaf& leaf) {
      ++leaves;
      fast += !is_emulated_slow(leaf.path.back());
      return --left > 0;
    });
  }
  return static_cast<double>(fast) >= kEnough * static_cast<double>(leaves);
}

base::result<void> simulation::measure() {
  const std::uint64_t shift = requests_in(asked_.shift_seconds);
  const std::uint64_t moved_before = placed_->moved_bytes();
  counter_.forget();
  if (is_computed(run_.placement)) counter_.count_nodes();
  found_.most_moved_bytes = 0;
  for (std::uint64_t done = 0; done < asked_.simulated.requests;) {
    const std::uint64_t left = asked_.simulated.requests - done,
                        piece = shift > 0 ? std::min(shift, left) : left;
    // A rest of less than half a period sees no move: its leaves would have no time to follow.
    if (shift > 0 && 2 * piece >= shift && source_.has_hot_region()) {
      source_.move_hot_region();
      watch_hot_leaves();
    }
    if (auto sent = drive(piece); !sent) return sent;
    done += piece;
  }
  found_.moved_bytes = placed_->moved_bytes() - moved_before;
  for (std::size_t at = 0; at < kVisitedKinds; ++at) {
    const auto kind = static_cast<visited>(at);
    found_.visits[at] = counter_.of_kind(kind);
    if (run_.placement == "interleave" && kind != visited::record) {
      found_.visits[at].spread(run_.fast_share);
    }
    found_.sum.add(found_.visits[at]);
  }
  for (std::size_t i = 0; i < kCaches; ++i) found_.by_request[i] = counter_.requests(i);
  return {};
}

base::result<simulated_result> simulation::run() {
  const auto nodes =
      run_.node_bytes ? base::result<std::uint64_t>(*run_.node_bytes) : measure_nodes();
  if (!nodes) return std::unexpected(nodes.error());
  if (auto made = make_tree(*nodes); !made) return std::unexpected(made.error());
  const auto foreseen = [this](double) { return foresee(); };
  if (auto started = placed_->begin(*tree_.nodes, foreseen); !started) {
    return std::unexpected(started.error());
  }
  reclaim_all();
  watch_hot_leaves();
  const std::uint64_t warmup = requests_in(asked_.warmup);
  const std::uint64_t warming = std::min(warmup, kCacheWarming);
  if (auto sent = drive(warmup - warming); !sent) return std::unexpected(sent.error());
  counter_.begin_counting();
  if (auto sent = drive(warming); !sent) return std::unexpected(sent.error());
  if (auto measured = measure(); !measured) return std::unexpected(measured.error());
  found_.requests = asked_.simulated.requests;
  found_.fast_bytes = placed_->fast_bytes();
  found_.fast_page_bytes = placed_->fast_page_bytes();
  found_.details = placed_->details();
  if (run_.placement == kBestPlacement) {
    place_best(*tree_.nodes, counter_, found_.fast_bytes_limit, found_.sum);
    const hot_pages pages = find_hot_pages(*tree_.nodes, counter_);
    found_.details["hot_pages"] = {{"share_of_top_node", pages.share_of_top_node},
                                   {"upper_quartile", pages.upper_quartile},
                                   {"nodes", pages.nodes}};
  }
  if (run_.placement == kSlowFastPlacement) {
    place_slow_fast(*tree_.nodes, counter_, found_.fast_bytes_limit, found_.sum);
  }
  tree_.index.reset();  // before its placer
  return std::move(found_);
}

}  // namespace

base::result<simulated_result> run_simulated(const tiers_options& asked, const tiers_run& run,
                                             std::uint64_t seed) {
  if (auto opened = placement::open_node_memory(); !opened) {
    return std::unexpected(opened.error());
  }
  placement::keep_free_pages();
  return simulation(asked, run, seed).run();
}

double modelled_ns(const simulated_result& found, double slow_ratio, std::size_t cache) noexcept {
  const auto& [fast, slow] = found.sum.misses[cache];
  const double visits = static_cast<double>(found.sum.visits[0] + found.sum.visits[1]);
  const double misses = static_cast<double>(fast) + static_cast<double>(slow);
  const double ns =
      kModelledMissNs * (static_cast<double>(fast) + slow_ratio * static_cast<double>(slow)) +
      kModelledHitNs * (visits - misses);
  return ns / static_cast<double>(found.requests);
}

double all_fast_ns(const simulated_result& found, std::size_t cache) noexcept {
  return modelled_ns(found, 1, cache);
}

}  // namespace isotherm::lab
