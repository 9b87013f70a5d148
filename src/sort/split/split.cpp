#include "sort/split/split.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/atomic.hpp"
#include "sort/scan/each_record.hpp"
#include "sort/scan/record_blocks.hpp"

namespace isotherm::sort {
namespace {

/// Puts the records of blocks together by their parts. Owned by one thread.
class block_divider {
 public:
  block_divider(const context& ctx, const boundaries& between, double place_begin, double place_end)
      : ctx_(ctx),
        between_(between),
        place_begin_(place_begin),
        place_per_byte_((place_end - place_begin) /
                        static_cast<double>(std::max<std::uint64_t>(1, ctx.input.size()))) {}

  /// Divides the records of `b`, whose bytes must stay valid; the groups of the parts are valid
  /// until the next call. Returns the number of records.
  std::uint64_t divide(const record_blocks::block& b, std::span<part_files::group> groups) {
    found_.clear();
    begins_.assign(groups.size() + 1, 0);
    for (auto& group : groups) group.records = 0;
    const std::uint64_t n = each_record(ctx_, b, [&](const record_in_memory& r) {
      const auto offset = b.offset + static_cast<std::uint64_t>(r.first - b.bytes.data());
      const double place = place_begin_ + place_per_byte_ * static_cast<double>(offset);
      const std::uint64_t part = between_.part_of(r, place);
      found_.push_back({static_cast<std::uint32_t>(part), r.bytes});
      begins_[part + 1] += r.bytes;
      ++groups[part].records;
    });
    move_together(b.bytes, groups);
    return n;
  }

 private:
  struct found {
    std::uint32_t part, bytes;  // of a record
  };

  void move_together(std::span<const std::byte> from, std::span<part_files::group> groups) {
    for (std::size_t p = 1; p < begins_.size(); ++p) begins_[p] += begins_[p - 1];
    if (together_.size() < from.size()) together_.resize(from.size());
    for (std::size_t p = 0; p < groups.size(); ++p) {
      groups[p].bytes = std::span(together_).subspan(begins_[p], begins_[p + 1] - begins_[p]);
    }
    const std::byte* at = from.data();
    for (const found& r : found_) {
      std::memcpy(together_.data() + begins_[r.part], at, r.bytes);
      begins_[r.part] += r.bytes;
      at += r.bytes;
    }
  }

  const context ctx_;
  const boundaries& between_;
  const double place_begin_;
  const double place_per_byte_;
  std::vector<found> found_;           // in the order of the input
  std::vector<std::uint64_t> begins_;  // of the parts in together_; then ends of what is there
  std::vector<std::byte> together_;
};

}  // namespace

std::uint64_t split(const context& ctx, const boundaries& between, double place_begin,
                    double place_end, part_files& to) {
  constexpr std::uint64_t kMostUsual = 1 << 20;
  // A block of the shortest records takes ten times its size: it, its records by part, and the part
  // and size of each.
  constexpr std::uint64_t kTimes = 10;
  const unsigned threads = ctx.plan.read_threads;
  const std::uint64_t each = ctx.plan.room_bytes / threads;
  record_blocks blocks(ctx, std::clamp(each / kTimes, std::uint64_t{4096}, kMostUsual), each / 3);
  base::atomic<std::uint64_t> records{0};
  const stage_timer timer(ctx.job, sort_stage::run_read);
  ctx.job.readers.run(threads, [&](unsigned) {
    ctx.job.guard([&] {
      block_divider divider(ctx, between, place_begin, place_end);
      std::vector<part_files::group> groups(between.size() + 1);
      std::vector<std::byte> room;
      for (auto b = blocks.next(room); !b.bytes.empty(); b = blocks.next(room)) {
        records.fetch_add_relaxed(divider.divide(b, groups));
        to.append(ctx.job, b, groups);
      }
    });
    to.leave();
  });
  if (!ctx.job.stopped() && !blocks.read_all()) ctx.job.fail(blocks.unread());
  return records.load_relaxed();
}

}  // namespace isotherm::sort
