// WiscSort with its own choice: OnePass if the index map fits, MergePass if not, deviating from the
// papers wherever that costs less. sort/choice.cpp decides when another algorithm runs instead.
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/forecast.hpp"
#include "sort/index_sort/index_sort.hpp"

namespace isotherm::sort {

extern const algorithm kAutomatic;
constinit const algorithm kAutomatic = {.id = sort_algorithm::automatic,
                                        .name = "auto",
                                        .candidate = false,
                                        .check = take_all_options,
                                        .way = {.may_merge = true, .freedom = liberty::full},
                                        .obstacle = index_sort_obstacle,
                                        .predict = predict_index_sort,
                                        .temporary_bytes = index_run_bytes,
                                        .run = sort_by_index};

}  // namespace isotherm::sort
