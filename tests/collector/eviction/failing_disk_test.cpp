// An eviction beside a disk that takes nothing. Not under the sanitizers, whose own memory counts
// as the process's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "collector/collector.hpp"
#include "collector/memory/memory_room.hpp"
#include "guide/guide.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/configure.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"

namespace isotherm::collector {
namespace {

constexpr std::size_t kBytes = 1016;  // 1 KiB with the header: 1,023 take an extent
constexpr std::size_t kInExtent = 1023;
constexpr std::uint64_t kExtent = std::uint64_t{1} << 20;

std::string content_of(std::size_t number) {
  std::string text(kBytes, 'x');
  std::memcpy(text.data(), &number, sizeof number);
  return text;
}

/// A process that is 64 MiB above its target.
class FailingDisk : public testing::Test {
 protected:
  void SetUp() override {
    const testing_help::temporary_directory directory;
    heap::options heaps;
    heaps.cold = *heap::cold_backing::parse("file:" + directory.path());
    ASSERT_TRUE(heap::configure(heaps));
    for (std::size_t i = 0; i < 128 * kInExtent; ++i) held_.emplace_back(make_bytes(content_of(i)));
    options chosen;
    chosen.memory_target_bytes = read_memory_room(0).dram_bytes - 64 * kExtent;
    ASSERT_TRUE(collector_.reconfigure(chosen));
  }
  ~FailingDisk() override { os::set_fault_hook({}); }
  static void fail_writes() {
    os::set_fault_hook([](os::io_call of) { return of == os::io_call::write ? EIO : 0; });
  }
  std::size_t count_out() const {
    return static_cast<std::size_t>(std::ranges::count_if(held_, [](const auto& each) {
      return heap::is_out(guides::pointer_of(each.slot().load_relaxed()));
    }));
  }
  void expect_content() const {
    for (std::size_t i = 0; i < held_.size(); i += 97) {
      const scope inside;
      const bytes* const found = held_[i].peek(inside);
      ASSERT_NE(found, nullptr) << i;
      ASSERT_EQ(found->view(), content_of(i)) << i;
    }
  }

  std::vector<guide<bytes>> held_;
  object_collector collector_{options{}};
};

TEST_F(FailingDisk, KeepsObjectsInMemoryUntilItTakesThem) {
  fail_writes();
  std::uint64_t demoted = 0;
  for (int window = 0; window < 4; ++window) {
    const window_statistics seen = collector_.run_window();
    demoted += seen.demoted.objects;
    if (demoted > 0) {
      EXPECT_NE(seen.page_out_problem.find("cannot write"), std::string::npos)
          << seen.page_out_problem;
    }
    EXPECT_EQ(seen.hinted_bytes, 0u);
    EXPECT_EQ(seen.failed, 0u);
  }
  EXPECT_GT(demoted, 0u);
  EXPECT_LT(demoted, held_.size() / 4) << "what takes as much DRAM in COLD stays where it is";
  EXPECT_EQ(count_out(), 0u);
  expect_content();

  os::set_fault_hook({});
  const window_statistics seen = collector_.run_window();
  EXPECT_EQ(seen.page_out_problem, "");
  EXPECT_GT(seen.hinted_bytes, 0u);
  EXPECT_GT(count_out() + 2 * kInExtent, demoted) << "all but extents that take objects";
  collector_.run_window();
  EXPECT_FALSE(read_memory_room(collector_.configuration().memory_target_bytes).is_short());
  EXPECT_EQ(heap::usage_of(heap::kind::cold).objects + heap::usage_of(heap::kind::hot).objects +
                heap::usage_of(heap::kind::newborn).objects,
            held_.size());
  expect_content();
}

}  // namespace
}  // namespace isotherm::collector
