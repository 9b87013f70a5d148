// Every command over records that are out gives the answer, and leaves the state, that it does over
// a plain index.
#include <algorithm>
#include <functional>

#include "server/parked/cold_server.hpp"
#include "server/parked/leaving_index.hpp"

namespace isotherm::server {
namespace {

constexpr std::uint64_t kKeys = 40;
constexpr std::string_view kFuture = "41024448000";  // and two digits: milliseconds, in 2100

class random_commands {
 public:
  explicit random_commands(std::uint64_t seed) : dice_(seed) {}

  /// Some commands in one piece.
  std::string pipeline() {
    std::string text;
    for (std::uint64_t count = 1 + dice_.below(12); count > 0; --count) text += encode(next());
    return text;
  }
  static std::string key(std::uint64_t i) {
    // Some are prefixes of others, and one in five is long.
    std::string text = "key" + std::string(i % 5 == 0 ? 300 : i % 3, ':') + std::to_string(i);
    return text;
  }

 private:
  using words = std::vector<std::string>;

  words next() {
    switch (dice_.below(4)) {
      case 0:
        return reading();
      case 1:
        return setting();
      case 2:
        return changing();
      default:
        return of_several();
    }
  }
  words reading() {
    return any({{"GET", key()},
                {"STRLEN", key()},
                {"GETRANGE", key(), number(), number()},
                {"MGET", key(), key(), "nowhere", key(), key()},
                {"EXISTS", key(), key(), key()},
                {"TOUCH", key(), key()},
                {"TYPE", key()},
                {"PEXPIRETIME", key()},
                {"EXPIRETIME", key()},
                {"OBJECT", "ENCODING", key()},
                {"OBJECT", "REFCOUNT", key()},
                {"DBSIZE"}});
  }
  words setting() {
    return any({{"SET", key(), value()},
                {"SET", key(), value(), "NX"},
                {"SET", key(), value(), "XX"},
                {"SET", key(), value(), "GET"},
                {"SET", key(), value(), "NX", "GET"},
                {"SET", key(), value(), "XX", "GET", "KEEPTTL"},
                {"SET", key(), value(), "KEEPTTL"},
                {"SET", key(), value(), "PXAT", future()},
                {"SETNX", key(), value()},
                {"SETEX", key(), "0", value()},
                {"GETSET", key(), value()},
                {"GETDEL", key()},
                {"GETEX", key()},
                {"GETEX", key(), "PERSIST"},
                {"GETEX", key(), "PXAT", future()},
                {"GETEX", key(), "PXAT", "1"}});
  }
  words changing() {
    static const std::vector<std::string> conditions{"NX", "XX", "GT", "LT"};
    return any({{"APPEND", key(), value()},
                {"APPEND", key(), "+"},
                {"SETRANGE", key(), std::to_string(dice_.below(2000)), value()},
                {"SETRANGE", key(), "3", ""},
                {"INCR", key()},
                {"DECRBY", key(), number()},
                {"INCRBY", key(), number()},
                {"INCRBYFLOAT", key(), "1.5"},
                {"PEXPIREAT", key(), future()},
                {"PEXPIREAT", key(), future(), conditions[dice_.below(4)]},
                {"EXPIREAT", key(), "1"},
                {"PERSIST", key()}});
  }
  words of_several() {
    return any({{"DEL", key()},
                {"UNLINK", key(), key(), key()},
                {"MSET", key(), value(), key(), value(), key(), value()},
                {"MSETNX", key(), value(), key(), value()},
                {"RENAME", key(), key()},
                {"RENAMENX", key(), key()},
                {"COPY", key(), key()},
                {"COPY", key(), key(), "REPLACE"},
                {"MSET", key(), value(), key()},
                {"EXPIRE", key(), "nothing"}});
  }

  words any(std::vector<words> all) { return std::move(all[dice_.below(all.size())]); }
  std::string key() { return key(dice_.below(kKeys)); }
  std::string number() { return std::to_string(static_cast<int>(dice_.below(2001)) - 1000); }
  std::string future() { return std::string(kFuture) + std::to_string(10 + dice_.below(90)); }
  std::string value() {
    switch (dice_.below(4)) {
      case 0:
        return std::to_string(dice_.below(1'000'000));
      case 1:
        return std::string(dice_.below(60), 's');
      default:
        return std::string(300 + dice_.below(4000), static_cast<char>('a' + dice_.below(26)));
    }
  }

  base::random dice_;
};

/// All that clients can see of the keys.
std::string state_of(talker& one) {
  std::string text = one.ask("DBSIZE\r\n");
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::string key = random_commands::key(i);
    text += one.ask(encode({"GET", key}) + encode({"PEXPIRETIME", key}) +
                    encode({"OBJECT", "ENCODING", key}) + encode({"STRLEN", key}));
  }
  return text;
}

struct seen_counts {
  std::uint64_t commands, hits, misses, expired;
  friend bool operator==(const seen_counts&, const seen_counts&) = default;
};
seen_counts counts_of(running& each) {
  auto& counted = each.db.counted();
  return {each.serving->statistics.sum("commands"), counted.hits.sum(), counted.misses.sum(),
          counted.expired.sum()};
}
std::ostream& operator<<(std::ostream& out, const seen_counts& seen) {
  return out << seen.commands << " commands, " << seen.hits << " hits, " << seen.misses
             << " misses, " << seen.expired << " expired";
}

class SameAsPlain : public ColdServer, public testing::WithParamInterface<std::string_view> {
 protected:
  static std::unique_ptr<index::any_index> make(index::management kind) {
    return std::move(*index::make(GetParam(), kind));
  }
  void compare(leaving which, std::uint64_t rounds) {
    compare(make(index::management::on), rounds, [this, which] { send_out(which); });
  }
  void compare(std::unique_ptr<index::any_index> over, std::uint64_t rounds,
               const std::function<void()>& make_cold) {
    const std::uint64_t seed = test_seed();
    random_commands commands(seed);
    base::random dice(seed + 1);
    if (dice.below(2) == 0) cold_disk::use_threads();
    running cold(std::move(over)), plain(make(index::management::off));
    talker one(cold.path), other(plain.path);
    const std::uint64_t before = heap::cold_reads().misses;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      if (round % 4 == 3) {
        make_cold();
        if (dice.below(2) == 0) leave_in_cold();
      }
      const std::string pipeline = commands.pipeline();
      ASSERT_EQ(one.ask(pipeline), other.ask(pipeline)) << "round " << round << "\n" << pipeline;
      ASSERT_EQ(counts_of(cold), counts_of(plain)) << "round " << round << "\n" << pipeline;
    }
    EXPECT_GT(heap::cold_reads().misses - before, rounds / 2);
    EXPECT_EQ(state_of(one), state_of(other));
    EXPECT_TRUE(cold.index->is_valid());
  }
};

TEST_P(SameAsPlain, WhereValuesAreOut) { compare(leaving::values, 200); }
TEST_P(SameAsPlain, WhereKeysAreOutToo) { compare(leaving::keys_too, 200); }
TEST_P(SameAsPlain, WhereTheyLeaveInTheMiddleOfACommand) {
  compare(std::make_unique<leaving_index>(make(index::management::on)), 200,
          [this] { let_leave(leaving::keys_too); });
}

std::string test_name(const testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, SameAsPlain, testing::ValuesIn(index::names()), test_name);

}  // namespace
}  // namespace isotherm::server
