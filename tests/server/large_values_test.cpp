// Values of some MiB and more, which are copied on another thread.
#include <gmock/gmock.h>

#include <semaphore>
#include <string>

#include "server/query_buffer.hpp"
#include "server/serving.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

class LargeValues : public Serving {
 protected:
  void SetUp() override {
    options_.threads = 1;
    start();
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = static_cast<char>('a' + i % 26);
  }
  std::string set(std::string_view key) const {
    return "*3\r\n" + bulk("SET") + bulk(key) + bulk(value_);
  }
  /// From now on the second look for a key waits, which another thread than the loop's makes.
  void second_look_waits() {
    index_.before_find = [this](std::string_view) {
      if (looks_.fetch_add_relaxed(1) != 1) return;
      started_.release();
      end_.acquire();
    };
  }

  std::string value_ = std::string(5'000'000, 'x');
  std::binary_semaphore started_{0}, end_{0};
  base::atomic<int> looks_{0};
};

TEST_F(LargeValues, AreKeptAndGivenAsTheyWere) {
  peer one(path_);
  one.send(set("k") + "STRLEN k\r\n" + set("l") + "MGET k l\r\nGET k\r\nECHO last\r\n");
  EXPECT_EQ(one.receive(5), "+OK\r\n");
  EXPECT_EQ(one.receive(10), ":5000000\r\n");
  EXPECT_EQ(one.receive(5), "+OK\r\n");
  const std::string all = "*2\r\n" + bulk(value_) + bulk(value_) + bulk(value_) + bulk("last");
  EXPECT_TRUE(one.receive(all.size()) == all);
  EXPECT_THAT(peer(path_).last_words("INFO stats"), HasSubstr("keyspace_hits:4\r\n"));
}

TEST_F(LargeValues, OthersAreServedMeanwhile) {
  peer reader(path_), writer(path_);
  writer.send(set("k"));
  EXPECT_EQ(writer.receive(5), "+OK\r\n");
  second_look_waits();
  reader.send("GET k\r\nECHO last\r\n");
  started_.acquire();
  writer.send(set("l") + "ECHO written\r\n");
  EXPECT_EQ(peer(path_).last_words("SET m v\r\nGET m"), "+OK\r\n$1\r\nv\r\n");
  const auto clients = server_->clients().all();
  until([&] {  // both wait, and the memory that is lent counts
    return std::ranges::count_if(
               clients, [](const auto& each) { return each->is_blocked.load_relaxed(); }) == 2;
  });
  EXPECT_GT(server_->clients_bytes(), value_.size());
  access inside;
  EXPECT_FALSE(db_.index().contains(inside, "l"));
  end_.release();
  const std::string answer = bulk(value_) + bulk("last");
  EXPECT_TRUE(reader.receive(answer.size()) == answer);
  EXPECT_EQ(writer.receive(18), "+OK\r\n$7\r\nwritten\r\n");
  until([&] { return server_->clients_bytes() < value_.size(); });
}

TEST_F(LargeValues, WhoGoesMeanwhileDisturbsNobody) {
  {
    peer gone(path_);
    gone.send(set("k"));
    EXPECT_EQ(gone.receive(5), "+OK\r\n");
    second_look_waits();
    gone.send("GET k\r\n");
    started_.acquire();
  }
  EXPECT_EQ(peer(path_).last_words("PING"), "+PONG\r\n");
  end_.release();
  until([&] { return server_->clients().size() == 0; });
}

TEST_F(LargeValues, AreNoLongerThanAClientsRepliesMayBe) {
  EXPECT_EQ(peer(path_).last_words(set("k") + "PING"), "+OK\r\n+PONG\r\n");
  server_->tuning().output_hard_limit.store_relaxed(4'900'000);
  EXPECT_EQ(peer(path_).last_words("GET k"), "");
}

TEST(QueryBuffer, GrowsFromAFewBytesToManyMebibytes) {
  query_buffer buffer;
  std::string content;
  for (std::size_t piece = 1; content.size() < 20'000'000; piece = piece * 3 + 1) {
    const std::string more(piece, static_cast<char>('a' + content.size() % 26));
    buffer.prepare(more.size());
    std::memcpy(buffer.tail(), more.data(), more.size());
    buffer.filled(more.size());
    content += more;
    ASSERT_TRUE(buffer.view() == content) << piece;
  }
  const query_buffer front = buffer.take_front(content.size() - 10);
  EXPECT_TRUE(front.view().starts_with(content.substr(0, content.size() - 10)));
  EXPECT_EQ(buffer.view(), content.substr(content.size() - 10));
  EXPECT_LT(buffer.capacity(), 1000u);
  buffer.consume(10);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(QueryBuffer, ALargeOneShrinksToWhatItHolds) {
  query_buffer buffer;
  buffer.prepare(10'000'000);
  buffer.filled(10'000'000);
  std::memset(const_cast<char*>(buffer.view().data()), 'x', buffer.size());
  buffer.consume(9'999'000);
  EXPECT_TRUE(buffer.shrink());
  EXPECT_EQ(buffer.view(), std::string(1000, 'x'));
  EXPECT_EQ(buffer.capacity(), 1000u);
}

}  // namespace
}  // namespace isotherm::server
