// The files in which isotherm pages leaves an observation.
#pragma once

#include "cli/pages/arguments.hpp"
#include "cli/report_file.hpp"

namespace isotherm::cli {

/// Made before the observation begins: fails the command where a file cannot be written.
class result_files {
 public:
  /// `a` outlives it.
  explicit result_files(const pages_arguments& a);
  /// Once. Fails the command where a file cannot be written, or a picture has nothing to show.
  void write(const pages::observation& seen);

 private:
  const pages_arguments& asked_;
  report_file json_, picture_, heat_map_;
};

}  // namespace isotherm::cli
