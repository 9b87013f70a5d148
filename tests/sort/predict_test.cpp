// The cost model's figures of an algorithm and its options, and what finished stages reached.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "sort/algorithms/registry.hpp"
#include "sort/choice.hpp"
#include "sort/examine.hpp"
#include "sort/planned.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using ::testing::HasSubstr;
using enum sort_algorithm;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kBytes = 100'000'000;
constexpr double kRecord = 100;

/// The device's time alone: the processor is infinitely fast.
double seconds(sort_options o, sort_algorithm algorithm) {
  const auto device = device::preset("emu:pmem").value();
  if (o.memory_bytes == 0) o.memory_bytes = 200 * kMiB;
  o.compression = sort_compression::off;
  const facts known = facts_of({.bytes = kBytes, .record_bytes = kRecord}, &device);
  const auto p = make_plan(o, algorithm, known);
  EXPECT_TRUE(p) << p.error().message;
  return find(algorithm).predict(*p, o, known).seconds;
}

TEST(Predict, BillsWhatIsLeftOutForItsKeyAlone) {
  const double all = seconds({}, onepass);
  const double top = seconds({.top = 10}, onepass);
  const double counts = seconds({.count = true}, onepass);
  EXPECT_LT(top, 0.2 * all);
  EXPECT_GT(counts, top);
  EXPECT_LT(counts, 0.4 * all);
  EXPECT_LT(seconds({.top = 10, .count = true}, onepass), counts);
  EXPECT_GT(seconds({.key_bytes = 20, .count = true}, onepass), counts);
}

TEST(Predict, LinesAndKlvHaveOneReaderOfKeys) {
  const auto device = device::preset("emu:pmem").value();
  const double scan =
      static_cast<double>(kBytes) / device.bandwidth(device::access::sequential_read, 1, 1 << 20);
  const double fixed = seconds({}, onepass);
  for (const auto format : {record_format::klv, record_format::lines}) {
    const double top = seconds({.format = format, .top = 1}, onepass);
    EXPECT_GT(top, 0.9 * scan);
    EXPECT_LT(top, 1.3 * scan);
    EXPECT_GT(seconds({.format = format}, onepass), fixed + 0.8 * scan);
  }
}

TEST(Predict, CallsOfAnInputThatIsNotMappedTakeTheProcessorsTime) {
  const auto device = device::preset("emu:pmem").value();
  const facts known = facts_of({.bytes = kBytes, .record_bytes = kRecord}, &device);
  constexpr double kCallNs = 10'000;
  facts slow = known;
  slow.processor.call_ns = kCallNs;
  for (const std::uint64_t memory : {64 * kMiB, 200 * kMiB}) {
    const sort_options o{.memory_bytes = memory, .compression = sort_compression::off};
    const auto p = make_plan(o, onepass, known);
    ASSERT_TRUE(p) << p.error().message;
    const double calls = kBytes / kRecord * kCallNs * 1e-9 / p->sort_threads;
    const auto predict = find(onepass).predict;
    const double added = predict(*p, o, slow).seconds - predict(*p, o, known).seconds;
    EXPECT_EQ(p->map_input, memory > kBytes);
    EXPECT_NEAR(added, p->map_input ? 0 : calls, 0.1 * calls);
  }
}

// The order that was measured.
TEST(Predict, ReadsBesideWritersAreHindered) {
  const auto with = [](sort_concurrency c, sort_algorithm a) {
    return seconds({.concurrency = c}, a);
  };
  using enum sort_concurrency;
  EXPECT_LT(with(no_io_overlap, onepass), with(io_overlap, onepass));
  EXPECT_LT(with(io_overlap, onepass), with(no_sync, onepass));
  EXPECT_LT(with(no_sync, ems), with(no_sync, onepass));
  EXPECT_LT(with(io_overlap, ems), with(no_sync, ems));
}

// Files as they are go by a rule; what a profile says of them is no reason to take another way.
TEST(Choose, CountsScansAndReadsByCall) {
  const testing::scratch dir;
  device::model profile = device::preset("emu:pmem").value();
  profile.name = "profile of a directory";
  profile.random_read = {{1, 1e12}};
  profile.interference = 0;
  const device::model* const unknown = nullptr;
  for (const device::model* device : {unknown, static_cast<const device::model*>(&profile)}) {
    const auto taken = [&](std::uint64_t bytes, std::uint64_t record, std::uint64_t memory,
                           std::uint64_t available = 8ull << 30) {
      testing::store(dir.file("in"), "");
      std::filesystem::resize_file(dir.file("in"), bytes);
      auto in = source::open(dir.file("in"));
      const sort_options o{.record_bytes = record,
                           .memory_bytes = memory * kMiB,
                           .read_threads = 1,
                           .write_threads = 1,
                           .sort_threads = 1};
      const devices none;
      facts known = examine(in.value(), o, none).value();
      known.device = device;
      known.available_bytes = available;
      const auto choice = choose(o, known);
      EXPECT_TRUE(choice) << choice.error().message;
      EXPECT_EQ(choice->predicted.seconds, 0);
      return choice->plan.part_records != 0 ? "parts" : name(choice->plan.algorithm);
    };
    EXPECT_EQ(taken(kBytes, 100, 200), "auto");                  // mapped
    EXPECT_EQ(taken(kBytes, 100, 90), "auto");                   // two scans
    EXPECT_EQ(taken(kBytes, 100, 60), "auto");                   // three
    EXPECT_EQ(taken(kBytes, 250, 40), "auto");                   // some seven of the page cache
    EXPECT_EQ(taken(kBytes, 250, 40, 3 * kBytes / 2), "parts");  // of the disk
    EXPECT_EQ(taken(kBytes, 250, 32), "parts");                  // over eight
    EXPECT_EQ(taken(kBytes, 32, 50), "parts");        // five, and the index map does not fit
    EXPECT_EQ(taken(3 * kBytes, 500, 32), "parts");   // too short for calls
    EXPECT_EQ(taken(3 * kBytes, 1000, 32), "auto");   // by calls
    EXPECT_EQ(taken(1500 * kBytes, 100, 32), "ems");  // more runs than have room for samples
  }
}

TEST(Samplesort, NamesALimitThatSuffices) {
  for (const std::uint64_t bytes : {300ull, 80ull << 20, 700ull << 20}) {
    sort_options o{.memory_bytes = 32 * kMiB};
    const auto p = planned(o, samplesort, bytes, nullptr);
    ASSERT_TRUE(p) << p.error().message;
    ASSERT_FALSE(p->map_input);
    o.memory_bytes = p->mapping_memory_bytes;
    EXPECT_THAT(find(samplesort).obstacle(*p, 0),
                HasSubstr("--memory " + std::to_string(o.memory_bytes / kMiB) + "M"));
    EXPECT_TRUE(planned(o, samplesort, bytes, nullptr)->map_input);
    o.memory_bytes -= kMiB;
    EXPECT_FALSE(planned(o, samplesort, bytes, nullptr)->map_input);
  }
}

// The emulation delays each byte that the device serves, so that no share exceeds 1.
TEST(DeviceShare, IsNeverMoreThanTheDeviceGives) {
  const testing::scratch dir;
  std::string fixed;
  std::string klv;
  std::string lines;
  for (unsigned i = 0; i < 20000; ++i) {
    const std::string key = std::to_string(1'000'000'000 + i * 7919ull % 20011);
    fixed += key + std::string(90, 'v');
    klv += key + std::string("\x56\0\0\0", 4) + std::string(86, 'v');
    lines += key + std::string(89, 'v') + "\n";
  }
  const auto check = [&](const std::string& input, sort_options o) {
    testing::store(dir.file("in"), input);
    o.memory_bytes = 64 * kMiB;
    o.device = "emu:pmem@1/64";
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(r) << r.error().message;
    double read = 0;
    for (const auto& s : r->stages) {
      EXPECT_LE(s.device_share, 1.05) << name(s.stage) << ' ' << name(o.algorithm);
      if (s.stage == sort_stage::run_read) read = s.device_share;
      if (s.stage == sort_stage::record_read && s.bytes_read > 0) EXPECT_GT(s.device_share, 0);
    }
    EXPECT_GT(read, 0);
  };
  for (const auto a : {onepass, mergepass, ems, pmsort, pmsort_plus})
    check(fixed, {.algorithm = a});
  check(fixed, {.key_bytes = 20, .count = true, .algorithm = onepass});
  for (const auto a : {onepass, mergepass}) {
    check(klv, {.format = record_format::klv, .algorithm = a});
    check(lines, {.format = record_format::lines, .algorithm = a});
  }
}

}  // namespace
}  // namespace isotherm::sort
