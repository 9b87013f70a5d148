#include "index/masstree/masstree.hpp"

#include "index/adapter.hpp"
#include "index/masstree/operations.hpp"

namespace isotherm::index {

template class masstree<managed>;
template class masstree<unmanaged>;
template class masstree<placed<managed>>;
template class masstree<placed<unmanaged>>;
template std::unique_ptr<any_index> make_adapter<masstree>(management, std::size_t);
template placed_index make_placed_adapter<masstree, placed<managed>>(placement::placer&);
template placed_index make_placed_adapter<masstree, placed<unmanaged>>(placement::placer&);

}  // namespace isotherm::index
