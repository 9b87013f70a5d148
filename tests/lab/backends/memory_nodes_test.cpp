#include "lab/backends/system/memory_nodes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lab/backends/system/fault_trace.hpp"

namespace isotherm::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MemoryNodes, ReadsListsOfNodes) {
  EXPECT_THAT(parse_nodes("0"), ElementsAre(0));
  EXPECT_THAT(parse_nodes("0-2,5"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(parse_nodes(""), IsEmpty());
}

TEST(MemoryNodes, FindsTheMemoryOfANodeOverItsZones) {
  const std::string zones =
      "Node 0, zone      DMA\n  pages free     10\n        spanned  4095\n"
      "  start_pfn:           1\n"
      "Node 0, zone    DMA32\n  pages free     20\n        spanned  28672\n"
      "  start_pfn:           4096\n"
      "Node 0, zone   Normal\n  pages free     0\n        spanned  0\n  start_pfn:           0\n"
      "Node 1, zone    DMA32\n  pages free     20\n        spanned  65536\n"
      "  start_pfn:           32768\n";
  const auto first = physical_memory_of(0, zones);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->begin, 1U * 4096);
  EXPECT_EQ(first->end, 32768U * 4096);
  const auto second = physical_memory_of(1, zones);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->begin, 32768U * 4096);
  EXPECT_EQ(second->end, 98304U * 4096);
  EXPECT_FALSE(physical_memory_of(2, zones));
}

TEST(FaultTrace, FindsAddressesInTheTextOfATrace) {
  const std::string text =
      "# tracer: nop\n#\n"
      " isotherm-91 [000] d.... 12.3: page_fault_user: address=0x7f3a10001234 ip=0x55 "
      "error_code=0x4\n"
      " isotherm-92 [001] d.... 12.4: page_fault_user: address=0x1000 ip=0x56 error_code=0x6\n";
  EXPECT_THAT(parse_faults(text), ElementsAre(0x7f3a10001234, 0x1000));
  EXPECT_THAT(parse_faults("# tracer: nop\n"), IsEmpty());
}

}  // namespace
}  // namespace isotherm::lab
