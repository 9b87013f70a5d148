#include "lab/emulation/trees.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
#include "lab/emulation/slow_memory.hpp"

namespace isotherm::lab {
namespace {

using index::art, index::btree_occ, index::masstree;

struct emulated : index::placed<index::unmanaged> {
  using placed<index::unmanaged>::placed;
  using use_count = optional_use_count;
  static void touch(const void* node, unsigned lines) noexcept { lab::touch(node, lines); }
};
static_assert(index::storage<emulated>);

}  // namespace

base::result<index::placed_index> make_emulated(std::string_view name, placement::placer& chooser) {
  if (name == art<emulated>::kName) return index::make_placed_adapter<art, emulated>(chooser);
  if (name == btree_occ<emulated>::kName) {
    return index::make_placed_adapter<btree_occ, emulated>(chooser);
  }
  if (name == masstree<emulated>::kName) {
    return index::make_placed_adapter<masstree, emulated>(chooser);
  }
  return std::unexpected(
      base::error{fmt::format("the nodes of no index called '{}' can be placed; use one of: {}",
                              name, fmt::join(index::placed_names(), ", ")),
                  0});
}

}  // namespace isotherm::lab
