// WiscSort as it decides by itself: OnePass where the index map fits, MergePass where not, with all
// that costs less than the papers' way. Which other algorithm may take its place, and when, is
// sort/choice.cpp's.
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
