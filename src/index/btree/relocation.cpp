#include "index/btree/relocation.hpp"

namespace isotherm::index::btree_detail {

using placement::leaf_visitor, placement::relocated, placement::tier;

template <class Storage>
using placed_btree = tree<Storage, version_lock>;

template bool placed_btree<placed<managed>>::visit_leaves(const scope&, std::string&,
                                                          const leaf_visitor&);
template relocated placed_btree<placed<managed>>::relocate(const scope&, std::span<void* const>,
                                                           tier);
template void placed_btree<placed<managed>>::link_copied_halves(const path&, leaf*,
                                                                const separator*, leaf*);
template bool placed_btree<placed<unmanaged>>::visit_leaves(const scope&, std::string&,
                                                            const leaf_visitor&);
template relocated placed_btree<placed<unmanaged>>::relocate(const scope&, std::span<void* const>,
                                                             tier);
template void placed_btree<placed<unmanaged>>::link_copied_halves(const path&, leaf*,
                                                                  const separator*, leaf*);

}  // namespace isotherm::index::btree_detail
