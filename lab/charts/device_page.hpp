// A device's profile as one self-contained HTML page with drawn curves.
#pragma once

#include <string>

#include "device/profile.hpp"

namespace isotherm::lab {

/// The page: bandwidth over threads for each kind of access, reads beside writers, and the BRAID
/// letters with the numbers behind them.
std::string device_page(const device::profile& p);

}  // namespace isotherm::lab
