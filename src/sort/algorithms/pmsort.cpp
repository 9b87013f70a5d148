// PMSort (Hua et al., 2021) as the papers compare with it: MergePass on one thread, which reads
// keys with their whole records.
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/forecast.hpp"
#include "sort/index_sort/index_sort.hpp"

namespace isotherm::sort {

extern const algorithm kPmsort;
constinit const algorithm kPmsort = {
    .id = sort_algorithm::pmsort,
    .name = "pmsort",
    .candidate = false,
    .check = take_whole_fixed_records,
    .way = {.one_thread = true, .loads_records = true, .may_merge = true, .must_merge = true},
    .obstacle = index_sort_obstacle,
    .predict = predict_index_sort,
    .temporary_bytes = index_run_bytes,
    .run = sort_by_index};

}  // namespace isotherm::sort
