// The run phase's reading: fills the index map from the input, from keys alone or from whole
// records.
#pragma once

#include "sort/job.hpp"
#include "sort/plan.hpp"
#include "sort/records.hpp"

namespace isotherm::sort {

/// Reads the input's entries, one index map's worth after the other.
class loader {
 public:
  loader(job& j, const plan& p, const source& in, const record_layout& layout)
      : job_(j), plan_(p), in_(in), layout_(layout) {}

  /// Fills the front of `target` with the next entries, in input order; returns how many. 0 at the
  /// end of the input, or on an error, which is the job's.
  std::size_t load(std::span<entry> target);
  bool at_end() const noexcept { return at_ >= in_.size(); }
  std::uint64_t records() const noexcept { return records_; }

 private:
  std::size_t load_fixed(std::span<entry> target);
  std::size_t load_klv(std::span<entry> target);
  std::size_t load_lines(std::span<entry> target);
  std::size_t finish_line(std::uint64_t start, std::uint64_t end, entry& target);

  job& job_;
  const plan& plan_;
  const source& in_;
  const record_layout& layout_;
  std::uint64_t at_ = 0;  // offset of the next record
  std::uint64_t records_ = 0;
};

}  // namespace isotherm::sort
