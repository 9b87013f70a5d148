#include "sort/runs.hpp"

#include <algorithm>
#include <limits>

#include "sort/algorithms/loser_tree.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kLeastReadBuffer = 64 << 10;
constexpr std::size_t kSlack = 16;  // pack() and unpack() touch 16 bytes
constexpr std::size_t kIoStep = 1 << 20;

/// The unread rest of one run and what of it is in memory.
struct cursor {
  std::uint64_t offset;  // of the next bytes to read
  std::uint64_t left;    // entries not yet in memory
  std::span<std::byte> buffer;
  std::size_t at = 0;   // byte of the head in the buffer
  std::size_t end = 0;  // bytes in the buffer
  entry head = 0;
  bool exhausted = false;
};

}  // namespace

void pooled_read(job& j, unsigned threads, const device::file& f, std::span<std::byte> target,
                 std::uint64_t offset, sort_stage stage) {
  const unsigned useful =
      static_cast<unsigned>(std::clamp<std::size_t>(target.size() >> 14, 1, threads));
  j.readers.run(useful, [&](unsigned t) {
    device::stream stream(j.emulation, device::access::sequential_read);
    const auto [begin, end] = device::part_of(target.size(), useful, t);
    for (std::size_t at = begin; at < end && !j.stopped(); at += kIoStep) {
      const std::size_t n = std::min<std::size_t>(kIoStep, end - at);
      stream.begin();
      if (!j.keep(f.read(target.subspan(at, n), offset + at))) return;
      stream.charge(1, n);
    }
  });
  j.count(stage, target.size(), 0);
}

void pooled_write(job& j, unsigned threads, const device::file& f, std::span<const std::byte> bytes,
                  std::uint64_t offset, sort_stage stage) {
  j.writers.run(threads, [&](unsigned t) {
    device::stream stream(j.emulation, device::access::write);
    const auto [begin, end] = device::part_of(bytes.size(), threads, t);
    for (std::size_t at = begin; at < end && !j.stopped(); at += kIoStep) {
      const std::size_t n = std::min<std::size_t>(kIoStep, end - at);
      stream.begin();
      if (!j.keep(f.write(bytes.subspan(at, n), offset + at))) return;
      stream.charge(1, n);
    }
  });
  j.count(stage, 0, bytes.size());
}

bool run_file::create(const std::string& directory) {
  auto f = device::file::unnamed(directory);
  if (!job_.keep(f)) return false;
  file_ = std::move(*f);
  return true;
}

void run_file::write_packed(std::span<const entry> sorted, std::uint64_t offset) {
  const stage_timer timer(job_, sort_stage::run_write);
  const unsigned packed = layout_.entries().packed_bytes();
  const unsigned threads = plan_.write_threads;
  const std::size_t step = kThreadScratchBytes / packed;
  job_.writers.run(threads, [&](unsigned t) {
    std::vector<std::byte> bytes(step * packed + kSlack);
    device::stream stream(job_.emulation, device::access::write);
    const auto [begin, end] = device::part_of(sorted.size(), threads, t);
    for (std::size_t at = begin; at < end && !job_.stopped(); at += step) {
      const std::size_t n = std::min<std::size_t>(step, end - at);
      for (std::size_t i = 0; i < n; ++i) {
        pack(layout_.entries(), sorted[at + i], bytes.data() + i * packed);
      }
      stream.begin();
      if (!job_.keep(file_.write({bytes.data(), n * packed}, offset + at * packed))) return;
      stream.charge(1, n * packed);
    }
  });
  job_.count(sort_stage::run_write, 0, sorted.size() * packed);
}

void run_file::append(std::span<const entry> sorted) {
  write_packed(sorted, end_);
  runs_.push_back({end_, sorted.size()});
  end_ += sorted.size() * layout_.entries().packed_bytes();
  ++written_;
}

void run_file::merge_some(std::span<const run> some, std::span<std::byte> buffer, const source& in,
                          std::span<entry> piece,
                          const std::function<void(std::span<entry>)>& take) {
  const unsigned packed = layout_.entries().packed_bytes();
  const std::size_t share = (buffer.size() / some.size() - kSlack) / packed * packed;
  std::vector<cursor> cursors;
  for (std::size_t i = 0; i < some.size(); ++i) {
    cursors.push_back(
        {some[i].offset, some[i].entries, buffer.subspan(i * (share + kSlack), share + kSlack)});
  }
  const auto advance = [&](cursor& c) {
    if (c.at == c.end) {
      const std::size_t n = std::min<std::uint64_t>(c.left, share / packed);
      if (n == 0 || job_.stopped()) {
        c.exhausted = true;
        return;
      }
      const stage_timer timer(job_, sort_stage::merge_read, sort_stage::merge_other);
      pooled_read(job_, plan_.read_threads, file_, c.buffer.first(n * packed), c.offset,
                  sort_stage::merge_read);
      c.offset += n * packed;
      c.left -= n;
      c.at = 0;
      c.end = n * packed;
    }
    c.head = unpack(layout_.entries(), &c.buffer[c.at]);
    c.at += packed;
  };
  {
    const stage_timer timer(job_, sort_stage::merge_other);
    for (auto& c : cursors) advance(c);
  }
  source_view view(job_, in);
  loser_tree tree(cursors.size(), [&](std::size_t a, std::size_t b) {
    if (cursors[a].exhausted) return false;
    if (cursors[b].exhausted) return true;
    return layout_.compare(cursors[a].head, cursors[b].head, view) < 0;
  });
  while (!job_.stopped()) {
    std::size_t n = 0;
    {
      const stage_timer timer(job_, sort_stage::merge_other);
      for (; n < piece.size() && !cursors[tree.winner()].exhausted; ++n) {
        cursor& c = cursors[tree.winner()];
        piece[n] = c.head;
        advance(c);
        tree.replay();
      }
    }
    if (n == 0) return;
    take(piece.first(n));
  }
}

void run_file::reduce(std::span<std::byte> buffer, const source& in) {
  const std::size_t fan_in = std::max<std::size_t>(2, buffer.size() / 2 / kLeastReadBuffer);
  auto piece_buffer = device::buffer::reserve(std::min<std::size_t>(buffer.size() / 4, 4 << 20));
  if (!job_.keep(piece_buffer)) return;
  const auto room = buffer.first(buffer.size() / 4 * 3);
  while (runs_.size() > fan_in && !job_.stopped()) {
    // The oldest runs first; what they become is appended, so levels stay balanced.
    const std::vector<run> some(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(fan_in));
    run merged{end_, 0};
    merge_some(some, room, in, piece_buffer->as<entry>(), [&](std::span<entry> sorted) {
      write_packed(sorted, end_);
      end_ += sorted.size() * layout_.entries().packed_bytes();
      merged.entries += sorted.size();
    });
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(fan_in));
    runs_.push_back(merged);
    ++written_;
  }
}

void run_file::merge(std::span<std::byte> buffer, const source& in, std::span<entry> piece,
                     const std::function<void(std::span<entry>)>& take) {
  if (runs_.empty()) return;
  merge_some(runs_, buffer, in, piece, take);
}

}  // namespace isotherm::sort
