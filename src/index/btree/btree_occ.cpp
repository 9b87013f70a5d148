#include "index/btree/btree_occ.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

template class btree_occ<managed>;
template class btree_occ<unmanaged>;
template class btree_occ<placed<managed>>;
template class btree_occ<placed<unmanaged>>;
template std::unique_ptr<any_index> make_adapter<btree_occ>(management, std::size_t);
template placed_index make_placed_adapter<btree_occ, placed<managed>>(placement::placer&);
template placed_index make_placed_adapter<btree_occ, placed<unmanaged>>(placement::placer&);

}  // namespace isotherm::index
