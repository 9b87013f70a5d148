// Sorts in pieces, here of a few records, whose runs hold the records.
#include "sort/merge/record_runs.hpp"
#include "os/faults.hpp"
#include "os/files/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/planned.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using isotherm::testing::contents;
using isotherm::testing::scratch;
using isotherm::testing::store;

struct pieces {
  std::size_t entries;
  std::size_t bytes;
};

plan small_plan(const sort_options& o, std::uint64_t input, pieces of) {
  plan p = planned(o, o.algorithm, input, nullptr).value();
  EXPECT_TRUE(consider_pieces(p, o, 20));
  p.index_entries = of.entries;
  p.piece_bytes = of.bytes;
  if (o.format == record_format::fixed) {  // whole records
    p.piece_bytes = std::max<std::size_t>(1, of.bytes / o.record_bytes) * o.record_bytes;
  }
  p.selection_threads = 0;  // which --top would have
  p.output_buffer_bytes = 4096;
  p.queue_entries = 50;
  p.merge_buffer_bytes = 1 << 20;  // eight runs a merge
  return p;
}

sort_options options_for(record_format format, unsigned field = 0) {
  sort_options o;
  o.format = format;
  if (field > 1) o.keys = {{.first_field = field}};
  if (format == record_format::lines) o.separator = ' ';
  o.memory_bytes = 32 << 20;
  o.durable = false;
  return o;
}

class RecordRuns : public ::testing::Test {
 protected:
  void TearDown() override { os::set_fault_hook({}); }
  outcome sort(const sort_options& o, pieces of, job& j) {
    auto in = source::open(dir_.file("in")).value();
    plan p = small_plan(o, in.size(), of);
    p.runs = {{.path = dir_.path()}};
    const record_layout layout(o);
    auto out = os::file::unnamed(dir_.path()).value();
    const os::file_state before = in.handle().state().value();
    os::set_fault_hook(hook_);
    const outcome done = find(p.algorithm).run({j, p, in, layout}, out);
    os::set_fault_hook({});
    EXPECT_TRUE(before == in.handle().state().value());
    if (!j.status()) return done;
    sorted_.resize(done.bytes_written);
    EXPECT_TRUE(out.read({reinterpret_cast<std::byte*>(sorted_.data()), sorted_.size()}, 0));
    return done;
  }
  /// Sorts in pieces of several sizes, whose result is to be that of `expected`.
  void expect_sorted(const sort_options& o, const std::string& expected, const std::string& name) {
    for (const pieces of : {pieces{7, 100'000}, pieces{1000, 1}, pieces{1000, 700}}) {
      for (const auto c : {sort_concurrency::no_sync, sort_concurrency::io_overlap,
                           sort_concurrency::no_io_overlap}) {
        sort_options with = o;
        with.concurrency = c;
        job j(with, nullptr);
        const outcome done = sort(with, of, j);
        ASSERT_TRUE(j.status()) << name << ": " << j.status().error().message;
        EXPECT_GT(done.runs.runs, 8u) << name;
        EXPECT_TRUE(sorted_ == expected)
            << name << ", pieces of " << of.entries << ", " << of.bytes;
      }
    }
  }
  scratch dir_;
  std::string sorted_;
  std::function<int(os::io_call)> hook_;
};

std::string make_lines(unsigned seed, bool final_newline) {
  base::random random(seed);
  std::string all;
  for (int i = 0; i < 400; ++i) {
    if (i > 0) all += '\n';
    if (random.below(3) == 0) all += "all/begin/with/the/same ";
    all += std::to_string(random.below(40));
    if (random.below(2) == 0) all += " " + std::to_string(random.below(5)) + " in a field";
    if (i % 150 == 70) all += std::string(9000, 'l');  // longer than any buffer
  }
  return final_newline ? all + "\n" : all;
}

TEST_F(RecordRuns, LinesComeOutAsTheSystemsSortHasThem) {
  for (const unsigned seed : {1u, 2u}) {
    store(dir_.file("in"), make_lines(seed, seed != 2));
    const sort_key second{.first_field = 2};
    const sort_key second_back{.first_field = 2, .reverse = true};
    // Keys that are made of their lines: of some bytes, and of more than runs hold.
    const sort_key number{.first_field = 2, .last_field = 2, .kind = key_kind::numeric};
    const sort_key first_back{.last_field = 1, .reverse = true};
    const sort_key folded{.folds_case = true};
    struct variant {
      std::string flags;
      std::vector<sort_key> keys;
      bool reverse = false, stable = false, unique = false;
    };
    for (const variant& v :
         {variant{"", {}}, variant{"-r", {}, true}, variant{"-t ' ' -k 2", {second}},
          variant{"-t ' ' -k 2 -s", {second}, false, true},
          variant{"-t ' ' -k 2 -r -s", {second_back}, true, true},
          variant{"-u", {}, false, false, true},
          variant{"-t ' ' -k 2 -r -u", {second_back}, true, false, true},
          variant{"-t ' ' -k 2,2n -k 1,1r", {number, first_back}},
          variant{"-t ' ' -k 2,2n -k 1,1r -u", {number, first_back}, false, false, true},
          variant{"-f", {folded}}, variant{"-f -s", {folded}, false, true}}) {
      const std::string& flags = v.flags;
      sort_options o = options_for(record_format::lines);
      o.keys = v.keys;
      o.reverse = v.reverse;
      o.stable = v.stable;
      o.unique = v.unique;
      const std::string command =
          "LC_ALL=C sort " + flags + " -o " + dir_.file("expected") + " " + dir_.file("in");
      ASSERT_EQ(std::system(command.c_str()), 0);
      expect_sorted(o, contents(dir_.file("expected")),
                    "seed " + std::to_string(seed) + " flags " + flags);
    }
  }
}

TEST_F(RecordRuns, KlvRecordsWithEqualKeysKeepTheirOrder) {
  base::random random(5);
  std::multimap<std::string, std::string> records;  // keeps the order of equal keys
  std::string all;
  for (int i = 0; i < 400; ++i) {
    const std::string key = "the same " + std::to_string(10 + random.below(60));
    const std::string text = std::to_string(i) + std::string(i % 150 == 70 ? 9000 : 0, 'v');
    const auto bytes = static_cast<std::uint32_t>(text.size());
    const std::string record =
        key + std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes) + text;
    records.emplace(key, record);
    all += record;
  }
  store(dir_.file("in"), all);
  std::string expected;
  for (const auto& r : records) expected += r.second;
  sort_options o = options_for(record_format::klv);
  o.key_bytes = 11;
  expect_sorted(o, expected, "klv");
}

// Runs hold the beginnings of long lines alone: lines that agree for longer, or for as long as a
// run holds, are read from the input to be compared.
TEST_F(RecordRuns, LongLinesAreComparedBeyondWhatRunsHold) {
  const unsigned seed = 11;
  base::random random(seed);
  std::string all;
  for (int i = 0; i < 300; ++i) {
    const std::size_t common[] = {0, 3, 254, 256, 2040, 2048, 5000};
    std::string line(common[random.below(7)], 'x');
    line += random.below(2) == 0 ? " " : std::string(1, '\0');
    for (std::uint64_t n = random.below(12); n > 0; --n) line += "ab \xff"[random.below(4)];
    all.append(line).append("\n");
  }
  store(dir_.file("in"), all);
  for (const auto& [flags, field, reverse, stable, unique] :
       {std::tuple{"", 0u, false, false, false}, std::tuple{"-r", 0u, true, false, false},
        std::tuple{"-t ' ' -k 2", 2u, false, false, false},
        std::tuple{"-t ' ' -k 2 -r", 2u, true, false, false},
        std::tuple{"-t ' ' -k 2 -s", 2u, false, true, false},
        std::tuple{"-t ' ' -k 2 -u", 2u, false, false, true}}) {
    sort_options o = options_for(record_format::lines, field);
    o.reverse = reverse;
    for (sort_key& key : o.keys) key.reverse = reverse;
    o.stable = stable;
    o.unique = unique;
    const std::string command = std::string("LC_ALL=C sort ") + flags + " -o " +
                                dir_.file("expected") + " " + dir_.file("in");
    ASSERT_EQ(std::system(command.c_str()), 0);
    expect_sorted(o, contents(dir_.file("expected")),
                  "seed " + std::to_string(seed) + " flags " + flags);
  }
}

TEST_F(RecordRuns, LinesAreCountedAsTheSystemCountsThem) {
  store(dir_.file("in"), make_lines(3, false));
  for (const auto& [cut, field] : {std::pair{"cat", 0u}, std::pair{"sed 's/^[^ ]* \\?//'", 2u}}) {
    const std::string command = std::string(cut) + " < " + dir_.file("in") +
                                " | LC_ALL=C sort | uniq -c | sed 's/^ *//; s/ /\t/' > " +
                                dir_.file("expected");
    ASSERT_EQ(std::system(command.c_str()), 0);
    sort_options o = options_for(record_format::lines, field);
    o.count = true;
    const std::string expected = contents(dir_.file("expected"));
    expect_sorted(o, expected, cut);
    o.top = 3;
    std::size_t end = 0;
    for (int i = 0; i < 3; ++i) end = expected.find('\n', end) + 1;
    expect_sorted(o, expected.substr(0, end), "top");
  }
}

// Keys of 20 bytes, which entries do not hold; of klv records some are longer than what runs hold.
TEST_F(RecordRuns, KeysOfFixedAndKlvRecordsAreCountedOrWrittenOnce) {
  base::random random(12);
  for (const bool klv : {false, true}) {
    for (const std::size_t key_bytes : {20, 3000}) {
      std::map<std::string, std::pair<std::uint64_t, std::string>> groups;
      std::string all;
      for (int i = 0; i < 400; ++i) {
        std::string key(key_bytes, 'k');
        key[15] = static_cast<char>(random.below(9));
        key.back() = static_cast<char>(random.below(9));
        const std::uint32_t bytes = klv ? static_cast<std::uint32_t>(random.below(50)) : 7;
        std::string record = key;
        if (klv) record.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
        record += std::string(bytes, static_cast<char>(i));
        all += record;
        ++groups.try_emplace(key, 0, record).first->second.first;
      }
      store(dir_.file("in"), all);
      std::string counts;
      std::string firsts;
      for (const auto& [key, group] : groups) {
        counts += key;
        counts.append(reinterpret_cast<const char*>(&group.first), sizeof group.first);
        firsts += group.second;
      }
      sort_options o = options_for(klv ? record_format::klv : record_format::fixed);
      o.record_bytes = key_bytes + 7;
      o.key_bytes = key_bytes;
      o.unique = true;
      expect_sorted(o, firsts, "seed 12, first of each key");
      o.unique = false;
      o.count = true;
      expect_sorted(o, counts, "seed 12, counts");
    }
  }
}

TEST_F(RecordRuns, LinesAreCountedByKeysThatAreMade) {
  base::random random(14);
  std::string all;
  std::map<std::string, std::pair<std::uint64_t, std::string>> groups;  // by the key in upper case
  for (int i = 0; i < 500; ++i) {
    std::string text =
        i % 100 == 3 ? std::string(5000, 'm') : std::to_string(random.below(30)) + "k";
    std::string upper = text;
    for (char& c : upper) c = static_cast<char>(c - (c >= 'a' ? 'a' - 'A' : 0));
    if (random.below(2) == 0) text = upper;
    all += text + " a value\n";
    ++groups.try_emplace(upper, 0, text).first->second.first;
  }
  store(dir_.file("in"), all);
  std::string counts;
  for (const auto& [key, group] : groups) {
    counts += std::to_string(group.first) + "\t" + group.second + "\n";
  }
  sort_options o = options_for(record_format::lines);
  o.keys = {{.last_field = 1, .folds_case = true}};
  o.count = true;
  expect_sorted(o, counts, "seed 14, counts");
}

// More columns agree than a code can tell.
TEST_F(RecordRuns, LinesThatAgreeInMebibytesAreCompared) {
  const std::string common(11 << 20, 'c');
  const auto lines = [&](const std::vector<std::string>& ends) {
    std::string all;
    for (const auto& end : ends) all.append(common).append(end).append("\n");
    return all;
  };
  store(dir_.file("in"), lines({"b", "", "a"}));
  for (const bool reverse : {false, true}) {
    sort_options o = options_for(record_format::lines);
    o.reverse = reverse;
    job j(o, nullptr);
    sort(o, {1, 100}, j);
    ASSERT_TRUE(j.status());
    EXPECT_TRUE(sorted_ == (reverse ? lines({"b", "a", ""}) : lines({"", "a", "b"})));
  }
}

TEST_F(RecordRuns, NoKeyIsReadByACallOfItsOwn) {
  std::string all;
  for (int i = 0; i < 20'000; ++i)
    all += "https://example.org/" + std::to_string(i * 7 % 9973) + "\n";
  store(dir_.file("in"), all);
  for (const auto& [unique, count] : {std::pair{false, false}, {true, false}, {false, true}}) {
    sort_options o = options_for(record_format::lines);
    o.unique = unique;
    o.count = count;
    std::atomic<int> reads{0};
    hook_ = [&](os::io_call c) {
      reads += c == os::io_call::read;
      return 0;
    };
    job j(o, nullptr);
    const outcome done = sort(o, {3000, 100'000}, j);
    ASSERT_TRUE(j.status());
    EXPECT_GT(done.runs.runs, 5u);
    EXPECT_LT(reads, 200);
  }
}

TEST_F(RecordRuns, ADamagedRunEndsTheMerge) {
  using std::string_literals::operator""s;
  for (std::string bytes :
       {"\x05"s, "\x05\0ab"s, "\0\0ab\n"s, "\xff\x7f"s, "\x03\0ab\n\xff\x7f"s}) {
    bytes.resize(200'000, '\xff');
    sort_options o = options_for(record_format::lines);
    store(dir_.file("in"), "a\n");
    auto in = source::open(dir_.file("in")).value();
    store(dir_.file("run"), bytes);
    run_place place{.at = {}, .file = os::file::open(dir_.file("run")).value()};
    const plan p = small_plan(o, in.size(), {10, 10});
    const record_layout layout(o);
    job j(o, nullptr);
    const context ctx{j, p, in, layout};
    std::vector<std::byte> memory(p.merge_buffer_bytes);
    const std::vector<record_run> runs{{&place, 0, bytes.size()}};
    merge_records(ctx, framed_format(ctx), runs, memory, overlap::beside, after_reading::keep,
                  [](const run_record&, bool) { return true; });
    ASSERT_FALSE(j.status());
    EXPECT_NE(j.status().error().message.find("not what was written"), std::string::npos);
  }
}

TEST_F(RecordRuns, OnePieceIsNotMoved) {
  store(dir_.file("in"), "b\na\nc");
  const sort_options o = options_for(record_format::lines);
  job j(o, nullptr);
  const outcome done = sort(o, {100, 100}, j);
  ASSERT_TRUE(j.status());
  EXPECT_EQ(done.runs.runs, 0u);
  EXPECT_EQ(sorted_, "a\nb\nc\n");
}

TEST_F(RecordRuns, EveryCallThatFailsEndsTheSort) {
  store(dir_.file("in"), make_lines(4, true));
  sort_options o = options_for(record_format::lines, 2);
  o.read_threads = o.write_threads = o.sort_threads = 1;
  bool done = false;
  int nth = 1;
  for (; !done && !HasFailure(); ++nth) {
    std::atomic<int> calls{0};
    hook_ = [&](os::io_call) { return ++calls == nth ? EIO : 0; };
    job j(o, nullptr);
    sort(o, {40, 1500}, j);
    done = calls < nth;
    EXPECT_EQ(j.status().has_value(), done) << "call " << nth;
    if (!done && !j.status()) EXPECT_EQ(j.status().error().code, EIO);
    EXPECT_EQ(dir_.entries(), 1u) << "call " << nth;
  }
  EXPECT_GT(nth, 50);
}

// The space that is asked for before a sort holds the runs that it writes, and is not far too much.
TEST_F(RecordRuns, FitInTheSpaceThatIsAskedFor) {
  constexpr std::size_t kLines = 2000;
  using enum key_kind;
  struct sample {
    const char* name;
    std::string line;
  };
  for (const sample& t :
       {sample{"digit", "7\n"}, sample{"short", "1.5K\n"}, sample{"letter", "a\n"},
        sample{"version", "a1a1b10\n"}, sample{"long", "12 " + std::string(90, 'x') + "\n"}}) {
    std::string all = t.line + "~\n";  // lines that are in order are copied, without runs
    for (std::size_t i = 2; i < kLines; ++i) all += t.line;
    store(dir_.file("in"), all);
    for (const key_kind kind : {numeric, general, human, version, month, random}) {
      SCOPED_TRACE(std::string(t.name) + ", kind " + std::to_string(static_cast<int>(kind)));
      sort_options o = options_for(record_format::lines);
      o.keys = {{.kind = kind}, {.reverse = true}};
      if (kind != human) o.keys.pop_back();
      job j(o, nullptr);
      const pieces of{1000, all.size() / 2};
      sort(o, of, j);
      ASSERT_TRUE(j.status()) << j.status().error().message;
      const auto stages = j.stages();
      const auto written = std::ranges::find(stages, sort_stage::run_write, &stage_report::stage);
      ASSERT_NE(written, stages.end());
      const plan p = small_plan(o, all.size(), of);
      const std::uint64_t asked = find(p.algorithm).temporary_bytes(p, o, all.size(), kLines);
      EXPECT_LE(written->bytes_written, asked);
      EXPECT_GE(written->bytes_written * 4, asked);
    }
  }
}

// Wherever it would not pay, or the records are not all wanted, they stay where they are.
TEST(ConsiderPieces, TakesRecordsThatAreReadByCalls) {
  constexpr std::uint64_t kInput = 1 << 30;
  sort_options o = options_for(record_format::lines);
  const auto moves = [&](std::uint64_t record, std::uint64_t input = kInput) {
    plan p = planned(o, o.algorithm, input, nullptr).value();
    const bool taken = consider_pieces(p, o, record);
    EXPECT_EQ(taken, p.piece_bytes != 0);
    EXPECT_LE(p.piece_bytes + p.index_entries * sizeof(entry), p.merge_buffer_bytes);
    return taken;
  };
  EXPECT_TRUE(moves(1));
  EXPECT_TRUE(moves(5000));
  o.top = 5;
  EXPECT_TRUE(moves(40));
  o.top = 0;
  o.unique = true;
  EXPECT_TRUE(moves(40));
  o.unique = false;
  o.count = true;
  EXPECT_TRUE(moves(40));
  o.count = false;
  o.device = "emu:pmem";
  EXPECT_FALSE(moves(40));
  o.device = "";
  o.algorithm = sort_algorithm::mergepass;
  EXPECT_FALSE(moves(40));
  o.algorithm = sort_algorithm::automatic;
  o.compression = sort_compression::on;  // of entries
  EXPECT_FALSE(moves(40));
  o.compression = sort_compression::automatic;
  o.memory_bytes = 512 << 20;
  EXPECT_TRUE(moves(40));
  EXPECT_FALSE(moves(40, 1 << 20));  // mapped
  o.format = record_format::fixed;
  EXPECT_FALSE(moves(100));
  o.unique = true;
  o.memory_bytes = 128 << 20;
  EXPECT_TRUE(moves(100));
  o.record_bytes = 4096;  // a page: a read of it by call wastes nothing
  EXPECT_FALSE(moves(4096));
}

TEST(ConsiderPieces, LeavesRoomForShortLinesBehindLongOnes) {
  const sort_options o = options_for(record_format::lines);
  plan p = planned(o, o.algorithm, 1 << 30, nullptr).value();
  ASSERT_TRUE(consider_pieces(p, o, 100 << 20));
  EXPECT_GE(p.index_entries * sizeof(entry), p.piece_bytes / 8);
}

}  // namespace
}  // namespace isotherm::sort
