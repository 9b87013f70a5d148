// Late materialisation: the values of entries are read only when the final order is known, each
// once. They are read at random, from memory or by calls; by scans; or not at all, where the
// entries hold whole records.
#pragma once

#include "device/stream.hpp"
#include "sort/output/batch.hpp"

namespace isotherm::sort {

class gatherer {
 public:
  explicit gatherer(const context& ctx) : ctx_(ctx) {}

  /// Puts the batch's records at `target`, with all threads, and may overwrite its entries. Errors
  /// become the job's, here and below.
  void gather(const batch& b, std::byte* target);
  /// Puts records [begin, end) of the batch at `target`, on this thread, and charges `stream`.
  void gather_slice(const batch& b, std::size_t begin, std::size_t end, std::byte* target,
                    device::stream& stream);
  /// Puts a record, or a part of one, at `target`.
  void put(const extent& record, std::byte* target);

 private:
  void by_scan(const batch& b, std::byte* target);
  void copy_fixed(const batch& b, std::size_t begin, std::size_t end, std::byte* target) const;
  void put_keys(std::span<const entry> some, std::byte* target) const;

  const context ctx_;
};

}  // namespace isotherm::sort
