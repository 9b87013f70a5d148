#include "lab/workload/ycsb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ranges>
#include <string_view>

namespace isotherm::workload {
namespace {

struct named_share {
  const char* name;
  unsigned mix::* share;
};

/// In the order of `operation`.
constexpr std::array<named_share, kOperations> kShares{{{"read", &mix::read},
                                                        {"update", &mix::update},
                                                        {"insert", &mix::insert},
                                                        {"scan", &mix::scan},
                                                        {"modify", &mix::modify},
                                                        {"delete", &mix::remove},
                                                        {"multiget", &mix::multiget},
                                                        {"incr", &mix::incr}}};

operation choose(const mix& shares, std::uint64_t percent) noexcept {
  std::size_t at = 0;
  for (; at + 1 < kOperations && percent >= shares.*kShares[at].share; ++at) {
    percent -= shares.*kShares[at].share;
  }
  return static_cast<operation>(at);
}

}  // namespace

const char* name_of(operation kind) noexcept {
  return kShares[static_cast<std::size_t>(kind)].name;
}

base::result<mix> parse_mix(const std::string& text) {
  const auto refuse = [&] {
    return std::unexpected(base::error{fmt::format(
        "--mix '{}': shares of read, update, insert, scan, modify, delete, multiget and incr in "
        "percent that add up to 100, as in read=90,delete=10",
        text)});
  };
  mix shares;
  unsigned sum = 0;
  for (const auto part : std::views::split(text, ',')) {
    const std::string_view word(part.begin(), part.end());
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto named = std::ranges::find_if(
        kShares, [&](const named_share& one) { return one.name == word.substr(0, equals); });
    unsigned percent = 0;
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(std::min(word.data() + equals + 1, end), end, percent);
    if (named == kShares.end() || read.ec != std::errc() || read.ptr != end || percent > 100 ||
        shares.*named->share > 0) {
      return refuse();
    }
    shares.*named->share = percent;
    sum += percent;
  }
  if (sum != 100) return refuse();
  return shares;
}

base::result<ycsb_workload> parse_workload(const std::string& text) {
  const int letter = text.size() == 1 ? std::tolower(static_cast<unsigned char>(text[0])) : 0;
  switch (letter) {
    case 'a':
      return ycsb_workload{'a', {.read = 50, .update = 50}};
    case 'b':
      return ycsb_workload{'b', {.read = 95, .update = 5}};
    case 'c':
      return ycsb_workload{'c', {.read = 100}};
    case 'd':
      return ycsb_workload{'d', {.read = 95, .insert = 5}, distribution::latest};
    case 'e':
      return ycsb_workload{'e', {.insert = 5, .scan = 95}};
    case 'f':
      return ycsb_workload{'f', {.read = 50, .modify = 50}};
    default:
      break;
  }
  return std::unexpected(base::error{"unknown workload '" + text + "'; choose one of a to f"});
}

std::uint64_t request_stream::next_key(std::uint64_t& place, base::random& random) const noexcept {
  if (const auto key = chooser_.in_order(place)) {
    ++place;
    return *key;
  }
  return chooser_(random);
}

void request_stream::fill(std::span<request> batch) noexcept {
  std::uint64_t place = seed_ / 2 + next_batch_ * batch.size();
  base::random random(seed_ + base::mix64(next_batch_++));
  for (request& next : batch) {
    next.kind = choose(shares_, random.below(100));
    next.key = next.kind == operation::insert ? 0 : next_key(place, random);
    if (next.kind == operation::scan) {
      next.scan_length = static_cast<std::uint8_t>(1 + random.below(kLongestScan));
    }
    if (next.kind == operation::multiget) next.more = static_cast<std::uint32_t>(random());
  }
}

std::array<std::uint64_t, kMultiget> request_stream::keys_of(
    const request& multiget) const noexcept {
  std::array<std::uint64_t, kMultiget> keys{multiget.key};
  std::uint64_t place = multiget.key + 1;
  base::random random(multiget.more);
  for (std::uint64_t& key : std::span(keys).subspan(1)) key = next_key(place, random);
  return keys;
}

}  // namespace isotherm::workload
