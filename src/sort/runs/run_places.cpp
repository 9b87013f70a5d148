#include "sort/runs/run_places.hpp"

#include <cerrno>

#include "base/check.hpp"

namespace isotherm::sort {
namespace {

/// Whether a file system that takes no more may have brothers that do. One that cannot set space
/// aside at all is full when a write says so.
bool is_full(const base::error& e) noexcept {
  return e.code == ENOSPC || e.code == EDQUOT || e.code == EFBIG;
}

}  // namespace

run_place* run_places::take(std::uint64_t bytes) {
  const std::vector<run_directory>& directories = ctx_.plan.runs;
  ISO_CHECK(!directories.empty(), "a sort that may write runs has a directory for them");
  for (std::size_t i = 0; i < directories.size(); ++i) {
    if (i == all_.size()) {
      auto f = os::file::unnamed(directories[i].path);
      if (!ctx_.job.keep(f)) return nullptr;
      all_.push_back({.at = directories[i], .file = std::move(*f)});
    }
    run_place& here = all_[i];
    if (i + 1 == directories.size()) return &here;
    const auto taken = here.file.take_space(here.end, bytes);
    if (taken || taken.error().code == EOPNOTSUPP) return &here;
    if (!is_full(taken.error())) {
      ctx_.job.fail(taken.error());
      return nullptr;
    }
  }
  return nullptr;
}

std::vector<sort_place> run_places::report() const {
  std::vector<sort_place> told;
  for (const run_place& each : all_) {
    if (each.written > 0) told.push_back(place_of(each.at, each.written));
  }
  return told;
}

}  // namespace isotherm::sort
