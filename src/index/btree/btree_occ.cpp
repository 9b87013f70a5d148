#include "index/btree/btree_occ.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

template <class Storage>
std::optional<std::string_view> btree_occ<Storage>::find(access& inside, std::string_view key) {
  const auto* found = tree::find(inside, key);
  if (!found) return std::nullopt;
  // An entry that is erased meanwhile keeps its last value.
  return read(found->value, inside);
}

template <class Storage>
void btree_occ<Storage>::clear() noexcept {
  access inside;
  this->count_.add(-this->retire_cut(this->cut()));
}

template class btree_occ<managed>;
template class btree_occ<unmanaged>;
template class btree_occ<placed<managed>>;
template class btree_occ<placed<unmanaged>>;
template class btree_occ<emulated>;
template std::unique_ptr<any_index> make_adapter<btree_occ>(management, std::size_t);
template placed_index make_placed_adapter<btree_occ, placed<managed>>(placement::placer&);
template placed_index make_placed_adapter<btree_occ, placed<unmanaged>>(placement::placer&);
template placed_index make_placed_adapter<btree_occ, emulated>(placement::placer&);

}  // namespace isotherm::index
