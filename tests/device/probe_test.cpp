// An emulated device's probe gives back the model's parameters; a real directory's probe reaches
// the device also past the page cache, or says why not; failures leave nothing.
#include "device/probe.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "device/direct.hpp"
#include "device/places.hpp"
#include "device/profile.hpp"
#include "os/faults.hpp"
#include "os/files/file.hpp"
#include "os/limits/processors.hpp"
#include "sort/scratch.hpp"

namespace isotherm::device {
namespace {

using ::testing::HasSubstr;
using testing::scratch;

constexpr double kWithin = 0.1;

void expect_curve(const curve& measured, const std::string& label,
                  const std::function<double(unsigned)>& expected) {
  for (const auto& point : measured) {
    const double wanted = expected(point.streams);
    EXPECT_NEAR(point.bytes_per_s, wanted, kWithin * wanted)
        << label << " with " << point.streams << " streams";
  }
}

/// The letters that hold, "-" for each that does not, "?" for each that is not sure.
std::string letters_of(const profile& p) {
  std::string all;
  for (const auto& l : braid(p)) {
    all += l.holds == verdict::yes ? l.letter : l.holds == verdict::no ? '-' : '?';
  }
  return all;
}

class EmulatedProbe : public ::testing::TestWithParam<const char*> {};

TEST_P(EmulatedProbe, GivesBackTheParametersOfTheModel) {
  const model m = preset(GetParam()).value();
  auto p = probe("/nonexistent", {.emulated = GetParam(), .clock = emulation_clock::account});
  ASSERT_TRUE(p) << p.error().message;
  const auto reads = [&](access kind, std::uint64_t bytes, std::uint64_t stride = 0) {
    return [&m, kind, bytes, stride](unsigned n) { return m.bandwidth(kind, n, bytes, 0, stride); };
  };
  expect_curve(p->sequential_read, "sequential", reads(access::sequential_read, 1 << 18));
  for (const auto& c : p->sequential_read_sizes) {
    expect_curve(c.bandwidth, "sequential", reads(access::sequential_read, c.access_bytes));
  }
  EXPECT_EQ(p->mapped_read_sizes.size(), 6u);
  for (const auto& c : p->mapped_read_sizes) {
    expect_curve(c.bandwidth, "mapped", reads(access::sequential_read, c.access_bytes));
  }
  EXPECT_EQ(p->random_read.front().access_bytes, 64u);
  EXPECT_EQ(p->random_read.back().access_bytes, 1u << 20);
  for (const auto& c : p->random_read) {
    expect_curve(c.bandwidth, "random of " + std::to_string(c.access_bytes),
                 reads(access::random_read, c.access_bytes));
  }
  expect_curve(p->strided_read.bandwidth, "strided", reads(access::strided_read, 10, 100));
  expect_curve(p->write, "write",
               [&](unsigned n) { return m.bandwidth(access::write, n, 1 << 18); });
  EXPECT_NEAR(interference_of(*p), m.interference, kWithin * m.interference + 1e-3);
  const auto back = parse_profile(to_json(*p));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(*p));
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedProbe,
                         ::testing::Values("emu:pmem", "emu:pmem@1/16", "emu:bd", "emu:brd@1/8",
                                           "emu:bard", "emu:cxl-dram", "emu:cmm-h"));

TEST(EmulatedProbe, TellsTheLettersOfThePapersDevices) {
  const auto letters = [](const char* name) {
    return letters_of(
        probe("/nonexistent", {.emulated = name, .clock = emulation_clock::account}).value());
  };
  EXPECT_EQ(letters("emu:pmem"), "BRAID");
  EXPECT_EQ(letters("emu:brd").substr(0, 2), "BR");
  EXPECT_EQ(letters("emu:bard").substr(0, 3), "BRA");
  EXPECT_EQ(letters("emu:bd").substr(0, 2), "B-");
}

// Keys of 10 bytes, one in 100: a hundred bytes apart and in the file's order, not anywhere.
TEST(Probe, StridedReadsAreStridedAndRandomOnesAreNot) {
  constexpr std::uint64_t kFile = 8 << 20;
  constexpr std::uint64_t kCount = 2621;
  base::random random(5);
  for (int batch = 0; batch < 20; ++batch) {
    batch_places strided(access::strided_read, 10, 100, kCount, kFile, random);
    std::uint64_t last = strided.next();
    EXPECT_EQ(last % 100, 0u);
    for (std::uint64_t i = 1; i < kCount; ++i) {
      const std::uint64_t place = strided.next();
      ASSERT_EQ(place, last + 100) << "seed 5";
      last = place;
    }
    EXPECT_LE(last + 10, kFile);
    batch_places anywhere(access::random_read, 64, 0, kCount, kFile, random);
    std::uint64_t backwards = 0;
    last = 0;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const std::uint64_t place = anywhere.next();
      ASSERT_LE(place + 64, kFile);
      backwards += place < last;
      last = place;
    }
    EXPECT_GT(backwards, kCount / 3) << "seed 5";
  }
}

TEST(Probe, MeasuresARealDirectoryAndLeavesNothing) {
  const scratch dir;
  std::vector<std::string> said;
  probe_options o{.file_bytes = 8 << 20, .sample_seconds = 0.001};
  o.progress = [&](std::string_view label) { said.emplace_back(label); };
  auto p = probe(dir.path(), o);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(dir.entries(), 0u);
  EXPECT_GT(said.size(), 10u);
  EXPECT_EQ(braid(*p).size(), 5u);
  EXPECT_EQ(p->random_read.size(), 6u);
  ASSERT_EQ(p->mapped_read_sizes.size(), 6u);
  for (const auto& c : p->mapped_read_sizes) {
    for (const auto& point : c.bandwidth) EXPECT_GT(point.bytes_per_s, 0) << c.access_bytes;
  }
  ASSERT_GE(p->interference.size(), 2u);
  EXPECT_EQ(p->interference.front().writers, 0u);
  const unsigned processors = os::available_processors();
  EXPECT_EQ(p->write.back().streams, processors);
  for (const auto& c : p->random_read) EXPECT_EQ(c.bandwidth.back().streams, processors);
  double spread = 0;
  for (const auto& c : p->random_read) {
    for (const auto& point : c.bandwidth) spread += point.spread;
  }
  EXPECT_GT(spread, 0);  // no two samples of all points were ever the same
  EXPECT_EQ(p->direct.write.empty(), p->direct.way.starts_with("not measured"));
  EXPECT_TRUE(parse_profile(to_json(*p)));
}

// Models Linux 5.1 to 5.5, whose rings cannot be asked for reads and writes.
TEST(DirectStream, WithoutARingThatReadsAndWritesGoesOneAtATime) {
  auto f = os::file::unnamed("/var/tmp", "a file to transfer");
  ASSERT_TRUE(f) << f.error().message;
  os::set_fault_hook([](os::io_call c) { return c == os::io_call::probe ? EINVAL : 0; });
  auto stream = direct_stream::open(*f, 4096);
  os::set_fault_hook({});
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_FALSE(stream->queued());
  const std::vector<std::uint64_t> offsets{0, 8192, 4096};
  for (const auto way : {direct_stream::direction::write, direct_stream::direction::read}) {
    const auto done = stream->transfer(offsets, way);
    EXPECT_TRUE(done) << done.error().message;
  }
}

// A mapping is read without calls, else these numbers would be those of calls once more.
TEST(Probe, MappedReadsMakeNoCalls) {
  const scratch dir;
  std::atomic<std::uint64_t> calls{0};
  std::atomic<bool> mapped{false};
  os::set_fault_hook([&](os::io_call c) {
    if (mapped && c == os::io_call::read) ++calls;
    return 0;
  });
  probe_options o{.file_bytes = 8 << 20, .sample_seconds = 0.0005};
  unsigned seen = 0;
  o.progress = [&](std::string_view label) {
    mapped = label.ends_with("through a mapping");
    seen += mapped;
  };
  auto p = probe(dir.path(), o);
  os::set_fault_hook({});
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(seen, 6u);
  EXPECT_EQ(calls.load(), 0u);
}

TEST(Probe, FailuresAreToldAndLeaveNothing) {
  const scratch dir;
  EXPECT_FALSE(probe(dir.file("none"), {}));
  EXPECT_FALSE(probe(dir.path(), {.emulated = "emu:tape"}));
  os::set_free_space(1 << 20);
  auto r = probe(dir.path(), {.file_bytes = 8 << 20});
  os::set_free_space({});
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("16777216 bytes of free space"));
  for (const int nth : {1, 2, 3, 4, 10, 19, 20, 21, 22, 23, 24, 30, 100}) {
    std::atomic<int> calls{0};
    os::set_fault_hook([&](os::io_call c) {
      if (c == os::io_call::probe) return 0;  // its failure is none: io_uring is not used then
      return ++calls == nth ? EIO : 0;
    });
    auto failed = probe(dir.path(), {.file_bytes = 8 << 20, .sample_seconds = 0.0005});
    os::set_fault_hook({});
    EXPECT_FALSE(failed) << nth;
    EXPECT_EQ(dir.entries(), 0u);
  }
}

// A number of threads is what it measures: fewer are an error, and none waits for those that miss.
TEST(Probe, ThreadsThatCannotBeStartedAreTold) {
  const scratch dir;
  for (const int points : {0, 1, 3}) {  // that are measured with all threads
    int said = 0;
    probe_options o{.file_bytes = 8 << 20, .sample_seconds = 0.0005};
    o.progress = [&](std::string_view) { os::set_thread_fault(said++ < points + 1 ? 0 : EAGAIN); };
    auto p = probe(dir.path(), o);
    os::set_thread_fault(0);
    ASSERT_FALSE(p);
    EXPECT_THAT(p.error().message, HasSubstr("cannot start a thread"));
    EXPECT_EQ(p.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(dir.entries(), 0u);
  }
}

TEST(Braid, ALetterIsSureBeyondTheSpreadOfItsRounds) {
  using enum verdict;
  EXPECT_EQ(above({0.81, 0.82, 0.80, 0.83, 0.81, 0.82, 0.80, 0.81, 0.82}, 0.5), yes);
  EXPECT_EQ(above({0.81, 0.82, 0.80, 0.83, 0.81, 0.82, 0.80, 0.81, 0.82}, 0.9), no);
  // 0.81 beside a limit of 0.80: it may be 0.79 the next time.
  EXPECT_EQ(above({0.81, 0.83, 0.79, 0.84, 0.78, 0.82, 0.80, 0.81, 0.82}, 0.8), unsure);
  // All are above the limit, but no farther than they are from each other.
  EXPECT_EQ(above({0.66, 0.67, 0.65, 0.75, 0.62, 0.67, 0.65, 0.76, 0.75}, 0.8), unsure);
  EXPECT_EQ(above({0.9, 1.1, 1.2, 0.85, 0.9, 1.1, 1.0, 1.15, 0.85}, 0.8), unsure);
  EXPECT_EQ(above({0.6, 0.4, 0.7, 0.65, 0.6, 0.45, 0.4, 0.7, 0.6}, 0.8), unsure);
  // Two rounds in which something else ran are no other letter, and no less sure.
  EXPECT_EQ(above({0.2, 4.2, 0.2, 0.2, 0.21, 0.02, 0.2, 0.2, 0.2}, 0.5), no);
  EXPECT_EQ(above({1.0}, 0.8), yes);
  EXPECT_EQ(above({1.0}, 1.0), unsure);
}

/// A profile of which letters can be told, through the page cache.
profile cached() {
  profile p;
  p.sequential_read = p.write = {{1, 10e9}};
  p.strided_read = {10, {{1, 10e9}}};
  p.random_read = {{64, {{1, 5e9}}}, {256, {{1, 9e9}}}, {4096, {{1, 10e9}}}};
  p.interference = {{0, 10e9, 0}, {1, 10e9, 10e9}};
  p.letters = {.sequential = {10e9, 11e9},
               .random = {9e9, 9e9},
               .random_small = {5e9, 5e9},
               .random_page = {10e9, 10e9},
               .write = {10e9, 10e9},
               .write_most = {10e9, 10e9},
               .read_alone = {10e9, 10e9},
               .read_beside = {10e9, 10e9}};
  return p;
}

// A device is judged past the page cache: memory's numbers make no letter.
TEST(Braid, IsOfTheDeviceNotOfTheCacheBeforeIt) {
  profile p = cached();
  EXPECT_EQ(letters_of(p), "BR---");
  p.direct = {.way = "O_DIRECT",
              .sequential_read = {{1 << 20, {{1, 1e9}}}},
              .random_read = {{4096, {{1, 0.1e9}}}},
              .write = {{1, 0.5e9}, {2, 0.3e9}},
              .interference = {{0, 1e9, 0}, {1, 0.5e9, 0.3e9}}};
  p.letters = {.sequential = {1e9, 1.1e9},
               .random = {0.1e9, 0.1e9},
               .random_small = {},
               .random_page = {},
               .write = {0.5e9, 0.5e9},
               .write_most = {0.3e9, 0.3e9},
               .read_alone = {1e9, 1e9},
               .read_beside = {0.5e9, 0.5e9}};
  EXPECT_EQ(letters_of(p), "--AID");
  const auto back = parse_profile(to_json(p));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(p));
  p.letters.write.pop_back();
  EXPECT_EQ(letters_of(p), "");
}

// A plan keeps reads and writes apart where writers hinder readers: noise must not decide that.
TEST(Braid, PlansTakeInterferenceWhereItIsSure) {
  profile p = cached();
  p.interference = {{0, 10e9, 0}, {1, 7e9, 1e9}};
  p.letters.read_beside = {7e9, 9e9};
  EXPECT_EQ(letters_of(p), "BR-?-");
  EXPECT_GT(interference_of(p), 0.2);
  EXPECT_EQ(as_model(p).interference, 0);
  p.letters.read_beside = {6e9, 6.1e9};
  EXPECT_EQ(letters_of(p), "BR-I-");
  EXPECT_EQ(as_model(p).interference, interference_of(p));
}

TEST(Direct, RefusalOfTheFileSystemIsANoteNoError) {
  const scratch dir;
  std::atomic<int> opens{0};
  os::set_fault_hook(
      [&](os::io_call c) { return c == os::io_call::open && ++opens == 1 ? EINVAL : 0; });
  auto p = probe(dir.path(), {.file_bytes = 8 << 20, .sample_seconds = 0.0005});
  os::set_fault_hook({});
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_THAT(p->direct.way, HasSubstr("not measured"));
  EXPECT_TRUE(p->direct.sequential_read.empty());
}

}  // namespace
}  // namespace isotherm::device
