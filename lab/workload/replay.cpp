#include "lab/workload/replay.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace isotherm::workload {
namespace {

/// Records that are enough for the share of misses to be right within some hundredths of itself.
constexpr std::uint64_t kFollowed = 1 << 16;

}  // namespace

/// A thread's stream, at one of its requests.
class replay::thread {
 public:
  thread(const plan& chosen, const key_chooser& chooser, unsigned index)
      : stream_(chosen.workload.shares, chooser, chosen.seed, index) {}

  /// Before its first next(); leaves whole batches out, at most `requests`.
  void skip(std::uint64_t requests) noexcept {
    stream_.skip(requests / kBatch);
    sent_ = requests / kBatch * kBatch;
  }
  std::uint64_t sent() const noexcept { return sent_; }
  /// `records` are there now.
  const request& next(std::uint64_t records) {
    const std::size_t at = sent_++ % kBatch;
    if (at == 0) {
      batch_.resize(kBatch);
      stream_.grow_to(records);
      stream_.fill(batch_);
    }
    return batch_[at];
  }

 private:
  request_stream stream_;
  std::vector<request> batch_;
  std::uint64_t sent_ = 0;
};

replay::replay(const plan& chosen, std::span<const std::uint64_t> done, std::uint64_t most)
    : chooser_(chosen.keys_by, chosen.keys),
      followed_(std::bit_ceil(std::max<std::uint64_t>(1, chosen.keys / kFollowed)) - 1),
      records_(chosen.keys) {
  std::uint64_t followed = 0;
  for (std::uint64_t record = 0; record < chosen.keys; ++record) {
    if (!is_followed(record)) continue;
    order_.use(record);
    ++followed;
  }
  one_in_ =
      static_cast<double>(chosen.keys) / static_cast<double>(std::max<std::uint64_t>(followed, 1));
  const auto all = std::accumulate(done.begin(), done.end(), std::uint64_t{0});
  const double left_out = all > most ? 1 - static_cast<double>(most) / static_cast<double>(all) : 0;
  std::uint64_t skipped = 0;
  for (unsigned i = 0; i < done.size(); ++i) {
    threads_.emplace_back(chosen, chooser_, i);
    threads_.back().skip(static_cast<std::uint64_t>(left_out * static_cast<double>(done[i])));
    skipped += threads_.back().sent();
  }
  records_ += skipped * chosen.workload.shares.insert / 100;
}

replay::~replay() = default;

bool replay::is_followed(std::uint64_t record) const noexcept {
  return (base::mix64(record) & followed_) == 0;
}

void replay::use(const request& next, miss_curve& seen) {
  if (next.kind == operation::insert) {
    if (is_followed(records_)) order_.use(records_);
    ++records_;
    return;
  }
  const std::uint64_t record = chooser_.draws_ages() ? records_ - 1 - next.key : next.key;
  if (!is_followed(record)) return;
  if (const auto distance = order_.use(record)) seen.count(*distance);
}

miss_curve replay::advance(std::span<const std::uint64_t> done) {
  std::vector<std::uint64_t> ahead(done.size());  // requests of each thread on the way
  for (std::size_t i = 0; i < done.size(); ++i) {
    ahead[i] = done[i] - std::min(done[i], threads_[i].sent());
  }
  const std::uint64_t steps = ahead.empty() ? 0 : *std::ranges::max_element(ahead);
  miss_curve seen(one_in_);
  std::vector<std::uint64_t> due(done.size());
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < done.size(); ++i) {
      // Spreads a thread's ahead[i] requests evenly over the steps, as Bresenham draws a line.
      due[i] += ahead[i];
      if (due[i] < steps) continue;
      due[i] -= steps;
      use(threads_[i].next(records_), seen);
    }
  }
  seen.count_requests(std::accumulate(ahead.begin(), ahead.end(), std::uint64_t{0}));
  return seen;
}

}  // namespace isotherm::workload
