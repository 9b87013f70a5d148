#include "lab/replay/survey.hpp"

#include <algorithm>
#include <limits>

namespace isotherm::replay {

std::uint64_t survey::keys_read_first() const noexcept {
  return static_cast<std::uint64_t>(std::ranges::count(is_read_first, true));
}

std::uint64_t survey::bytes() const noexcept {
  return numbers.bytes() + first_sizes.capacity() * sizeof(std::uint32_t) +
         is_read_first.capacity() / 8;
}

base::result<survey> look_through(const replay_options& asked) {
  const auto opened = traces::open(asked.trace, asked.how);
  if (!opened) return std::unexpected(opened.error());
  traces::source& trace = **opened;
  survey found;
  found.format = trace.format();
  found.has_times = trace.has_times();
  if (asked.speed > 0 && !found.has_times) {
    return std::unexpected(base::error{asked.trace + " has no times: leave --speed out"});
  }
  found.first_us = std::numeric_limits<std::uint64_t>::max();
  stored_key key_of;
  traces::request next;
  while (asked.requests == 0 || found.requests < asked.requests) {
    const auto more = trace.next(next);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    ++found.requests;
    ++found.by_kind[static_cast<std::size_t>(next.kind)];
    found.first_us = std::min(found.first_us, next.time_us);
    found.last_us = std::max(found.last_us, next.time_us);
    const std::string_view key = key_of(next);
    const std::uint32_t number = found.numbers.add(hash_of(key));
    if (number == found.first_sizes.size()) {
      found.first_sizes.push_back(0);
      found.is_read_first.push_back(next.kind == traces::operation::get);
      found.key_bytes += key.size();
    }
    if (found.first_sizes[number] == 0) found.first_sizes[number] = next.value_size;
  }
  for (std::uint32_t i = 0; i < found.keys(); ++i) {
    found.value_bytes += found.size_of(i, asked.value_size);
  }
  found.malformed = trace.malformed();
  return found;
}

}  // namespace isotherm::replay
