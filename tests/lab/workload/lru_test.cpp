#include "lab/workload/lru.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/random.hpp"
#include "lab/workload/replay.hpp"

namespace isotherm::workload {
namespace {

/// An LRU cache, the plain way.
class plain_lru {
 public:
  explicit plain_lru(std::size_t room) : room_(room) {}
  bool use(std::uint64_t record) {
    const bool hit = std::erase(kept_, record) > 0;
    kept_.push_front(record);
    if (kept_.size() > room_) kept_.pop_back();
    return hit;
  }

 private:
  std::deque<std::uint64_t> kept_;
  std::size_t room_;
};

TEST(UseOrder, CountsTheOthersUsedSince) {
  use_order order;
  for (const std::uint64_t record : {1, 2, 3}) EXPECT_FALSE(order.use(record));
  EXPECT_EQ(order.use(3), 0u);
  EXPECT_EQ(order.use(1), 2u);
  EXPECT_EQ(order.use(1), 0u);
  EXPECT_EQ(order.use(2), 2u) << "3 and 1, each once";
  EXPECT_EQ(order.use(3), 2u);
}

TEST(MissCurve, OfSixRequestsByHand) {
  // a b c a c b: distances - - - 2 1 2; room for one misses all, for two "c" hits, for three three.
  use_order order;
  miss_curve curve;
  for (const char record : {'a', 'b', 'c', 'a', 'c', 'b'}) {
    if (const auto distance = order.use(static_cast<std::uint64_t>(record))) {
      curve.count(*distance);
    }
  }
  curve.count_requests(3);  // those of the second half
  EXPECT_DOUBLE_EQ(curve.misses(0), 1);
  EXPECT_DOUBLE_EQ(curve.misses(1), 1);
  EXPECT_DOUBLE_EQ(curve.misses(2), 2.0 / 3);
  EXPECT_DOUBLE_EQ(curve.misses(3), 0);
}

TEST(MissCurve, AgreesWithACacheOfEachSize) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (const std::size_t room : {1u, 7u, 40u, 199u}) {
    base::random random(kSeed);
    use_order order;
    miss_curve curve;
    plain_lru plain(room);
    for (std::uint64_t record = 0; record < 200; ++record) {
      order.use(record);
      plain.use(record);
    }
    std::uint64_t missed = 0;
    // Many more uses than the tree has slots.
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t record = std::min(random.below(200), random.below(200));
      curve.count(*order.use(record));
      missed += !plain.use(record);
    }
    curve.count_requests(20'000);
    EXPECT_DOUBLE_EQ(curve.misses(room), static_cast<double>(missed) / 20'000) << room;
  }
}

plan plan_of(std::uint64_t keys, distribution which) {
  plan chosen;
  chosen.workload = *parse_workload("c");
  chosen.keys_by = {.which = which};
  chosen.keys = keys;
  chosen.seed = 11;
  return chosen;
}

TEST(Replay, RepeatsWhatTheThreadsSent) {
  const plan chosen = plan_of(500, distribution::zipfian);
  const std::vector<std::uint64_t> done{3000, 1500};
  // The same by hand: two of the first thread's, one of the second's.
  const key_chooser chooser(chosen.keys_by, chosen.keys);
  std::vector<std::vector<request>> sent;
  for (unsigned i = 0; i < 2; ++i) {
    request_stream stream(chosen.workload.shares, chooser, chosen.seed, i);
    auto& all = sent.emplace_back();
    std::vector<request> batch(kBatch);
    while (all.size() < done[i]) {
      stream.fill(batch);
      all.insert(all.end(), batch.begin(), batch.end());
    }
  }
  plain_lru plain(100);
  for (std::uint64_t record = 0; record < chosen.keys; ++record) plain.use(record);
  std::uint64_t missed = 0;
  for (std::size_t step = 0; step < 3000; ++step) {
    missed += !plain.use(sent[0][step].key);
    if (step % 2 == 1) missed += !plain.use(sent[1][step / 2].key);
  }
  replay whole(chosen, done);
  ASSERT_EQ(whole.one_in(), 1);
  EXPECT_DOUBLE_EQ(whole.advance(done).misses(100), static_cast<double>(missed) / 4500);
  replay parts(chosen, done);
  miss_curve both(1);
  both.add(parts.advance(std::vector<std::uint64_t>{1000, 500}));
  both.add(parts.advance(done));
  EXPECT_DOUBLE_EQ(both.misses(100), static_cast<double>(missed) / 4500);
}

TEST(Replay, OfTooManyRequestsTheLastAreRepeated) {
  const plan chosen = plan_of(500, distribution::zipfian);
  const std::vector<std::uint64_t> done{50 * kBatch, 50 * kBatch};
  replay last(chosen, done, 20 * kBatch);
  EXPECT_EQ(last.advance(std::vector<std::uint64_t>{30 * kBatch, 30 * kBatch}).requests(), 0u);
  EXPECT_EQ(last.advance(done).requests(), 20 * kBatch);
}

TEST(Replay, ASampleOfTheRecordsIsEnough) {
  // Uniform: an LRU cache of a share of the records hits as often.
  const plan chosen = plan_of(1'000'000, distribution::uniform);
  const std::vector<std::uint64_t> done{4'000'000, 4'000'000};
  replay sampled(chosen, done);
  EXPECT_NEAR(sampled.one_in(), 16, 0.5);
  sampled.advance(std::vector<std::uint64_t>{2'000'000, 2'000'000});
  const miss_curve seen = sampled.advance(done);
  for (const double share : {0.1, 0.35, 0.75, 0.9}) {
    const double misses = seen.misses(static_cast<std::uint64_t>(share * 1e6));
    EXPECT_NEAR(misses / (1 - share), 1, 0.015) << share;
  }
}

TEST(Replay, AnInsertIsTheYoungestAndNeverMisses) {
  plan chosen = plan_of(1000, distribution::latest);
  chosen.workload = *parse_workload("d");
  const std::vector<std::uint64_t> done{100 * kBatch};
  replay latest(chosen, done);
  const miss_curve seen = latest.advance(done);
  EXPECT_DOUBLE_EQ(seen.misses(1'000'000), 0);
  EXPECT_GT(seen.misses(1), 0.5);
  EXPECT_LT(seen.misses(0), 0.96) << "one in twenty is an insert";
}

TEST(Replay, TheLatestAreDrawnAmongAllRecordsThatAreThere) {
  plan chosen = plan_of(10, distribution::latest);
  chosen.keys_by.theta = 0.2;
  chosen.workload = *parse_workload("d");
  const std::vector<std::uint64_t> done{100 * kBatch};
  replay latest(chosen, done);
  EXPECT_GT(latest.advance(done).misses(100), 0.5);
}

}  // namespace
}  // namespace isotherm::workload
