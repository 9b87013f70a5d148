// Dividing files by ranges of keys, without sorting them: the step between the machines, or the
// processes, that sort the parts.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace isotherm {

/// Into which files an input is divided, and by which keys.
struct split_request {
  std::vector<std::string> outputs;  ///< one file a part, in the order of the keys
  /// File of one record less than there are outputs, in order: each is the first of a part that its
  /// predecessor in the order does not belong to. Equal records in it share the records that are
  /// equal to them among their parts, earlier ones of the input first. Empty: the boundaries are
  /// chosen by a sample of the input.
  std::string boundaries{};
  /// The place of the input, from 0 to 1, in all that is divided by the same boundaries: tasks that
  /// divide one input each give consecutive intervals, so that equal records keep their order.
  double place_begin = 0, place_end = 1;
};

struct split_part {
  std::string path;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< the header included
};

struct split_report {
  std::uint64_t records = 0;
  std::uint64_t input_bytes = 0;
  double seconds = 0;
  std::vector<split_part> parts;
};

/// Writes each record of `inputs` to the output in whose range of keys it lies, in one pass.
/// Records of a part keep the order of the input, and each part begins with the input's header.
/// Sorting all parts by the same options and putting them together gives what sorting the inputs
/// gives. The outputs get their names only when all are complete. Options that do not write all
/// records, `check`, `packing` and emulated devices are refused; several inputs are copied first,
/// as sort_files() does. Takes memory for two blocks of at most 1 MiB a thread, or for its largest
/// records.
base::result<split_report> split_files(const std::vector<std::string>& inputs,
                                       const split_request& request, const sort_options& options);

/// Writes `records` records from even places of `inputs` to `output`, sorted, behind the input's
/// header; all, if there are no more. A sample of lines takes those behind even bytes, never the
/// first. Samples of inputs of like size, sorted together, are a sample of all; a sample of what is
/// sorted already has its quantiles, as boundaries should be. klv records and CSV are read whole to
/// find the places. Returns the number of records written. An error if the sample does not fit in
/// the memory.
base::result<std::uint64_t> sample_files(const std::vector<std::string>& inputs,
                                         const std::string& output, std::uint64_t records,
                                         const sort_options& options);

}  // namespace isotherm
