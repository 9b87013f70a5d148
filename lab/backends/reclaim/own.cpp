// Backends that do nothing by themselves: the store's pages stay, or the store itself makes them
// leave.
#include "lab/backends/backend.hpp"

namespace isotherm::lab {
namespace {

class idle final : public backend {};

}  // namespace

extern const backend_kind kNone{.name = "none",
                                .help = "no page leaves",
                                .needs_group = false,
                                .needs_swap = false,
                                .make = make_backend<idle>};

extern const backend_kind kHinted{.name = "hinted",
                                  .help = "the store asks that pages of COLD leave (MADV_PAGEOUT)",
                                  .managed = frontend::hints,
                                  .needs_group = false,
                                  .make = make_backend<idle>};

extern const backend_kind kLog{.name = "log",
                               .help = "COLD is a file that the store writes and reads itself",
                               .managed = frontend::logs,
                               .needs_group = false,
                               .needs_swap = false,
                               .make = make_backend<idle>};

}  // namespace isotherm::lab
