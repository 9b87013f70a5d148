// Compressed inputs and outputs: what goes out comes back, and damage is found.
#include "sort/packed/packing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "os/faults.hpp"
#include "sort/packed/input_reader.hpp"
#include "sort/packed/packed_output.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using testing::contents;
using ::testing::HasSubstr;
using testing::scratch;
using testing::store;

/// Lines that compress, but not to nothing.
std::string some_text(std::size_t bytes) {
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < bytes)
    text += "a line with the number " + std::to_string(random() % 1000000) + '\n';
  return text.substr(0, bytes);
}

/// Writes `text` to `path`, compressed by `threads`.
base::result<void> write_packed(sort_packing format, const std::string& path,
                                const std::string& text, unsigned threads) {
  auto f = os::file::create(path);
  if (!f) return std::unexpected(f.error());
  packed_output out(format, *f);
  if (auto r = out.start(threads); !r) return r;
  auto written = out.entrance().write(std::as_bytes(std::span(text)), 0);
  auto r = out.finish();
  return r ? written : r;
}

base::result<std::string> read_all(const std::string& path) {
  auto f = os::file::open(path);
  if (!f) return std::unexpected(f.error());
  input_reader in(*f, {});
  if (auto r = in.look(); !r) return std::unexpected(r.error());
  std::string text;
  std::vector<std::byte> piece(4001);
  for (;;) {
    const auto n = in.read(piece);
    if (!n) return std::unexpected(n.error());
    if (*n == 0) return text;
    text.append(reinterpret_cast<const char*>(piece.data()), *n);
  }
}

class Packing : public ::testing::TestWithParam<sort_packing> {
 protected:
  scratch dir_;
  const std::string packed_ = dir_.file("packed");
};
INSTANTIATE_TEST_SUITE_P(Formats, Packing,
                         ::testing::Values(sort_packing::gzip, sort_packing::zstd,
                                           sort_packing::lz4),
                         [](const auto& each) { return std::string(name(each.param)); });

TEST_P(Packing, WhatIsWrittenComesBack) {
  for (const unsigned threads : {1u, 4u}) {
    for (const std::size_t bytes : {0u, 1u, 100000u, 5000000u}) {
      const std::string text = some_text(bytes);
      const auto written = write_packed(GetParam(), packed_, text, threads);
      ASSERT_TRUE(written) << written.error().message;
      const auto back = read_all(packed_);
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_TRUE(*back == text) << bytes;
      EXPECT_LT(contents(packed_).size(), bytes / 4 * 3 + 100);
      std::filesystem::remove(packed_);
    }
  }
}

TEST_P(Packing, ACutFileIsFound) {
  ASSERT_TRUE(write_packed(GetParam(), packed_, some_text(3000), 1));
  const std::string whole = contents(packed_);
  for (const std::size_t left : {whole.size() - 1, whole.size() / 2, std::size_t{5}}) {
    store(packed_, whole.substr(0, left));
    const auto back = read_all(packed_);
    ASSERT_FALSE(back) << left;
    EXPECT_THAT(back.error().message, HasSubstr("the file is cut"));
  }
}

TEST_P(Packing, DamageIsFound) {
  ASSERT_TRUE(write_packed(GetParam(), packed_, some_text(3000), 1));
  std::string whole = contents(packed_);
  whole[whole.size() / 2] = static_cast<char>(whole[whole.size() / 2] ^ 1);
  store(packed_, whole);
  const auto back = read_all(packed_);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().message, HasSubstr("damaged"));
  EXPECT_THAT(back.error().message, HasSubstr(packed_));
}

TEST_P(Packing, AFullDiskEndsTheWriter) {
  base::atomic<int> writes{0};
  os::set_fault_hook([&](os::io_call c) {
    return c == os::io_call::write && writes.fetch_add_relaxed(1) > 8 ? ENOSPC : 0;
  });
  const auto r = write_packed(GetParam(), packed_, some_text(20000000), 2);
  os::set_fault_hook({});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, ENOSPC);
}

TEST(Packing, FormatsAreKnownByTheirNames) {
  EXPECT_EQ(packing_of_name("a.gz"), sort_packing::gzip);
  EXPECT_EQ(packing_of_name("dir.gz/a.zst"), sort_packing::zstd);
  EXPECT_EQ(packing_of_name("a.lz4"), sort_packing::lz4);
  EXPECT_EQ(packing_of_name("a.gz.txt"), sort_packing::none);
}

TEST(Packing, OtherInputsComeAsTheyAre) {
  const scratch dir;
  for (const std::string& text :
       {std::string(), std::string("\x1f\x8b"), std::string("\x1f\x8c\x08x"), some_text(1000000)}) {
    store(dir.file("in"), text);
    const auto back = read_all(dir.file("in"));
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == text);
  }
}

}  // namespace
}  // namespace isotherm::sort
