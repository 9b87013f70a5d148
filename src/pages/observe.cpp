#include "pages/observe.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "pages/objects/symbols.hpp"

namespace isotherm::pages {
namespace {

base::result<void> check(const source_traits& traits, const window_limit& limit) {
  const std::string subject = "the source " + traits.name;
  if (limit.accesses && !traits.counts_accesses) {
    return std::unexpected(base::error{
        subject + " does not count accesses: give the length of windows in seconds, as 10s"});
  }
  if (limit.seconds && !traits.has_clock) {
    return std::unexpected(
        base::error{subject + " has no clock: give the length of windows in accesses, as 1000000"});
  }
  return {};
}

/// Observes one window. A cut that comes after its end is of the next one.
base::result<window> observe_window(source& from, const window_limit& limit, requests& asked) {
  auto ended = from.observe(limit, asked);
  if (asked.cuts != nullptr) asked.cuts_before = asked.cuts->load_relaxed();
  return ended;
}

/// Begins anew where another program takes the place of the one before. Returns whether the
/// observation goes on.
base::result<bool> skip(source& from, const window_limit& limit, requests& asked) {
  if (!limit.accesses && !limit.seconds) return true;
  for (;;) {
    const auto skipped = observe_window(from, limit, asked);
    if (!skipped) return std::unexpected(skipped.error());
    if (auto r = from.marks().clear(skipped->area); !r) return std::unexpected(r.error());
    if (!skipped->replaced) return !skipped->last;
  }
}

base::result<window_report> measure_window(const source& from, const window& ended) {
  auto figures = measure(from.marks(), ended);
  if (!figures || from.objects() == nullptr) return figures;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  auto objects = measure_objects(from.marks(), ended.area, *from.objects(), ended.memory.mappings,
                                 static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()));
  if (!objects) return std::unexpected(objects.error());
  figures->objects = std::move(*objects);
  return figures;
}

void name_sites(observation& seen) {
  std::vector<object_figures*> all;
  for (window_report& w : seen.windows) {
    if (w.objects) all.push_back(&*w.objects);
  }
  if (name_functions(all) == naming::no_addr2line) {
    seen.remarks.emplace_back(
        "Functions have no names: addr2line is not installed (on Debian, apt-get install "
        "binutils).");
  }
}

base::result<void> observe_windows(source& from, const schedule& times, requests asked,
                                   const std::function<void(const window_report&)>& told,
                                   std::vector<window_report>& windows) {
  for (const window_limit& limit : {times.skip, times.length}) {
    if (auto r = check(from.traits(), limit); !r) return r;
  }
  auto go_on = skip(from, times.skip, asked);
  while (go_on && *go_on) {
    const auto ended = observe_window(from, times.length, asked);
    if (!ended) return std::unexpected(ended.error());
    if (ended->lost) break;
    const bool nothing = from.traits().counts_accesses && ended->accesses == 0;
    if (ended->last && nothing && !windows.empty()) break;  // the one before ended with the source
    auto figures = measure_window(from, *ended);
    if (!figures) return std::unexpected(figures.error());
    if (auto r = from.marks().clear(ended->area); !r) return r;
    if (told) told(*figures);
    windows.push_back(std::move(*figures));
    go_on = !ended->last && windows.size() != times.windows;
  }
  return go_on ? base::result<void>{} : std::unexpected(go_on.error());
}

}  // namespace

base::result<observation> observe(source& from, const schedule& times, const requests& asked,
                                  const std::function<void(const window_report&)>& told) {
  observation all{.traits = from.traits(), .windows = {}, .remarks = {}};
  const auto done = observe_windows(from, times, asked, told, all.windows);
  all.exit_status = from.finish(asked);
  if (!done) return std::unexpected(done.error());
  all.remarks = from.remarks();
  name_sites(all);
  return all;
}

}  // namespace isotherm::pages
