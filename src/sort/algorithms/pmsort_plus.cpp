// PMSort+ (WiscSort 4): PMSort on as many threads as suit the device.
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/forecast.hpp"
#include "sort/index_sort/index_sort.hpp"

namespace isotherm::sort {

extern const algorithm kPmsortPlus;
constinit const algorithm kPmsortPlus = {
    .id = sort_algorithm::pmsort_plus,
    .name = "pmsort+",
    .candidate = false,
    .check = take_whole_fixed_records,
    .way = {.loads_records = true, .may_merge = true, .must_merge = true},
    .obstacle = index_sort_obstacle,
    .predict = predict_index_sort,
    .temporary_bytes = index_run_bytes,
    .run = sort_by_index};

}  // namespace isotherm::sort
