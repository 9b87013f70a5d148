#include "index/btree/btree_occ.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

template class btree_occ<managed>;
template class btree_occ<unmanaged>;
template std::unique_ptr<any_index> make_adapter<btree_occ>(bool, std::size_t);

}  // namespace isotherm::index
