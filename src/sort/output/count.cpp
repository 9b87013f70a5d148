#include "sort/output/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

#include "device/stream.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kKeyPiece = 64 << 10;
constexpr std::uint64_t kProgressEntries = 1 << 16;

}  // namespace

bool group_counter::reserve() {
  auto b = os::buffer::reserve(ctx_.plan.output_buffer_bytes);
  if (!ctx_.job.keep(b)) return false;
  buffer_ = std::move(*b);
  return true;
}

bool group_counter::full() const noexcept {
  return ctx_.job.options.top != 0 && groups_ >= ctx_.job.options.top;
}

void group_counter::take(std::span<entry> sorted) {
  const entry_layout& l = ctx_.layout.entries();
  const bool dropped = stage_ == sort_stage::run_write;  // so are all but the first of a key
  for (const entry e : sorted) {
    if (++seen_ % kProgressEntries == 0) {
      ctx_.job.progress(stage_, seen_, records_);
      if (ctx_.job.stopped()) return;
    }
    if (dropped ? l.dropped(e) : count_ > 0 && keys_.same(first_, e)) {
      ++count_;
      continue;
    }
    if (count_ > 0) close_group();
    if (full() || ctx_.job.stopped()) return;
    first_ = e;
    count_ = 1;
  }
}

void group_counter::close_group() {
  const bool is_text = ctx_.job.options.format == record_format::lines;
  if (is_text) {
    const std::string head = fmt::format("{}{}", count_, ctx_.layout.count_end());
    append(std::as_bytes(std::span(head)));
  }
  if (const auto key = ctx_.layout.whole_key(first_)) {
    append(std::span(key->bytes).first(key->size));
  } else {
    const record_key text = ctx_.layout.key_text(first_, view_);
    for (std::uint64_t done = 0; done < text.size() && !ctx_.job.stopped(); done += kKeyPiece) {
      const std::size_t n = std::min<std::uint64_t>(kKeyPiece, text.size() - done);
      const std::byte* bytes = text.bytes(view_, done, n);
      if (bytes == nullptr) return;
      append({bytes, n});
    }
    ctx_.job.count(sort_stage::record_read, text.size(), 0);
    ++keys_read_;
    key_bytes_read_ += text.size();
  }
  if (is_text) {
    append(std::as_bytes(std::span(&ctx_.job.options.line_end, 1)));
  } else {
    std::byte count[8];
    std::memcpy(count, &count_, sizeof count);
    append(count);
  }
  ++groups_;
  count_ = 0;
}

void group_counter::append(std::span<const std::byte> bytes) {
  if (filled_ + bytes.size() > buffer_.size()) flush();
  std::memcpy(buffer_.data() + filled_, bytes.data(), bytes.size());
  filled_ += bytes.size();
}

/// Charges the emulated device for the keys read since the last flush, in one go: one thread reads
/// them all.
void group_counter::charge_keys() {
  if (keys_read_ == 0) return;
  const stage_timer timer(ctx_.job, sort_stage::record_read);
  device::stream stream(ctx_.job.emulation, device::access::random_read);
  stream.touched(keys_read_, key_bytes_read_ / keys_read_);
  keys_read_ = key_bytes_read_ = 0;
}

void group_counter::flush() {
  charge_keys();
  const stage_timer timer(ctx_.job, stage_);
  pooled_write(ctx_, out_, {buffer_.data(), filled_}, written_, stage_);
  written_ += filled_;
  filled_ = 0;
}

void group_counter::finish(outcome& o) {
  if (count_ > 0 && !full()) close_group();
  if (filled_ > 0) flush();
  o.records_written = groups_;
  o.bytes_written = written_;
}

namespace {

/// Makes the keys of `o` those of lines that --count has written.
void put_behind_count(sort_options& o) {
  constexpr unsigned kBehindCount = 2;  // the field
  if (o.csv && !o.keys.empty()) {
    unsigned column = kBehindCount;
    for (sort_key& k : o.keys) {
      k.column.clear();
      k.first_field = k.last_field = column++;
    }
    return;
  }
  if (!o.csv) o.separator = '\t';
  // The text of the keys is all behind the tab. Several keys cannot be told apart there.
  sort_key text = o.keys.size() == 1 ? o.keys.front() : sort_key{.reverse = o.reverse};
  text.first_field = kBehindCount;
  text.first_char = 1;
  text.last_field = text.last_char = 0;
  text.skips_blanks = false;
  o.keys = {text};
}

}  // namespace

sort_options options_of_counts(const sort_options& counted) {
  sort_options o = counted;
  o.count = false;
  o.unique = true;
  o.top = 0;
  if (o.format == record_format::lines) {
    put_behind_count(o);
  } else {
    o.format = record_format::fixed;
    o.record_bytes = o.key_bytes + sizeof(std::uint64_t);
    o.key_offset = 0;
  }
  return o;
}

std::uint64_t count_of(const sort_options& counted, std::span<const std::byte> bytes) {
  std::uint64_t count = 0;
  if (counted.format == record_format::lines) {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    std::from_chars(text, text + bytes.size(), count);
  } else {
    std::memcpy(&count, bytes.data() + counted.key_bytes, sizeof count);
  }
  return count;
}

}  // namespace isotherm::sort
