// The variants of the sort by an index map. A variant is a row: index_sort.cpp runs all of them by
// the plans that their flags lead to.
#pragma once

#include <isotherm/sort.hpp>

#include <array>
#include <string_view>

#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// The options that an algorithm accepts.
enum class accepted {
  all_options,
  whole_fixed_records,  ///< fixed records that are all written: the papers compare algorithms by
                        ///< these
};

struct variant {
  sort_algorithm id;
  std::string_view name;  ///< for --algorithm and in reports
  accepted accepts;
  approach way;
};

inline constexpr std::array kVariants = {
    // WiscSort with its own choice: OnePass if the index map fits, MergePass if not, deviating from
    // the papers wherever that costs less. sort/choice.cpp decides when another algorithm runs.
    variant{.id = sort_algorithm::automatic,
            .name = "auto",
            .accepts = accepted::all_options,
            .way = {.may_merge = true, .freedom = liberty::full}},
    // OnePass (WiscSort 3.7.1): keys and pointers sorted in memory, then each value read once, at
    // random.
    variant{.id = sort_algorithm::onepass,
            .name = "onepass",
            .accepts = accepted::all_options,
            .way = {.freedom = liberty::real_devices}},
    // MergePass (WiscSort 3.7.2): sorted runs of keys and pointers, merged; values are read once,
    // at the end.
    variant{.id = sort_algorithm::mergepass,
            .name = "mergepass",
            .accepts = accepted::all_options,
            .way = {.may_merge = true, .must_merge = true, .freedom = liberty::real_devices}},
    // PMSort (Hua et al., 2021) as the papers compare with it: MergePass on one thread, which reads
    // keys with their whole records.
    variant{
        .id = sort_algorithm::pmsort,
        .name = "pmsort",
        .accepts = accepted::whole_fixed_records,
        .way = {.one_thread = true, .loads_records = true, .may_merge = true, .must_merge = true}},
    // PMSort+ (WiscSort 4): PMSort on as many threads as suit the device.
    variant{.id = sort_algorithm::pmsort_plus,
            .name = "pmsort+",
            .accepts = accepted::whole_fixed_records,
            .way = {.loads_records = true, .may_merge = true, .must_merge = true}},
    // Modified-key sort (Hubbard, CACM 1963): for devices that can't read at random. OnePass whose
    // keys and values come by scans of the whole input.
    variant{.id = sort_algorithm::modified_key,
            .name = "modified-key",
            .accepts = accepted::whole_fixed_records,
            .way = {.loads_records = true, .scans = true}},
};

}  // namespace isotherm::sort
