// OnePass (WiscSort 3.7.1): keys and pointers sorted in memory, then each value read once, at
// random.
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/forecast.hpp"
#include "sort/index_sort/index_sort.hpp"

namespace isotherm::sort {

extern const algorithm kOnepass;
constinit const algorithm kOnepass = {.id = sort_algorithm::onepass,
                                      .name = "onepass",
                                      .candidate = false,
                                      .check = take_all_options,
                                      .way = {.freedom = liberty::real_devices},
                                      .obstacle = index_sort_obstacle,
                                      .predict = predict_index_sort,
                                      .temporary_bytes = index_run_bytes,
                                      .run = sort_by_index};

}  // namespace isotherm::sort
