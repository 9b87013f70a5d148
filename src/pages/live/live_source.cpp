#include "pages/live/live_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

#include "base/page.hpp"
#include "os/files/process.hpp"
#include "os/proc_file.hpp"
#include "pages/live/smaps.hpp"

namespace isotherm::pages {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

std::unexpected<base::error> refused(int pid, const base::error& problem) {
  if (problem.code != EACCES && problem.code != EPERM) return std::unexpected(problem);
  return std::unexpected(base::error{
      fmt::format("process {} may not be observed: run isotherm as its user, or as root", pid),
      problem.code});
}

std::vector<std::string> limits() {
  return {
      "The kernel tells of whole pages, not of bytes: a page counts as used as a whole, a page of "
      "2 MiB too.",
      "It tells how many pages of each mapping were used, not which: there are no figures of pages "
      "of other sizes.",
      "A page whose translation stays in a processor's TLB through a whole window counts as not "
      "used.",
      "A page of a file counts as used also where another process has used it."};
}

/// Marks the first `bytes` bytes of the resident pages of a mapping. `at` is the first range that
/// may lie in it, and moves on.
void mark_first(const shadow& marks, const mapping& where, std::uint64_t bytes,
                std::span<const resident_range>& at) {
  while (!at.empty() && at.front().end <= where.begin) at = at.subspan(1);
  for (const resident_range& range : at) {
    if (range.begin >= where.end || bytes == 0) break;
    const std::uint64_t part = std::min(bytes, range.bytes());
    marks.mark_pages(0, range.begin, part / base::kPageBytes);
    bytes -= part;
  }
}

}  // namespace

live_source::live_source(int pid, os::file process, shadow marks)
    : pid_(pid), process_(std::move(process)), marks_(std::move(marks)) {
  std::string command = os::read_proc_file(path_of("comm").c_str());
  if (command.ends_with('\n')) command.pop_back();
  traits_ = {.name = "the kernel's page bits (clear_refs, smaps)",
             .subject = fmt::format("process {} ({})", pid, command),
             .smallest = grain::page,
             .counts_accesses = false,
             .cannot_see = limits()};
}

base::result<live_source> live_source::open(int pid) {
  auto process = os::open_process(pid);
  if (!process) return refused(pid, process.error());
  if (os::is_kernel_thread(pid)) {
    return std::unexpected(base::error{
        fmt::format("process {} is a thread of the kernel, which has no memory of its own", pid)});
  }
  auto marks = shadow::create();
  if (!marks) return std::unexpected(marks.error());
  live_source made(pid, std::move(*process), std::move(*marks));
  if (const auto ended = made.has_ended(); !ended || *ended) {
    return std::unexpected(base::error{fmt::format("process {} has ended", pid), ESRCH});
  }
  if (auto readable = os::file::open(made.path_of("pagemap")); !readable) {
    return refused(pid, readable.error());
  }
  if (auto cleared = made.clear_uses(); !cleared) return refused(pid, cleared.error());
  return made;
}

std::string live_source::path_of(const char* file) const {
  return fmt::format("/proc/{}/{}", pid_, file);
}

base::result<void> live_source::clear_uses() {
  const auto begin = clock::now();
  const auto control = os::file::writable_in_place(path_of("clear_refs"));
  if (!control) return std::unexpected(control.error());
  constexpr std::string_view kAllPages = "1";
  auto done = control->write(std::as_bytes(std::span(kAllPages)), 0);
  clearing_seconds_ = std::max(clearing_seconds_, seconds_since(begin));
  return done;
}

base::result<void> live_source::read_uses(window& ended) {
  const auto begin = clock::now();
  auto uses = parse_smaps(os::read_proc_file(path_of("smaps").c_str()));
  if (uses.empty()) {
    return std::unexpected(base::error{"cannot read " + path_of("smaps"), ESRCH});
  }
  for (const mapping_use& use : uses) ended.memory.mappings.push_back(use.where);
  auto resident = read_resident(pid_, ended.memory.mappings);
  if (!resident) return std::unexpected(resident.error());
  ended.memory.resident = std::move(*resident);
  ended.memory.knows_resident = true;
  std::span<const resident_range> at = ended.memory.resident;
  for (const mapping_use& use : uses) mark_first(marks_, use.where, use.used, at);
  reading_seconds_ = std::max(reading_seconds_, seconds_since(begin));
  return {};
}

base::result<bool> live_source::wait(const window_limit& limit, const requests& asked) const {
  constexpr int kBetweenLooksMs = 100;
  const auto begin = clock::now();
  for (;;) {
    const double now = seconds_since(begin);
    if (asked.ask_for_end()) return asked.stop.stop_requested();
    if (limit.seconds && now >= *limit.seconds) return false;
    if (asked.progress) asked.progress(now, 0);
    const double left = limit.seconds ? (*limit.seconds - now) * 1000 + 1 : kBetweenLooksMs;
    const auto ended = process_.readable(static_cast<int>(std::min<double>(left, kBetweenLooksMs)));
    if (!ended) return std::unexpected(ended.error());
    if (*ended) return std::unexpected(base::error{process_.path() + " has ended", ESRCH});
  }
}

base::result<window> live_source::unfinished(window ended, const base::error& problem) {
  const auto gone = has_ended();
  if (!gone || !*gone) return std::unexpected(problem);
  if (complete_ == 0) {
    return std::unexpected(base::error{
        fmt::format("{} ended within the first window, and its pages with it: give a shorter one "
                    "(--window)",
                    traits_.subject),
        ESRCH});
  }
  lost_ = ended.last = ended.lost = true;
  return ended;
}

base::result<window> live_source::observe(const window_limit& limit, const requests& asked) {
  window ended;
  if (auto cleared = clear_uses(); !cleared) return unfinished(std::move(ended), cleared.error());
  const auto begin = clock::now();
  const auto last = wait(limit, asked);
  if (!last) return unfinished(std::move(ended), last.error());
  ended.seconds = seconds_since(begin);
  ended.last = *last;
  if (auto read = read_uses(ended); !read) return unfinished(std::move(ended), read.error());
  ++complete_;
  return ended;
}

std::vector<std::string> live_source::remarks() const {
  std::vector<std::string> all{fmt::format(
      "Clearing the marks of a window took up to {:.1f} ms, counting them up to {:.1f} ms; the "
      "process waits so long where it maps or unmaps memory meanwhile.",
      clearing_seconds_ * 1e3, reading_seconds_ * 1e3)};
  if (lost_) {
    all.push_back(fmt::format("{} ended within a window, which is left out.", traits_.subject));
  }
  return all;
}

}  // namespace isotherm::pages
