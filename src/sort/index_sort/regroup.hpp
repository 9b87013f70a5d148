// Regrouping short klv records and lines of an input that memory cannot map: a read by call for
// each key to be compared, and for each record, would cost more than moving all records. The input
// is read in pieces that fit in memory; each is sorted there and written to a file, and the entries
// of its run point into that file. Merges then read records in the order in which they lie.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "sort/output/output.hpp"

namespace isotherm::sort {

class regrouping {
 public:
  /// The arguments must outlive it. Does nothing unless planned().
  explicit regrouping(const context& ctx) : ctx_(ctx) {}
  ~regrouping() { ctx_.input.hold({}, 0); }
  regrouping(const regrouping&) = delete;
  regrouping& operator=(const regrouping&) = delete;

  bool planned() const noexcept { return ctx_.plan.regroup_bytes != 0; }
  /// Reads the piece of the input that begins at `offset` into memory. Returns the piece's end; the
  /// input's end if nothing is planned.
  std::uint64_t hold(std::uint64_t offset);
  /// Writes the records of `sorted` to a file in `directory`, and points the entries there.
  void write(std::span<entry> sorted, const std::string& directory);
  /// Frees the memory. Returns the file with all that was written, which must not outlive this
  /// object; the input itself if nothing was written.
  source& finish();

 private:
  const context ctx_;
  os::buffer piece_;
  os::file file_;
  std::optional<output> out_;
  std::vector<extent> long_;  // records in the file whose entries lack room for their lengths
  std::optional<source> written_;
};

}  // namespace isotherm::sort
