// Klv records and lines that are in order already, or the wrong way round: a scan of what tells the
// order, and a copy, in the least memory, counted in bytes.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;

std::string joined(const std::vector<std::string>& records) {
  std::string all;
  for (const auto& r : records) all += r;
  return all;
}

/// Records in ascending order without equal keys. Keys differ only behind their first 8 bytes.
std::vector<std::string> make_records(record_format format, std::size_t n, std::size_t most) {
  base::random random(31);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string key = "https://" + std::to_string(1'000'000 + i);
    std::string value(random.below(most), static_cast<char>('a' + i % 20));
    if (format == record_format::lines) {
      all.push_back(key + value + "\n");
      continue;
    }
    const auto length = static_cast<std::uint32_t>(value.size());
    all.push_back(key + std::string(reinterpret_cast<const char*>(&length), 4) + value);
  }
  return all;
}

sort_options options_of(record_format format) {
  sort_options o{.format = format, .memory_bytes = 33 * kMiB, .durable = false};
  if (format == record_format::klv) o.key_bytes = 15;
  return o;
}

void expect_scan_and_copy(const sort_report& r, std::uint64_t records, std::uint64_t bytes) {
  std::uint64_t scanned = 0;
  for (const auto& s : r.stages) {
    ASSERT_TRUE(s.stage == sort_stage::run_read || s.stage == sort_stage::copy) << name(s.stage);
    if (s.stage == sort_stage::run_read) {
      scanned = s.bytes_read;
      EXPECT_EQ(s.bytes_written, 0u);
    } else {
      EXPECT_EQ(s.bytes_read, bytes);
      EXPECT_EQ(s.bytes_written, bytes);
    }
  }
  EXPECT_GT(scanned, 0u);
  // Keys beyond 8 bytes are read again; windows of lines overlap a little.
  EXPECT_LE(scanned, 2 * bytes + bytes / 10);
  EXPECT_EQ(r.runs, 0u);
  EXPECT_EQ(r.records, records);
  EXPECT_EQ(r.records_written, records);
  EXPECT_EQ(r.output_bytes, bytes);
}

TEST(Presorted, KlvAndLinesCostAScanAndACopy) {
  const scratch dir;
  for (const auto format : {record_format::klv, record_format::lines}) {
    auto records = make_records(format, 50'000, 400);
    const std::string rising = joined(records);
    std::reverse(records.begin(), records.end());
    const std::string falling = joined(records);
    for (const bool in_rises : {true, false}) {
      for (const bool reverse : {false, true}) {
        store(dir.file("in"), in_rises ? rising : falling);
        sort_options o = options_of(format);
        o.reverse = reverse;
        auto r = sort_file(dir.file("in"), dir.file("out"), o);
        ASSERT_TRUE(r) << r.error().message;
        EXPECT_TRUE(contents(dir.file("out")) == (reverse ? falling : rising));
        EXPECT_EQ(r->algorithm, in_rises != reverse ? "copy" : "reversed copy");
        expect_scan_and_copy(*r, records.size(), rising.size());
      }
    }
  }
}

TEST(Presorted, RecordsLargerThanTheBuffersAreTurnedRound) {
  const scratch dir;
  for (const auto format : {record_format::klv, record_format::lines}) {
    auto records = make_records(format, 9, 3 * kMiB);
    records[4].insert(format == record_format::lines ? 20 : 19, 17 * kMiB, 'L');
    if (format == record_format::klv) {
      const auto length = static_cast<std::uint32_t>(records[4].size() - 19);
      records[4].replace(15, 4, reinterpret_cast<const char*>(&length), 4);
    }
    const std::string rising = joined(records);
    std::reverse(records.begin(), records.end());
    store(dir.file("in"), joined(records));
    auto r = sort_file(dir.file("in"), dir.file("out"), options_of(format));
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_TRUE(contents(dir.file("out")) == rising);
    EXPECT_EQ(r->runs, 0u);
  }
}

// Lengths that were good when they were scanned and lead out of the buffer when they are followed.
TEST(Presorted, RecordsThatChangeUnderTheCopyEndIt) {
  const scratch dir;
  auto records = make_records(record_format::klv, 20'000, 50);
  std::reverse(records.begin(), records.end());
  const std::string in = joined(records);
  for (const std::size_t place : {std::size_t{0}, in.size() / 2 + 1, in.size() - 80}) {
    store(dir.file("in"), in);
    bool changed = false;
    sort_options o = options_of(record_format::klv);
    o.progress = [&](sort_stage stage, std::uint64_t, std::uint64_t) {
      if (stage != sort_stage::copy || std::exchange(changed, true)) return;
      std::fstream file(dir.file("in"), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(place));
      file << std::string(80, '\xff');
    };
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(changed);
    ASSERT_FALSE(r) << "at " << place;
    EXPECT_NE(r.error().message.find("changed while it was"), std::string::npos);
    EXPECT_EQ(dir.entries(), 1u);
  }
}

TEST(Presorted, ALastLineWithoutNewlineGetsOne) {
  const scratch dir;
  for (const std::string in : {"a\nb\nc", "c\nb\na", "a", "", "\n", "b\n\na", "\na"}) {
    store(dir.file("in"), in);
    auto r = sort_file(dir.file("in"), dir.file("out"), options_of(record_format::lines));
    ASSERT_TRUE(r) << r.error().message;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < in.size();) {
      const std::size_t end = std::min(in.find('\n', at), in.size());
      lines.push_back(in.substr(at, end - at) + "\n");
      at = end + 1;
    }
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(contents(dir.file("out")), joined(lines));
    EXPECT_EQ(r->output_bytes, joined(lines).size());
  }
}

// One pair out of place, early or late, and equal keys in a falling input: sorted as ever.
TEST(Presorted, AlmostIsNotEnough) {
  const scratch dir;
  for (const auto format : {record_format::klv, record_format::lines}) {
    for (const bool rises : {true, false}) {
      for (const std::size_t place : {std::size_t{3}, std::size_t{19'000}}) {
        auto records = make_records(format, 20'000, 50);
        const std::string expected = joined(records);
        if (!rises) std::reverse(records.begin(), records.end());
        std::swap(records[place], records[place + 1]);
        store(dir.file("in"), joined(records));
        ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), options_of(format)));
        EXPECT_TRUE(contents(dir.file("out")) == expected);
      }
    }
  }
  auto records = make_records(record_format::klv, 1000, 50);
  std::reverse(records.begin(), records.end());
  records[501].replace(0, 15, records[500], 0, 15);
  store(dir.file("in"), joined(records));
  std::swap(records[500], records[501]);  // turned round they stand as they stood
  std::reverse(records.begin(), records.end());
  ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), options_of(record_format::klv)));
  EXPECT_TRUE(contents(dir.file("out")) == joined(records));
}

// Whatever the model finds cheapest there.
TEST(Presorted, FixedRecordsAreRecognisedOnEveryDevice) {
  const scratch dir;
  std::string in;
  for (int i = 0; i < 20'000; ++i) in += std::to_string(1'000'000 + i) + std::string(93, 'v');
  store(dir.file("in"), in);
  for (const char* device : {"emu:pmem", "emu:bd", "emu:brd", "emu:bard", "emu:cxl-dram"}) {
    const sort_options o{.memory_bytes = 64 * kMiB, .device = device, .durable = false};
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_TRUE(contents(dir.file("out")) == in) << device;
    EXPECT_EQ(r->stages.size(), 2u) << device << " " << r->algorithm;
  }
}

// Fields order lines: ties go by the whole line, or keep their order if the sort is stable.
TEST(Presorted, FieldsAndTheirTiesDecide) {
  const scratch dir;
  const std::string in = "b\t1\na\t1\nc\t2\n";
  store(dir.file("in"), in);
  sort_options o = options_of(record_format::lines);
  o.keys = {{.first_field = 2}};
  ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), o));
  EXPECT_EQ(contents(dir.file("out")), "a\t1\nb\t1\nc\t2\n");
  o.stable = true;
  auto r = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(contents(dir.file("out")), in);
  expect_scan_and_copy(*r, 3, in.size());
}

}  // namespace
}  // namespace isotherm
