// An index of this process as a target: what it reads from COLD is told to the driver.
#include "lab/bench/index_target.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "collector/collector.hpp"
#include "heap/configure.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/usage.hpp"
#include "index/index.hpp"

namespace isotherm::lab {
namespace {

constexpr std::uint64_t kRecords = 40'000;

TEST(IndexTarget, TellsWhatItsThreadHasReadFromCold) {
  const testing_help::temporary_directory directory;
  heap::options chosen;
  chosen.cold = *heap::cold_backing::parse("file:" + directory.path());
  ASSERT_TRUE(heap::configure(chosen));
  const auto index = index::make_lasting("hash-chm", index::management::on, kRecords);
  ASSERT_TRUE(index) << index.error().message;
  index_target store(**index, {}, 1);
  const auto session = store.connect();
  ASSERT_TRUE(session);
  ASSERT_TRUE((*session)->load(0, kRecords));
  EXPECT_EQ((*session)->objects_read(), 0u);
  collector::options leave;
  leave.policy = collector::policy_name::published;
  leave.cold_threshold = 1;
  leave.target_promotion_rate = 1e18;
  collector::object_collector collector(leave);
  while (collector.run_window().hinted_bytes == 0) {
  }
  const auto read_all = [&] {
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      const auto how = (*session)->read(i);
      ASSERT_TRUE(how) << how.error().message;
      ASSERT_EQ(*how, workload::answer::done) << i;
    }
  };
  read_all();
  const std::uint64_t read = (*session)->objects_read();
  EXPECT_GT(read, kRecords) << "keys and values";
  EXPECT_LE(read, 2 * kRecords);
  std::uint64_t of_another_thread = 1;
  std::thread([&] { of_another_thread = (*session)->objects_read(); }).join();
  EXPECT_EQ(of_another_thread, 0u);
  read_all();
  EXPECT_EQ((*session)->objects_read(), read) << "they have come back";
}

TEST(IndexTarget, CountsBesideTheRecords) {
  const auto index = index::make("art", index::management::off).value();
  index_target store(*index, {}, 1);
  const auto session = store.connect().value();
  ASSERT_TRUE(session->load(0, 10));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(session->incr(7), workload::answer::done);
  EXPECT_EQ(session->read(7), workload::answer::done) << "the record is as it was";
  EXPECT_EQ(index->size(), 11u);
  workload::record_buffer buffer({}, 1);
  const auto counter = buffer.key(workload::counter_of(7));
  access inside;
  EXPECT_EQ(index->find(inside, counter), "3");
  ASSERT_EQ(index->upsert(inside, counter, std::string_view("3 or so")), index::outcome::done);
  EXPECT_EQ(session->incr(7), workload::answer::corrupt);
}

TEST(IndexTarget, AValueExpiresUnlessItIsWrittenAnew) {
  const auto index = index::make("art", index::management::off).value();
  index_target store(*index, {.ttl_ms = 1}, 1);
  const auto writer = store.connect().value(), reader = store.connect().value();
  ASSERT_TRUE(writer->load(0, 3));
  ASSERT_EQ(writer->update(1), workload::answer::done);
  ASSERT_EQ(writer->insert(3), workload::answer::done);
  while (reader->read(1) != workload::answer::missing ||
         reader->read(3) != workload::answer::missing) {
  }
  EXPECT_EQ(reader->read(0), workload::answer::done) << "loaded, and never written";
  EXPECT_EQ(index->size(), 2u);
  index_target lasting(*index, {.ttl_ms = 1'000'000'000}, 1);
  const auto another = lasting.connect().value();
  ASSERT_EQ(another->update(1), workload::answer::done);
  EXPECT_EQ(another->read(1), workload::answer::done);
}

}  // namespace
}  // namespace isotherm::lab
