// Streams on an emulated device: what they do is served as fast as the model says, by calls that
// charge by themselves as through memory.
#include "device/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "os/thread_pool.hpp"
#include "sort/scratch.hpp"

namespace isotherm::device {
namespace {

// The emulation may be slower than the model on a busy machine, but never faster.
TEST(Emulation, NeverServesFasterThanTheModel) {
  for (const unsigned streams : {1u, 4u}) {
    for (const access kind : {access::sequential_read, access::random_read, access::write}) {
      emulation device(preset("pmem@1/1000").value());
      constexpr std::uint64_t kAccesses = 400;
      const double expected_s = static_cast<double>(streams * kAccesses * 256) /
                                device.parameters().bandwidth(kind, streams, 256);
      std::vector<std::uint64_t> ends(streams);
      const std::uint64_t start = os::monotonic_ns();
      os::run_pool(streams, [&](unsigned t) {
        stream s(&device, kind);
        for (std::uint64_t i = 0; i < kAccesses / 100; ++i) s.touched(100, 256);
        ends[t] = os::monotonic_ns();
      });
      const double took_s =
          static_cast<double>(*std::max_element(ends.begin(), ends.end()) - start) * 1e-9;
      // Threads that start late see fewer streams; none reaches more than the curve's peak.
      const double fastest_s =
          expected_s * device.parameters().bandwidth(kind, streams, 256) /
          device.parameters().bandwidth(
              kind,
              best_streams(kind == access::write ? device.parameters().write
                                                 : device.parameters().sequential_read),
              256);
      EXPECT_GE(took_s, 0.9 * std::min(expected_s, fastest_s)) << streams;
    }
  }
}

// A group of 16 of which one thread has got to run reads at the rate of 16, not of one.
TEST(Emulation, GroupsCountBeforeTheirThreadsRun) {
  for (const access kind : {access::sequential_read, access::random_read, access::write}) {
    emulation device(preset("pmem").value(), emulation_clock::account);
    const auto ns = [&](unsigned streams) {
      return 1e9 * (1 << 20) / device.parameters().bandwidth(kind, streams, 1 << 20);
    };
    {
      const stream_group all(&device, kind, 16);
      stream first(all);
      first.touched(1, 1 << 20);
      EXPECT_NEAR(first.served_ns(), ns(16), 1);
      stream second(all);
      second.touched(1, 1 << 20);
      EXPECT_NEAR(second.served_ns(), 2 * ns(16), 1);  // the device is shared
    }
    const double before = 2 * ns(16);
    stream alone(&device, kind);
    alone.touched(1, 1 << 20);
    EXPECT_NEAR(alone.served_ns() - before, ns(1), 1);  // the group has gone
  }
}

// Groups of writers hinder reads, and no longer than they are there.
TEST(Emulation, GroupsOfWritersHinderReads) {
  emulation device(preset("pmem").value(), emulation_clock::account);
  stream reader(&device, access::sequential_read);
  double before = 0;
  const auto read = [&] {
    reader.touched(1, 1 << 20);
    return reader.served_ns() - std::exchange(before, reader.served_ns());
  };
  const double undisturbed = read();
  {
    const stream_group writers(&device, access::write, 5);
    EXPECT_NEAR(read(), 2 * undisturbed, 1);
  }
  EXPECT_NEAR(read(), undisturbed, 1);
}

TEST(Stream, CallsChargeByThemselves) {
  const testing::scratch dir;
  const auto f = os::file::unnamed(dir.path());
  ASSERT_TRUE(f);
  emulation device(preset("pmem").value(), emulation_clock::account);
  std::vector<std::byte> bytes(1 << 20, std::byte{7});
  const auto ns = [&](access kind) {
    return 1e9 * (1 << 20) / device.parameters().bandwidth(kind, 1, 1 << 20);
  };
  {
    stream writes(&device, access::write);
    ASSERT_TRUE(writes.write(*f, bytes, 0));
    EXPECT_NEAR(writes.served_ns(), ns(access::write), 1);
  }
  stream reads(&device, access::sequential_read);
  std::ranges::fill(bytes, std::byte{0});
  ASSERT_TRUE(reads.read(*f, bytes, 0));
  EXPECT_EQ(bytes.back(), std::byte{7});
  const double served = reads.served_ns();
  EXPECT_NEAR(served, ns(access::write) + ns(access::sequential_read), 1);
  EXPECT_FALSE(reads.read(*f, bytes, 1));  // beyond the end: an error, and no charge
  EXPECT_EQ(reads.served_ns(), served);
}

TEST(Stream, WithoutAModelCallsGoToTheFile) {
  const testing::scratch dir;
  const auto f = os::file::unnamed(dir.path());
  ASSERT_TRUE(f);
  std::byte byte{9};
  stream writes(nullptr, access::write);
  ASSERT_TRUE(writes.write(*f, {&byte, 1}, 3));
  byte = {};
  stream reads(nullptr, access::random_read);
  ASSERT_TRUE(reads.read(*f, {&byte, 1}, 3));
  EXPECT_EQ(byte, std::byte{9});
}

}  // namespace
}  // namespace isotherm::device
