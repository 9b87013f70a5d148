// While there is no room in DRAM for what clients write, they wait, and others do not.
#include <string>
#include <thread>

#include "heap/upkeep.hpp"
#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

class NoRoom : public ColdServer {
 protected:
  NoRoom() {
    EXPECT_EQ(talker(path()).run({"SET", "in", "DRAM"}), "+OK\r\n");
    waits_ = heap::slowed_allocations();
    heap::allow_growth(0);
  }
  ~NoRoom() override { heap::allow_growth(heap::kUnlimitedGrowth); }

  const std::string& path() const { return serving_.path; }
  std::uint64_t waits() const { return heap::slowed_allocations() - waits_; }
  /// Each three of them need an extent.
  static std::string large_writes(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += encode({"SET", "large:" + std::to_string(i), std::string(300'000, 'l')});
    }
    return all;
  }

 private:
  running serving_{"hash-pugh", index::management::on};
  std::uint64_t waits_ = 0;
};

TEST_F(NoRoom, WritersWaitAndReadersDoNot) {
  constexpr int kWrites = 60;
  std::string replies;
  std::thread writer(
      [this, &replies] { replies = talker(path()).ask(large_writes(kWrites) + "GET in\r\n"); });
  talker reader(path());
  int reads = 0;
  for (; waits() < 5; ++reads) ASSERT_EQ(reader.ask("GET in\r\n"), bulk("DRAM"));
  EXPECT_GT(reads, 50) << "they had to wait too";
  heap::allow_growth(heap::kUnlimitedGrowth);
  writer.join();
  std::string right;
  for (int i = 0; i < kWrites; ++i) right += "+OK\r\n";
  EXPECT_EQ(replies, right + bulk("DRAM")) << "in the order of the commands";
}

TEST_F(NoRoom, OfWritersOnlyWhatMayTakeMemoryWaits) {
  talker writer(path()), other(path());
  writer.send(large_writes(9));
  until([this] { return waits() > 0; });  // so that another one is going on, or soon will
  for (const std::string_view takes_none : {"EXPIRE in 100\r\n", "PERSIST in\r\n", "DEL in\r\n"}) {
    EXPECT_EQ(other.ask(takes_none), ":1\r\n");
  }
}

TEST_F(NoRoom, WhoWaitsMayLeave) {
  talker other(path());
  {
    talker writer(path());
    ASSERT_EQ(writer.run({"CLIENT", "SETNAME", "writes"}), "+OK\r\n");
    writer.send(large_writes(9));
    until([this] { return waits() > 0; });
  }
  until([&] { return other.ask("CLIENT LIST\r\n").find("name=writes") == std::string::npos; });
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM"));
}

TEST_F(NoRoom, WhoWaitsMayBeKilled) {
  talker writer(path()), other(path());
  ASSERT_EQ(writer.run({"CLIENT", "SETNAME", "writes"}), "+OK\r\n");
  std::string number = writer.ask("CLIENT ID\r\n");
  number = number.substr(1, number.size() - 3);
  writer.send(large_writes(9));
  until([this] { return waits() > 0; });
  EXPECT_EQ(other.run({"CLIENT", "KILL", "ID", number}), ":1\r\n");
  until([&] { return other.ask("CLIENT LIST\r\n").find("name=writes") == std::string::npos; });
}

}  // namespace
}  // namespace isotherm::server
