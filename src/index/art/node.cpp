#include "index/art/node.hpp"

#include <functional>

namespace isotherm::index::art_detail {

namespace {

constexpr std::uint64_t kByte = 0xff;

std::uint8_t key_of(const node* n, unsigned i) noexcept {
  if (n->kind == node_kind::n4) return byte_at(n->keys4.load_acquire(), i);
  return byte_at(static_cast<const node16*>(n)->keys[i / 8].load_acquire(), i % 8);
}

void set_key(node* n, unsigned i, std::uint8_t byte) noexcept {
  const unsigned shift = 8 * (i % 8);
  if (n->kind == node_kind::n4) {
    const std::uint64_t word = n->keys4.load_relaxed() & ~(kByte << shift);
    n->keys4.store_release(static_cast<std::uint32_t>(word | (std::uint64_t{byte} << shift)));
  } else {
    auto& keys = static_cast<node16*>(n)->keys[i / 8];
    keys.store_release((keys.load_relaxed() & ~(kByte << shift)) | (std::uint64_t{byte} << shift));
  }
}

base::atomic<link>* small_children(node* n) noexcept {
  return n->kind == node_kind::n4 ? static_cast<node4*>(n)->children
                                  : static_cast<node16*>(n)->children;
}

bool is_small(const node* n) noexcept {
  return n->kind == node_kind::n4 || n->kind == node_kind::n16;
}

/// Returns the child whose byte comes first by `is_before` among those whose byte `is_wanted`.
template <class IsWanted, class IsBefore>
branch best_in_small(node* n, IsWanted is_wanted, IsBefore is_before) noexcept {
  const unsigned count = std::min<unsigned>(n->count.load_acquire(), capacity_of(n->kind));
  unsigned best = 256, best_place = 0;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned byte = key_of(n, i);
    if (is_wanted(byte) && (best == 256 || is_before(byte, best))) {
      best = byte;
      best_place = i;
    }
  }
  if (best == 256) return {};
  return {best, small_children(n)[best_place].load_acquire()};
}

/// The child of a node48 or node256 for one byte.
branch child_at(node* n, unsigned byte) noexcept {
  auto* where = find_child(n, static_cast<std::uint8_t>(byte));
  return {byte, where ? where->load_acquire() : 0};
}

}  // namespace

branch next_child(node* n, unsigned from) noexcept {
  if (is_small(n)) {
    return best_in_small(n, [=](unsigned b) { return b >= from; }, std::less<>());
  }
  for (unsigned byte = from; byte < 256; ++byte) {
    if (const branch b = child_at(n, byte); b.target) return b;
  }
  return {};
}

branch previous_child(node* n, unsigned limit) noexcept {
  if (is_small(n)) {
    return best_in_small(n, [=](unsigned b) { return b < limit; }, std::greater<>());
  }
  while (limit-- > 0) {
    if (const branch b = child_at(n, limit); b.target) return b;
  }
  return {};
}

std::size_t size_of(node_kind kind) noexcept {
  constexpr std::size_t kSizes[] = {sizeof(node4), sizeof(node16), sizeof(node48), sizeof(node256)};
  return kSizes[static_cast<unsigned>(kind)];
}

node* construct(void* memory, node_kind kind) noexcept {
  switch (kind) {
    case node_kind::n4:
      return ::new (memory) node4;
    case node_kind::n16:
      return ::new (memory) node16;
    case node_kind::n48:
      return ::new (memory) node48;
    case node_kind::n256:
      return ::new (memory) node256;
  }
  return nullptr;
}

unsigned capacity_of(node_kind kind) noexcept {
  constexpr unsigned kCapacities[] = {4, 16, 48, 256};
  return kCapacities[static_cast<unsigned>(kind)];
}

void add_child(node* n, std::uint8_t byte, link child) noexcept {
  const std::uint16_t count = n->count.load_relaxed();
  switch (n->kind) {
    case node_kind::n4:
    case node_kind::n16:
      set_key(n, count, byte);
      small_children(n)[count].store_release(child);
      break;
    case node_kind::n48: {
      auto* m = static_cast<node48*>(n);
      std::uint8_t free = 0;
      while (m->children[free].load_relaxed()) ++free;
      m->children[free].store_release(child);
      m->positions[byte].store_release(free);
      break;
    }
    case node_kind::n256:
      static_cast<node256*>(n)->children[byte].store_release(child);
      break;
  }
  n->count.store_release(static_cast<std::uint16_t>(count + 1));
}

void remove_child(node* n, std::uint8_t byte) noexcept {
  const auto last = static_cast<std::uint16_t>(n->count.load_relaxed() - 1);
  switch (n->kind) {
    case node_kind::n4:
    case node_kind::n16: {
      auto* children = small_children(n);
      const auto place = static_cast<unsigned>(find_child(n, byte) - children);
      set_key(n, place, key_of(n, last));
      children[place].store_release(children[last].load_relaxed());
      children[last].store_release(0);
      break;
    }
    case node_kind::n48: {
      auto* m = static_cast<node48*>(n);
      m->children[m->positions[byte].load_relaxed()].store_release(0);
      m->positions[byte].store_release(node48::kNone);
      break;
    }
    case node_kind::n256:
      static_cast<node256*>(n)->children[byte].store_release(0);
      break;
  }
  n->count.store_release(last);
}

void set_prefix(node* n, std::uint64_t word, unsigned length) noexcept {
  const std::uint64_t mask = length >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * length) - 1;
  n->prefix.store_release(word & mask);
  n->prefix_length.store_release(static_cast<std::uint8_t>(length));
}

void copy_contents(node* to, node* from) noexcept {
  set_prefix(to, from->prefix.load_relaxed(), from->prefix_length.load_relaxed());
  to->terminal.store_release(from->terminal.load_relaxed());
  for (branch b = next_child(from, 0); b.target; b = next_child(from, b.byte + 1)) {
    add_child(to, static_cast<std::uint8_t>(b.byte), b.target);
  }
}

node_kind fitting(const node* n) noexcept {
  const unsigned count = n->count.load_acquire();
  switch (n->kind) {
    case node_kind::n16:
      return count <= 3 ? node_kind::n4 : n->kind;
    case node_kind::n48:
      return count <= 12 ? node_kind::n16 : n->kind;
    case node_kind::n256:
      return count <= 36 ? node_kind::n48 : n->kind;
    case node_kind::n4:
      break;
  }
  return n->kind;
}

}  // namespace isotherm::index::art_detail
