// The generators, each the end of a source of its own.
#pragma once

#include "lab/traces/generate/generator.hpp"

namespace isotherm::traces {

extern const generator kMixgraph, kCacheLib, kTwitter7, kTwitter23, kHotspotShift;

}  // namespace isotherm::traces
