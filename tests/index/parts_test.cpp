// The structures' parts that have an interface of their own.
#include <gtest/gtest.h>

#include <set>

#include "index/art/node.hpp"
#include "index/hash/bucket_table.hpp"
#include "index/hash/hash_pugh.hpp"
#include "index/storage.hpp"
#include "index/walk_cursors.hpp"

namespace isotherm::index {
namespace {

TEST(NextCursor, VisitsEveryBucketOnce) {
  for (std::uint64_t mask : {0u, 1u, 7u, 255u}) {
    std::set<std::uint64_t> seen;
    std::uint64_t cursor = 0;
    do {
      EXPECT_TRUE(seen.insert(cursor & mask).second);
      cursor = next_cursor(cursor, mask);
    } while (cursor != 0);
    EXPECT_EQ(seen.size(), mask + 1);
  }
}

TEST(NextCursor, GrowthInBetweenSkipsNothing) {
  for (int grow_after = 0; grow_after < 8; ++grow_after) {
    std::uint64_t mask = 7, cursor = 0;
    std::set<std::uint64_t> fine;  // buckets of the table of 64 that were covered
    int steps = 0;
    do {
      const std::uint64_t at = cursor & mask;
      for (std::uint64_t b = at; b < 64; b += mask + 1) fine.insert(b);
      cursor = next_cursor(cursor, mask);
      if (++steps == grow_after) mask = 63;
    } while (cursor != 0);
    EXPECT_EQ(fine.size(), 64u) << grow_after;
  }
}

TEST(GrowingTable, WhoeverFindsNothingToMoveWritesNothing) {
  using table_type = growing_table<unmanaged, pugh_node<unmanaged>>;
  table_type table(64, unmanaged());
  table.consider_growth(65, [](std::size_t buckets) { return buckets; });
  table_type::table& old = *table.load();
  access inside;  // keeps the old table
  std::size_t moved = 0;
  const auto move = [&](auto& from, auto&, std::size_t) {
    // The last bucket is being moved, all others are claimed, and many come by.
    if (++moved < from.size()) return;
    for (int i = 0; i < 100; ++i) {
      table.help_growth([](auto&, auto&, std::size_t) { FAIL() << "moved twice"; });
    }
    EXPECT_EQ(from.claimed.load_relaxed(), from.size());
  };
  while (table.load() == &old) table.help_growth(move);
  EXPECT_EQ(moved, old.size());
}

TEST(GrowingTable, HelpersWriteToAnotherLineThanOperationsRead) {
  const bucket_table<unmanaged>* const table = bucket_table<unmanaged>::make(unmanaged(), 64);
  const auto line_of = [](const auto& object) {
    return reinterpret_cast<std::uintptr_t>(&object) / base::kNoSharingBytes;
  };
  EXPECT_EQ(line_of(*table), line_of(table->next));
  EXPECT_NE(line_of(table->claimed), line_of(*table));
  EXPECT_EQ(sizeof(*table), 2 * base::kNoSharingBytes);
  bucket_table<unmanaged>::destroy(const_cast<bucket_table<unmanaged>*>(table));
}

TEST(WalkCursors, KeepsABoundedNumberOfWalks) {
  walk_cursors cursors;
  const std::uint64_t first = cursors.advance(0, "first");
  EXPECT_EQ(cursors.find(first), "first");
  std::uint64_t last = 0;
  for (int i = 0; i < 5000; ++i) last = cursors.advance(0, std::to_string(i));
  EXPECT_EQ(cursors.find(first), std::nullopt);
  EXPECT_EQ(cursors.find(last), "4999");
}

TEST(WalkCursors, AWalkHoldsOneEntry) {
  walk_cursors cursors;
  const std::uint64_t other = cursors.advance(0, "other");
  std::uint64_t cursor = 0;
  for (int i = 0; i < 10000; ++i) cursor = cursors.advance(cursor, std::to_string(i));
  EXPECT_EQ(cursors.find(other), "other");
  cursors.forget(cursor);
  EXPECT_EQ(cursors.find(cursor), std::nullopt);
}

TEST(WalkCursors, BoundsTheBytesToo) {
  walk_cursors cursors;
  const std::uint64_t first = cursors.advance(0, std::string(std::size_t{40} << 20, 'a'));
  const std::uint64_t second = cursors.advance(0, std::string(std::size_t{40} << 20, 'b'));
  EXPECT_EQ(cursors.find(first), std::nullopt);
  EXPECT_TRUE(cursors.find(second).has_value());
}

TEST(ArtNode, FindByteFindsTheFirst) {
  for (unsigned place = 0; place < 8; ++place) {
    for (unsigned byte : {0u, 1u, 0x7fu, 0x80u, 0xffu}) {
      std::uint64_t word = byte == 0x55 ? 0 : 0x5555555555555555u;
      word &= ~(std::uint64_t{0xff} << (8 * place));
      word |= std::uint64_t{byte} << (8 * place);
      EXPECT_EQ(art_detail::find_byte(word, static_cast<std::uint8_t>(byte)), place);
    }
  }
  EXPECT_EQ(art_detail::find_byte(0x0101010101010101u, 2), 8u);
  EXPECT_EQ(art_detail::find_byte(0x0100u, 0), 0u);
}

TEST(ArtNode, HoldsChildrenOfEveryKindInOrder) {
  using namespace art_detail;
  for (node_kind kind : {node_kind::n4, node_kind::n16, node_kind::n48, node_kind::n256}) {
    alignas(node256) static std::byte memory[sizeof(node256)];
    node* n = construct(memory, kind);
    const unsigned capacity = capacity_of(kind);
    const auto byte_of = [](unsigned i) { return static_cast<std::uint8_t>(i * 167); };
    for (unsigned i = 0; i < capacity; ++i) {
      EXPECT_EQ(find_child(n, byte_of(i)), nullptr);
      add_child(n, byte_of(i), (i + 1) * 16);
    }
    EXPECT_TRUE(is_full(n));
    for (unsigned i = 0; i < capacity; i += 2) remove_child(n, byte_of(i));
    std::set<unsigned> odd, visited;
    for (unsigned i = 1; i < capacity; i += 2) {
      odd.insert(byte_of(i));
      EXPECT_EQ(find_child(n, byte_of(i))->load_acquire(), (i + 1) * 16);
    }
    unsigned before = 0;
    for (branch b = next_child(n, 0); b.target; b = next_child(n, b.byte + 1)) {
      EXPECT_TRUE(visited.empty() || b.byte > before);
      before = b.byte;
      visited.insert(b.byte);
    }
    EXPECT_EQ(visited, odd);
    std::set<unsigned> from_above;
    for (branch b = previous_child(n, 256); b.target; b = previous_child(n, b.byte)) {
      EXPECT_TRUE(from_above.empty() || b.byte < *from_above.begin());
      from_above.insert(b.byte);
    }
    EXPECT_EQ(from_above, odd);
  }
}

TEST(ArtNode, PrefixesMatchUpToTheKeySEnd) {
  using namespace art_detail;
  const std::uint64_t prefix = key_word("abcdefgh", 0);
  EXPECT_EQ(matched_prefix(prefix, 8, "abcdefgh", 0), 8u);
  EXPECT_EQ(matched_prefix(prefix, 3, "abcxyz", 0), 3u);
  EXPECT_EQ(matched_prefix(prefix, 4, "abcxyz", 0), 3u);
  EXPECT_EQ(matched_prefix(prefix, 8, "_abc", 1), 3u);
  EXPECT_EQ(matched_prefix(0, 2, std::string_view("\0", 1), 0), 1u);  // a zero is not an end
}

}  // namespace
}  // namespace isotherm::index
