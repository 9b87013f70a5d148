#include "server/resp_parser.hpp"

#include <gmock/gmock.h>

#include <random>

#include "base/random.hpp"

namespace isotherm::server {
namespace {

using status = resp_parser::status;
using ::testing::ElementsAre;
using words = std::vector<std::string>;

words arguments_of(const resp_parser& parser) {
  return {parser.arguments().begin(), parser.arguments().end()};
}

struct outcome {
  std::vector<words> commands;
  std::string problem;
  bool operator==(const outcome&) const = default;
};

/// Parses `stream` as it arrives in pieces that end at the given places.
outcome parse_in_pieces(std::string_view stream, const std::vector<std::size_t>& ends,
                        resp_parser::limits bounds = {}) {
  resp_parser parser;
  outcome seen;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    for (;;) {
      // A copy of exact size, so that AddressSanitizer sees a read beyond it.
      const std::string window(stream.substr(begin, end - begin));
      const auto now = parser.parse(window, bounds);
      if (now == status::incomplete) break;
      if (now == status::error) {
        seen.problem = parser.problem();
        return seen;
      }
      seen.commands.push_back(arguments_of(parser));
      begin += parser.consumed();
    }
  }
  return seen;
}

outcome parse_whole(std::string_view stream, resp_parser::limits bounds = {}) {
  return parse_in_pieces(stream, {stream.size()}, bounds);
}

TEST(RespParser, ReadsPipelinesOfAnyBytes) {
  const std::string stream(
      "*2\r\n$3\r\nGET\r\n$3\r\n\r\n\0\r\n*1\r\n$0\r\n\r\nPING\r\n*0\r\n*-1\r\n\r\n", 49);
  const auto seen = parse_whole(stream);
  EXPECT_EQ(seen.problem, "");
  EXPECT_THAT(seen.commands, ElementsAre(words{"GET", std::string("\r\n\0", 3)}, words{""},
                                         words{"PING"}, words{}, words{}, words{}));
}

TEST(RespParser, PiecesMakeNoDifference) {
  const std::string stream =
      "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nhello\r\nworld\r\nECHO \"a b\"\r\n*1\r\n$4\r\nPING\r\n";
  const auto whole = parse_whole(stream);
  ASSERT_EQ(whole.commands.size(), 3u);
  std::vector<std::size_t> every_byte;
  for (std::size_t i = 1; i <= stream.size(); ++i) every_byte.push_back(i);
  EXPECT_EQ(parse_in_pieces(stream, every_byte), whole);
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    EXPECT_EQ(parse_in_pieces(stream, {cut, stream.size()}), whole) << cut;
  }
}

TEST(RespParser, InlineWordsAreQuotedAsByRedisCli) {
  EXPECT_THAT(parse_whole("SET k \"a\\x41\\n\\\"\" 'b\\'c'\n").commands,
              ElementsAre(words{"SET", "k", "aA\n\"", "b'c"}));
  EXPECT_EQ(parse_whole("GET \"a\r\n").problem, "ERR Protocol error: unbalanced quotes in request");
  EXPECT_EQ(parse_whole("GET \"a\"b\r\n").problem,
            "ERR Protocol error: unbalanced quotes in request");
}

TEST(RespParser, NamesWhatIsWrong) {
  const std::string head = "ERR Protocol error: ";
  EXPECT_EQ(parse_whole("*x\r\n").problem, head + "invalid multibulk length");
  EXPECT_EQ(parse_whole("*2147483648\r\n").problem, head + "invalid multibulk length");
  EXPECT_EQ(parse_whole("*1\r\n!3\r\n").problem, head + "expected '$', got '!'");
  EXPECT_EQ(parse_whole("*1\r\n$-1\r\n").problem, head + "invalid bulk length");
  EXPECT_EQ(parse_whole("*1\r\n$536870913\r\n").problem, head + "invalid bulk length");
  EXPECT_EQ(parse_whole("*1\r\n$01\r\n").problem, head + "invalid bulk length");
  EXPECT_EQ(parse_whole("*" + std::string(70000, '1')).problem,
            head + "too big mbulk count string");
  EXPECT_EQ(parse_whole("*1\r\n$" + std::string(70000, '1')).problem,
            head + "too big bulk count string");
  EXPECT_EQ(parse_whole(std::string(70000, 'x')).problem, head + "too big inline request");
  const resp_parser::limits stranger{.authenticated = false};
  EXPECT_EQ(parse_whole("*11\r\n", stranger).problem, head + "unauthenticated multibulk length");
  EXPECT_EQ(parse_whole("*1\r\n$20000\r\n", stranger).problem,
            head + "unauthenticated bulk length");
}

TEST(RespParser, AnAnnouncementCostsNothing) {
  resp_parser parser;
  EXPECT_EQ(parser.parse("*2147483647\r\n$536870912\r\n", {}), status::incomplete);
  EXPECT_GT(parser.wanted(), std::size_t{536870912});
}

TEST(RespParser, NoiseNeverConfusesIt) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  base::random dice(seed);
  constexpr std::string_view kAlphabet = "*$123-0\r\n\r\nab\"' ";
  for (int round = 0; round < 20000; ++round) {
    std::string stream;
    for (std::uint64_t n = dice.below(60); n > 0; --n) {
      stream.push_back(kAlphabet[dice.below(kAlphabet.size())]);
    }
    const std::size_t cut = dice.below(stream.size() + 1);
    ASSERT_EQ(parse_in_pieces(stream, {cut, stream.size()}), parse_whole(stream)) << stream;
  }
}

}  // namespace
}  // namespace isotherm::server
