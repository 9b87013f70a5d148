#include "sort/output/sink.hpp"

#include <algorithm>
#include <optional>

#include "sort/output/count.hpp"
#include "sort/output/output.hpp"
#include "sort/runs/key_reads.hpp"

namespace isotherm::sort {
namespace {

/// Writes records, except those that --unique and --top leave out.
class selection final : public sink {
 public:
  selection(const context& ctx, const os::file& out, sort_stage write_stage)
      : keys_(ctx, sort_stage::record_read),
        out_(ctx, out, write_stage),
        unique_(ctx.job.options.unique && write_stage == sort_stage::merge_write),
        top_(ctx.job.options.top) {}

  bool reserve() override { return out_.reserve(); }
  void take(std::span<entry> entries) override {
    if (unique_) entries = entries.first(distinct(entries));
    if (top_ != 0) entries = entries.first(std::min(entries.size(), top_ - out_.records()));
    out_.emit(entries);
  }
  bool full() const noexcept override { return top_ != 0 && out_.records() >= top_; }
  void finish(outcome& o) override {
    out_.finish();
    o.records_written = out_.records();
    o.bytes_written = out_.bytes();
  }

 private:
  std::size_t distinct(std::span<entry> entries) {
    std::size_t kept = 0;
    for (const entry e : entries) {
      if (last_ && keys_.same(*last_, e)) continue;
      last_ = entries[kept++] = e;
    }
    return kept;
  }

  key_reads keys_;
  std::optional<entry> last_;  // of those kept
  output out_;
  bool unique_;  // equal keys may come; a single run has each key once
  std::uint64_t top_;
};

}  // namespace

std::unique_ptr<sink> make_sink(const context& ctx, const os::file& out, sort_stage write_stage,
                                std::uint64_t records) {
  if (ctx.job.options.count) {
    return std::make_unique<group_counter>(ctx, out, write_stage, records);
  }
  return std::make_unique<selection>(ctx, out, write_stage);
}

}  // namespace isotherm::sort
