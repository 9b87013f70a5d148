// Readers that go while their reads wait or are under way. COLD is a file here.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "heap/cold/objects_out.hpp"
#include "os/faults.hpp"

namespace isotherm::heap {
namespace {

using testing_help::engine;
using testing_help::make_reader;
using testing_help::objects_out;
using testing_help::take;
using testing_help::tickets;

class LeavingReader : public testing_help::with_readers<testing::Test> {};

/// Reads by threads, none of which the disk answers until let_go().
class silent_disk {
 public:
  silent_disk() {
    os::set_fault_hook([](os::io_call call) {
      if (call == os::io_call::read) {
        may_answer.acquire();
        ++answered;
      }
      return 0;
    });
  }
  /// Returns when so many more reads have been answered.
  static void let_go(int reads) {
    const int all = answered + reads;
    may_answer.release(reads);
    while (answered < all) std::this_thread::yield();
  }

 private:
  static inline std::counting_semaphore<> may_answer{0};
  static inline std::atomic<int> answered{0};
};

TEST_F(LeavingReader, AReaderThatGoesWithoutAnAnswerTellsThoseWhoShare) {
  const objects_out objects(2, 5000);
  const silent_disk disk;
  auto first = make_reader(engine::threads), second = make_reader(engine::threads);
  const auto dead = first->read(miss(objects[0]), 1);
  first->submit();
  EXPECT_EQ(second->read(miss(objects[0]), 7), dead);
  first.reset();  // takes as long as its patience
  EXPECT_EQ(take(*second, 1), std::vector<std::uint64_t>{7});
  EXPECT_EQ(dead->error(), ECANCELED);
  EXPECT_EQ(dead->copy_of(objects[0]), nullptr);
  const auto again = second->read(miss(objects[0]), 8);
  EXPECT_NE(again, dead) << "it will never be told";
  second->submit();
  silent_disk::let_go(2);
  EXPECT_EQ(take(*second, 1), std::vector<std::uint64_t>{8});
  EXPECT_TRUE(objects.is_copy(again->copy_of(objects[0]), 0));
  EXPECT_EQ(dead->copy_of(objects[0]), nullptr) << "it has ended";
}

// The clock of the disk's silence is the test's.
class SilentDisk : public LeavingReader {
 protected:
  using time_point = cold_reader::time_point;
  static constexpr auto kLong = cold_reader::kAnswersWithin;

  /// Looks from `begin` to `end` as often as is asked for. How many reads were given up.
  static std::size_t look(cold_reader& reader, time_point begin, time_point end) {
    std::size_t ended = 0;
    for (auto at = begin; at < end; at += kLong / 10) ended += reader.end_unanswered(at);
    return ended + reader.end_unanswered(end);
  }
  /// Looks until half of so long after now, and then until so long after.
  std::size_t look_for_long(cold_reader& reader) {
    const auto now = std::chrono::steady_clock::now();
    last_ = now + kLong;
    EXPECT_EQ(look(reader, now, now + kLong / 2), 0u);
    return look(reader, now + kLong / 2, last_);
  }
  time_point last_;
};

TEST_F(SilentDisk, EndsWhatItHasNotAnswered) {
  const objects_out objects(2, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads), other = make_reader(engine::threads);
  EXPECT_EQ(look_for_long(*reader), 0u) << "it was not asked";
  const auto first = reader->read(miss(objects[0]), 1);
  reader->submit();
  EXPECT_EQ(other->read(miss(objects[0]), 5), first);
  EXPECT_EQ(look_for_long(*other), 0u) << "it is not its read";
  EXPECT_EQ(look_for_long(*reader), 1u);
  EXPECT_EQ(cold_reads().unanswered, 1u);
  EXPECT_EQ(take(*reader, 1), std::vector<std::uint64_t>{1});
  EXPECT_EQ(take(*other, 1), std::vector<std::uint64_t>{5});
  EXPECT_EQ(first->error(), ETIME);
  EXPECT_EQ(first->copy_of(objects[0]), nullptr);
  EXPECT_EQ(reader->end_unanswered(last_), 0u) << "once";

  const auto again = reader->read(miss(objects[0]), 2);
  EXPECT_NE(again, first);
  reader->submit();
  EXPECT_EQ(reader->end_unanswered(last_), 1u) << "that it does not answer is known";
  EXPECT_EQ(take(*reader, 1), std::vector<std::uint64_t>{2});
  EXPECT_EQ(cold_reads().unanswered, 2u);

  const auto answered = reader->read(miss(objects[0]), 3);
  reader->submit();
  silent_disk::let_go(3);
  EXPECT_EQ(take(*reader, 1), std::vector<std::uint64_t>{3});
  while (cold_reads().unanswered > 0) reader->take_ended([](std::uint64_t) { ADD_FAILURE(); });
  EXPECT_TRUE(objects.is_copy(answered->copy_of(objects[0]), 0));
  EXPECT_EQ(first->copy_of(objects[0]), nullptr) << "it has ended";
}

TEST_F(SilentDisk, IsForgottenWithItsReader) {
  const objects_out objects(1, 5000);
  const silent_disk disk;
  auto reader = make_reader(engine::threads);
  const auto asked = reader->read(miss(objects[0]), 0);
  reader->submit();
  EXPECT_EQ(look_for_long(*reader), 1u);
  EXPECT_EQ(cold_reads().unanswered, 1u);
  reader.reset();  // takes as long as its patience
  EXPECT_EQ(cold_reads().unanswered, 0u) << "nobody is going to know";
  EXPECT_EQ(asked->error(), ETIME);
  silent_disk::let_go(1);
}

TEST_F(SilentDisk, HasMoreTimeForALargeObject) {
  const objects_out objects(1, 3 * cold_reader::kBytesUnderWay);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  const auto asked = reader->read(miss(objects[0]), 0);
  reader->submit();
  EXPECT_EQ(look_for_long(*reader), 0u);
  EXPECT_EQ(look(*reader, last_, last_ + std::chrono::seconds(3)), 1u);
  EXPECT_EQ(take(*reader, 1), tickets(1));
  silent_disk::let_go(1);
  while (cold_reads().unanswered > 0) reader->take_ended([](std::uint64_t) { ADD_FAILURE(); });
}

TEST_F(SilentDisk, IsOverWithAnAnswerThatNobodyHasTaken) {
  const objects_out objects(1, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  const auto asked = reader->read(miss(objects[0]), 0);
  reader->submit();
  silent_disk::let_go(1);
  reader->wait(-1);
  EXPECT_EQ(look_for_long(*reader), 0u);
  EXPECT_EQ(take(*reader, 1), tickets(1));
  EXPECT_EQ(asked->error(), 0);
}

TEST_F(SilentDisk, EndsWhatWaitsBehindThatToo) {
  const std::size_t bytes = cold_reader::kBytesUnderWay / 2 + 1;
  const objects_out objects(3, bytes);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  std::vector<std::shared_ptr<const cold_read>> asked;
  for (std::size_t i = 0; i < 3; ++i) asked.push_back(reader->read(miss(objects[i]), i));
  reader->submit();
  EXPECT_EQ(look_for_long(*reader), 3u);
  EXPECT_EQ(cold_reads().unanswered, 1u) << "for the others it was not asked";
  for (const auto& each : asked) EXPECT_EQ(each->error(), ETIME);
  EXPECT_EQ(cold_reads().under_way, 0u);
  EXPECT_EQ(take(*reader, 3), tickets(3));
  silent_disk::let_go(1);
  while (cold_reads().unanswered > 0) reader->take_ended([](std::uint64_t) { ADD_FAILURE(); });
}

TEST_F(SilentDisk, ADiskThatIsOnlySlowHasAsLongAsItTakes) {
  const objects_out objects(2, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  const auto first = reader->read(miss(objects[0]), 0);
  const auto second = reader->read(miss(objects[1]), 1);
  reader->submit();
  const auto asked_before = std::chrono::steady_clock::now();
  reader->end_unanswered(asked_before);
  silent_disk::let_go(1);
  const auto told = take(*reader, 1);
  EXPECT_EQ(look(*reader, asked_before, asked_before + kLong), 0u);
  silent_disk::let_go(1);
  EXPECT_EQ(told.front() + take(*reader, 1).front(), 1u) << "the other one";
  EXPECT_EQ(first->error(), 0);
  EXPECT_EQ(second->error(), 0);
}

TEST_F(SilentDisk, IsNotTheTimeInWhichNothingWasAskedFor) {
  const objects_out objects(1, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  const auto now = std::chrono::steady_clock::now();
  look(*reader, now - 2 * kLong, now);
  const auto asked = reader->read(miss(objects[0]), 0);
  reader->submit();
  EXPECT_EQ(look(*reader, now, now + kLong / 2), 0u);
  silent_disk::let_go(1);
  EXPECT_EQ(take(*reader, 1), tickets(1));
  EXPECT_EQ(asked->error(), 0);
}

TEST_F(SilentDisk, IsNotTheTimeInWhichTheProcessWasStopped) {
  const objects_out objects(1, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  const auto asked = reader->read(miss(objects[0]), 0);
  reader->submit();
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(reader->end_unanswered(now), 0u);
  EXPECT_EQ(reader->end_unanswered(now + 2 * kLong), 0u);
  silent_disk::let_go(1);
  EXPECT_EQ(take(*reader, 1), tickets(1));
  EXPECT_EQ(asked->error(), 0);
}

TEST_F(LeavingReader, WhatNobodyWaitsForAnyMoreIsNotRead) {
  const objects_out objects(4096, 4000);
  const auto reader = make_reader();
  const std::uint64_t before = cold_reads().reads;
  std::vector<std::shared_ptr<const cold_read>> asked;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    asked.push_back(reader->read(miss(objects[i]), i));
  }
  reader->submit();  // starts as many as may be under way
  asked.erase(asked.begin(), asked.end() - 1);
  take(*reader, objects.size());
  EXPECT_LE(cold_reads().reads - before, cold_reader::kBytesUnderWay / base::kPageBytes + 1);
  EXPECT_TRUE(objects.is_copy(asked[0]->copy_of(objects[4095]), 4095));
}

}  // namespace
}  // namespace isotherm::heap
