#include "pages/live/smaps.hpp"

#include <gtest/gtest.h>

namespace isotherm::pages {
namespace {

constexpr std::string_view kText =
    "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]\n"
    "Size:                132 kB\n"
    "Rss:                  88 kB\n"
    "Referenced:           12 kB\n"
    "VmFlags: rd wr mr mw me ac\n"
    "7f1200000000-7f1200004000 r--p 00001000 08:01 42                 /usr/lib/a b.so\n"
    "Rss:                   8 kB\n"
    "Referenced:            0 kB\n";

TEST(Smaps, TellsTheUsedBytesOfEachMapping) {
  const auto uses = parse_smaps(kText);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].where.begin, 0x55d0c0000000U);
  EXPECT_EQ(uses[0].where.kind, mapping_kind::heap);
  EXPECT_EQ(uses[0].used, 12U << 10);
  EXPECT_EQ(uses[1].where.name, "/usr/lib/a b.so");
  EXPECT_EQ(uses[1].used, 0U);
}

TEST(Smaps, OfNoTextAndOfATornOneIsWhatItSays) {
  EXPECT_TRUE(parse_smaps("").empty());
  EXPECT_TRUE(parse_smaps("Referenced:  12 kB\n").empty());
  const auto torn = parse_smaps(kText.substr(0, kText.find("12 kB")));
  ASSERT_EQ(torn.size(), 1U);
  EXPECT_EQ(torn[0].used, 0U);
}

}  // namespace
}  // namespace isotherm::pages
