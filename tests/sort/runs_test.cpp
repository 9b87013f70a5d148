// Compressed runs of index maps: coded and read back exactly, smaller where keys or pointers allow,
// and damage to the file is noticed.
#include <isotherm/sort.hpp>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "os/faults.hpp"
#include "os/files/file.hpp"
#include "sort/coding/codec.hpp"
#include "sort/coding/policy.hpp"
#include "sort/runs/reader.hpp"
#include "sort/runs/runs.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;

enum class keys { random, sequential, equal, extremes };

std::vector<entry> make_entries(const entry_layout& l, keys k, std::size_t n, bool small_pointers,
                                base::random& random) {
  std::vector<entry> all;
  for (std::size_t i = 0; i < n; ++i) {
    entry key = (entry{random()} << 64) | random();
    if (k == keys::sequential)
      key = entry{i} << (l.pointer_bits() + 8 * (l.key_bytes - l.used_key_bytes));
    if (k == keys::equal) key = entry{7} << 120;
    if (k == keys::extremes) key = random.below(2) == 0 ? 0 : ~entry{0};
    // Key bytes that are not used are zero.
    key = key >> (128 - 8 * l.used_key_bytes) << (128 - 8 * l.used_key_bytes);
    const std::uint64_t pointer = small_pointers ? random.below(1000) : random();
    all.push_back(key | l.pointer(entry{pointer}));
  }
  std::sort(all.begin(), all.end());
  return all;
}

const entry_layout kLayouts[] = {{.key_bytes = 11, .used_key_bytes = 11},
                                 {.key_bytes = 11, .used_key_bytes = 10, .reverse = true},
                                 {.key_bytes = 11, .used_key_bytes = 1},
                                 {.key_bytes = 8, .used_key_bytes = 8},
                                 {.key_bytes = 8, .used_key_bytes = 3}};

TEST(RunCodec, BlocksComeBackAsTheyWere) {
  base::random random(21);
  for (const auto& l : kLayouts) {
    for (const auto k : {keys::random, keys::sequential, keys::equal, keys::extremes}) {
      for (const std::size_t n :
           {std::size_t{1}, std::size_t{2}, std::size_t{511}, kBlockEntries}) {
        for (const bool small : {false, true}) {
          const auto all = make_entries(l, k, n, small, random);
          std::vector<std::byte> block(kLargestBlock + kBlockSlack);
          const std::size_t bytes = encode_block(l, all, block.data());
          ASSERT_LE(bytes, kBlockHeaderBytes + n * l.packed_bytes()) << "seed 21";
          ASSERT_EQ(block_length(l, std::span(block).first<kBlockHeaderBytes>()), bytes);
          std::vector<entry> back(kBlockEntries);
          ASSERT_EQ(decode_block(l, std::span(block).first(bytes), back.data()), n);
          back.resize(n);
          ASSERT_TRUE(back == all) << "seed 21, keys " << static_cast<int>(k) << ", n " << n;
        }
      }
    }
  }
}

TEST(RunCodec, EveryFlippedBitIsNoticed) {
  base::random random(22);
  const entry_layout l = kLayouts[1];
  const auto all = make_entries(l, keys::random, 40, true, random);
  std::vector<std::byte> block(kLargestBlock + kBlockSlack);
  const std::size_t bytes = encode_block(l, all, block.data());
  std::vector<entry> back(kBlockEntries);
  for (std::size_t bit = 0; bit < 8 * bytes; ++bit) {
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto length = block_length(l, std::span(block).first<kBlockHeaderBytes>());
    if (length && *length <= block.size() - kBlockSlack) {
      EXPECT_EQ(decode_block(l, std::span(block).first(*length), back.data()), 0u) << bit;
    }
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

// 2^20 records of random keys: of 10 bytes the 20 bits that sorting tells are saved, less about 3,
// and of the pointer's 40 bits all but 20.
TEST(RunCodec, RandomKeysLoseWhatSortingTells) {
  base::random random(23);
  const entry_layout l = kLayouts[1];
  std::vector<entry> all(1 << 20);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = l.make((entry{random()} << 64 | random()) >> 48 << 48, i);
  }
  std::sort(all.begin(), all.end());
  const coding_cost cost = measure_coding(l, all);
  EXPECT_GT(cost.bytes, (80 - 20 + 20) / 8.0);
  EXPECT_LT(cost.bytes, (80 - 20 + 4 + 20 + 1) / 8.0);
}

TEST(RunPolicy, CompressionPaysWhenTheDeviceIsSlower) {
  const coding_cost cost{.bytes = 10, .encode_ns = 8, .decode_ns = 6};
  // Two writers: 4 + 6 ns of the processor, against 5 bytes written and read.
  EXPECT_FALSE(balance_of(15, cost, {.write = 2e9, .read = 2e9}, 2).pays());
  EXPECT_TRUE(balance_of(15, cost, {.write = 0.9e9, .read = 0.9e9}, 2).pays());
  EXPECT_DOUBLE_EQ(balance_of(15, cost, {.write = 1e9, .read = 0}, 2).saved_ns, 5);
  EXPECT_DOUBLE_EQ(balance_of(15, cost, {.write = 1e9, .read = 0}, 2).spent_ns, 10);
  const coding_cost larger{.bytes = 15.2, .encode_ns = 0, .decode_ns = 0};
  EXPECT_FALSE(balance_of(15, larger, {.write = 1e6, .read = 1e6}, 2).pays());
}

class RunFiles : public ::testing::Test {
 protected:
  /// A compressed run of three segments in a file with a name.
  void SetUp() override {
    base::random random(24);
    all_ = make_entries(layout_.entries(), keys::random, 9 * kBlockEntries + 5, true, random);
    std::vector<std::byte> block(kLargestBlock + kBlockSlack);
    std::string bytes(5000, '\0');
    for (std::size_t at = 0; at < all_.size(); at += kBlockEntries) {
      if (at % (4 * kBlockEntries) == 0) {
        bytes.append(3000, '\0');
        run_.segments.push_back({bytes.size(), 0});
      }
      const std::size_t n = encode_block(
          layout_.entries(), std::span(all_).subspan(at, std::min(kBlockEntries, all_.size() - at)),
          block.data());
      bytes.append(reinterpret_cast<const char*>(block.data()), n);
      run_.segments.back().bytes += n;
    }
    run_.compressed = true;
    run_.entries = all_.size();
    store(dir_.file("runs"), bytes);
  }
  /// Reads the file as it is now; the job has the error.
  std::vector<entry> read(job& j) {
    const plan p{};
    run_place place{.at = {}, .file = os::file::open(dir_.file("runs")).value()};
    run_.place = &place;
    std::vector<entry> window(run_reader::kLeastWindow / sizeof(entry));
    source nothing;
    run_reader reader({j, p, nothing, layout_}, run_, std::as_writable_bytes(std::span(window)),
                      after_reading::keep);
    std::vector<entry> found;
    for (entry e = 0; reader.next(e);) found.push_back(e);
    return found;
  }
  scratch dir_;
  record_layout layout_{sort_options{}};
  std::vector<entry> all_;
  run run_;
};

TEST_F(RunFiles, SegmentsAreReadOneBehindTheOther) {
  job j(sort_options{}, nullptr);
  EXPECT_TRUE(read(j) == all_);
  EXPECT_TRUE(j.status());
}

TEST_F(RunFiles, DamageIsAnError) {
  const std::string good = contents(dir_.file("runs"));
  base::random random(25);
  for (int i = 0; i < 100; ++i) {
    const auto& s = run_.segments[random.below(run_.segments.size())];
    std::string bad = good;
    bad[s.offset + random.below(s.bytes)] ^= static_cast<char>(1 + random.below(255));
    store(dir_.file("runs"), bad);
    job j(sort_options{}, nullptr);
    read(j);
    auto status = j.status();
    ASSERT_FALSE(status) << "seed 25, round " << i;
    EXPECT_NE(status.error().message.find("not what was written"), std::string::npos);
  }
}

TEST_F(RunFiles, ACutFileIsAnError) {
  const std::string good = contents(dir_.file("runs"));
  base::random random(26);
  for (int i = 0; i < 20; ++i) {
    store(dir_.file("runs"), good.substr(0, random.below(good.size())));
    job j(sort_options{}, nullptr);
    read(j);
    ASSERT_FALSE(j.status()) << "seed 26, round " << i;
    EXPECT_NE(j.status().error().message.find("ended early"), std::string::npos);
  }
}

/// Bytes on the device of the files without names in `dir` that this process has open.
std::uint64_t unnamed_bytes(const std::string& dir) {
  std::uint64_t bytes = 0;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string name = std::filesystem::read_symlink(fd.path(), gone).string();
    struct ::stat s{};
    if (gone || !name.starts_with(dir) || ::stat(fd.path().c_str(), &s) != 0) continue;
    if (s.st_nlink == 0) bytes += static_cast<std::uint64_t>(s.st_blocks) * 512;
  }
  return bytes;
}

// 60 runs and a fan-in of 8: two levels before the last. A merge gives back what it has read while
// it writes.
TEST(RunFile, SeveralLevelsTakeNoMoreSpaceThanOne) {
  constexpr std::size_t kRuns = 60;
  constexpr std::size_t kEntries = 30'000;
  for (const auto compression : {sort_compression::off, sort_compression::on}) {
    const scratch dir;
    store(dir.file("in"), "x");
    auto in = source::open(dir.file("in"));
    ASSERT_TRUE(in);
    const record_layout layout{sort_options{}};
    job j(sort_options{}, nullptr);
    plan p;
    p.compression = compression;
    p.write_threads = 2;
    p.runs = {{.path = dir.path(), .use = {.write_threads = 2}}};
    run_file runs({j, p, *in, layout});
    base::random random(28);
    std::vector<entry> all;
    for (std::size_t r = 0; r < kRuns; ++r) {
      auto some = make_entries(layout.entries(), keys::random, kEntries, false, random);
      runs.append(some);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<entry> buffer((1 << 20) / sizeof(entry));
    const auto memory = std::as_writable_bytes(std::span(buffer));
    std::uint64_t peak = 0;
    std::mutex lock;  // several threads write
    os::set_fault_hook([&](os::io_call c) {
      const std::lock_guard guard(lock);
      if (c == os::io_call::write) peak = std::max(peak, unnamed_bytes(dir.path()));
      return 0;
    });
    runs.reduce(memory);
    os::set_fault_hook({});
    ASSERT_TRUE(j.status());
    EXPECT_LE(runs.runs().size(), merge_fan_in(memory.size()));
    EXPECT_GT(runs.totals().runs, kRuns + 1);
    const std::uint64_t plain = all.size() * layout.entries().packed_bytes();
    EXPECT_GT(peak, plain / 2);
    EXPECT_LE(peak, plain + plain / 64 + 8192 * 2 * kRuns);
    std::vector<entry> piece(1000);
    std::vector<entry> merged;
    runs.merge(memory, piece, [&](std::span<entry> sorted) {
      merged.insert(merged.end(), sorted.begin(), sorted.end());
    });
    EXPECT_TRUE(merged == all) << "seed 28";
  }
}

TEST(RunFile, AFileThatCannotGiveBackItsSpaceIsAnError) {
  const scratch dir;
  store(dir.file("in"), "x");
  auto in = source::open(dir.file("in"));
  ASSERT_TRUE(in);
  const record_layout layout{sort_options{}};
  job j(sort_options{}, nullptr);
  plan p;
  p.runs = {{.path = dir.path()}};
  run_file runs({j, p, *in, layout});
  base::random random(29);
  for (int r = 0; r < 3; ++r) {
    runs.append(make_entries(layout.entries(), keys::random, 20'000, false, random));
  }
  std::vector<entry> buffer((256 << 10) / sizeof(entry));
  os::set_fault_hook([](os::io_call c) { return c == os::io_call::resize ? EIO : 0; });
  runs.reduce(std::as_writable_bytes(std::span(buffer)));
  os::set_fault_hook({});
  ASSERT_FALSE(j.status());
  EXPECT_EQ(j.status().error().code, EIO);
}

std::string records_of(record_format format, std::size_t n) {
  base::random random(27);
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string key = std::to_string(100'000'000 + random.below(50'000'000));
    if (format == record_format::fixed) {
      all += key.substr(1) + "\t value";
    } else if (format == record_format::klv) {
      const auto length = static_cast<std::uint32_t>(random.below(9));
      all += key + "\t";
      all.append(reinterpret_cast<const char*>(&length), 4).append(length, 'v');
    } else {
      all += key + "\n";
    }
  }
  return all;
}

TEST(CompressedRuns, TheOutputIsTheSame) {
  const scratch dir;
  for (const auto format : {record_format::fixed, record_format::klv, record_format::lines}) {
    store(dir.file("in"), records_of(format, 500'000));
    std::string plain;
    for (const auto& [compression, threads] :
         {std::pair{sort_compression::off, 1U}, std::pair{sort_compression::on, 3U}}) {
      const sort_options o{.format = format,
                           .record_bytes = 15,
                           .memory_bytes = 32 * kMiB,
                           .algorithm = sort_algorithm::mergepass,
                           .compression = compression,
                           .write_threads = threads,
                           .sort_threads = 26,  // whose memory leaves the index map half the room
                           .durable = false};
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      ASSERT_TRUE(r) << r.error().message;
      EXPECT_GT(r->runs, 1u);
      EXPECT_GT(r->index_map_bytes, 0u);
      if (compression == sort_compression::on) {
        EXPECT_EQ(r->runs_compressed, r->runs);
        EXPECT_LT(r->index_map_bytes_written, r->index_map_bytes / 4 * 3);
      } else {
        EXPECT_EQ(r->runs_compressed, 0u);
        EXPECT_EQ(r->index_map_bytes_written, r->index_map_bytes);
      }
      const std::string out = contents(dir.file("out"));
      if (plain.empty()) plain = out;
      EXPECT_TRUE(out == plain) << static_cast<int>(format) << name(compression);
    }
  }
}

// A device far slower than any processor, and one far faster than any.
TEST(CompressedRuns, AutomaticFollowsTheDevice) {
  const scratch dir;
  store(dir.file("in"), records_of(record_format::fixed, 20'000));
  sort_options o{.record_bytes = 15,
                 .memory_bytes = 64 * kMiB,
                 .device = "emu:pmem@1/5000",
                 .algorithm = sort_algorithm::mergepass};
  auto slow = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_TRUE(slow) << slow.error().message;
  EXPECT_EQ(slow->runs_compressed, slow->runs);
  auto told = explain_sort(dir.file("in"), o);
  ASSERT_TRUE(told);
  const auto mergepass = std::find_if(told->begin(), told->end(), [](const sort_prediction& p) {
    return p.algorithm == sort_algorithm::mergepass;
  });
  ASSERT_NE(mergepass, told->end());
  EXPECT_TRUE(mergepass->runs.starts_with("runs compressed")) << mergepass->runs;
  o.device = "emu:pmem@1000";
  auto fast = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_TRUE(fast) << fast.error().message;
  EXPECT_EQ(fast->runs_compressed, 0u);
}

}  // namespace
}  // namespace isotherm::sort
