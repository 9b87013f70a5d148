// Comparing entries of an index map that may not hold their whole keys.
#pragma once

#include "device/stream.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Compares entries, and reads their keys where they do not decide, by one thread. Charges the
/// emulated device for that.
class key_reads {
 public:
  /// The arguments must outlive it. Reads are counted for `stage`.
  key_reads(const context& ctx, sort_stage stage)
      : ctx_(ctx), stage_(stage), view_(ctx.job, ctx.input) {}
  ~key_reads() { ctx_.job.count(stage_, read_, 0); }
  key_reads(const key_reads&) = delete;
  key_reads& operator=(const key_reads&) = delete;

  /// Negative, 0 (the same record) or positive.
  int compare(entry a, entry b) {
    charge(a, b);
    return ctx_.layout.compare(a, b, view_);
  }
  /// Whether the keys are equal.
  bool same(entry a, entry b) {
    charge(a, b);
    return ctx_.layout.same_key(a, b, view_);
  }

 private:
  void charge(entry a, entry b) {
    const entry_layout& l = ctx_.layout.entries();
    if (l.key(a) != l.key(b) || !ctx_.layout.undecided(a)) return;
    constexpr std::uint64_t kOfLine = 256;  // bytes read first
    const std::uint64_t each =
        ctx_.job.options.format == record_format::lines ? kOfLine : ctx_.layout.key_bytes();
    device::stream(ctx_.job.emulation, device::access::random_read).touched(2, each);
    read_ += 2 * each;
  }

  const context ctx_;
  const sort_stage stage_;
  source_view view_;
  std::uint64_t read_ = 0;
};

}  // namespace isotherm::sort
