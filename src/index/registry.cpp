#include "index/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/art/art.hpp"
#include "index/btree/btree_coarse.hpp"
#include "index/btree/btree_occ.hpp"
#include "index/hash/hash_chm.hpp"
#include "index/hash/hash_harris.hpp"
#include "index/hash/hash_pugh.hpp"
#include "index/masstree/masstree.hpp"
#include "index/skip/skiplist_coarse.hpp"
#include "index/skip/skiplist_fraser.hpp"
#include "index/skip/skiplist_herlihy.hpp"

namespace isotherm::index {

namespace {

using factory = std::unique_ptr<any_index> (*)(management kind, std::size_t expected_keys);

struct entry {
  std::string_view name;
  factory make;
};

constexpr entry kEntries[] = {
    {hash_pugh<unmanaged>::kName, &make_adapter<hash_pugh>},
    {hash_harris<unmanaged>::kName, &make_adapter<hash_harris>},
    {hash_chm<unmanaged>::kName, &make_adapter<hash_chm>},
    {skiplist_coarse<unmanaged>::kName, &make_adapter<skiplist_coarse>},
    {skiplist_fraser<unmanaged>::kName, &make_adapter<skiplist_fraser>},
    {skiplist_herlihy<unmanaged>::kName, &make_adapter<skiplist_herlihy>},
    {btree_coarse<unmanaged>::kName, &make_adapter<btree_coarse>},
    {btree_occ<unmanaged>::kName, &make_adapter<btree_occ>},
    {masstree<unmanaged>::kName, &make_adapter<masstree>},
    {art<unmanaged>::kName, &make_adapter<art>},
};

using placed_factory = placed_index (*)(placement::placer& chooser);

struct placed_entry {
  std::string_view name;
  placed_factory managed_by_guides, plain;
};

template <template <class> class Structure>
constexpr placed_entry placed_entry_of() {
  return {Structure<unmanaged>::kName, &make_placed_adapter<Structure, placed<managed>>,
          &make_placed_adapter<Structure, placed<unmanaged>>};
}

constexpr placed_entry kPlacedEntries[] = {placed_entry_of<btree_occ>(), placed_entry_of<art>(),
                                           placed_entry_of<masstree>()};

base::result<const placed_entry*> find_placed(std::string_view name) {
  for (const placed_entry& each : kPlacedEntries) {
    if (each.name == name) return &each;
  }
  return std::unexpected(
      base::error{fmt::format("the nodes of no index called '{}' can be placed; use one of: {}",
                              name, fmt::join(placed_names(), ", ")),
                  0});
}

template <class Entries>
std::vector<std::string_view> names_of(const Entries& entries) {
  std::vector<std::string_view> list;
  for (const auto& each : entries) list.push_back(each.name);
  return list;
}

}  // namespace

const std::vector<std::string_view>& names() {
  static const std::vector<std::string_view> all = names_of(kEntries);
  return all;
}

const std::vector<std::string_view>& placed_names() {
  static const std::vector<std::string_view> all = names_of(kPlacedEntries);
  return all;
}

base::result<placed_index> make_placed(std::string_view name, management kind,
                                       placement::placer& chooser) {
  const auto found = find_placed(name);
  if (!found) return std::unexpected(found.error());
  const auto& make = kind == management::on ? (*found)->managed_by_guides : (*found)->plain;
  return make(chooser);
}

base::result<std::unique_ptr<any_index>> make(std::string_view name, management kind,
                                              std::size_t expected_keys) {
  for (const entry& each : kEntries) {
    if (each.name == name) return each.make(kind, expected_keys);
  }
  return std::unexpected(base::error{
      fmt::format("no index is called '{}'; use one of: {}", name, fmt::join(names(), ", ")), 0});
}

base::result<any_index*> make_lasting(std::string_view name, management kind,
                                      std::size_t expected_keys) {
  static any_index* kept = nullptr;  // where leak checkers find it
  auto made = make(name, kind, expected_keys);
  if (!made) return std::unexpected(made.error());
  return kept = made->release();
}

base::result<placed_index*> make_lasting_placed(std::string_view name, management kind,
                                                placement::placer& chooser) {
  static placed_index* kept = nullptr;
  auto made = make_placed(name, kind, chooser);
  if (!made) return std::unexpected(made.error());
  return kept = new placed_index(std::move(*made));
}

}  // namespace isotherm::index
