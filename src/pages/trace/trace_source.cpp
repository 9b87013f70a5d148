#include "pages/trace/trace_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "os/files/spool.hpp"

namespace isotherm::pages {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;  // no line is longer
constexpr std::uint64_t kLinesWithoutAccess = 10'000;
constexpr std::uint64_t kLinesBetweenLooks = 1 << 12;

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

}  // namespace

base::result<trace_source> trace_source::open(const std::string& path,
                                              const std::stop_token& stop) {
  const std::string spelled = os::spelled_out(path, STDIN_FILENO);
  auto input = os::open_input(spelled);
  if (!input) return std::unexpected(input.error());
  auto marks = shadow::create();
  if (!marks) return std::unexpected(marks.error());
  trace_source made(std::move(input->handle), std::move(*marks));
  made.traits_.subject = path == "-" ? "standard input" : path;
  made.traits_.has_clock = false;
  made.traits_.cannot_see = {
      "A trace does not tell which memory the program held, nor its mappings.",
      "Bytes that the kernel read or wrote for the program (system calls) are not in it."};
  made.buffer_.resize(kBufferBytes);
  if (auto r = made.find_format(stop); !r) return std::unexpected(r.error());
  return made;
}

base::result<void> trace_source::find_format(const std::stop_token& stop) {
  while (line_ < kLinesWithoutAccess) {
    const auto read = next_line(stop);
    if (!read) return std::unexpected(read.error());
    const std::optional<std::string_view> line = *read;
    if (!line) break;
    bool understood = false;
    for (const auto format : {trace_format::lackey, trace_format::drmemtrace}) {
      const trace_line found = parse(format, *line);
      understood |= found.meaning == line_meaning::other;
      if (found.meaning != line_meaning::access && found.meaning != line_meaning::fetch) continue;
      format_ = format;
      first_use_ = found;
      traits_.name = format == trace_format::lackey ? "trace (valgrind's lackey)"
                                                    : "trace (drmemtrace's view)";
      return {};
    }
    if (!understood) count_malformed();
  }
  if (stop.stop_requested()) {
    return std::unexpected(base::error{"stopped before the first access of the trace"});
  }
  return std::unexpected(base::error{fmt::format(
      "{} is no trace of memory accesses: none is in its first {} lines. Give the output of "
      "valgrind --tool=lackey --trace-mem=yes, or of drmemtrace's tool view",
      traits_.subject, line_)});
}

base::result<bool> trace_source::read_more(const std::stop_token& stop) {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  if (end_ == buffer_.size()) {
    return std::unexpected(base::error{fmt::format("line {} of {} is longer than {} bytes",
                                                   line_ + 1, traits_.subject, kBufferBytes)});
  }
  const auto room = std::as_writable_bytes(std::span(buffer_).subspan(end_));
  const auto got = os::read_waiting(input_, room, stop);
  if (!got && got.error().code == EINTR) return false;
  if (!got) return std::unexpected(got.error());
  end_ += *got;
  at_end_ = *got == 0;
  return !at_end_;
}

base::result<std::optional<std::string_view>> trace_source::next_line(const std::stop_token& stop) {
  for (std::size_t scanned = 0;;) {  // bytes after `begin_` that hold no line's end
    const char* const begin = buffer_.data() + begin_;
    const std::size_t unread = end_ - begin_;
    const auto* const found =
        static_cast<const char*>(std::memchr(begin + scanned, '\n', unread - scanned));
    if (found != nullptr) {
      begin_ = static_cast<std::size_t>(found - buffer_.data()) + 1;
      ++line_;
      return std::string_view(begin, found);
    }
    scanned = unread;
    const auto more = read_more(stop);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
  }
  if (!at_end_ || begin_ == end_) return std::nullopt;
  const std::string_view last(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  ++line_;
  return last;
}

void trace_source::count_malformed() noexcept {
  if (malformed_++ == 0) first_malformed_ = line_;
}

base::result<window> trace_source::observe(const window_limit& limit, const requests& asked) {
  const auto begin = clock::now();
  window w;
  const auto take = [&](const trace_line& line) {
    if (line.meaning == line_meaning::malformed) count_malformed();
    if (line.bytes > 0) marks_.mark(w.area, line.address, line.bytes);
    if (line.meaning == line_meaning::access) ++w.accesses;
  };
  take(std::exchange(first_use_, {.meaning = line_meaning::other, .address = 0, .bytes = 0}));
  while (w.accesses != limit.accesses) {
    if (line_ % kLinesBetweenLooks == 0) {
      if (asked.progress) asked.progress(seconds_since(begin), w.accesses);
      if (asked.ask_for_end()) break;
    }
    const auto read = next_line(asked.stop);
    if (!read) return std::unexpected(read.error());
    const std::optional<std::string_view> line = *read;
    w.last = !line;
    if (!line) break;
    take(parse(format_, *line));
  }
  w.last |= asked.stop.stop_requested();
  w.seconds = seconds_since(begin);
  return w;
}

std::vector<std::string> trace_source::remarks() const {
  if (malformed_ == 0) return {};
  return {fmt::format("{} of {} lines of the trace could not be read; the first is line {}.",
                      malformed_, line_, first_malformed_)};
}

}  // namespace isotherm::pages
