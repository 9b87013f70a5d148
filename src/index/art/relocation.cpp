#include "index/art/relocation.hpp"

namespace isotherm::index {

using placement::leaf_visitor, placement::relocated, placement::tier;

template bool art<placed<managed>>::visit_leaves(const scope&, std::string&, const leaf_visitor&);
template bool art<placed<unmanaged>>::visit_leaves(const scope&, std::string&, const leaf_visitor&);
template relocated art<placed<managed>>::relocate(const scope&, std::span<void* const>, tier);
template relocated art<placed<unmanaged>>::relocate(const scope&, std::span<void* const>, tier);

}  // namespace isotherm::index
