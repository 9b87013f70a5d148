// Clients beside windows that move records, and write them to COLD's file: each finds what it has
// set.
#include <map>
#include <thread>

#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

constexpr int kClients = 4, kKeysOfEach = 60;

/// One client's keys, which nobody else writes, among those of the others.
class owner {
 public:
  owner(const std::string& path, int number, std::uint64_t seed)
      : client_(path), number_(number), dice_(seed) {}

  /// One pipeline; false when a reply is wrong.
  bool step() {
    std::string asked, right;
    for (std::uint64_t count = 1 + dice_.below(10); count > 0; --count) add(asked, right);
    const std::string got = client_.ask(asked);
    EXPECT_TRUE(got == right) << "asked " << asked.substr(0, 2000) << "\ngot "
                              << got.substr(0, 2000) << "\nfor " << right.substr(0, 2000);
    return got == right;
  }

 private:
  void add(std::string& asked, std::string& right) {
    const std::string key = "key:" + std::to_string(dice_.below(kKeysOfEach) * kClients +
                                                    static_cast<std::uint64_t>(number_));
    auto& held = held_[key];
    switch (dice_.below(8)) {
      case 0:
        held = std::string(300 + dice_.below(3000), static_cast<char>('a' + dice_.below(26)));
        asked += encode({"SET", key, *held});
        right += "+OK\r\n";
        break;
      case 1:
        asked += encode({"APPEND", key, "+"});
        held = held.value_or("") + "+";
        right += ":" + std::to_string(held->size()) + "\r\n";
        break;
      case 2:
        if (dice_.below(3) != 0) return;
        asked += encode({"GETDEL", key});
        right += held ? bulk(*held) : "$-1\r\n";
        held.reset();
        break;
      default:
        asked += encode({"GET", key});
        right += held ? bulk(*held) : "$-1\r\n";
    }
  }

  talker client_;
  const int number_;
  base::random dice_;
  std::map<std::string, std::optional<std::string>> held_;
};

class BesideCollector : public ColdServer, public testing::WithParamInterface<std::string_view> {};

TEST_P(BesideCollector, EachClientFindsWhatItHasWritten) {
  const std::uint64_t seed = test_seed();
  running cold(GetParam(), index::management::on, 2);
  const std::uint64_t before = heap::cold_reads().reads, waits = waited_reads();
  std::atomic<int> at_work{kClients};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      owner one(cold.path, i, seed + static_cast<std::uint64_t>(i));
      int steps = 0;
      while (one.step() && (++steps < 50 || heap::cold_reads().reads - before < 200)) {
      }
      --at_work;
    });
  }
  while (at_work > 0) send_out_some();
  for (auto& each : clients) each.join();
  const std::uint64_t reads = heap::cold_reads().reads - before;
  EXPECT_GE(reads, 200u);
  EXPECT_EQ(waited_reads(), waits) << "no loop waits";
  EXPECT_TRUE(cold.index->is_valid());
}

INSTANTIATE_TEST_SUITE_P(Some, BesideCollector,
                         testing::Values("hash-pugh", "hash-harris", "skiplist-fraser", "btree-occ",
                                         "masstree", "art"),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace isotherm::server
