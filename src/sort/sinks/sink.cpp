#include "sort/sinks/sink.hpp"

#include <algorithm>

#include "sort/output.hpp"
#include "sort/runs/key_slots.hpp"
#include "sort/sinks/count.hpp"

namespace isotherm::sort {
namespace {

/// Records, without those that --unique and --top leave out.
class selection final : public sink {
 public:
  selection(job& j, const plan& p, const source& in, const record_layout& layout,
            const device::file& out, sort_stage write_stage)
      : same_(j, p, in, layout, sort_stage::record_read),
        out_(j, p, in, layout, out, write_stage),
        unique_(j.options.unique && write_stage == sort_stage::merge_write),
        top_(j.options.top) {}

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
    for (std::size_t at = 0; at < entries.size(); at += equal_keys::kMost) {
      const auto some = entries.subspan(at, std::min(equal_keys::kMost, entries.size() - at));
      const std::vector<bool>& same = same_.find(some);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (!same[i]) entries[kept++] = some[i];
      }
    }
    return kept;
  }

  equal_keys same_;
  output out_;
  bool unique_;  // equal keys may come: a single run has each key once
  std::uint64_t top_;
};

}  // namespace

std::unique_ptr<sink> make_sink(job& j, const plan& p, const source& in,
                                const record_layout& layout, const device::file& out,
                                sort_stage write_stage, std::uint64_t records) {
  if (j.options.count) {
    return std::make_unique<group_counter>(j, p, in, layout, out, write_stage, records);
  }
  return std::make_unique<selection>(j, p, in, layout, out, write_stage);
}

}  // namespace isotherm::sort
