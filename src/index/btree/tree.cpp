#include "index/btree/tree.hpp"

#include "index/btree/changes.hpp"
#include "index/btree/search.hpp"

namespace isotherm::index::btree_detail {

template class tree<managed, version_lock>;
template class tree<unmanaged, version_lock>;
template class tree<placed<managed>, version_lock>;
template class tree<placed<unmanaged>, version_lock>;
template class tree<managed, no_version_lock>;
template class tree<unmanaged, no_version_lock>;

}  // namespace isotherm::index::btree_detail
