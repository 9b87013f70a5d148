// Each I/O call of a sort is made to fail once: the sort must say so, leave nothing, and not touch
// an output that was there.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "base/random.hpp"
#include "device/io.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;

class Faults : public ::testing::TestWithParam<sort_algorithm> {};

TEST_P(Faults, EveryCallThatFailsEndsTheSortCleanly) {
  const scratch dir;
  base::random random(3);
  std::string all(100 * 20000, '\0');
  for (char& c : all) c = static_cast<char>(random());
  testing::store(dir.file("in"), all);
  const sort_options o{.memory_bytes = 64 << 20,
                       .algorithm = GetParam(),
                       .read_threads = 2,
                       .write_threads = 2,
                       .sort_threads = 2};
  int failures = 0;
  for (int nth = 1;; ++nth) {
    testing::store(dir.file("out"), "precious");
    std::atomic<int> calls{0};
    device::set_fault_hook([&](device::io_call) { return ++calls == nth ? EIO : 0; });
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    device::set_fault_hook({});
    if (r) {
      EXPECT_LT(calls, nth) << "call " << nth << " failed and nobody noticed";
      break;
    }
    ++failures;
    EXPECT_NE(r.error().message.find("Input/output error"), std::string::npos) << r.error().message;
    EXPECT_EQ(contents(dir.file("out")), "precious");
    EXPECT_EQ(dir.entries(), 2u);
  }
  EXPECT_GT(failures, 10);
  EXPECT_EQ(contents(dir.file("out")).size(), all.size());
}

INSTANTIATE_TEST_SUITE_P(All, Faults,
                         ::testing::Values(sort_algorithm::onepass, sort_algorithm::mergepass,
                                           sort_algorithm::ems, sort_algorithm::samplesort));

TEST(Interrupt, InAnyStageEndsTheSortCleanly) {
  const scratch dir;
  base::random random(4);
  std::string all(100 * 20000, '\0');
  for (char& c : all) c = static_cast<char>(random());
  testing::store(dir.file("in"), all);
  for (const auto algorithm :
       {sort_algorithm::onepass, sort_algorithm::mergepass, sort_algorithm::ems}) {
    for (unsigned stage = 0; stage < kSortStages; ++stage) {
      base::atomic<bool> interrupt{false};
      bool seen = false;
      sort_options o{.memory_bytes = 64 << 20, .algorithm = algorithm};
      o.interrupt = &interrupt;
      o.progress = [&](sort_stage s, std::uint64_t, std::uint64_t) {
        if (static_cast<unsigned>(s) != stage) return;
        seen = true;
        interrupt.store_relaxed(true);
      };
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      EXPECT_EQ(r.has_value(), !seen) << name(static_cast<sort_stage>(stage));
      if (r) std::filesystem::remove(dir.file("out"));
      if (!r) {
        EXPECT_EQ(r.error().code, EINTR);
      }
      EXPECT_EQ(dir.entries(), 1u);
    }
  }
}

}  // namespace
}  // namespace isotherm
