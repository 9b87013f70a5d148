#include "sort/coding/policy.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "os/clock.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kMeasuredBlocks = 16;

}  // namespace

coding_cost measure_coding(const entry_layout& l, std::span<const entry> sorted) {
  const std::size_t blocks =
      std::clamp<std::size_t>(sorted.size() / kBlockEntries, 1, kMeasuredBlocks);
  const std::size_t each = std::min(sorted.size(), kBlockEntries);
  std::vector<std::byte> coded(blocks * kLargestBlock + kBlockSlack);
  std::vector<std::size_t> lengths(blocks);
  std::array<entry, kBlockEntries> decoded;
  const std::uint64_t start = os::monotonic_ns();
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t at = (sorted.size() - each) / blocks * b;
    lengths[b] = encode_block(l, sorted.subspan(at, each), &coded[b * kLargestBlock]);
  }
  const std::uint64_t middle = os::monotonic_ns();
  coding_cost cost;
  for (std::size_t b = 0; b < blocks; ++b) {
    decode_block(l, {&coded[b * kLargestBlock], lengths[b]}, decoded.data());
    cost.bytes += static_cast<double>(lengths[b]);
  }
  const std::uint64_t end = os::monotonic_ns();
  const auto entries = static_cast<double>(blocks * each);
  cost.bytes /= entries;
  cost.encode_ns = static_cast<double>(middle - start) / entries;
  cost.decode_ns = static_cast<double>(end - middle) / entries;
  return cost;
}

coding_balance balance_of(double plain_bytes, const coding_cost& c, const run_speeds& s,
                          unsigned write_threads) noexcept {
  double ns_per_byte = 0;
  if (s.write > 0) ns_per_byte += 1e9 / s.write;
  if (s.read > 0) ns_per_byte += 1e9 / s.read;
  return {(plain_bytes - c.bytes) * ns_per_byte,
          c.encode_ns / std::max(1U, write_threads) + c.decode_ns};
}

}  // namespace isotherm::sort
