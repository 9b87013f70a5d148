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

}  // namespace

const std::vector<std::string_view>& names() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> list;
    for (const entry& each : kEntries) list.push_back(each.name);
    return list;
  }();
  return all;
}

base::result<std::unique_ptr<any_index>> make(std::string_view name, management kind,
                                              std::size_t expected_keys) {
  for (const entry& each : kEntries) {
    if (each.name == name) return each.make(kind, expected_keys);
  }
  return std::unexpected(base::error{
      fmt::format("no index is called '{}'; use one of: {}", name, fmt::join(names(), ", ")), 0});
}

}  // namespace isotherm::index
