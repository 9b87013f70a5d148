// Keys that begin alike: told apart in the right order, and with each record read once, whether
// runs are merged or equal keys are left out.
#include "sort/runs/key_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "os/faults.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using testing::contents;
using testing::scratch;

constexpr unsigned kSeed = 77;

/// Lines that begin with the same 8 bytes at the least, up to far more than a reference holds; some
/// are the beginning of others, some are equal, some hold a second field.
std::vector<std::string> alike_lines(std::size_t n) {
  base::random random(kSeed);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < n; ++i) {
    constexpr std::size_t kLengths[] = {8, 20, 58, 59, 60, 70, 1024, 4095, 4096, 4097, 9000};
    std::string line(kLengths[random.below(std::size(kLengths))], 'p');
    for (std::uint64_t c = random.below(80); c > 0; --c) line += "\x01pq\xff\t"[random.below(5)];
    if (random.below(4) == 0 && i > 0) line = lines[random.below(i)];
    lines.push_back(std::move(line));
  }
  return lines;
}

struct loaded {
  std::vector<entry> entries;
  std::string bytes;
};

loaded load(const std::vector<std::string>& lines, const record_layout& layout) {
  loaded all;
  for (const auto& line : lines) {
    const std::string text = line + "\n";
    all.entries.push_back(layout.variable_entry(reinterpret_cast<const std::byte*>(text.data()),
                                                all.bytes.size(), text.size()));
    all.bytes += text;
  }
  return all;
}

/// What follows the first tab, nothing if there is none.
std::string second_field(const std::string& line) {
  const auto tab = line.find('\t');
  return tab == std::string::npos ? "" : line.substr(tab + 1);
}

int sign(int x) { return (x > 0) - (x < 0); }

class KeySlots : public ::testing::TestWithParam<bool> {};

TEST_P(KeySlots, OrderAsWholeKeysDoWhateverTheReference) {
  const bool mapped = GetParam();
  const scratch dir;
  const auto lines = alike_lines(120);
  for (const unsigned field : {1u, 2u}) {
    for (const bool reverse : {false, true}) {
      const sort_options o{.format = record_format::lines,
                           .separator = '\t',
                           .keys = {{.first_field = field, .reverse = reverse}},
                           .reverse = reverse};
      const record_layout layout(o);
      const loaded all = load(lines, layout);
      testing::store(dir.file("in"), all.bytes);
      auto in = source::open(dir.file("in")).value();
      if (mapped) ASSERT_TRUE(in.map());
      job j(o, nullptr);
      plan p;
      p.random_threads = 2;
      key_slots keys({j, p, in, layout}, sort_stage::merge_other);
      const std::size_t each = keys.per_entry();
      EXPECT_EQ(each, field == 1 ? 1u : 2u);
      for (const int reference : {-1, 0, 17, 63}) {
        if (reference >= 0) keys.refer_to(all.entries[static_cast<std::size_t>(reference)]);
        std::vector<key_slot> slots(all.entries.size() * each);
        keys.load(all.entries, slots);
        for (std::size_t a = 0; a < lines.size(); ++a) {
          for (std::size_t b = 0; b < lines.size(); ++b) {
            const auto& l = layout.entries();
            if (l.key(all.entries[a]) != l.key(all.entries[b]) ||
                !layout.undecided(all.entries[a])) {
              continue;
            }
            int expected = field == 1 ? 0 : second_field(lines[a]).compare(second_field(lines[b]));
            if (expected == 0) expected = lines[a].compare(lines[b]);
            if (reverse) expected = -expected;
            if (expected == 0) expected = a < b ? -1 : a > b;
            EXPECT_EQ(sign(keys.compare(all.entries[a], &slots[a * each], all.entries[b],
                                        &slots[b * each])),
                      sign(expected))
                << "seed " << kSeed << " reference " << reference << " lines " << a << ", " << b;
          }
        }
      }
      EXPECT_TRUE(j.status());
    }
  }
}

TEST_P(KeySlots, FindNeighboursOfEqualKeys) {
  const bool mapped = GetParam();
  const scratch dir;
  auto lines = alike_lines(3000);
  for (std::size_t i = 0; i < lines.size(); i += 7) lines[i] = std::to_string(i / 70);
  std::sort(lines.begin(), lines.end());
  const sort_options o{.format = record_format::lines, .unique = true};
  const record_layout layout(o);
  const loaded all = load(lines, layout);
  testing::store(dir.file("in"), all.bytes);
  auto in = source::open(dir.file("in")).value();
  if (mapped) ASSERT_TRUE(in.map());
  job j(o, nullptr);
  plan p;
  p.random_threads = 2;
  equal_keys same({j, p, in, layout}, sort_stage::record_read);
  base::random random(kSeed);
  for (std::size_t at = 0; at < lines.size();) {
    const auto n = std::min<std::size_t>(random.below(equal_keys::kMost) + 1, lines.size() - at);
    const auto& found = same.find(std::span(all.entries).subspan(at, n));
    ASSERT_EQ(found.size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(found[i], at + i > 0 && lines[at + i] == lines[at + i - 1])
          << "seed " << kSeed << " line " << at + i;
    }
    at += n;
  }
  EXPECT_TRUE(j.status());
}

INSTANTIATE_TEST_SUITE_P(MappedOrNot, KeySlots, ::testing::Bool());

// More lines than the index map holds at a time. Each record is read at its turn to be merged, to
// be told from its neighbour where --unique or --count asks, and to be written.
TEST(KeySlotsInMerges, ReadEachRecordOnce) {
  const scratch dir;
  base::random random(kSeed);
  std::string all;
  constexpr std::uint64_t kRecords = 450'000;
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    all += "https://example.org/" + std::to_string(random.below(1'000'000'000)) + " " +
           (random.below(2) == 0 ? "status200" : "status404") + "\n";
  }
  testing::store(dir.file("in"), all);
  struct variant {
    const char* flags;
    sort_options options;
    double reads;  // of each record
  };
  const variant variants[] = {{"", {}, 2},
                              {"-u", {.unique = true}, 3},
                              {"-t ' ' -k 2", {.separator = ' ', .keys = {{.first_field = 2}}}, 2}};
  for (const auto& v : variants) {
    std::atomic<std::uint64_t> reads{0};
    os::set_fault_hook([&](os::io_call c) {
      reads += c == os::io_call::read;
      return 0;
    });
    sort_options o = v.options;
    o.format = record_format::lines;
    o.memory_bytes = 32 << 20;
    o.sort_threads = 26;  // whose memory leaves the index map half the room
    o.durable = false;
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    os::set_fault_hook({});
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(r->algorithm, "mergepass");
    // A tenth for what finds the lines, sorts the runs, and for slots that were loaded in vain.
    EXPECT_LT(static_cast<double>(reads), 1.1 * v.reads * kRecords) << "flags " << v.flags;
    const std::string command = std::string("LC_ALL=C sort ") + v.flags + " -o " +
                                dir.file("expected") + " " + dir.file("in");
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected"))) << v.flags;
  }
}

}  // namespace
}  // namespace isotherm::sort
