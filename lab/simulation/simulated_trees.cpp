#include "lab/simulation/simulated_trees.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>

#include "index/adapter.hpp"
#include "index/art/changes.hpp"
#include "index/art/relocation.hpp"
#include "index/art/search.hpp"
#include "index/btree/btree_occ.hpp"
#include "index/btree/changes.hpp"
#include "index/btree/relocation.hpp"
#include "index/btree/search.hpp"
#include "index/masstree/operations.hpp"
#include "index/masstree/relocation.hpp"
#include "lab/simulation/visits.hpp"

namespace isotherm::lab {
namespace {

using index::art, index::btree_occ, index::masstree;

/// The trees read one line of a leaf's entry, and more of any other node.
constexpr unsigned kEntryLines = 1;

visited kind_in_art(const void*, unsigned lines) noexcept {
  return lines == kEntryLines ? visited::leaf : visited::inner;
}

visited kind_in_btree(const void* node, unsigned lines) noexcept {
  using tree_node = index::btree_detail::node<index::version_lock>;
  if (lines == kEntryLines) return visited::entry;
  return static_cast<const tree_node*>(node)->is_leaf ? visited::leaf : visited::inner;
}

visited kind_in_masstree(const void* node, unsigned lines) noexcept {
  if (lines == kEntryLines) return visited::entry;
  const bool is_border = static_cast<const index::masstree_detail::node*>(node)->is_border();
  return is_border ? visited::leaf : visited::inner;
}

template <visited (*KindOf)(const void*, unsigned) noexcept>
struct simulated : index::placed<index::unmanaged> {
  using placed<index::unmanaged>::placed;
  static void touch(const void* node, unsigned lines) noexcept {
    if (counted_visits) counted_visits->visit(KindOf(node, lines), node, lines);
  }
};
using in_art = simulated<kind_in_art>;
using in_btree = simulated<kind_in_btree>;
using in_masstree = simulated<kind_in_masstree>;

/// Makes a leaf of `art` as large as one of some 100 bytes that holds its record (SINLK, 6.6: two
/// bytes are up to 2% of it). The record itself stays where it is.
struct art_with_records : in_art {
  using in_art::in_art;
  struct use_count : placement::use_count {
    std::array<std::byte, 80> record;
  };
};
static_assert(index::storage<in_art> && index::storage<in_btree> && index::storage<in_masstree> &&
              index::storage<art_with_records>);

}  // namespace

base::result<index::placed_index> make_simulated(std::string_view name, placement::placer& chooser,
                                                 record_place records) {
  if (records == record_place::in_leaf) {
    return index::make_placed_adapter<art, art_with_records>(chooser);
  }
  if (name == art<in_art>::kName) return index::make_placed_adapter<art, in_art>(chooser);
  if (name == btree_occ<in_btree>::kName) {
    return index::make_placed_adapter<btree_occ, in_btree>(chooser);
  }
  if (name == masstree<in_masstree>::kName) {
    return index::make_placed_adapter<masstree, in_masstree>(chooser);
  }
  return std::unexpected(
      base::error{fmt::format("the nodes of no index called '{}' can be placed; use one of: {}",
                              name, fmt::join(index::placed_names(), ", ")),
                  0});
}

}  // namespace isotherm::lab
