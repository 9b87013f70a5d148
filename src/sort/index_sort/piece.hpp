// Fixed records in memory: as many as fit are read, sorted and written together, by all threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Room for `plan.part_records` records. Used by the thread that leads the sort; errors become the
/// job's.
class piece {
 public:
  explicit piece(const context& ctx) : ctx_(ctx), record_(ctx.layout.record_bytes()) {}
  virtual ~piece() = default;

  /// Allocates the memory for `records`; false after an error.
  virtual bool reserve(std::uint64_t records) = 0;
  /// Reads `count` records of `from`, beginning with number `first`, to the positions from `at` on.
  virtual void read(const os::file& from, std::uint64_t first, std::uint64_t at,
                    std::uint64_t count, sort_stage stage) = 0;
  /// Sorts the records at the first `count` positions; those with equal keys keep their order.
  virtual void sort(std::uint64_t count, sort_stage stage) = 0;
  /// Writes the first `count` sorted records to `to`, beginning with number `first`.
  virtual void write(const os::file& to, std::uint64_t first, std::uint64_t count,
                     sort_stage stage) = 0;

 protected:
  /// Returns how many threads may write to a file at the same time.
  unsigned writers(const os::file& to) const noexcept {
    return to.is_in_order() ? 1 : ctx_.plan.write_threads;
  }
  using share_work = std::function<void(std::uint64_t first, std::span<std::byte> bytes)>;
  /// Calls `work(first, bytes)` for small shares of `records` records, on all threads: `first` is
  /// the number of a share's first record, `bytes` a buffer of its size.
  void by_shares(os::thread_pool& pool, unsigned threads, std::uint64_t records,
                 const share_work& work);

  const context ctx_;
  const std::uint64_t record_;  // bytes
};

/// Makes the piece for the records of `ctx`: of integers, if they are keys of at most 8 bytes and
/// nothing else, or of entries that point to records.
std::unique_ptr<piece> make_piece(const context& ctx);

}  // namespace isotherm::sort
