// Readers that go while their reads wait or are under way, or whose threads are busy, and a disk
// that does not answer. COLD is a file here.
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

class LeavingReader : public testing_help::with_readers<testing::Test> {
 protected:
  /// Takes answers until none is left of what was given up: of that nothing is told once more.
  static void take_late_answers(cold_reader& reader) {
    while (cold_reads().unanswered > 0) {
      reader.take_ended([](std::uint64_t ticket) { ADD_FAILURE() << ticket; });
    }
  }
};

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

/// Reads by threads, some of which the disk does not answer until let_go().
class lost_reads {
 public:
  explicit lost_reads(int reads) {
    asked = lost = 0;
    lose(reads);
    os::set_fault_hook([](os::io_call call) {
      if (call != os::io_call::read) return 0;
      ++asked;
      if (left-- > 0) {
        ++lost;
        may_answer.acquire();
      }
      return 0;
    });
  }
  /// Loses so many from now on.
  static void lose(int reads) { left = reads; }
  /// How often the disk was asked.
  static int asked_for() { return asked; }
  /// Waits until so many have been lost.
  static void wait_for(int reads) {
    while (lost < reads) std::this_thread::yield();
  }
  static void let_go() {
    left = 0;
    may_answer.release(lost);
  }

 private:
  static inline std::counting_semaphore<> may_answer{0};
  static inline std::atomic<int> asked{0}, left{0}, lost{0};
};

TEST_F(LeavingReader, WhatFollowsAReadThatIsNotAnsweredGoesOnWithoutIt) {
  const objects_out objects(2, 5000);
  const silent_disk disk;
  auto first = make_reader(engine::threads), second = make_reader(engine::threads);
  const auto dead = first->read(miss(objects[0]), 1);
  first->submit();
  const auto follows = second->read(miss(objects[0]), 7);
  first.reset();  // takes as long as its patience
  EXPECT_EQ(dead->error(), ECANCELED);
  EXPECT_FALSE(follows->has_ended());
  second->take_ended([](std::uint64_t) { ADD_FAILURE(); });
  silent_disk::let_go(2);
  EXPECT_EQ(take(*second, 1), std::vector<std::uint64_t>{7});
  EXPECT_TRUE(objects.is_copy(follows->copy_of(objects[0]), 0));
  EXPECT_EQ(dead->copy_of(objects[0]), nullptr) << "it has ended";
}

TEST_F(LeavingReader, WhatFollowsKnowsOfUsesBefore) {
  const objects_out objects(3, 5000);
  const auto yes = used_before::yes;
  auto first = make_reader();
  const auto second = make_reader();
  const auto leads = first->read(miss(objects[0]), 0),
             leads_used = first->read(miss(objects[1], yes), 1);
  const auto follows_used = second->read(miss(objects[0], yes), 0),
             follows = second->read(miss(objects[1]), 1);
  first->submit();
  take(*first, 2);
  take(*second, 2);
  for (const auto& each : {leads, leads_used, follows_used, follows})
    EXPECT_EQ(each->before(), yes);

  first->read(miss(objects[2]), 0);
  const auto left = second->read(miss(objects[2]), 0);
  EXPECT_EQ(second->read(miss(objects[2], yes), 1), left);
  first.reset();
  take(*second, 2);
  EXPECT_EQ(left->error(), 0);
  EXPECT_EQ(left->before(), yes);
}

TEST_F(LeavingReader, WhatGoesOnMayFollowAnother) {
  const objects_out objects(1, 5000);
  auto first = make_reader();
  const auto second = make_reader(), third = make_reader();
  const auto leads = first->read(miss(objects[0]), 0);
  const auto used = second->read(miss(objects[0], used_before::yes), 0);
  const auto other = third->read(miss(objects[0]), 0);
  first.reset();
  third->take_ended([](std::uint64_t) { ADD_FAILURE(); });  // has it read
  second->take_ended([](std::uint64_t) { ADD_FAILURE(); });
  EXPECT_EQ(cold_reads().under_way, 1u);
  take(*third, 1);
  take(*second, 1);
  EXPECT_TRUE(objects.is_copy(used->copy_of(objects[0]), 0));
  for (const auto& each : {used, other}) EXPECT_EQ(each->before(), used_before::yes);
}

TEST_F(LeavingReader, WhatFollowsWhenItsOwnReaderLeavesFollowsNoMore) {
  const objects_out objects(1, 5000);
  auto first = make_reader();
  const auto second = make_reader();
  auto leads = first->read(miss(objects[0]), 0);
  const auto follows = second->read(miss(objects[0]), 0);
  second->leave();
  first->submit();
  take(*first, 1);
  leads.reset();
  first.reset();
  EXPECT_EQ(second->end_unanswered(), 0u);
  second->take_ended([](std::uint64_t) { ADD_FAILURE(); });
  EXPECT_FALSE(follows->has_ended());
}

TEST_F(LeavingReader, WhatFollowsAFailedReadOfMorePagesIsReadItself) {
  const objects_out objects(20, 3000);
  const auto where = [&](std::size_t i) { return miss(objects[i]).where(); };
  std::size_t fewer = 0;
  while (where(fewer).bytes != base::kPageBytes || where(fewer + 1).offset != where(fewer).offset ||
         where(fewer + 1).bytes < 8192) {
    ASSERT_LT(++fewer + 1, objects.size());
  }
  static std::atomic<int> failing;
  failing = 1;
  os::set_fault_hook(
      [](os::io_call call) { return call == os::io_call::read && failing-- > 0 ? EIO : 0; });
  const auto first = make_reader(engine::threads), second = make_reader(engine::threads),
             third = make_reader(engine::threads);
  const auto failed = first->read(miss(objects[fewer + 1]), 1);
  first->submit();
  const auto follows = second->read(miss(objects[fewer]), 5);
  const auto same = third->read(miss(objects[fewer + 1]), 9);
  EXPECT_EQ(take(*first, 1), std::vector<std::uint64_t>{1});
  EXPECT_EQ(failed->error(), EIO);
  EXPECT_EQ(take(*second, 1), std::vector<std::uint64_t>{5});
  EXPECT_TRUE(objects.is_copy(follows->copy_of(objects[fewer]), fewer));
  EXPECT_EQ(take(*third, 1), std::vector<std::uint64_t>{9});
  EXPECT_EQ(same->error(), EIO);
}

// The clock of the disk's silence is the test's.
class SilentDisk : public LeavingReader {
 protected:
  using time_point = cold_reader::time_point;
  static constexpr auto kLong = cold_read_limits().answers_within;

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
  const auto follows = other->read(miss(objects[0]), 5);
  EXPECT_EQ(look_for_long(*reader), 1u);
  EXPECT_EQ(cold_reads().unanswered, 1u);
  EXPECT_EQ(take(*reader, 1), std::vector<std::uint64_t>{1});
  EXPECT_EQ(take(*other, 1), std::vector<std::uint64_t>{5});
  for (const auto& each : {first, follows}) EXPECT_EQ(each->error(), ETIME);
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
  take_late_answers(*reader);
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
  take_late_answers(*reader);
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
  take_late_answers(*reader);
}

TEST_F(SilentDisk, MayHaveLostWhatItWasAskedFor) {
  const std::size_t bytes = cold_reader::kBytesUnderWay / 2 + 1;
  const objects_out objects(5, bytes);
  const lost_reads disk(1);
  const auto reader = make_reader(engine::threads);
  const auto lost = reader->read(miss(objects[0]), 0);
  reader->submit();
  lost_reads::wait_for(1);
  EXPECT_EQ(look_for_long(*reader), 1u);
  EXPECT_EQ(take(*reader, 1), tickets(1));
  std::vector<std::shared_ptr<const cold_read>> asked;
  for (std::size_t i = 0; i < 4; ++i) asked.push_back(reader->read(miss(objects[i + 1]), i));
  reader->submit();
  EXPECT_EQ(take(*reader, 4), tickets(4));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(objects.is_copy(asked[i]->copy_of(objects[i + 1]), i + 1));
  EXPECT_EQ(look_for_long(*reader), 0u) << "nothing else is under way";
  EXPECT_EQ(cold_reads().unanswered, 1u);
  const auto later = reader->read(miss(objects[1]), 0);
  reader->submit();
  EXPECT_EQ(reader->end_unanswered(last_), 0u) << "it is not known to be silent any more";
  EXPECT_EQ(take(*reader, 1), tickets(1));
  EXPECT_EQ(later->error(), 0);
  lost_reads::let_go();
  take_late_answers(*reader);
}

TEST_F(SilentDisk, IsAskedForOneReadAtATime) {
  const objects_out objects(4, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads), other = make_reader(engine::threads);
  const auto first = reader->read(miss(objects[0]), 0);
  reader->submit();
  EXPECT_EQ(look_for_long(*reader), 1u);
  std::vector<std::shared_ptr<const cold_read>> asked;
  for (std::size_t i = 1; i < 4; ++i) asked.push_back(reader->read(miss(objects[i]), i));
  const auto follows_tried = other->read(miss(objects[1]), 1);
  const auto follows = other->read(miss(objects[2]), 2);
  reader->submit();
  EXPECT_EQ(reader->end_unanswered(last_), 3u);
  EXPECT_EQ(cold_reads().unanswered, 2u) << "it was asked for one of the three";
  EXPECT_EQ(take(*reader, 4), tickets(4));
  EXPECT_EQ(take(*other, 1), std::vector<std::uint64_t>{1});
  EXPECT_EQ(follows_tried->error(), ETIME);
  EXPECT_FALSE(follows->has_ended()) << "its own reader tries it";
  silent_disk::let_go(3);
  EXPECT_EQ(take(*other, 1), std::vector<std::uint64_t>{2});
  EXPECT_EQ(follows->error(), 0);
  take_late_answers(*reader);
}

TEST_F(SilentDisk, HasASecondForEachThatItIsAskedFor) {
  const objects_out objects(3, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  const auto first = reader->read(miss(objects[0]), 0);
  reader->submit();
  EXPECT_EQ(look_for_long(*reader), 1u);
  const auto second = reader->read(miss(objects[1]), 1), third = reader->read(miss(objects[2]), 2);
  const auto waiting = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() == waiting) std::this_thread::yield();
  reader->submit();  // later than both were asked for
  EXPECT_EQ(reader->end_unanswered(waiting + std::chrono::seconds(1)), 1u);
  EXPECT_FALSE(second->has_ended()) << "the disk was asked for it less than a second ago";
  EXPECT_TRUE(third->has_ended()) << "it waits for a second";
  EXPECT_EQ(reader->end_unanswered(std::chrono::steady_clock::now() + std::chrono::seconds(1)), 1u);
  EXPECT_EQ(take(*reader, 3), tickets(3));
  silent_disk::let_go(2);
  take_late_answers(*reader);
}

// Reads that were given up keep their memory: so much may be given up, and no more.
TEST_F(SilentDisk, IsAskedForNothingMoreWhenMuchIsGivenUp) {
  constexpr std::size_t kMany = cold_reader::kBytesGivenUp / cold_reader::kBytesUnderWay;
  const objects_out objects(kMany + 1, cold_reader::kBytesUnderWay - 2 * base::kPageBytes);
  const objects_out large(1, 2 * cold_reader::kBytesUnderWay), some(2, 100'000), small(1, 5000);
  const lost_reads disk(kMany);
  const auto reader = make_reader(engine::threads);
  auto at = std::chrono::steady_clock::now();
  const auto ask = [&](const void* object) {
    auto asked = reader->read(miss(object), 0);
    reader->submit();
    return asked;
  };
  const auto is_given_up = [&](const void* object, std::size_t unanswered) {
    const auto asked = ask(object);
    lost_reads::wait_for(static_cast<int>(unanswered));
    const auto begin = std::exchange(at, at + kLong);
    EXPECT_EQ(look(*reader, begin, at), 1u);
    EXPECT_EQ(asked->error(), ETIME);
    EXPECT_EQ(cold_reads().unanswered, unanswered);
  };
  const auto is_read = [&](const void* object) {
    reader->take_ended([](std::uint64_t) {});
    const auto asked = ask(object);
    EXPECT_EQ(take(*reader, 1), tickets(1));
    EXPECT_EQ(asked->error(), 0);
  };
  is_given_up(objects[0], 1);
  is_given_up(large[0], 1);  // for which the disk is not asked
  for (std::size_t i = 1; i < kMany; ++i) is_given_up(objects[i], i + 1);
  is_given_up(objects[kMany], kMany);  // nor for this
  is_read(small[0]);                   // for which there is room

  // It answers again: what has no room beside what was given up is read one by one.
  lost_reads::lose(2);
  const auto first = ask(some[0]), second = ask(some[1]);
  lost_reads::wait_for(kMany + 1);
  EXPECT_EQ(look(*reader, at, at + kLong), 2u);
  EXPECT_EQ(cold_reads().unanswered, kMany + 1);
  lost_reads::let_go();
  while (cold_reads().unanswered > 0) reader->take_ended([](std::uint64_t) {});
  is_read(large[0]);

  const lost_reads later(1);
  at += kLong;
  is_given_up(objects[0], 1);
  is_read(small[0]);
  lost_reads::let_go();
  while (cold_reads().unanswered > 0) reader->take_ended([](std::uint64_t) {});
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
  const objects_out objects(2, 5000);
  const silent_disk disk;
  const auto reader = make_reader(engine::threads);
  const auto asked = reader->read(miss(objects[0]), 0);
  reader->submit();
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(reader->end_unanswered(now), 0u);
  EXPECT_EQ(reader->end_unanswered(now + 2 * kLong), 0u);
  EXPECT_EQ(look(*reader, now + 2 * kLong, now + 3 * kLong), 1u);
  EXPECT_EQ(take(*reader, 1), tickets(1));
  EXPECT_EQ(asked->error(), ETIME);
  const auto again = reader->read(miss(objects[1]), 0);
  reader->submit();
  EXPECT_EQ(reader->end_unanswered(now + 5 * kLong), 0u) << "it may answer again since";
  silent_disk::let_go(2);
  EXPECT_EQ(take(*reader, 1), tickets(1));
  EXPECT_EQ(again->error(), 0);
  take_late_answers(*reader);
}

// Readers whose threads look seldom. The time is the test's.
class BusyReader : public LeavingReader {
 protected:
  static constexpr auto kLooks = cold_reader::kLooksWithin;
};

TEST_F(BusyReader, KeepsNobodyWaitingWhoSharesItsReads) {
  const objects_out objects(1, 5000);
  lost_reads disk(1);
  const auto busy = make_reader(engine::threads), other = make_reader(engine::threads),
             third = make_reader(engine::threads);
  const auto asked = std::chrono::steady_clock::now();
  const auto shared = busy->read(miss(objects[0]), 1);
  busy->submit();
  lost_reads::wait_for(1);
  const auto follows = other->read(miss(objects[0]), 5), too = third->read(miss(objects[0]), 9);
  EXPECT_EQ(other->read(miss(objects[0]), 6), follows) << "one for all of a reader";
  other->end_unanswered(asked);
  other->take_ended([](std::uint64_t) { ADD_FAILURE(); });
  EXPECT_EQ(cold_reads().under_way, 1u) << "there is time yet";
  EXPECT_EQ(other->end_unanswered(asked + 10 * kLooks), 0u) << "the disk is not to blame";
  EXPECT_EQ(take(*other, 2), (std::vector<std::uint64_t>{5, 6}));
  EXPECT_TRUE(objects.is_copy(follows->copy_of(objects[0]), 0));
  EXPECT_FALSE(shared->has_ended());
  EXPECT_FALSE(too->has_ended()) << "its reader has not looked";
  lost_reads::let_go();
  EXPECT_EQ(take(*busy, 1), std::vector<std::uint64_t>{1}) << "it has its own answer";
  EXPECT_TRUE(objects.is_copy(shared->copy_of(objects[0]), 0));
  EXPECT_EQ(take(*third, 1), std::vector<std::uint64_t>{9});
  EXPECT_TRUE(objects.is_copy(too->copy_of(objects[0]), 0));
}

// Nor do new ones follow it: they follow the one that has gone on by itself.
TEST_F(BusyReader, IsNotFollowedAnyMore) {
  const objects_out objects(1, 5000);
  lost_reads disk(1);
  const auto busy = make_reader(engine::threads), other = make_reader(engine::threads),
             third = make_reader(engine::threads);
  const auto shared = busy->read(miss(objects[0]), 1);
  busy->submit();
  lost_reads::wait_for(1);
  const auto follows = other->read(miss(objects[0]), 5), later = third->read(miss(objects[0]), 9);
  const auto now = std::chrono::steady_clock::now();
  other->end_unanswered(now + kLooks);
  other->take_ended([](std::uint64_t) {});
  third->end_unanswered(now + kLooks);
  third->take_ended([](std::uint64_t) {});
  EXPECT_EQ(cold_reads().under_way, 2u);
  EXPECT_EQ(take(*other, 1), std::vector<std::uint64_t>{5});
  EXPECT_EQ(take(*third, 1), std::vector<std::uint64_t>{9});
  EXPECT_EQ(lost_reads::asked_for(), 2);
  lost_reads::let_go();
  EXPECT_EQ(take(*busy, 1), std::vector<std::uint64_t>{1});
}

TEST_F(BusyReader, IsNoneThatLooksWhileTheDiskIsSlow) {
  const objects_out objects(1, 5000);
  const silent_disk disk;
  const auto first = make_reader(engine::threads), second = make_reader(engine::threads);
  const auto shared = first->read(miss(objects[0]), 1);
  first->submit();
  const auto follows = second->read(miss(objects[0]), 5);
  const auto now = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    first->end_unanswered(now + i * kLooks / 2);
    second->end_unanswered(now + (i + 1) * kLooks / 2);
    second->take_ended([](std::uint64_t) { ADD_FAILURE(); });
  }
  EXPECT_EQ(cold_reads().under_way, 1u);
  silent_disk::let_go(1);
  EXPECT_EQ(take(*first, 1), std::vector<std::uint64_t>{1});
  EXPECT_EQ(take(*second, 1), std::vector<std::uint64_t>{5});
  EXPECT_TRUE(objects.is_copy(follows->copy_of(objects[0]), 0));
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
