#include "lab/tiers/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>

namespace isotherm::lab {
namespace {

constexpr std::uint64_t kMostRequests = std::uint64_t{1} << 30, kMostBlocks = 1 << 20;

struct block_range {
  std::uint64_t first = 0, count = 1;
};

std::optional<block_range> parse(const std::string& line) {
  block_range found;
  const char* const end = line.data() + line.size();
  auto parsed = std::from_chars(line.data(), end, found.first);
  if (parsed.ec != std::errc()) return std::nullopt;
  if (parsed.ptr != end && *parsed.ptr == ' ') {
    parsed = std::from_chars(parsed.ptr + 1, end, found.count);
    if (parsed.ec != std::errc()) return std::nullopt;
  }
  const bool is_whole = parsed.ptr == end || *parsed.ptr == ' ' || *parsed.ptr == '\r';
  if (!is_whole || found.count == 0 || found.count > kMostBlocks) return std::nullopt;
  return found;
}

}  // namespace

base::result<block_trace> read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::unexpected(base::system_error("cannot read the trace " + path, errno));
  auto requests = std::make_shared<std::vector<std::uint64_t>>();
  std::string line;
  for (std::uint64_t number = 1; std::getline(file, line); ++number) {
    const auto range = parse(line);
    if (!range || requests->size() + range->count > kMostRequests) {
      return std::unexpected(
          base::error{fmt::format("{}, line {}: {}", path, number,
                                  range ? "a trace has at most 2^30 requests"
                                        : "not the number of a block, and of blocks (1 to 2^20)"),
                      0});
    }
    for (std::uint64_t i = 0; i < range->count; ++i) requests->push_back(range->first + i);
  }
  std::vector<std::uint64_t> blocks = *requests;
  std::ranges::sort(blocks);
  blocks.erase(std::ranges::unique(blocks).begin(), blocks.end());
  for (std::uint64_t& each : *requests) {
    each = static_cast<std::uint64_t>(std::ranges::lower_bound(blocks, each) - blocks.begin());
  }
  return block_trace{.requests = std::move(requests), .blocks = blocks.size()};
}

}  // namespace isotherm::lab
