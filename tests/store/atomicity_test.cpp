// Commands of several threads on the same keys.
#include <thread>

#include "store/fixture.hpp"

namespace isotherm::store::testing {
namespace {

constexpr int kRounds = 2000;

TEST_F(Commands, IncrementsAreNotLost) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < kRounds; ++i) run({"INCR", "n"});
    });
  }
  threads.clear();
  EXPECT_EQ(run({"GET", "n"}), "$4\r\n8000\r\n");
}

TEST_F(Commands, MsetAppearsAtOnce) {
  run({"MSET", "a", "0", "b", "0"});
  base::atomic<bool> done{false};
  std::jthread writer([&] {
    for (int i = 1; i < kRounds; ++i) {
      const std::string n = std::to_string(i);
      run({"MSET", "a", n, "b", n});
    }
    done.store_release(true);
  });
  const auto number = [this](std::string_view key) {
    const std::string answer = run({"GET", key});
    return std::stoi(answer.substr(answer.find('\n') + 1));
  };
  // A client that reads `a` first must find `b` as new or newer, and the other way round.
  while (!done.load_acquire()) {
    const int a = number("a");
    const int b = number("b");
    const int a_again = number("a");
    ASSERT_GE(b, a);
    ASSERT_GE(a_again, b);
  }
}

TEST_F(Commands, MsetnxHasOneWinner) {
  for (int round = 0; round < 200; ++round) {
    const std::string a = "a" + std::to_string(round), b = "b" + std::to_string(round);
    std::string first, second;
    {
      std::jthread one([&] { first = run({"MSETNX", a, "1", b, "1"}); });
      std::jthread two([&] { second = run({"MSETNX", b, "2", a, "2"}); });
    }
    ASSERT_NE(first, second);
    ASSERT_EQ(run({"GET", a}), run({"GET", b}));
  }
}

TEST_F(Commands, RacingRenamesLoseNothing) {
  run({"SET", "x", "v"});
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([this, t] {
        const std::string_view from = t % 2 ? "x" : "y", to = t % 2 ? "y" : "x";
        for (int i = 0; i < kRounds; ++i) run({"RENAME", from, to});
      });
    }
  }
  EXPECT_EQ(run({"EXISTS", "x", "y"}), ":1\r\n");
  EXPECT_NE(run({"MGET", "x", "y"}).find("v"), std::string::npos);
}

}  // namespace
}  // namespace isotherm::store::testing
