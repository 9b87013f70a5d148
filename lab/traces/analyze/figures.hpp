// The figures of a trace, computed from what was followed of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/traces/analyze/follower.hpp"
#include "lab/traces/source.hpp"

namespace isotherm::traces {

/// Keys whose value has `least` bytes or more, and fewer than the next class.
struct size_class {
  const char* name;
  std::uint32_t least;  ///< bytes
  std::uint64_t keys = 0;
  // Gaps between two uses of a key, in requests, of keys that have kLeastGaps or more:
  std::uint64_t gapped_keys = 0;
  double median_gap = 0;                        ///< median of the keys' medians
  double over_5 = 0, over_10 = 0, over_30 = 0;  ///< shares of keys whose p75 / p25 is greater
};

/// Fewest gaps that a key's quartiles are taken from.
inline constexpr std::size_t kLeastGaps = 4;

/// Uses by rank of the key and time: a cell is the mean uses of one of its keys.
struct heat_map {
  static constexpr std::size_t kColumns = 72, kRows = 24;
  std::uint64_t keys_per_column = 0, requests_per_row = 0;  ///< of the followed, of all
  std::array<std::array<double, kColumns>, kRows> cells{};
};

struct figures {
  std::string format;
  malformed_lines malformed;
  bool has_times = false;
  double seconds = 0;  ///< from the first request's time to the last one's
  std::uint64_t requests = 0;
  std::array<std::uint64_t, kOperations> by_kind{};
  double mean_value = 0;  ///< bytes, over the requests that tell it

  double one_in = 1;                ///< 1 in so many keys is followed; the next are scaled up
  double keys = 0;                  ///< different ones
  double key_bytes = 0;             ///< of them
  double value_bytes = 0;           ///< of their values
  double used_once = 0;             ///< share of the keys
  std::vector<std::uint64_t> uses;  ///< of the followed keys, the most popular first
  double theta = 0;                 ///< of the Zipf law with the greatest likelihood
  double misfit = 0;                ///< greatest difference of its shares of uses from the trace's

  std::vector<size_class> sizes;
  struct room {
    double share;   ///< of the keys
    double misses;  ///< share of the requests that miss in an LRU cache with room for it
  };
  std::vector<room> lru;
  heat_map heat;

  /// Share of the uses that go to the most popular `share` of the keys.
  double share_of_top(double share) const noexcept;
};

/// Computes all but the first three members.
figures compute(const follower& seen);

/// Reads a trace to its end. Errors are the source's.
base::result<figures> analyze(source& trace, const follow_limits& limits);

}  // namespace isotherm::traces
