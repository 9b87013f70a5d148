#include "lab/simulation/visits.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "lab/emulation/slow_memory.hpp"
#include "placement/node_memory.hpp"

namespace isotherm::lab {

constinit thread_local visit_counter* counted_visits = nullptr;

namespace {

/// Nodes are aligned to as many bytes.
constexpr std::uint64_t kNodeAlignment = 16;
/// Records lie behind all nodes.
constexpr std::uint64_t kFirstRecordLine = std::uint64_t{1} << 56;

/// Returns the node's distance from the begin of the two ranges, which differs between processes.
std::uint64_t offset_of(const void* node) noexcept {
  return reinterpret_cast<std::uintptr_t>(node) - placement::detail::ranges.begin;
}

}  // namespace

const char* name_of(visited kind) noexcept {
  constexpr std::array kNames = {"inner", "leaf", "entry", "record"};
  return kNames[static_cast<std::size_t>(kind)];
}

void visit_tally::add(const visit_tally& other) noexcept {
  for (std::size_t where = 0; where < 2; ++where) {
    visits[where] += other.visits[where];
    for (std::size_t i = 0; i < kCaches; ++i) misses[i][where] += other.misses[i][where];
  }
}

void visit_tally::spread(double fast_share) noexcept {
  const auto split = [fast_share](std::array<std::uint64_t, 2>& by_tier) {
    const std::uint64_t all = by_tier[0] + by_tier[1];
    by_tier[0] = static_cast<std::uint64_t>(fast_share * static_cast<double>(all));
    by_tier[1] = all - by_tier[0];
  };
  split(visits);
  for (auto& each : misses) split(each);
}

double request_misses::quantile(double share, double fast_ns, double slow_ns) const {
  std::vector<std::pair<double, std::uint64_t>> times;
  std::uint64_t all = 0;
  for (std::size_t fast = 0; fast <= kMost; ++fast) {
    for (std::size_t slow = 0; slow <= kMost; ++slow) {
      const std::uint64_t count = counts_[fast][slow];
      if (count == 0) continue;
      times.emplace_back(static_cast<double>(fast) * fast_ns + static_cast<double>(slow) * slow_ns,
                         count);
      all += count;
    }
  }
  std::ranges::sort(times);
  std::uint64_t below = 0;
  for (const auto& [ns, count] : times) {
    below += count;
    if (static_cast<double>(below) >= share * static_cast<double>(all)) return ns;
  }
  return 0;
}

visit_counter::visit_counter() {
  for (const std::uint64_t mib : kCacheMib) caches_.emplace_back(mib << 20);
}

void visit_counter::forget() {
  tallies_ = {};
  requests_ = {};
  std::ranges::fill(nodes_, node_tally{});
}

void visit_counter::count_nodes() {
  counts_nodes_ = true;
  nodes_.assign(0, {});
}

node_tally* visit_counter::tally_of(const void* node) noexcept {
  if (!placement::is_slow(node)) return nullptr;
  const std::size_t at = (offset_of(node) - placement::detail::ranges.bytes) / kNodeAlignment;
  if (at >= nodes_.size()) nodes_.resize(std::max(at + 1, nodes_.size() * 3 / 2));
  return &nodes_[at];
}

node_tally visit_counter::of_node(const void* node) const noexcept {
  if (!placement::is_slow(node)) return {};
  const std::size_t at = (offset_of(node) - placement::detail::ranges.bytes) / kNodeAlignment;
  return at < nodes_.size() ? nodes_[at] : node_tally{};
}

void visit_counter::fetch(std::uint64_t line, misses& missed) noexcept {
  for (std::size_t i = 0; i < kCaches; ++i) missed[i] |= !caches_[i].use(line);
}

void visit_counter::count(visited kind, placement::tier where, const misses& missed) noexcept {
  visit_tally& tally = tallies_[static_cast<std::size_t>(kind)];
  const auto at = static_cast<std::size_t>(where);
  ++tally.visits[at];
  for (std::size_t i = 0; i < kCaches; ++i) {
    tally.misses[i][at] += missed[i];
    of_request_[i][at] += missed[i];
  }
}

void visit_counter::end_request() noexcept {
  if (!is_counting_) return;
  for (std::size_t i = 0; i < kCaches; ++i) requests_[i].add(of_request_[i][0], of_request_[i][1]);
}

void visit_counter::visit(visited kind, const void* node, unsigned lines) noexcept {
  const auto where = is_emulated_slow(node) ? placement::tier::slow : placement::tier::fast;
  if (!is_counting_) return;
  const std::uint64_t first = offset_of(node) / cache_model::kLineBytes,
                      rest = placement::bytes_of(node) / cache_model::kLineBytes;
  misses missed{};
  fetch(first, missed);
  // The request's key says which of the other lines are read.
  for (unsigned i = 1; i < lines && rest > 1; ++i) {
    fetch(first + 1 + base::mix64(request_ * 8 + i) % (rest - 1), missed);
  }
  count(kind, where, missed);
  if (!counts_nodes_) return;
  node_tally* const tally = kind == visited::entry ? leaf_ : tally_of(node);
  if (kind == visited::leaf) leaf_ = tally;
  if (tally == nullptr) return;
  ++tally->visits;
  for (std::size_t i = 0; i < kCaches; ++i) tally->misses[i] += missed[i];
}

void visit_counter::visit_record(std::uint64_t number, std::uint64_t bytes) noexcept {
  if (!is_counting_) return;
  const std::uint64_t lines = (bytes + cache_model::kLineBytes - 1) / cache_model::kLineBytes;
  misses missed{};
  for (std::uint64_t i = 0; i < lines; ++i) {
    fetch(kFirstRecordLine + number * lines + i, missed);
  }
  count(visited::record, placement::tier::fast, missed);
}

}  // namespace isotherm::lab
