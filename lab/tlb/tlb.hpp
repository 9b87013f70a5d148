// isotherm bench tlb: accesses to a hot set that is scattered over a region, beside the same
// accesses to a hot set that is clustered, in pages of 4 KiB and of 2 MiB (Dissertation 4.3.2,
// figures 4.8 and 4.9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/tlb/hot_set.hpp"
#include "lab/tlb/region.hpp"
#include "tool/progress.hpp"

namespace isotherm::lab {

/// The flags, as given; the defaults are the documented ones.
struct tlb_options {
  std::uint64_t region_bytes = std::uint64_t{1} << 30;  ///< of each page size
  std::uint64_t object_bytes = 256;                     ///< a multiple of kLineBytes
  std::vector<std::string> hot{"0.1", "1", "10"};       ///< per cent of the objects
  std::vector<std::string> pages{"4k", "2m"};
  std::vector<std::string> access{"dependent", "independent"};
  std::uint64_t accesses = 500'000;  ///< timed at least in each sample: whole passes
  unsigned rounds = 7;
  std::optional<std::uint64_t> seed;  ///< absent: another one each run
  std::string json;                   ///< empty: a table; "-": standard output; else a file
};

/// The options understood and checked.
struct tlb_plan {
  tlb_options asked;
  object_region region;
  std::vector<double> hot_shares;  ///< of the objects, 0..1
  std::vector<page_size> pages;
  std::vector<access_kind> access;
  std::uint64_t seed = 0;
};

/// Checks the options. Errors name the flag.
base::result<tlb_plan> understand(const tlb_options& asked);

/// Median and ends of what the rounds gave.
struct spread {
  double median = 0, least = 0, most = 0;
};
/// Requires: `samples` is not empty.
spread spread_of(std::vector<double> samples);

/// Measurements of one layout in pages of one size, with one kind of access.
struct tlb_row {
  double hot_share = 0;
  std::uint64_t hot_objects = 0;
  access_kind access = access_kind::dependent;
  page_size pages = page_size::small;
  layout placed = layout::scattered;
  std::uint64_t pages_touched = 0;  ///< that hold a line of the hot set
  spread ns;                        ///< of an access
  /// Time of an access to the scattered hot set in pages of 4 KiB over this row's, round by round;
  /// absent without pages of 4 KiB.
  std::optional<spread> speedup;
  std::optional<double> tlb_misses, last_cache_misses;  ///< an access, median; absent: not counted
};

struct tlb_result {
  std::vector<tlb_row> rows;
  /// Bytes of the region of 2 MiB pages that came in such pages; absent when none was asked for.
  /// Bytes in huge pages that the system gave. None: no row has such pages.
  std::optional<std::uint64_t> huge_bytes;
  std::string why_no_misses;  ///< "" where misses in the TLB were counted
};

/// Measures, in the calling thread. Takes memory of tlb_options::region_bytes for each page size.
/// Tells `progress`, if there is one, how many of how many samples are done.
base::result<tlb_result> run_tlb(const tlb_plan& plan, const tool::record_progress& progress);

}  // namespace isotherm::lab
