#include "live/view.hpp"

#include "heap/cold/statistics.hpp"
#include "heap/usage.hpp"

namespace isotherm::live {

void process_view::measure() {
  if (!running_) {
    footprint_ = heap::read_footprint_without_heaps();
    return;
  }
  for (const heap::kind where : heap::kKinds) heaps_[where] = heap::usage_of(where);
  footprint_ = heap::read_footprint(heaps_[heap::kind::cold].resident_bytes);
}

snapshot process_view::look() {
  if (measuring_.wait_ns() == 0) measuring_.run([this] { measure(); });
  snapshot seen;
  add_figures(heap::footprint_table(), footprint_, seen.figures);
  seen.facts.emplace_back(
      "manage",
      running_ ? collector::find_option("manage")->get(running_->configuration()) : "off");
  if (!running_) return seen;
  for (const heap::kind where : heap::kKinds) {
    const std::uint64_t resident = heaps_[where].resident_bytes;
    heaps_[where] = heap::usage_of(where, heap::residency::left_out);
    heaps_[where].resident_bytes = resident;
  }
  seen.heaps = heaps_;
  add_cold_reads(heap::cold_reads(), seen);
  const heap::cold_file_statistics file = heap::cold_file();
  add_figures(heap::cold_file_table(), file, seen.figures);
  const collector::window_statistics last = running_->last_window();
  seen.facts.emplace_back("problem", last.page_out_problem);
  add_window(last, seen.figures);
  return seen;
}

base::result<void> process_view::configure(std::string_view name, std::string_view value) {
  const auto* const known = collector::find_option(name);
  if (!running_ || !known || !known->is_live()) {
    return std::unexpected(base::error{"there is no such option, or it can't be changed now"});
  }
  collector::options changed = running_->configuration();
  if (auto set = known->set(changed, value); !set) return set;
  return running_->reconfigure(changed);
}

std::vector<shown_option> process_view::options() const {
  std::vector<shown_option> all;
  if (!running_) return all;
  const collector::options now = running_->configuration();
  for (const auto& each : collector::option_table()) {
    all.push_back({std::string(each.name), std::string(each.unit), std::string(each.help),
                   each.range(), each.get(now), each.is_live()});
  }
  return all;
}

}  // namespace isotherm::live
