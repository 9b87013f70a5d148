#include "base/words.hpp"

#include <gtest/gtest.h>

#include <array>

namespace isotherm::base {
namespace {

TEST(Words, CopyTakesEveryByteOfEveryLength) {
  for (std::size_t length = 0; length <= 40; ++length) {
    alignas(8) std::array<unsigned char, 48> from{}, to{};
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i + 1);
    copy_words_racy(to.data(), from.data(), length);
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(to[i], i + 1) << length;
    for (std::size_t i = (length + 7) / 8 * 8; i < to.size(); ++i) ASSERT_EQ(to[i], 0) << length;
  }
}

}  // namespace
}  // namespace isotherm::base
