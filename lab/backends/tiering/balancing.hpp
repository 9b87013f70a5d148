// Backends that the kernel has: AutoNUMA, and its mode for tiers with demotion, which is the
// upstream form of TPP (Al Maruf et al., ASPLOS 2023).
//
// AutoNUMA takes pages out of the page table now and then, and moves those whose next access comes
// from another node than they lie on. It scans more and more seldom, up to once in 60 s; a run here
// takes a minute, so that it goes on scanning 64 MB each 0.5 to 3 s. Once the fast node is full
// mode 1 moves nothing. Mode 2 then wakes kswapd, which demotes, and promotes pages that are
// accessed soon after their scan.
#pragma once

#include <string>

#include "lab/backends/tiering/tiers.hpp"

namespace isotherm::lab {

/// NUMA balancing with a fast scan.
class balancing : public tiering {
 public:
  balancing(balancing_mode mode, demotion demotes) : tiering(mode, demotes) {}
  base::result<void> start(backed_run& run) override;
};

/// Returns why NUMA balancing cannot run here and how to change that; empty: it can.
std::string why_no_balancing();

}  // namespace isotherm::lab
