#include "index/btree/btree_coarse.hpp"

#include "index/adapter.hpp"

namespace isotherm::index {

template class btree_coarse<managed>;
template class btree_coarse<unmanaged>;
template std::unique_ptr<any_index> make_adapter<btree_coarse>(management, std::size_t);

}  // namespace isotherm::index
