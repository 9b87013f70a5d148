// Checks that a file of benchmark records is in order, as valsort 1.5 does, and sums it up so that
// parts checked apart can be judged together.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/records/gensort.hpp"

namespace isotherm::lab {

/// The facts about one part (or about all, combined).
struct valsort_summary {
  std::uint64_t records = 0;
  std::uint64_t unordered = 0;        ///< records whose key is below that of the one before
  std::uint64_t first_unordered = 0;  ///< number of the first such record; valid if unordered > 0
  std::uint64_t duplicates = 0;       ///< records whose key equals that of the one before
  uint128 checksum = 0;
  std::array<unsigned char, kGensortKey> first_key{};
  std::array<unsigned char, kGensortKey> last_key{};
  bool operator==(const valsort_summary&) const = default;
};

struct valsort_options {
  bool ignore_case = false;  ///< compare the keys' ASCII letters without their case
  unsigned threads = 1;      ///< at most kMostThreads work
  tool::record_progress progress{};
};

/// Reads all of `path`; a pipe or terminal (os/files/spool.hpp) through a file without a name.
/// Errors: unreadable, empty, or a partial last record.
base::result<valsort_summary> valsort_file(const std::string& path, const valsort_options& options);

/// The summary of `a` followed by `b`, whose keys are compared as `options` say.
valsort_summary combine(const valsort_summary& a, const valsort_summary& b,
                        const valsort_options& options);

/// One line of text (with its newline); lines of parts may be concatenated in a file.
std::string summary_text(const valsort_summary& summary);
/// The summaries in a text of such lines, in their order; an error names the bad line.
base::result<std::vector<valsort_summary>> parse_summaries(const std::string& text);

}  // namespace isotherm::lab
