#include "sort/runs/policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "os/clock.hpp"
#include "sort/records.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kMeasuredBlocks = 16;
constexpr std::size_t kSampled = kBlockEntries;
constexpr std::size_t kWindows = 64;
constexpr std::size_t kWindowBytes = 4096;
constexpr std::uint64_t kLengthField = 4;  // klv

base::result<std::vector<entry>> sample_fixed(const device::file& f, std::uint64_t bytes,
                                              const record_layout& l) {
  const std::uint64_t records = bytes / l.record_bytes();
  const std::uint64_t wanted = std::min<std::uint64_t>(records, kSampled);
  std::vector<entry> found;
  std::vector<std::byte> key(l.key_bytes());
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t number = records / wanted * i;
    if (auto r = f.read(key, number * l.record_bytes() + l.key_offset()); !r) {
      return std::unexpected(r.error());
    }
    found.push_back(l.fixed_entry(key.data(), number));
  }
  return found;
}

base::result<std::vector<entry>> sample_klv(const device::file& f, std::uint64_t bytes,
                                            const record_layout& l) {
  const std::uint64_t head = l.key_bytes() + kLengthField;
  std::vector<entry> found;
  std::vector<std::byte> key(head);
  for (std::uint64_t at = 0; found.size() < kSampled && at + head <= bytes;) {
    if (auto r = f.read(key, at); !r) return std::unexpected(r.error());
    std::uint32_t value = 0;
    std::memcpy(&value, &key[l.key_bytes()], sizeof value);
    found.push_back(l.variable_entry(key.data(), at, head + value));
    at += head + value;
  }
  return found;
}

base::result<std::vector<entry>> sample_lines(const device::file& f, std::uint64_t bytes,
                                              const record_layout& l) {
  std::vector<entry> found;
  std::vector<std::byte> text(kWindowBytes);
  for (std::size_t w = 0; w < kWindows; ++w) {
    const std::uint64_t begin = bytes / kWindows * w;
    auto n = f.read_some(text, begin);
    if (!n) return std::unexpected(n.error());
    std::size_t start = 0;
    for (std::size_t lines = 0; lines <= kSampled / kWindows; ++lines) {
      const void* newline = std::memchr(text.data() + start, '\n', *n - start);
      if (newline == nullptr) break;
      const auto end =
          static_cast<std::size_t>(static_cast<const std::byte*>(newline) - text.data()) + 1;
      // The window's first line began before it, unless the window is the first.
      if (lines > 0 || w == 0) {
        found.push_back(l.variable_entry(&text[start], begin + start, end - start));
      }
      start = end;
    }
  }
  return found;
}

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

base::result<entry_sample> sample_entries(const device::file& input, const sort_options& o) {
  auto bytes = input.size();
  if (!bytes) return std::unexpected(bytes.error());
  const record_layout l(o);
  auto found = o.format == record_format::fixed ? sample_fixed(input, *bytes, l)
               : o.format == record_format::klv ? sample_klv(input, *bytes, l)
                                                : sample_lines(input, *bytes, l);
  if (!found) return std::unexpected(found.error());
  std::sort(found->begin(), found->end());
  return entry_sample{found->size(), shape_of(l.entries(), *found)};
}

double coded_bytes(const entry_sample& sample, double run_entries, double positions) noexcept {
  const double denser =
      std::max(1.0, run_entries / static_cast<double>(std::max<std::size_t>(1, sample.entries)));
  const double key = std::max(0.0, sample.shape.key_bits - std::log2(denser));
  const double place = std::log2(std::max(2.0, positions));
  return (key + place + sample.shape.length_bits) / 8 +
         static_cast<double>(kBlockHeaderBytes) / kBlockEntries;
}

}  // namespace isotherm::sort
