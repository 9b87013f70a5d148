// Policies that keep objects in DRAM, simulated: objects of one size, numbered from 0, and room for
// some.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace isotherm::policies {

class policy {
 public:
  virtual ~policy() = default;
  virtual std::string_view name() const noexcept = 0;
  /// Uses an object; whether it was in DRAM.
  virtual bool use(std::uint32_t object) = 0;
};

/// The policies compared, with room for `room` of `objects` objects.
std::unique_ptr<policy> make_lru(std::uint32_t objects, std::uint32_t room);
/// Johnson, Shasha, VLDB 1994: a quarter for the first use, ghosts of half the room.
std::unique_ptr<policy> make_two_queues(std::uint32_t objects, std::uint32_t room);
/// Yang, Zhang, Qiu, Yue, Rashmi, SOSP 2023: a tenth for the small queue.
std::unique_ptr<policy> make_s3_fifo(std::uint32_t objects, std::uint32_t room);
/// Einziger, Friedman, Manes, ACM ToS 13(4), 2017: a window of 1%, counts to 15, halved every 10
/// times the room. The counts are exact, where the paper has a sketch.
std::unique_ptr<policy> make_tiny_lfu(std::uint32_t objects, std::uint32_t room);
/// The collector's own, with windows of so many uses.
std::unique_ptr<policy> make_rates(std::uint32_t objects, std::uint32_t room, std::uint64_t window);
/// The best that a fixed choice can do: the most popular objects, known beforehand.
std::unique_ptr<policy> make_best_static(const std::vector<std::uint64_t>& popularity,
                                         std::uint32_t room);

}  // namespace isotherm::policies
