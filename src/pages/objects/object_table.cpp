#include "pages/objects/object_table.hpp"

#include <algorithm>
#include <span>

namespace isotherm::pages {

void object_table::take(allocation_log& log) {
  // Acquire: pairs with the release in append(), so that the events counted are complete.
  const std::uint64_t written = log.written.value.load_acquire();
  std::uint64_t number = log.read.value.load_relaxed();
  for (; number < written; ++number) {
    apply(log.events[number % allocation_log::kEvents]);
    log.read.value.store_release(number + 1);  // pairs with the acquire in is_full()
  }
}

void object_table::apply(const allocation_event& event) {
  if (event.is_made == 0) {
    live_.erase(event.address);
    return;
  }
  live_[event.address] = {.address = event.address,
                          .asked = event.asked,
                          .usable = std::max(event.asked, event.usable),
                          .made_ns = event.time_ns,
                          .site = site_of(event)};
}

std::uint32_t object_table::site_of(const allocation_event& event) {
  const auto frames = std::span(event.frames).first(std::min(event.frame_count, kFrames));
  const std::string key(reinterpret_cast<const char*>(frames.data()), frames.size_bytes());
  const auto [found, is_new] = numbers_.try_emplace(key, sites_.size());
  if (is_new) sites_.push_back({.frames = {frames.begin(), frames.end()}});
  return found->second;
}

std::vector<object> object_table::ascending() const {
  std::vector<object> all;
  all.reserve(live_.size());
  for (const auto& [address, each] : live_) all.push_back(each);
  std::ranges::sort(all, {}, &object::address);
  std::vector<object> apart;
  apart.reserve(all.size());
  for (const object& each : all) {
    const bool overlaps = !apart.empty() && apart.back().end() > each.address;
    if (overlaps && apart.back().made_ns > each.made_ns) continue;
    if (overlaps) apart.pop_back();
    apart.push_back(each);
  }
  return apart;
}

}  // namespace isotherm::pages
