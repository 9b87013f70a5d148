// Short klv records and lines of an input that memory cannot map: a read by call for each key that
// must be looked at, and for each record, would cost more than to move them all. So the input is
// taken in pieces that fit in memory, each is sorted there and written anew, and the entries of its
// run point into what was written. What merges then look at lies in the order in which they do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/buffer.hpp"
#include "sort/output/output.hpp"

namespace isotherm::sort {

class regrouping {
 public:
  /// All that is passed must outlive it. Does nothing unless it is planned.
  explicit regrouping(const context& ctx) : ctx_(ctx) {}
  ~regrouping() { ctx_.input.hold({}, 0); }
  regrouping(const regrouping&) = delete;
  regrouping& operator=(const regrouping&) = delete;

  bool planned() const noexcept { return ctx_.plan.regroup_bytes != 0; }
  /// Reads the piece that begins at `offset` into memory. Returns where it ends: the input's end
  /// if nothing is planned.
  std::uint64_t hold(std::uint64_t offset);
  /// Writes the records of `sorted` to a file in `directory`, and lets the entries point there.
  void write(std::span<entry> sorted, const std::string& directory);
  /// The file with all that was written, and frees the memory; the input itself if nothing was. The
  /// object must outlive it.
  source& finish();

 private:
  const context ctx_;
  device::buffer piece_;
  device::file file_;
  std::optional<output> out_;
  std::vector<extent> long_;  // records in the file whose entries have no room for their lengths
  std::optional<source> written_;
};

}  // namespace isotherm::sort
