#include "sort/split/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "sort/scan/each_record.hpp"
#include "sort/scan/record_blocks.hpp"

namespace isotherm::sort {

void record_copies::add(const record_in_memory& r) {
  std::vector<std::byte>& copy = memory_.emplace_back(r.room());
  const std::uint64_t key_at =
      r.is_key_made() ? r.bytes : static_cast<std::uint64_t>(r.key_first - r.first);
  std::memcpy(copy.data(), r.first, r.bytes);
  std::memcpy(copy.data() + key_at, r.key_first, r.key_bytes);
  record_in_memory mine = r;
  mine.first = copy.data();
  mine.key_first = copy.data() + key_at;
  records_.push_back(mine);
  bytes_ += copy.size() + sizeof mine + sizeof copy;
}

void record_copies::sort(const record_layout& layout) {
  std::ranges::sort(records_, [&](const record_in_memory& a, const record_in_memory& b) {
    return comes_before(layout, a, b);
  });
}

namespace {

/// Collects records within a bounded memory.
class collector {
 public:
  collector(const context& ctx, std::uint64_t room_bytes) : ctx_(ctx), room_(room_bytes) {}

  void add(const record_in_memory& r) {
    if (copies_.bytes() + r.room() <= room_) return copies_.add(r);
    ctx_.job.fail({fmt::format("the sample takes more than {} MiB: ask for fewer records, or give "
                               "more --memory",
                               room_ >> 20),
                   0});
  }
  /// Calls see(record, offset of the record in the input) for all records from `begin` on, in their
  /// order.
  template <class See>
  void walk(const See& see) {
    record_blocks blocks(ctx_, kThreadScratchBytes, room_);
    std::vector<std::byte> room;
    for (auto b = blocks.next(room); !b.bytes.empty(); b = blocks.next(room)) {
      each_record(ctx_, b, [&](const record_in_memory& r) {
        see(r, b.offset + static_cast<std::uint64_t>(r.first - b.bytes.data()));
      });
    }
    if (!ctx_.job.stopped() && !blocks.read_all()) ctx_.job.fail(blocks.unread());
  }
  /// Adds the record at [begin, end) of the input.
  void read(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::byte> bytes(end - begin);
    if (!ctx_.job.keep(ctx_.input.handle().read(bytes, begin))) return;
    const bool lines = ctx_.job.options.format == record_format::lines;
    if (lines && bytes.back() != static_cast<std::byte>(ctx_.job.options.line_end)) {
      bytes.push_back(static_cast<std::byte>(ctx_.job.options.line_end));
    }
    each_record(ctx_, {begin, end, bytes}, [&](const record_in_memory& r) { add(r); });
  }
  record_copies take() { return std::move(copies_); }

 private:
  const context ctx_;
  const std::uint64_t room_;
  record_copies copies_;
};

/// Returns the place of the i-th of `n` records in `all`: they cut it into n + 1 even pieces, so
/// that a sample of what is in order already is its quantiles. The places differ if n <= all.
std::uint64_t even_place(std::uint64_t all, std::uint64_t n, std::uint64_t i) {
  return static_cast<std::uint64_t>(static_cast<__uint128_t>(all) * (i + 1) / (n + 1));
}

/// Adds the lines behind even places of the input.
void add_lines(const context& ctx, std::uint64_t wanted, std::uint64_t room_bytes, collector& to) {
  const std::uint64_t begin = ctx.plan.header_bytes;
  const std::uint64_t bytes = ctx.input.size() - begin;
  const std::uint64_t n = std::min(bytes, wanted);
  std::uint64_t line = 0;  // begin and end of the last line that was found
  std::uint64_t end = 0;
  const auto behind = [&](std::uint64_t from) {
    const auto found = behind_line(ctx, from, room_bytes);
    if (!found && !ctx.job.stopped()) {
      ctx.job.fail({fmt::format("the line at byte {} is longer than {} MiB: give more --memory",
                                from, room_bytes >> 20),
                    0});
    }
    return found.value_or(ctx.input.size());
  };
  for (std::uint64_t i = 0; i < n && !ctx.job.stopped(); ++i) {
    const std::uint64_t place = begin + even_place(bytes, n, i);
    if (end != 0 && place <= line) continue;  // in the long line in front of it
    line = place == begin ? begin : behind(place - 1);
    if (line == ctx.input.size()) return;
    if (line < end) continue;
    end = behind(line);
    if (!ctx.job.stopped()) to.read(line, end);
  }
}

}  // namespace

record_copies sample_of(const context& ctx, std::uint64_t wanted, std::uint64_t room_bytes) {
  collector to(ctx, room_bytes);
  const std::uint64_t begin = ctx.plan.header_bytes;
  const std::uint64_t bytes = ctx.input.size() - begin;
  const auto& o = ctx.job.options;
  if (o.format == record_format::fixed) {
    const std::uint64_t record = o.record_bytes;
    const std::uint64_t n = std::min(bytes / record, wanted);
    for (std::uint64_t i = 0; i < n && !ctx.job.stopped(); ++i) {
      const std::uint64_t number = even_place(bytes / record, n, i);
      to.read(number * record, (number + 1) * record);
    }
  } else if (o.format == record_format::lines && !o.csv) {
    add_lines(ctx, wanted, room_bytes, to);
  } else {
    std::uint64_t i = 0;
    to.walk([&](const record_in_memory& r, std::uint64_t offset) {
      const auto is_behind = [&] {
        return i == wanted || begin + even_place(bytes, wanted, i) >= offset + r.bytes;
      };
      if (ctx.job.stopped() || is_behind()) return;
      to.add(r);
      while (!is_behind()) ++i;
    });
  }
  record_copies found = to.take();
  found.sort(ctx.layout);
  return found;
}

record_copies all_records(const context& ctx, std::uint64_t room_bytes) {
  collector to(ctx, room_bytes);
  to.walk([&](const record_in_memory& r, std::uint64_t) {
    if (!ctx.job.stopped()) to.add(r);
  });
  return to.take();
}

}  // namespace isotherm::sort
