// Values that grow in place, and how often a write copies what it is given.
#include <gmock/gmock.h>

#include <thread>

#include "collector/collector.hpp"
#include "collector/protocol/protocol.hpp"
#include "index/any_index.hpp"
#include "store/fixture.hpp"

namespace isotherm::store::testing {
namespace {

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
std::string number(std::size_t n) { return ":" + std::to_string(n) + "\r\n"; }

TEST_F(Commands, AppendingCopiesAValueNowAndThen) {
  std::string expected(3 << 20, 'x');
  run({"SET", "k", expected});
  const std::size_t before = index_.writes();
  for (int i = 0; i < 3000; ++i) {
    const std::string tail(1 + i % 700, static_cast<char>('a' + i % 26));
    expected += tail;
    ASSERT_EQ(run({"APPEND", "k", tail}), number(expected.size()));
  }
  EXPECT_EQ(run({"GET", "k"}), bulk(expected));
  EXPECT_LE(index_.writes() - before, 2u);  // a megabyte in all, and as much room at once
}

TEST_F(Commands, AppendingToNothingCostsAFewCopies) {
  std::string expected;
  for (int i = 0; i < 100'000; ++i) {
    expected.push_back(static_cast<char>('a' + i % 26));
    run({"APPEND", "k", {&expected.back(), 1}});
  }
  EXPECT_EQ(run({"GET", "k"}), bulk(expected));
  EXPECT_LE(index_.writes(), 20u);  // one for each doubling
}

TEST_F(Commands, AppendingNothingCopiesNothingMore) {
  run({"SET", "k", std::string(1000, 'x')});
  run({"APPEND", "k", ""});  // this gives it room
  const std::size_t before = index_.writes();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run({"APPEND", "k", ""}), number(1000));
  EXPECT_EQ(index_.writes(), before);
}

/// A write whose source is changed when the index is about to take the value: had it been copied
/// anywhere before, the index would get what it was.
TEST_F(Commands, AWriteCopiesAValueOnce) {
  constexpr std::size_t kChanged = 100;
  std::string value;
  const auto expect_change = [&](const std::vector<std::string_view>& write, std::string_view key,
                                 const char* source) {
    index_.before_write = [&] { const_cast<char&>(source[kChanged]) = 'y'; };
    ASSERT_NE(run(write)[0], '-') << write[0];
    index_.before_write = nullptr;
    access inside;
    EXPECT_EQ((*db_.find(inside, key, now_, lookup::peek))->payload[kChanged], 'y') << write[0];
  };
  const std::vector<std::vector<std::string_view>> from_arguments = {
      {"SET", "k"}, {"SETNX", "new"}, {"GETSET", "k"}, {"SETEX", "k", "100"}, {"MSET", "k"}};
  for (auto write : from_arguments) {
    value.assign(1000, 'x');
    write.push_back(value);
    expect_change(write, write[1], value.data());
  }
  const std::vector<std::vector<std::string_view>> from_the_old = {
      {"EXPIRE", "k", "100"}, {"PERSIST", "k"},     {"GETEX", "k", "EX", "100"},
      {"APPEND", "k", "x"},   {"COPY", "k", "new"}, {"SETRANGE", "k", "5", "x"},
      {"RENAME", "k", "new"}};
  for (const auto& write : from_the_old) {
    run({"DEL", "new"});
    run({"SET", "k", std::string(1000, 'x')});
    if (write[0] == "PERSIST") run({"EXPIRE", "k", "50"});
    access inside;
    const char* const old = (*db_.find(inside, "k", now_, lookup::peek))->payload.data();
    expect_change(write, write.back() == "new" ? "new" : "k", old);
  }
}

TEST_F(Commands, AValueThatGrowsIsAsAnyOther) {
  const std::uint64_t seed = index::test_seed();
  base::random random(seed);
  std::string expected;
  bool expires = false;
  run({"SET", "k", ""});
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    std::string text(random.below(random.below(10) == 0 ? 5000 : 12), '\0');
    for (char& c : text) c = static_cast<char>('a' + random.below(26));
    switch (random.below(12)) {
      case 0:
        run({"EXPIRE", "k", "1000"});
        expires = true;
        break;
      case 1:
        run({"PERSIST", "k"});
        expires = false;
        break;
      case 2: {
        const std::size_t at = random.below(expected.size() + 100);
        const std::string answer = run({"SETRANGE", "k", std::to_string(at), text});
        if (!text.empty()) {
          if (expected.size() < at + text.size()) expected.resize(at + text.size());
          expected.replace(at, text.size(), text);
        }
        EXPECT_EQ(answer, number(expected.size()));
        break;
      }
      case 3:
        run({"COPY", "k", "other", "REPLACE"});
        run({"APPEND", "k", "not in the copy"});
        run({"RENAME", "other", "k"});
        break;
      case 4:
        if (expected.size() < 20'000) break;
        run({"SET", "k", text});
        expected = text;
        expires = false;
        break;
      default:
        expected += text;
        EXPECT_EQ(run({"APPEND", "k", text}), number(expected.size()));
    }
    EXPECT_EQ(run({"GET", "k"}), bulk(expected));
    EXPECT_EQ(run({"TTL", "k"}), expires ? ":1000\r\n" : ":-1\r\n");
    EXPECT_EQ(run({"STRLEN", "k"}), number(expected.size()));
  }
}

TEST_F(Commands, AFullMemoryLeavesTheValueAsItWas) {
  run({"SET", "k", "value"});
  index_.fill_memory();
  EXPECT_THAT(run({"APPEND", "k", "x"}), ::testing::HasSubstr("-OOM"));
  EXPECT_THAT(run({"SETRANGE", "k", "1", "x"}), ::testing::HasSubstr("-OOM"));
  EXPECT_EQ(run({"GET", "k"}), "$5\r\nvalue\r\n");
}

char letter_at(std::size_t i) { return static_cast<char>('a' + i % 23); }

/// One thread appends to some keys, others read them, a third moves the objects.
class Growing : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Growing, ReadersAndTheCollectorSeeWholeAppends) {
  constexpr std::size_t kKeys = 4, kAppends = 4000, kLongest = 20'000;
  auto made = index::make("hash-pugh", index::management::on);
  ASSERT_TRUE(made);
  database db(**made, [] { return std::uint64_t{0}; });
  const command_table table{string_commands(), range_commands()};
  const limits bounds;
  const auto run = [&](const std::vector<std::string_view>& arguments) {
    std::string output;
    reply out(output);
    call c{db, out, arguments, 1'700'000'000'000, bounds};
    execute(*table.resolve(arguments, out), c, 0);
    return output;
  };
  base::atomic<bool> done{false};
  base::atomic<std::uint64_t> moved{0};
  std::jthread mover([&] {
    collector::options chosen;
    chosen.window_seconds = 0.001;
    chosen.policy = collector::policy_name::published;
    chosen.cold_threshold = 1;
    chosen.adaptive_threshold = false;
    chosen.protocol = GetParam();
    collector::object_collector collecting(chosen);
    while (!done.load_acquire()) {
      const auto window = collecting.run_window();
      moved.fetch_add_relaxed(window.demoted.objects + window.promoted.objects);
    }
  });
  std::jthread reader([&] {
    std::size_t seen[kKeys] = {};
    while (!done.load_acquire()) {
      for (std::size_t k = 0; k < kKeys; ++k) {
        const std::string answer = run({"GET", std::to_string(k)});
        if (answer == "$-1\r\n") continue;
        const std::size_t begin = answer.find('\n') + 1, size = answer.size() - begin - 2;
        if (size < seen[k]) seen[k] = 0;  // it was begun anew
        for (std::size_t i = seen[k]; i < size; ++i) ASSERT_EQ(answer[begin + i], letter_at(i));
        seen[k] = size;
      }
    }
  });
  std::size_t sizes[kKeys] = {};
  // The test means nothing before something was moved.
  for (std::size_t n = 0; n < kAppends || moved.load_relaxed() == 0; ++n) {
    std::size_t& size = sizes[n % kKeys];
    const std::string key = std::to_string(n % kKeys);
    std::string tail;
    for (std::size_t i = 0; i < n % 97; ++i) tail.push_back(letter_at(size + i));
    if (size > kLongest) {
      run({"SET", key, ""});
      size = 0;
      continue;
    }
    size += tail.size();
    ASSERT_EQ(run({"APPEND", key, tail}), number(size));
  }
  done.store_release(true);
  reader.join();
  mover.join();
  for (std::size_t k = 0; k < kKeys; ++k) {
    std::string expected;
    for (std::size_t i = 0; i < sizes[k]; ++i) expected.push_back(letter_at(i));
    EXPECT_EQ(run({"GET", std::to_string(k)}), bulk(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, Growing, ::testing::ValuesIn(collector::protocol_names()));

}  // namespace
}  // namespace isotherm::store::testing
