// MergePass (WiscSort 3.7.2): sorted runs of keys and pointers, merged; values are read once, at
// the end.
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/forecast.hpp"
#include "sort/index_sort/index_sort.hpp"

namespace isotherm::sort {

extern const algorithm kMergepass;
constinit const algorithm kMergepass = {
    .id = sort_algorithm::mergepass,
    .name = "mergepass",
    .candidate = false,
    .check = take_all_options,
    .way = {.may_merge = true, .must_merge = true, .freedom = liberty::real_devices},
    .obstacle = index_sort_obstacle,
    .predict = predict_index_sort,
    .temporary_bytes = index_run_bytes,
    .run = sort_by_index};

}  // namespace isotherm::sort
