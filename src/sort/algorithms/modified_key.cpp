// Modified-key sort (Hubbard, CACM 1963): for devices that can't read at random. OnePass whose keys
// and values come by scans of the whole input.
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/forecast.hpp"
#include "sort/index_sort/index_sort.hpp"

namespace isotherm::sort {

extern const algorithm kModifiedKey;
constinit const algorithm kModifiedKey = {.id = sort_algorithm::modified_key,
                                          .name = "modified-key",
                                          .candidate = false,
                                          .check = take_whole_fixed_records,
                                          .way = {.loads_records = true, .scans = true},
                                          .obstacle = index_sort_obstacle,
                                          .predict = predict_index_sort,
                                          .temporary_bytes = index_run_bytes,
                                          .run = sort_by_index};

}  // namespace isotherm::sort
