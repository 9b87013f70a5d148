// Every structure against std::map, one thread: random operations over key sets chosen to hit the
// structures' corners, and the special keys one by one.
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "index/any_index.hpp"

namespace isotherm::index {
namespace {

class IndexModel : public any_index_test {};

using model = std::map<std::string, std::string>;
using key_source = std::function<std::string(base::random&)>;

// Keys that are short, over few letters (zero among them): many prefixes of one another.
std::string dense_key(base::random& random) {
  std::string key(random.below(6), '\0');
  for (char& c : key) c = "\0ab\xff"[random.below(4)];
  return key;
}

// Keys with long common parts, so that paths are compressed over several nodes.
std::string long_key(base::random& random) {
  std::string key(random.below(4) * 9, 'p');
  key += std::string(random.below(20), 'q');
  key += static_cast<char>('a' + random.below(20));
  return key + std::string(random.below(3) * 10, 'r');
}

std::string wide_key(base::random& random) {  // all byte values: nodes of every size
  std::string key = "w";
  key += static_cast<char>(random.below(256));
  if (random.below(2)) key += static_cast<char>(random.below(256));
  return key;
}

std::string numbered_key(base::random& random) {
  return "user" + std::to_string(random.below(3000));
}

std::string random_value(base::random& random) {
  const std::size_t length = random.below(50) == 0 ? random.below(5000) : random.below(40);
  std::string value(length, '\0');
  for (char& c : value) c = static_cast<char>(random.below(256));
  return value;
}

outcome model_update(model& expected, const std::string& key, const decision& chosen) {
  if (chosen.act == action::write) {
    expected[key] = chosen.value;
    return outcome::done;
  }
  if (chosen.act == action::keep) return outcome::unchanged;
  return expected.erase(key) ? outcome::done : outcome::unchanged;
}

std::vector<std::pair<std::string, std::string>> scanned(any_index& index, std::string_view from,
                                                         std::size_t limit) {
  std::vector<std::pair<std::string, std::string>> seen;
  access inside;
  if (limit == 0) return seen;
  index.scan(inside, from, [&](std::string_view key, std::string_view value) {
    seen.emplace_back(key, value);
    return seen.size() < limit;
  });
  return seen;
}

std::vector<std::pair<std::string, std::string>> scanned_back(any_index& index,
                                                              std::optional<std::string_view> from,
                                                              std::size_t limit) {
  std::vector<std::pair<std::string, std::string>> seen;
  access inside;
  if (limit == 0) return seen;
  index.scan_back(inside, from, [&](std::string_view key, std::string_view value) {
    seen.emplace_back(key, value);
    return seen.size() < limit;
  });
  return seen;
}

void expect_same(any_index& index, const model& expected) {
  EXPECT_EQ(index.size(), expected.size());
  EXPECT_TRUE(index.is_valid());
  model walked;
  access inside;
  std::uint64_t cursor = 0;
  do {
    cursor = index.walk(inside, cursor, [&](auto key, auto value) {
      EXPECT_TRUE(walked.emplace(key.value(), value.value()).second) << "visited twice";
      return true;
    });
  } while (cursor != 0);
  EXPECT_EQ(walked, expected);
  if (!index.is_ordered()) return;
  const std::vector<std::pair<std::string, std::string>> in_order(expected.begin(), expected.end());
  EXPECT_EQ(scanned(index, "", expected.size() + 1), in_order);
  const std::vector<std::pair<std::string, std::string>> reversed(in_order.rbegin(),
                                                                  in_order.rend());
  EXPECT_EQ(scanned_back(index, std::nullopt, expected.size() + 1), reversed);
}

// One random operation on both; a mismatch fails the test.
void step(any_index& index, model& expected, const std::string& key, base::random& random) {
  const bool was_there = expected.contains(key);
  const std::string value = random_value(random);
  switch (random.below(8)) {
    case 0:
    case 1:
      EXPECT_EQ(index.insert(key, value), was_there ? outcome::unchanged : outcome::done);
      expected.emplace(key, value);
      break;
    case 2:
      EXPECT_EQ(index.upsert(key, value), outcome::done);
      expected[key] = value;
      break;
    case 3:
    case 4:
      EXPECT_EQ(index.erase(key), expected.erase(key) == 1);
      break;
    case 5: {
      const decision chosen{static_cast<action>(random.below(3)), value};
      std::optional<std::string> seen;
      const auto now = expected.find(key);
      const auto before = now == expected.end() ? std::nullopt : std::optional(now->second);
      const outcome got = index.update(key, [&](std::optional<std::string_view> current) {
        seen = current ? std::optional<std::string>(*current) : std::nullopt;
        return chosen;
      });
      EXPECT_EQ(seen, before);
      EXPECT_EQ(got, model_update(expected, key, chosen));
      break;
    }
    case 6: {
      if (!index.is_ordered() || random.below(8) != 0) break;
      const std::size_t limit = random.below(20);
      std::vector<std::pair<std::string, std::string>> wanted;
      for (auto it = expected.lower_bound(key); it != expected.end() && wanted.size() < limit; ++it)
        wanted.push_back(*it);
      EXPECT_EQ(scanned(index, key, limit), wanted);
      wanted.clear();
      for (auto it = expected.upper_bound(key); it != expected.begin() && wanted.size() < limit;)
        wanted.push_back(*--it);
      EXPECT_EQ(scanned_back(index, key, limit), wanted);
      break;
    }
    default: {
      access inside;
      const auto found = index.find(inside, key);
      const auto wanted = expected.find(key);
      ASSERT_EQ(found.has_value(), wanted != expected.end());
      EXPECT_EQ(index.contains(inside, key), found.has_value());
      if (found) EXPECT_EQ(*found, wanted->second);
    }
  }
}

void run_model(any_index& index, const key_source& key, std::uint64_t seed, int steps) {
  base::random random(seed);
  model expected;
  for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
    step(index, expected, key(random), random);
    if (i % (steps / 8) == 0) expect_same(index, expected);
  }
  expect_same(index, expected);
  // Down to nothing, one by one, in the order of the model: nodes shrink and collapse.
  std::size_t left = expected.size();
  for (const auto& [gone, value] : expected) {
    EXPECT_TRUE(index.erase(gone));
    if (--left % 256 == 0) EXPECT_TRUE(index.is_valid());
  }
  EXPECT_EQ(index.size(), 0u);
  EXPECT_TRUE(index.is_valid());
}

TEST_P(IndexModel, DenseKeys) { run_model(*make_index(), dense_key, test_seed(), 20000); }
TEST_P(IndexModel, LongKeys) { run_model(*make_index(), long_key, test_seed(), 20000); }
TEST_P(IndexModel, WideKeys) { run_model(*make_index(), wide_key, test_seed(), 40000); }
TEST_P(IndexModel, NumberedKeys) { run_model(*make_index(), numbered_key, test_seed(), 40000); }

TEST_P(IndexModel, SpecialKeys) {
  using namespace std::string_literals;
  const std::vector<std::string> keys = {""s,
                                         "\0"s,
                                         "\0\0"s,
                                         "\0a"s,
                                         "a"s,
                                         "a\0"s,
                                         "a\0b"s,
                                         "ab"s,
                                         "abc"s,
                                         "\xff"s,
                                         "\xff\xff"s,
                                         "user"s,
                                         "user1"s,
                                         std::string(1000, 'x'),
                                         std::string(1001, 'x'),
                                         std::string(1000, 'x') + "y"s,
                                         std::string(100000, 'z')};
  auto index = make_index();
  model expected;
  for (const auto& key : keys) {
    EXPECT_FALSE(get(*index, key)) << testing::PrintToString(key);
    EXPECT_EQ(index->insert(key, "value of " + key), outcome::done);
    EXPECT_EQ(index->insert(key, "other"), outcome::unchanged);
    expected[key] = "value of " + key;
    EXPECT_EQ(get(*index, key), expected[key]);
  }
  expect_same(*index, expected);
  for (const auto& key : keys) {
    EXPECT_EQ(index->upsert(key, ""), outcome::done);
    EXPECT_EQ(get(*index, key), "");
    EXPECT_TRUE(index->erase(key));
    EXPECT_FALSE(index->erase(key));
    expected.erase(key);
    expect_same(*index, expected);
  }
}

TEST_P(IndexModel, EachKeyIsAPrefixOfTheNext) {
  auto index = make_index();
  model expected;
  std::string key;
  for (int i = 0; i < 2000; ++i, key += static_cast<char>(i % 3)) {
    ASSERT_EQ(index->insert(key, std::to_string(i)), outcome::done);
    expected[key] = std::to_string(i);
  }
  expect_same(*index, expected);
}

TEST_P(IndexModel, ClearedIndexIsEmptyAndUsable) {
  auto index = make_index(16);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(index->insert("key" + std::to_string(i), "v"), outcome::done);
  }
  index->clear();
  expect_same(*index, {});
  EXPECT_FALSE(get(*index, "key17"));
  EXPECT_EQ(index->insert("key17", "again"), outcome::done);
  expect_same(*index, {{"key17", "again"}});
}

TEST_P(IndexModel, ValuesFoundLiveUntilTheScopeCloses) {
  auto index = make_index();
  index->upsert("k", "first");
  {
    access inside;
    const auto found = index->find(inside, "k");
    ASSERT_TRUE(found);
    EXPECT_EQ(index->upsert("k", "second"), outcome::done);
    EXPECT_TRUE(index->erase("k"));
    sync::reclaim_ready();
    EXPECT_EQ(*found, "first");
  }
}

TEST_P(IndexModel, AnUpdateThatThrowsLeavesNoLock) {
  const auto index = make_index();
  // The updater is called under a lock only after four times in which another thread was faster.
  constexpr int kOthers = 4;
  index->upsert("key", "first");
  int calls = 0;
  const auto decide = [&](std::optional<std::string_view>) -> decision {
    if (calls++ == kOthers) throw std::runtime_error("no memory for the value");
    std::thread([&] { index->upsert("key", std::to_string(calls)); }).join();
    return {action::write, "never"};
  };
  EXPECT_THROW(index->update("key", decide), std::runtime_error);
  EXPECT_EQ(calls, kOthers + 1);
  EXPECT_EQ(index->upsert("key", "after"), outcome::done);
  EXPECT_EQ(get(*index, "key"), "after");
  EXPECT_TRUE(index->is_valid());
}

TEST_P(IndexModel, KnowsWhatItIs) {
  auto index = make_index();
  EXPECT_EQ(index->name(), std::get<0>(GetParam()));
  EXPECT_EQ(index->is_managed(), std::get<1>(GetParam()) == management::on);
}

TEST(IndexNames, UnknownNameIsRefusedWithTheKnownOnes) {
  const auto made = make("btree-of-dreams", management::on);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, testing::HasSubstr("hash-pugh, "));
}

INSTANTIATE_TEST_SUITE_P(All, IndexModel, all_kinds(), kind_name);

}  // namespace
}  // namespace isotherm::index
