// Inputs that are written to while they are sorted. The sort may fail, and says why; it does not
// read a record's length again, so that it never writes beyond its buffers.
#include <isotherm/index_map.hpp>
#include <isotherm/sort.hpp>

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <ostream>
#include <string>

#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using ::testing::HasSubstr;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kLong = 17 * kMiB;  // too long for an entry of the index map
constexpr std::uint64_t kOther = 9 * kMiB;

void overwrite(const std::string& path, std::uint64_t offset, const std::string& bytes) {
  std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
  f.seekp(static_cast<std::streamoff>(offset));
  f << bytes;
  ASSERT_TRUE(f.flush().good());
}

std::string little_endian(std::uint64_t bytes) {
  const auto n = static_cast<std::uint32_t>(bytes);
  return {reinterpret_cast<const char*>(&n), sizeof n};
}

/// An input of three records, the second of which is long and the last of the order, and a change
/// that gives this record another length.
struct changing {
  std::string name;
  record_format format;
  std::string contents;
  std::uint64_t long_at;
  std::uint64_t change_at;
  std::string change;
};
void PrintTo(const changing& c, std::ostream* out) { *out << c.name; }

changing longer_value() {
  const std::string first = "mmmmmmmmmm" + little_endian(0);
  const std::string other = "aaaaaaaaaa" + little_endian(kOther) + std::string(kOther, '2');
  return {"longer_value",
          record_format::klv,
          first + "zzzzzzzzzz" + little_endian(kLong) + std::string(kLong, '1') + other,
          first.size(),
          first.size() + 10,
          little_endian(kLong + other.size())};
}

changing shorter_value() {
  changing c = longer_value();
  c.name = "shorter_value";
  c.change = little_endian(kMiB);
  return c;
}

changing longer_line() {
  return {"longer_line",
          record_format::lines,
          "m\n" + std::string(kLong, 'z') + '\n' + std::string(kOther, 'a') + '\n',
          2,
          2 + kLong,
          "z"};
}

changing shorter_line() {
  changing c = longer_line();
  c.name = "shorter_line";
  c.change_at = kMiB;
  c.change = "\n";
  return c;
}

class ChangedInput : public ::testing::TestWithParam<changing> {
 protected:
  void SetUp() override { store(dir_.file("in"), GetParam().contents); }
  void change() { overwrite(dir_.file("in"), GetParam().change_at, GetParam().change); }
  scratch dir_;
};

TEST_P(ChangedInput, LengthsAreThoseThatWereReadFirst) {
  auto map = index_map::build(dir_.file("in"), {.format = GetParam().format});
  ASSERT_TRUE(map) << map.error().message;
  const auto before = map->locate(1);
  change();
  const auto after = map->locate(1);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->offset, GetParam().long_at);
  EXPECT_EQ(before->bytes, kLong + (GetParam().format == record_format::klv ? 14 : 1));
  EXPECT_EQ(after->bytes, before->bytes);
}

// The sort has chosen the place of each record when it reads the first: the change comes then.
TEST_P(ChangedInput, RecordsHaveTheRoomThatWasMadeForThem) {
  for (const std::uint64_t memory : {256 * kMiB, 48 * kMiB}) {  // mapped, and read by calls
    for (const auto c : {sort_concurrency::no_sync, sort_concurrency::io_overlap,
                         sort_concurrency::no_io_overlap}) {
      store(dir_.file("in"), GetParam().contents);
      sort_options o{.format = GetParam().format, .memory_bytes = memory, .concurrency = c};
      unsigned changes = 0;
      o.progress = [&](sort_stage stage, std::uint64_t, std::uint64_t) {
        if (stage == sort_stage::record_read && changes++ == 0) change();
      };
      auto r = sort_file(dir_.file("in"), dir_.file("out"), o);
      EXPECT_GT(changes, 0u);
      ASSERT_FALSE(r);
      EXPECT_THAT(r.error().message, HasSubstr("changed while it was read"));
      EXPECT_EQ(dir_.entries(), 1u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChangedInput,
                         ::testing::Values(longer_value(), shorter_value(), longer_line(),
                                           shorter_line()),
                         [](const auto& p) { return p.param.name; });

// Only the last line may lack its newline: others that lose theirs are not given room for one.
TEST(ChangedOrder, LinesThatAreTurnedRoundKeepTheirRoom) {
  const scratch dir;
  std::string lines;
  for (int i = 999'999; lines.size() < 6 * kMiB; --i) lines += std::to_string(i) + '\n';
  lines.pop_back();
  store(dir.file("in"), lines);
  sort_options o{.format = record_format::lines, .memory_bytes = 32 * kMiB};
  unsigned changes = 0;
  o.progress = [&](sort_stage stage, std::uint64_t, std::uint64_t) {
    if (stage != sort_stage::copy || changes++ > 0) return;
    overwrite(dir.file("in"), 0, std::string(3 * kMiB, '1'));
  };
  auto r = sort_file(dir.file("in"), dir.file("out"), o);
  EXPECT_GT(changes, 0u);
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("changed while it was sorted"));
  EXPECT_EQ(dir.entries(), 1u);
}

}  // namespace
}  // namespace isotherm
