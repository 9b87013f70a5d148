// Mappings and resident pages, of texts and of this process.
#include "pages/memory_image.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace isotherm::pages {
namespace {

TEST(MemoryImage, ReadsMappings) {
  const auto all = parse_mappings(
      "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/a b\n"
      "no mapping\n"
      "00e03000-00e24000 rw-p 00000000 00:00 0           [heap]\n"
      "7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
      "7f0000001000-7f0000002000 rw-p 00000000 00:00 0   [anon:cache]\n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0   [stack]\n"
      "7ffc00030000-7ffc00032000 r-xp 00000000 00:00 0   [vdso]\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n"
      "7fffff-7ffffe rw-p 00000000 00:00 0");
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].name, "/usr/bin/a b");
  EXPECT_EQ(all[0].begin, 0x400000U);
  EXPECT_EQ(all[0].end, 0x452000U);
  EXPECT_EQ(all[0].permissions, "r-xp");
  const mapping_kind kinds[] = {mapping_kind::file,      mapping_kind::heap,
                                mapping_kind::anonymous, mapping_kind::anonymous,
                                mapping_kind::stack,     mapping_kind::kernel};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].kind, kinds[i]) << i;
}

TEST(MemoryImage, KnowsOurHeapsByTheirNames) {
  const auto all = parse_mappings(
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0   [anon:isotherm-new]\n"
      "7f0000001000-7f0000002000 rw-p 00000000 00:00 0   [anon:isotherm-hot]\n"
      "7f0000002000-7f0000003000 ---p 00000000 00:00 0   [anon:isotherm-cold]\n"
      "7f0000003000-7f0000004000 rw-p 00000000 00:00 0   [anon:isotherm-node]\n");
  ASSERT_EQ(all.size(), 4U);
  const std::string_view kinds[] = {"isotherm-new", "isotherm-hot", "isotherm-cold",
                                    "isotherm-node"};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(name(all[i].kind), kinds[i]);
}

TEST(MemoryImage, FindsResidentPagesOfThisProcess) {
  constexpr std::size_t kPages = 64;
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  for (const std::size_t page : {3, 4, 9}) memory[page * 4096] = 1;
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  mapping ours;
  ours.begin = begin;
  ours.end = begin + kPages * 4096;
  ours.permissions = "rw-p";
  const auto found = read_resident(::getpid(), {ours});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].begin, begin + 3 * 4096);
  EXPECT_EQ((*found)[0].bytes(), 2U * 4096);
  EXPECT_EQ((*found)[1].begin, begin + 9 * 4096);
  EXPECT_FALSE((*found)[1].huge);
  ::munmap(memory, kPages * 4096);
}

TEST(MemoryImage, SaysWhenThereIsNoSuchProcess) {
  EXPECT_FALSE(read_mappings(1 << 30));
  EXPECT_FALSE(read_resident(1 << 30, {}));
  const auto own = read_mappings(::getpid());
  ASSERT_TRUE(own);
  EXPECT_GT(own->size(), 3U);
}

}  // namespace
}  // namespace isotherm::pages
