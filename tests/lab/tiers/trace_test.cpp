#include "lab/tiers/trace.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include "heap/temporary_directory.hpp"

namespace isotherm::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Trace : public ::testing::Test {
 protected:
  base::result<block_trace> read(std::string_view text) {
    std::ofstream(path_) << text;
    return read_trace(path_);
  }
  std::string error_of(std::string_view text) {
    const auto trace = read(text);
    return trace ? "none" : trace.error().message;
  }

 private:
  const testing_help::temporary_directory folder_;
  const std::string path_ = folder_.path() + "/trace";
};

TEST_F(Trace, NumbersBlocksAnewInTheirOrderWithoutGaps) {
  const auto trace = read("1000 1 0 0\n7\n1000\n30 2\r\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->blocks, 4u);
  EXPECT_THAT(*trace->requests, ElementsAre(3, 0, 3, 1, 2));
}

TEST_F(Trace, MayBeEmpty) {
  const auto trace = read("");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->blocks, 0u);
}

TEST_F(Trace, ErrorsNameTheFileAndTheLine) {
  EXPECT_THAT(error_of("1\n2 x\n"), HasSubstr("/trace, line 2: not the number of a block"));
  for (const char* wrong : {"-1", "x", "", "1 0", "1 2000000", "1,2", "18446744073709551616"}) {
    EXPECT_THAT(error_of(std::string("5\n") + wrong + "\n"), HasSubstr("line 2")) << wrong;
  }
  EXPECT_EQ(error_of("18446744073709551615\n"), "none");
  const auto missing = read_trace("/nowhere/trace");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/trace"));
}

}  // namespace
}  // namespace isotherm::lab
