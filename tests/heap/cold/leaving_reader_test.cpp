// Readers that go while their reads wait or are under way. COLD is a file here.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <memory>
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

class LeavingReader : public testing_help::with_readers<testing::Test> {};

/// Reads by threads that the disk does not answer until let_go().
class silent_disk {
 public:
  silent_disk() {
    held = true;
    os::set_fault_hook([](os::io_call call) {
      if (call != os::io_call::read) return 0;
      held.wait(true);
      ++answered;
      return 0;
    });
  }
  /// Returns when so many reads have been answered.
  static void let_go(int reads) {
    held = false;
    held.notify_all();
    while (answered < reads) std::this_thread::yield();
  }

 private:
  static inline std::atomic<bool> held{false};
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
