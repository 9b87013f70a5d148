#include "lab/traces/source.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "sort/packed/packing.hpp"

namespace isotherm::traces {
namespace {

struct seen {
  std::uint64_t time_us;
  operation kind;
  std::string key;
  std::uint32_t key_size, value_size, ttl_s;
  friend bool operator==(const seen&, const seen&) = default;
};

struct reading {
  std::vector<seen> requests;
  malformed_lines malformed;
  std::string format;
  bool has_times = false;
  std::string problem;
};

reading read(const std::string& contents, const file_options& how = {}) {
  reading found;
  const auto opened = open_stream(std::make_unique<std::istringstream>(contents), "t", how);
  if (!opened) {
    found.problem = opened.error().message;
    return found;
  }
  source& trace = **opened;
  request next;
  for (;;) {
    const auto more = trace.next(next);
    if (!more) found.problem = more.error().message;
    if (!more || !*more) break;
    found.requests.push_back({next.time_us, next.kind, std::string(next.key), next.key_size,
                              next.value_size, next.ttl_s});
  }
  found.malformed = trace.malformed();
  found.format = trace.format();
  found.has_times = trace.has_times();
  return found;
}

std::vector<std::string> keys(const reading& of) {
  std::vector<std::string> all;
  for (const seen& each : of.requests) all.push_back(each.key);
  return all;
}

using texts = std::vector<std::string>;

TEST(Source, ReadsTwittersTraces) {
  const auto found = read(
      "0,q:q:1:8WTfjZU14ee,17,213,4,get,0\n"
      "0,yDqF:3q:1AJrrJ1nnCJKKrnGx1A,27,27,5,add,3600\r\n"
      "3,k,1,0,1,delete,0\n"
      "4,k,1,0,1,incr,0\n");
  EXPECT_EQ(found.format, "twitter");
  EXPECT_TRUE(found.has_times);
  EXPECT_EQ(found.requests,
            (std::vector<seen>{{0, operation::get, "q:q:1:8WTfjZU14ee", 17, 213, 0},
                               {0, operation::set, "yDqF:3q:1AJrrJ1nnCJKKrnGx1A", 27, 27, 3600},
                               {3'000'000, operation::remove, "k", 1, 0, 0},
                               {4'000'000, operation::incr, "k", 1, 0, 0}}));
}

TEST(Source, ReadsCacheLibsTracesByTheirHeader) {
  const auto kv = read(
      "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n"
      "604038471,82131353f9ddc8c6,48,GET,1,87,1,0,366387042,3003229276\n"
      "604038472,a54f88ab02ece24d,24,GET_LEASE,3,0,0,0,699950563,699950563\n"
      "604038473,a54f88ab02ece24d,24,SET,1,12,0,900,699950563,699950563\n");
  EXPECT_EQ(kv.format, "cachelib");
  ASSERT_EQ(kv.requests.size(), 5u) << "op_count repeats a line";
  EXPECT_EQ(kv.requests[1], kv.requests[3]);
  EXPECT_EQ(kv.requests[4],
            (seen{604'038'473'000'000, operation::set, "a54f88ab02ece24d", 24, 12, 900}));
  const auto blocks = read(
      "op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name\n"
      "1702511878,12ce-9e05,40,8388608,0,4,3,getChunkData.NotInitialized\n"
      "1702598275,f99f-cb76,40,100,0,5,3,putChunk.Permanent\n");
  EXPECT_EQ(blocks.requests[0].kind, operation::get);
  EXPECT_EQ(blocks.requests[1],
            (seen{1'702'598'275'000'000, operation::set, "f99f-cb76", 0, 100, 0}));
}

TEST(Source, ReadsBlocksAsRequestsOfFourKibibytes) {
  const auto found = read("3,R,8192,8192,1000\n3,W,100,4000,1001\n12,W,4095,2,2000\n");
  EXPECT_EQ(found.format, "alibaba");
  EXPECT_EQ(keys(found), (texts{"3:2", "3:3", "3:0", "3:1", "12:0", "12:1"}));
  EXPECT_EQ(found.requests[3], (seen{1001, operation::set, "3:1", 0, 4096, 0}));
}

TEST(Source, ReadsLibCacheSimsTraces) {
  const auto csv = read("version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,8,7\n");
  EXPECT_EQ(csv.format, "libcachesim");
  EXPECT_EQ(csv.requests[0], (seen{5'633'898'000'000, operation::set, "42932745", 0, 512, 0}));
  EXPECT_EQ(csv.requests[1].kind, operation::get);
  std::string records;
  for (const auto& [time, object, size, next] :
       {std::tuple{1u, 5ull, 70u, 2ll}, std::tuple{1u, 6ull, 8u, -1ll},
        std::tuple{9u, 5ull, 70u, -1ll}}) {
    char record[24];
    std::memcpy(record, &time, 4);
    std::memcpy(record + 4, &object, 8);
    std::memcpy(record + 12, &size, 4);
    std::memcpy(record + 16, &next, 8);
    records.append(record, sizeof record);
  }
  const auto oracle = read(records + "cut");
  EXPECT_EQ(oracle.format, "oracle-general");
  ASSERT_EQ(oracle.requests.size(), 3u);
  EXPECT_EQ(oracle.requests[2], (seen{9'000'000, operation::get, "5", 0, 70, 0}));
  EXPECT_EQ(describe(oracle.malformed), "1 malformed line; line 4: it has 3 bytes, not 24");
}

TEST(Source, ReadsListsOfKeys) {
  EXPECT_EQ(keys(read("7\n8\n7\n")), (texts{"7", "8", "7"}));
  EXPECT_EQ(keys(read("3 2 0 0\n9 1 0 1\n")), (texts{"3", "4", "9"})) << "the ARC paper's";
  const auto sized = read("1 0 68\n2 1 7454\n");
  EXPECT_EQ(sized.format, "adapt-size");
  EXPECT_EQ(sized.requests[1], (seen{2'000'000, operation::get, "1", 0, 7454, 0}));
  using namespace std::string_literals;
  const std::string numbers = "\0\0\0\1\0\0\1\0"s;
  EXPECT_EQ(keys(read(numbers, {.format = "int32-be"})), (texts{"1", "256"}));
  EXPECT_EQ(keys(read(numbers, {.format = "int32-le"})), (texts{"16777216", "65536"}));
  EXPECT_EQ(keys(read(numbers, {.format = "int64-be"})), (texts{"4294967552"}));
}

TEST(Source, ReadsPlainTracesByTheirHeaderOrByColumns) {
  const auto own = read("time,op,key,key_size,value_size,ttl,records\n0.5,seek,a,3,0,0,12\n");
  EXPECT_EQ(own.format, "csv");
  EXPECT_EQ(own.requests, (std::vector<seen>{{500'000, operation::seek, "a", 3, 0, 0}}));
  const auto named = read("x,a,get\ny,b,set,more\n", {.columns = "-,key,op"});
  EXPECT_EQ(keys(named), (texts{"a", "b"}));
  EXPECT_FALSE(named.has_times);
}

TEST(Source, ReportsMalformedLinesAndGoesOn) {
  std::string text = "0,k,1,2,3,get,0\nno line\n1,k,1,-2,3,get,0\n\n2,k,1,2,3,dance,0\n";
  text += "3,k,1,2,3,get,0\n" + std::string(3 << 20, 'x') + "\n4,k,1,2,3,set,0\n";
  const auto found = read(text, {.format = "twitter"});
  EXPECT_EQ(found.requests.size(), 3u);
  EXPECT_EQ(
      describe(found.malformed),
      "4 malformed lines; line 2: it has 1 fields, not 7; line 3: its size of a value is not "
      "one: '-2'; line 5: its operation is not one: 'dance'; line 7: it is longer than 1 MiB");
}

TEST(Source, KeepsTheFirstMalformedLinesOnly) {
  malformed_lines many;
  for (int i = 1; i <= 9; ++i) many.add(i, "bad");
  EXPECT_EQ(many.first.size(), malformed_lines::kKept);
  EXPECT_TRUE(describe(many).starts_with("9 malformed lines; line 1: bad; ")) << describe(many);
  EXPECT_TRUE(describe(many).ends_with("; ..."));
}

TEST(Source, RefusesFilesOfWhichNothingCanBeRead) {
  EXPECT_EQ(read("").problem, "t: it is empty");
  EXPECT_EQ(read("a b\n", {.format = "twitter"}).problem,
            "t: none of its lines is one of format twitter: 1 malformed line; line 1: it has 1 "
            "fields, not 7");
  EXPECT_EQ(read("\n\n", {.format = "lines"}).problem, "t: it holds no request");
  EXPECT_TRUE(
      read(std::string("\0\1\2", 3))
          .problem.starts_with("t: its contents do not tell its format; --format is one of csv, "));
  EXPECT_TRUE(read("a\n", {.format = "x"}).problem.starts_with("t: there is no format 'x'; "));
  EXPECT_TRUE(read("a,b\n", {.format = "csv"}).problem.contains("--columns"));
  EXPECT_TRUE(read("a,b\n", {.columns = "time"}).problem.contains("--columns needs key"));
  EXPECT_TRUE(read("a,b\n", {.columns = "key,kez"}).problem.contains("'kez' is none of -, time"));
  EXPECT_TRUE(
      read("a,b\n", {.format = "lines", .columns = "key"}).problem.contains("of --format csv"));
}

std::string packed(sort_packing how, const std::string& text) {
  std::vector<std::byte> frame;
  EXPECT_TRUE(sort::pack(how, std::as_bytes(std::span(text)), frame));
  return {reinterpret_cast<const char*>(frame.data()), frame.size()};
}

std::string many_lines() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + '\n';
  return text;
}

TEST(Source, ReadsCompressedFiles) {
  const std::string text = many_lines();
  for (const auto how : {sort_packing::gzip, sort_packing::zstd, sort_packing::lz4}) {
    const auto found = read(packed(how, text) + packed(how, "x\n"), {.format = "lines"});
    EXPECT_EQ(found.requests.size(), 50'001u) << name(how);
    EXPECT_EQ(found.requests.back().key, "x");
    EXPECT_EQ(found.malformed.count, 0u);
  }
}

// printf 'a\nb\n' | xz
constexpr unsigned char kXz[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
    0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x03, 0x61, 0x0a, 0x62,
    0x0a, 0x00, 0x44, 0x8e, 0x2c, 0xb5, 0xad, 0xa0, 0xcd, 0xac, 0x00, 0x01, 0x1c, 0x04, 0x6f,
    0x2c, 0x9c, 0xc1, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a};

TEST(Source, ReadsXz) {
  std::string file(reinterpret_cast<const char*>(kXz), sizeof kXz);
  EXPECT_EQ(keys(read(file)), (texts{"a", "b"}));
  EXPECT_EQ(keys(read(file + file)), (texts{"a", "b", "a", "b"}));
  EXPECT_EQ(read(file.substr(0, 20)).problem, "t: its compressed data end too early");
  file[30] ^= 1;
  EXPECT_EQ(read(file).problem, "t: its compressed data are damaged (xz)");
}

TEST(Source, EndsWhereCompressedDataDo) {
  for (const auto how : {sort_packing::gzip, sort_packing::zstd, sort_packing::lz4}) {
    std::string cut = packed(how, many_lines());
    cut.resize(cut.size() * 3 / 4);
    const auto found = read(cut, {.format = "lines"});
    EXPECT_GT(found.requests.size(), 1000u) << name(how);
    ASSERT_EQ(found.malformed.count, 1u);
    EXPECT_EQ(found.malformed.first[0].reason, "its compressed data end too early");
    EXPECT_FALSE(read(cut.substr(0, 12), {.format = "lines"}).problem.empty());
  }
}

}  // namespace
}  // namespace isotherm::traces
