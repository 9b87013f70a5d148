// Records of any size are found only from the front. The scan that compares neighbours therefore
// leaves marks; an input that is the wrong way round is copied from its end, a buffer at a time, in
// which all threads turn the pieces between marks round, each in its place.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "device/buffer.hpp"
#include "sort/index_sort/presorted.hpp"
#include "sort/loader.hpp"
#include "sort/output.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kFirstLook = 64;  // records: most inputs show here that they have no order
constexpr std::size_t kBatch = 32768;
constexpr std::size_t kAhead = 256 << 10;
constexpr std::size_t kNoLength = std::size_t{1} << 62;  // a record that is cut
constexpr std::uint64_t kSmallPiece = 128 << 10;
constexpr std::uint64_t kLengthField = 4;  // klv

struct scan_result {
  bool rising = true;   // each record goes before the next
  bool falling = true;  // each record goes behind the next
  std::uint64_t records = 0;
  std::vector<std::uint64_t> marks;  // beginnings of records; pieces between them are at most
                                     // piece_bytes(), or one record
};

/// Small, so that a buffer has pieces for all threads, but not so that there are ever many marks.
std::uint64_t piece_bytes(const plan& p, const source& in) {
  constexpr std::uint64_t kMostMarks = 65536;
  return std::min<std::uint64_t>(p.output_buffer_bytes,
                                 std::max(kSmallPiece, in.size() / kMostMarks));
}

scan_result scan(job& j, const plan& p, const source& in, const record_layout& layout) {
  scan_result r;
  loader load(j, p, in, layout);
  source_view view(j, in, kAhead);
  std::vector<entry> entries(kBatch);
  entry last = 0;
  std::size_t look = kFirstLook;
  const std::uint64_t piece = piece_bytes(p, in);
  while (!load.at_end() && !j.stopped() && (r.rising || r.falling)) {
    const std::size_t n = load.load(std::span(entries).first(look));
    look = kBatch;
    const stage_timer timer(j, sort_stage::run_read);
    for (std::size_t i = 0; i < n && (r.rising || r.falling); ++i, ++r.records) {
      if (r.records > 0) {
        const int order = layout.compare(last, entries[i], view);
        r.rising = r.rising && order < 0;
        r.falling = r.falling && order > 0;
      }
      last = entries[i];
      const extent x = layout.locate(last, view);
      if (r.marks.empty() || x.offset + x.bytes - r.marks.back() > piece) {
        r.marks.push_back(x.offset);
      }
    }
  }
  if (j.emulation == nullptr) j.count(sort_stage::run_read, view.fetched(), 0);
  return r;
}

/// Length of the record at the front of `bytes`, the newline that a last line may lack included;
/// more than there is if somebody has changed the input since it was scanned.
std::size_t length_of(std::span<const std::byte> bytes, const job& j, const record_layout& layout) {
  if (j.options.format == record_format::klv) {
    if (bytes.size() < layout.key_bytes() + kLengthField) return kNoLength;
    return layout.key_bytes() + kLengthField + klv_length(&bytes[layout.key_bytes()]);
  }
  const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
  if (newline == nullptr) return bytes.size() + 1;
  return static_cast<std::size_t>(static_cast<const std::byte*>(newline) - bytes.data()) + 1;
}

/// Whether the input's last line has no newline.
bool lacks_newline(job& j, const source& in) {
  if (j.options.format != record_format::lines || in.size() == 0) return false;
  source_view view(j, in);
  const std::byte* last = view.bytes(in.size() - 1, 1);
  return last != nullptr && *last != std::byte{'\n'};
}

void write_newline(job& j, const plan& p, const device::file& out, std::uint64_t offset) {
  const std::byte newline{'\n'};
  pooled_write(j, p.write_threads, out, {&newline, 1}, offset, sort_stage::copy);
}

class backwards_copy {
 public:
  backwards_copy(job& j, const plan& p, const source& in, const record_layout& layout,
                 const device::file& out)
      : job_(j), plan_(p), in_(in), layout_(layout), out_(out) {}

  /// Returns the bytes written.
  std::uint64_t run(const std::vector<std::uint64_t>& marks) {
    const stage_timer timer(job_, sort_stage::copy);
    auto from = device::buffer::reserve(plan_.output_buffer_bytes);
    auto to = device::buffer::reserve(plan_.output_buffer_bytes);
    if (!job_.keep(from) || !job_.keep(to)) return 0;
    newline_ = lacks_newline(job_, in_);
    std::uint64_t end = in_.size();
    for (std::size_t last = marks.size(); last > 0 && !job_.stopped();) {
      const bool newline = newline_ && end == in_.size();
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
      job_.progress(sort_stage::copy, written_, in_.size());
    }
    return written_;
  }

 private:
  /// The pieces that begin at `marks`, up to `end`. The first of them is the last to be written.
  void turn_round(std::span<const std::uint64_t> marks, std::uint64_t end,
                  const device::buffer& from, const device::buffer& to) {
    const std::uint64_t begin = marks.front();
    const std::uint64_t length = end - begin + (newline_ && end == in_.size());
    const auto threads =
        static_cast<unsigned>(std::min<std::size_t>(plan_.read_threads, marks.size()));
    base::atomic<std::size_t> next{0};
    std::optional<device::crew> crew(std::in_place, job_.emulation, device::access::sequential_read,
                                     threads);
    job_.readers.run(threads, [&](unsigned) {
      device::stream stream(*crew);
      for (std::size_t i; (i = next.fetch_add_relaxed(1)) < marks.size() && !job_.stopped();) {
        const std::uint64_t stop = i + 1 < marks.size() ? marks[i + 1] : end;
        const std::span<std::byte> bytes(from.data() + (marks[i] - begin), stop - marks[i]);
        stream.begin();
        if (!job_.keep(in_.handle().read(bytes, marks[i]))) return;
        turn_piece(bytes, to.data() + (length - (marks[i] - begin)),
                   newline_ && stop == in_.size());
        stream.charge(1, bytes.size());
        job_.count(sort_stage::copy, bytes.size(), 0);
      }
    });
    crew.reset();  // what is written hinders no reads
    if (job_.stopped()) return;
    pooled_write(job_, plan_.write_threads, out_, {to.data(), length}, written_, sort_stage::copy);
    written_ += length;
  }

  /// Copies the records of `bytes`, the first of them to where `end` is behind it. If `newline`,
  /// the last of them lacks its own.
  void turn_piece(std::span<const std::byte> bytes, std::byte* end, bool newline) {
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t n = length_of(bytes.subspan(done), job_, layout_);
      const std::size_t there = std::min(n, bytes.size() - done);
      if (n - there > newline) {
        return job_.fail(
            {"the input changed while it was sorted: sort it when nobody writes "
             "to it",
             0});
      }
      end -= n;
      std::memcpy(end, &bytes[done], there);
      if (there < n) end[there] = std::byte{'\n'};
      done += there;
    }
  }

  /// A record larger than a buffer, piece by piece.
  void copy_one(std::uint64_t begin, std::uint64_t end, bool newline,
                const device::buffer& buffer) {
    for (std::uint64_t at = begin; at < end && !job_.stopped(); at += buffer.size()) {
      const std::span<std::byte> piece(buffer.data(),
                                       std::min<std::uint64_t>(buffer.size(), end - at));
      pooled_read(job_, plan_.read_threads, in_.handle(), piece, at, sort_stage::copy);
      if (job_.stopped()) return;
      pooled_write(job_, plan_.write_threads, out_, piece, written_, sort_stage::copy);
      written_ += piece.size();
    }
    if (newline) write_newline(job_, plan_, out_, written_++);
  }

  job& job_;
  const plan& plan_;
  const source& in_;
  const record_layout& layout_;
  const device::file& out_;
  bool newline_ = false;  // the input's last line lacks its own
  std::uint64_t written_ = 0;
};

}  // namespace

bool copy_presorted_variable(job& j, const plan& p, const source& in, const record_layout& layout,
                             const device::file& out, outcome& o) {
  const scan_result found = scan(j, p, in, layout);
  if (j.stopped() || (!found.rising && !found.falling)) return false;
  o.copied = found.rising ? kCopied : kCopiedBackwards;
  o.records = o.records_written = found.records;
  if (found.rising) {
    copy_input(j, p, in, out);
    o.bytes_written = in.size();
    if (lacks_newline(j, in)) write_newline(j, p, out, o.bytes_written++);
  } else {
    o.bytes_written = backwards_copy(j, p, in, layout, out).run(found.marks);
  }
  return true;
}

}  // namespace isotherm::sort
