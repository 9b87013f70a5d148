#include "index/art/art.hpp"

#include "index/adapter.hpp"
#include "index/art/changes.hpp"
#include "index/art/search.hpp"

namespace isotherm::index {

template class art<managed>;
template class art<unmanaged>;
template class art<placed<managed>>;
template class art<placed<unmanaged>>;
template std::unique_ptr<any_index> make_adapter<art>(management, std::size_t);
template placed_index make_placed_adapter<art, placed<managed>>(placement::placer&);
template placed_index make_placed_adapter<art, placed<unmanaged>>(placement::placer&);

}  // namespace isotherm::index
