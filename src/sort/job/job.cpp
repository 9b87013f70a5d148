#include "sort/job/job.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "os/clock.hpp"
#include "os/thread.hpp"

namespace isotherm {

std::string_view name(sort_stage stage) noexcept {
  static constexpr std::string_view kNames[kSortStages] = {
      "RUN read",    "RUN sort",    "RUN other", "RECORD read", "RUN write", "MERGE read",
      "MERGE other", "MERGE write", "COPY",      "CHECK",       "SYNC"};
  return kNames[static_cast<unsigned>(stage)];
}

std::string_view name(sort_compression compression) noexcept {
  static constexpr std::string_view kNames[] = {"auto", "on", "off"};
  return kNames[static_cast<unsigned>(compression)];
}

std::string_view name(sort_concurrency concurrency) noexcept {
  static constexpr std::string_view kNames[] = {"auto", "no-sync", "io-overlap", "no-io-overlap"};
  return kNames[static_cast<unsigned>(concurrency)];
}

}  // namespace isotherm

namespace isotherm::sort {

void job::fail(base::error error) {
  const std::lock_guard guard(lock_);
  if (!stopped_.load_relaxed()) error_ = std::move(error);
  stopped_.store_release(true);  // release: whoever sees it in stopped() finds error_ set
}

bool job::stopped() noexcept {
  if (stopped_.load_acquire()) return true;
  if (!options.stop.stop_requested()) return false;
  fail({"interrupted: nothing was written", EINTR});
  return true;
}

base::result<void> job::status() {
  if (!stopped()) return {};
  const std::lock_guard guard(lock_);
  return std::unexpected(error_);
}

void job::progress(sort_stage stage, std::uint64_t done, std::uint64_t total) {
  if (!options.progress) return;
  const std::lock_guard guard(progress_lock_);
  options.progress(stage, done, total);
}

void job::guard(const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const std::exception& thrown) {
    fail(error_of(thrown));
  }
}

void job::beside(os::thread& thread, const std::function<void()>& work) {
  auto started = os::start_thread("iso-sort", [this, work] { guard(work); });
  if (started) {
    thread = std::move(*started);
  } else {
    guard(work);
  }
}

base::error error_of(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) {
    return {"out of memory: give less by --memory, so that others and this sort fit", ENOMEM};
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&thrown)) {
    return {fmt::format("the system refused: {}", system->what()), system->code().value()};
  }
  return {thrown.what(), 0};
}

std::vector<stage_report> job::stages() const {
  std::vector<stage_report> all;
  for (unsigned s = 0; s < kSortStages; ++s) {
    const auto& c = clocks_[s];
    // A no-sync sort times reads and writes as one stage: the other stage has bytes but no time.
    if (c.ns.load_relaxed() == 0 && c.read.load_relaxed() == 0 && c.written.load_relaxed() == 0) {
      continue;
    }
    all.push_back({.stage = static_cast<sort_stage>(s),
                   .seconds = static_cast<double>(c.ns.load_relaxed()) * 1e-9,
                   .bytes_read = c.read.load_relaxed(),
                   .bytes_written = c.written.load_relaxed()});
  }
  return all;
}

stage_timer::stage_timer(job& j, sort_stage stage) : stage_timer(j, stage, stage) {}

stage_timer::stage_timer(job& j, sort_stage stage, sort_stage outer)
    : job_(j), stage_(stage), outer_(outer), start_ns_(os::monotonic_ns()) {
  job_.progress(stage, 0, 0);
}

stage_timer::~stage_timer() {
  const std::uint64_t ns = os::monotonic_ns() - start_ns_ + 1;
  job_.clocks_[static_cast<unsigned>(stage_)].ns.fetch_add_relaxed(ns);
  if (outer_ != stage_) job_.clocks_[static_cast<unsigned>(outer_)].ns.fetch_add_relaxed(0 - ns);
}

}  // namespace isotherm::sort
