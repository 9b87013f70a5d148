// Klv records and lines can be found only from the front. The scan that compares neighbours
// therefore keeps marks, offsets at which records begin. An input in reverse order is copied from
// its end, one buffer at a time; all threads reverse the pieces between marks, each into its place.
#include "sort/index_sort/presorted_variable.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "device/stream.hpp"
#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "sort/index_sort/presorted.hpp"
#include "sort/keys/record_ends.hpp"
#include "sort/output/copy.hpp"
#include "sort/runs/loader.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kFirstLook = 64;  // records; most inputs show here that they are in no order
constexpr std::size_t kBatch = 32768;
constexpr std::size_t kAhead = 256 << 10;
constexpr std::size_t kNoLength = std::size_t{1} << 62;  // of a record that is cut
constexpr std::uint64_t kSmallPiece = 128 << 10;
constexpr std::uint64_t kLengthField = 4;  // klv

struct scan_result {
  bool rising = true;   // each record goes before the next
  bool falling = true;  // each record goes after the next
  std::uint64_t records = 0;
  std::vector<std::uint64_t> marks;  // offsets of records; a piece between two of them has at most
                                     // piece_bytes(), or one record
};

/// Small, so that a buffer has pieces for all threads, but so large that marks are never too many.
std::uint64_t piece_bytes(const context& ctx) {
  constexpr std::uint64_t kMostMarks = 65536;
  return std::min<std::uint64_t>(ctx.plan.output_buffer_bytes,
                                 std::max(kSmallPiece, ctx.input.size() / kMostMarks));
}

scan_result scan(const context& ctx) {
  scan_result r;
  loader load(ctx);
  source_view view(ctx.job, ctx.input, kAhead);
  std::vector<entry> entries(kBatch);
  entry last = 0;
  std::size_t look = kFirstLook;
  const std::uint64_t piece = piece_bytes(ctx);
  while (!load.at_end() && !ctx.job.stopped() && (r.rising || r.falling)) {
    const std::size_t n = load.load(std::span(entries).first(look));
    look = kBatch;
    const stage_timer timer(ctx.job, sort_stage::run_read);
    for (std::size_t i = 0; i < n && (r.rising || r.falling); ++i, ++r.records) {
      if (r.records > 0) {
        const int order = ctx.layout.compare(last, entries[i], view);
        r.rising = r.rising && order < 0;
        r.falling = r.falling && order > 0;
      }
      last = entries[i];
      const extent x = ctx.layout.locate(last, view);
      if (r.marks.empty() || x.offset + x.bytes - r.marks.back() > piece) {
        r.marks.push_back(x.offset);
      }
    }
  }
  if (ctx.job.emulation == nullptr) ctx.job.count(sort_stage::run_read, view.fetched(), 0);
  return r;
}

/// Length of the record at the front of `bytes`, including the newline that a last line may lack.
/// If the input has changed since the scan, the record may not fit into `bytes`.
std::size_t length_of(std::span<const std::byte> bytes, const context& ctx) {
  if (ctx.job.options.format == record_format::klv) {
    if (bytes.size() < ctx.layout.key_bytes() + kLengthField) return kNoLength;
    return ctx.layout.key_bytes() + kLengthField + klv_length(&bytes[ctx.layout.key_bytes()]);
  }
  const std::size_t found = record_ends(ctx.job.options).find(bytes);
  return found == 0 ? bytes.size() + 1 : found;
}

/// Whether the input's last line has no newline.
bool lacks_newline(const context& ctx) {
  if (ctx.job.options.format != record_format::lines || ctx.input.size() == 0) return false;
  source_view view(ctx.job, ctx.input);
  const std::byte* last = view.bytes(ctx.input.size() - 1, 1);
  return last != nullptr && *last != std::byte(ctx.job.options.line_end);
}

void write_newline(const context& ctx, const os::file& out, std::uint64_t offset) {
  const auto newline = static_cast<std::byte>(ctx.job.options.line_end);
  pooled_write(ctx, out, {&newline, 1}, offset, sort_stage::copy);
}

class backwards_copy {
 public:
  backwards_copy(const context& ctx, const os::file& out)
      : ctx_(ctx), out_(out), written_(ctx.plan.header_bytes) {}

  /// Returns the bytes written, the header included.
  std::uint64_t run(const std::vector<std::uint64_t>& marks) {
    const stage_timer timer(ctx_.job, sort_stage::copy);
    auto from = os::buffer::reserve(ctx_.plan.output_buffer_bytes);
    auto to = os::buffer::reserve(ctx_.plan.output_buffer_bytes);
    if (!ctx_.job.keep(from) || !ctx_.job.keep(to)) return 0;
    newline_ = lacks_newline(ctx_);
    std::uint64_t end = ctx_.input.size();
    for (std::size_t last = marks.size(); last > 0 && !ctx_.job.stopped();) {
      const bool newline = newline_ && end == ctx_.input.size();
      std::size_t first = last - 1;
      const auto bytes_from = [&](std::size_t i) { return end - marks[i] + newline; };
      if (bytes_from(first) > from->size()) {
        copy_one(marks[first], end, newline, *from);
      } else {
        while (first > 0 && bytes_from(first - 1) <= from->size()) --first;
        turn_round(std::span(marks).subspan(first, last - first), end, *from, *to);
      }
      last = first;
      end = marks[first];
      ctx_.job.progress(sort_stage::copy, written_, ctx_.input.size());
    }
    return written_;
  }

 private:
  /// Copies the pieces that begin at `marks`, up to offset `end`, in reverse order.
  void turn_round(std::span<const std::uint64_t> marks, std::uint64_t end, const os::buffer& from,
                  const os::buffer& to) {
    const std::uint64_t begin = marks.front();
    const std::uint64_t length = end - begin + (newline_ && end == ctx_.input.size());
    const auto threads =
        static_cast<unsigned>(std::min<std::size_t>(ctx_.plan.read_threads, marks.size()));
    base::atomic<std::size_t> next{0};
    std::optional<device::stream_group> group(std::in_place, ctx_.job.emulation,
                                              device::access::sequential_read, threads);
    ctx_.job.readers.run(threads, [&](unsigned) {
      device::stream stream(*group);
      for (std::size_t i; (i = next.fetch_add_relaxed(1)) < marks.size() && !ctx_.job.stopped();) {
        const std::uint64_t stop = i + 1 < marks.size() ? marks[i + 1] : end;
        const std::span<std::byte> bytes(from.data() + (marks[i] - begin), stop - marks[i]);
        if (!ctx_.job.keep(ctx_.input.handle().read(bytes, marks[i]))) return;
        turn_piece(bytes, to.data() + (length - (marks[i] - begin)),
                   newline_ && stop == ctx_.input.size());
        stream.touched(1, bytes.size());
        ctx_.job.count(sort_stage::copy, bytes.size(), 0);
      }
    });
    group.reset();  // nothing is read while this is written
    if (ctx_.job.stopped()) return;
    pooled_write(ctx_, out_, {to.data(), length}, written_, sort_stage::copy);
    written_ += length;
  }

  /// Copies the records of `bytes` in reverse order, so that the first one ends at `end`. If
  /// `newline`, the last one lacks its newline.
  void turn_piece(std::span<const std::byte> bytes, std::byte* end, bool newline) {
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t n = length_of(bytes.subspan(done), ctx_);
      const std::size_t there = std::min(n, bytes.size() - done);
      if (n - there > newline) {
        return ctx_.job.fail(
            {"the input changed while it was sorted: sort it when nobody writes "
             "to it",
             0});
      }
      end -= n;
      std::memcpy(end, &bytes[done], there);
      if (there < n) end[there] = std::byte(ctx_.job.options.line_end);
      done += there;
    }
  }

  /// Copies a record larger than a buffer, piece by piece.
  void copy_one(std::uint64_t begin, std::uint64_t end, bool newline, const os::buffer& buffer) {
    for (std::uint64_t at = begin; at < end && !ctx_.job.stopped(); at += buffer.size()) {
      const std::span<std::byte> piece(buffer.data(),
                                       std::min<std::uint64_t>(buffer.size(), end - at));
      pooled_read(ctx_, piece, at, sort_stage::copy);
      if (ctx_.job.stopped()) return;
      pooled_write(ctx_, out_, piece, written_, sort_stage::copy);
      written_ += piece.size();
    }
    if (newline) write_newline(ctx_, out_, written_++);
  }

  const context ctx_;
  const os::file& out_;
  bool newline_ = false;  // the input's last line lacks its newline
  std::uint64_t written_;
};

}  // namespace

bool copy_presorted_variable(const context& ctx, const os::file& out, outcome& o) {
  const scan_result found = scan(ctx);
  if (ctx.job.stopped() || (!found.rising && !found.falling)) return false;
  o.instead = found.rising ? kCopied : kCopiedBackwards;
  o.records = o.records_written = found.records;
  if (found.rising) {
    copy_input(ctx, out);
    const bool lacks = lacks_newline(ctx);
    const bool is_written = ctx.plan.header_bytes == ctx.input.size();  // behind the header
    if (lacks && !is_written) write_newline(ctx, out, ctx.input.size());
    o.bytes_written = ctx.input.size() + (lacks ? 1 : 0);
  } else {
    o.bytes_written = backwards_copy(ctx, out).run(found.marks);
  }
  return true;
}

}  // namespace isotherm::sort
