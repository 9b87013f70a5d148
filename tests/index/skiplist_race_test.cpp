// Interleavings in the skip lists, made to happen. In skiplist-fraser a key is inserted again
// between the moment in which its eraser has marked the old node and that in which it unlinks it,
// by an inserter that saw the old node on an upper level before. Were the new node linked before
// the old one there, the eraser's search would end at the new one, and the old one be retired while
// it is linked.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "index/any_index.hpp"
#include "index/skip/skiplist_fraser.cpp"  // instantiated for `watched`
#include "index/skip/skiplist_herlihy.cpp"
#include "index/storage.hpp"

namespace isotherm::index {
namespace {

/// Calls a function of the thread's whenever that thread looks at a key or value, and knows whether
/// the thread has emptied one.
struct watched_pointer : plain_pointer {
  using plain_pointer::plain_pointer;
  static inline thread_local std::function<void(std::string_view)> at_get;
  static inline thread_local bool has_emptied = false;
  bytes* get(access& inside) const {
    bytes* const object = plain_pointer::get(inside);
    if (object && at_get) at_get(object->view());
    return object;
  }
  bool clear(access& inside) {
    has_emptied = plain_pointer::clear(inside);
    return has_emptied;
  }
};
struct watched : unmanaged {
  using pointer = watched_pointer;
};

/// Keys and values, none of which can be read while `is_out`.
struct leaving_pointer : plain_pointer {
  using plain_pointer::plain_pointer;
  static inline bool is_out = false;
  bytes* get(access& inside) const { return is_out ? nullptr : plain_pointer::get(inside); }
};
struct leaving : unmanaged {
  using pointer = leaving_pointer;
};

// Nodes keep the first 12 bytes.
const std::string kKey = "they-start-alike-99";

/// The eraser's thread: stops when the node is marked, that is at the first look after it has
/// emptied the value, until `may_unlink`.
void erase(skiplist_fraser<watched>& list, std::atomic<bool>& is_marked,
           const std::atomic<bool>& may_unlink) {
  watched_pointer::at_get = [&](std::string_view) {
    if (!watched_pointer::has_emptied || is_marked.exchange(true)) return;
    is_marked.notify_one();
    may_unlink.wait(false);
  };
  EXPECT_TRUE(erase_from(list, kKey));
  watched_pointer::at_get = nullptr;
}

TEST(SkiplistFraserRace, AnErasedNodeDoesNotStayBehindANewOneOfItsKey) {
  // Heights are drawn: one round in some twenty has both nodes on a common upper level.
  for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    skiplist_fraser<watched> list(0);
    for (int i = 10; i < 74; ++i) insert(list, "they-start-alike-" + std::to_string(i), "other");
    insert(list, kKey, "old");
    std::atomic<bool> is_marked{false}, may_unlink{false};
    std::jthread eraser;
    watched_pointer::at_get = [&](std::string_view text) {
      if (text != kKey || eraser.joinable()) return;
      eraser = std::jthread([&] { erase(list, is_marked, may_unlink); });
      is_marked.wait(false);
    };
    EXPECT_EQ(insert(list, kKey, "new"), outcome::done);
    watched_pointer::at_get = nullptr;
    may_unlink.store(true);
    may_unlink.notify_one();
    eraser.join();
    EXPECT_TRUE(list.is_valid()) << "round " << round;
  }
}

// The eraser has found its place when another key is inserted there, and those on the way can be
// read no more.
TEST(SkiplistHerlihyRace, ANodeIsFoundAgainWithoutReadingKeys) {
  const auto key = [](int i) { return "they-start-alike-" + std::to_string(i); };
  skiplist_herlihy<leaving> list(0);
  for (int i = 10; i < 99; ++i) insert(list, key(i), "some");
  for (int i = 12; i < 99; i += 3) {
    leaving_pointer::is_out = false;
    const auto erase_later = [&](std::optional<std::string_view>) {
      EXPECT_EQ(insert(list, key(i - 1) + "-behind", "new"), outcome::done);
      leaving_pointer::is_out = true;
      return decision{action::erase, {}};
    };
    ASSERT_EQ(update(list, key(i), erase_later), outcome::done);
  }
  leaving_pointer::is_out = false;
  EXPECT_TRUE(list.is_valid());
  access inside;
  for (int i = 10; i < 99; ++i) EXPECT_EQ(list.find(inside, key(i)).has_value(), i % 3 != 0);
}

}  // namespace
}  // namespace isotherm::index
