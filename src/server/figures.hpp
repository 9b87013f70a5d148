// The table of what the server counts of itself: INFO, ISOTHERM STATS, the live page and /metrics
// go through it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "live/figures.hpp"

namespace isotherm::server {

class server;

struct server_figure {
  enum class section : std::uint8_t {
    stats,
    isotherm,  ///< only where there is management
    none       ///< INFO tells of it in words of its own
  };
  std::string_view name;
  std::string_view info_name;  ///< Redis's, where it has one
  section info_section;
  std::string_view unit;
  std::string_view help;
  live::figure::course over_time;
  std::uint64_t (*get)(server&);
};
/// `get` may be called by any thread.
std::span<const server_figure> server_figures() noexcept;

}  // namespace isotherm::server
