#include "device/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace isotherm::device {
namespace {

constexpr double kGb = 1e9;
constexpr unsigned kLineBytes = 64;

/// Bytes that the device moves for one of many accesses `stride` apart: whole granules, on average
/// over the alignments that such accesses can have.
double moved_bytes(std::uint64_t bytes, std::uint64_t stride, unsigned granule) {
  const std::uint64_t step = std::gcd<std::uint64_t>(stride, granule);
  const std::uint64_t moved = granule + (bytes + step - 1) / step * step - step;
  return static_cast<double>(moved);
}

/// Numbers of the papers: WiscSort 2.3 and 4 (four Optane DIMMs: reads 20 GB in 0.90 s and
/// scales to the 16 cores; random reads of 256 B 18% slower; writes peak at 5 threads, 2.5 GB/s a
/// DIMM, and halve at full concurrency; a granule is 256 B). "The read bandwidth degrades (up to
/// 2x) when there are overlapping write requests", more with more of them (sections 1 and 2.3):
/// here in even steps, up to the 5 writers that writes want.
model pmem() {
  model m;
  m.sequential_read = {{1, 2.8 * kGb}, {4, 10.4 * kGb}, {8, 17.5 * kGb}, {16, 22.2 * kGb}};
  m.random_read = {{1, 2.3 * kGb}, {4, 8.5 * kGb}, {8, 14.4 * kGb}, {16, 18.2 * kGb}};
  m.write = {{1, 3.0 * kGb}, {5, 10.0 * kGb}, {16, 5.2 * kGb}};
  m.granule_bytes = 256;
  m.interference = 0.2;
  m.interference_most = 2;
  return m;
}

/// The papers' test bed for the BD, BRD and BARD devices (WiscSort 4.5): DRAM, to which delays
/// are added. Its bandwidth is not given; one socket with two channels of DDR4-2400 is assumed.
model dram() {
  model m;
  m.sequential_read = {{1, 9 * kGb}, {4, 30 * kGb}, {8, 36 * kGb}, {16, 36 * kGb}};
  m.random_read = m.sequential_read;
  m.write = m.sequential_read;
  return m;
}

/// Dissertation 3.3.3: 25-30 GB/s behind PCIe 5, random 20% below sequential, writes 7-26% dearer.
model cxl_dram() {
  model m;
  m.sequential_read = {{1, 7 * kGb}, {4, 25 * kGb}, {8, 27.5 * kGb}};
  m.random_read = {{1, 5.6 * kGb}, {4, 20 * kGb}, {8, 22 * kGb}};
  m.write = {{1, 6 * kGb}, {4, 21 * kGb}, {8, 23.4 * kGb}};
  return m;
}

/// Dissertation 3.3.3 and 3.5.5.3: peak 4.5 GB/s at 4 threads, 4 KiB pages behind the cache, write
/// asymmetry as for flash (3.75-4.4x). One mean bandwidth stands for its two modes. It "exhibits
/// interference", of which no number is given: up to PMEM's twofold, at the 2 writers that it
/// wants.
model cmm_h() {
  model m;
  m.sequential_read = {{1, 1.4 * kGb}, {2, 2.8 * kGb}, {4, 4.5 * kGb}};
  m.random_read = {{1, 1.2 * kGb}, {2, 2.4 * kGb}, {4, 3.9 * kGb}};
  m.write = {{1, 0.6 * kGb}, {2, 1.1 * kGb}, {4, 0.9 * kGb}};
  m.granule_bytes = 256;
  m.interference = 0.5;
  m.interference_most = 2;
  return m;
}

base::result<double> parse_scale(const std::string& text) {
  double numerator = 0;
  double denominator = 1;
  const char* end = text.data() + text.size();
  auto r = std::from_chars(text.data(), end, numerator);
  if (r.ec == std::errc{} && r.ptr != end && *r.ptr == '/') {
    r = std::from_chars(r.ptr + 1, end, denominator);
  }
  if (r.ec != std::errc{} || r.ptr != end || !(numerator > 0) || !(denominator > 0)) {
    return std::unexpected(base::error{
        "'" + text + "' is no scale: write a number above 0 or a fraction, such as 1/8", 0});
  }
  return numerator / denominator;
}

/// Takes ",readers=N" and ",writers=N" off the end of `name`.
base::result<void> take_others(std::string& name, model& m) {
  for (auto comma = name.rfind(','); comma != std::string::npos; comma = name.rfind(',')) {
    const std::string item = name.substr(comma + 1);
    const auto sign = item.find('=');
    const std::string direction = item.substr(0, sign);
    unsigned n = 0;
    bool good = sign != std::string::npos && (direction == "readers" || direction == "writers");
    if (good) {
      const char* end = item.data() + item.size();
      const auto r = std::from_chars(item.data() + sign + 1, end, n);
      good = r.ec == std::errc{} && r.ptr == end && n <= 64;
    }
    if (!good) {
      return std::unexpected(base::error{
          "'" + item +
              "' is unknown: behind the device's name stand readers=N or writers=N, N <= 64",
          0});
    }
    (direction == "readers" ? m.other_readers : m.other_writers) = n;
    name.resize(comma);
  }
  return {};
}

void scale_curve(curve& c, double by) {
  for (auto& point : c) point.bytes_per_s *= by;
}

}  // namespace

double at(const curve& c, unsigned streams) noexcept {
  if (c.empty()) return 0;
  if (streams <= c.front().streams) {
    return c.front().bytes_per_s * streams / std::max(1u, c.front().streams);
  }
  for (std::size_t i = 1; i < c.size(); ++i) {
    if (streams > c[i].streams) continue;
    const double part = static_cast<double>(streams - c[i - 1].streams) /
                        static_cast<double>(c[i].streams - c[i - 1].streams);
    return c[i - 1].bytes_per_s + part * (c[i].bytes_per_s - c[i - 1].bytes_per_s);
  }
  return c.back().bytes_per_s;
}

unsigned best_streams(const curve& c) noexcept {
  double peak = 0;
  for (const auto& point : c) peak = std::max(peak, point.bytes_per_s);
  for (const auto& point : c) {
    if (point.bytes_per_s >= 0.95 * peak) return point.streams;
  }
  return 1;
}

// Strided reads that touch every granule are a sequential read of the whole span: neighbours share
// granules, each of which is moved once. Those that leave granules out are random reads of the
// rest, at most as dear as the span.
model::cost model::cost_of(access kind, unsigned streams, std::uint64_t accesses,
                           std::uint64_t bytes, std::uint64_t stride,
                           unsigned writers) const noexcept {
  const double n = static_cast<double>(accesses);
  const unsigned all = streams + (kind == access::write ? other_writers : other_readers);
  const double share = static_cast<double>(streams) / all;
  if (kind == access::write) {
    const std::uint64_t lines = (bytes + kLineBytes - 1) / kLineBytes;
    return {n * static_cast<double>(bytes) / (at(write, all) * share) * 1e9,
            n * static_cast<double>(lines) * write_line_ns};
  }
  const double hindered = std::min(interference_most, 1 + (writers + other_writers) * interference);
  const double slower = 1e9 * hindered / share;
  if (kind == access::sequential_read) {
    return {n * static_cast<double>(bytes) / at(sequential_read, all) * slower, 0};
  }
  const std::uint64_t apart = stride != 0 ? stride : bytes;
  const double moved = moved_bytes(bytes, apart, granule_bytes);
  const double span = static_cast<double>(apart);
  cost c{n * moved / at(random_read, all) * slower,
         n * moved_bytes(bytes, apart, kLineBytes) / kLineBytes * random_line_ns};
  if (kind == access::strided_read) {
    const double whole = n * span / at(sequential_read, all) * slower;
    if (moved >= span) return {whole, 0};
    c.device_ns = std::min(c.device_ns, whole);
  }
  return c;
}

double model::bandwidth(access kind, unsigned streams, std::uint64_t access_bytes, unsigned writers,
                        std::uint64_t stride) const noexcept {
  const std::uint64_t bytes = std::max<std::uint64_t>(1, access_bytes);
  const cost c = cost_of(kind, streams, 1, bytes, stride, writers);
  return static_cast<double>(bytes) / std::max(c.device_ns, c.line_ns / streams) * 1e9;
}

base::result<model> preset(const std::string& full_name) {
  std::string name = full_name.starts_with("emu:") ? full_name.substr(4) : full_name;
  double scale = 1;
  model others;
  if (auto r = take_others(name, others); !r) return std::unexpected(r.error());
  if (const auto sign = name.find('@'); sign != std::string::npos) {
    auto parsed = parse_scale(name.substr(sign + 1));
    if (!parsed) return std::unexpected(parsed.error());
    scale = *parsed;
    name.resize(sign);
  }
  model m;
  if (name == "pmem") {
    m = pmem();
  } else if (name == "bd" || name == "brd" || name == "bard") {
    m = dram();
    if (name == "bd") m.random_line_ns = 500;
    if (name == "bard") m.write_line_ns = 500;
  } else if (name == "cxl-dram") {
    m = cxl_dram();
  } else if (name == "cmm-h") {
    m = cmm_h();
  } else {
    return std::unexpected(base::error{"no emulated device is called '" + name +
                                           "': choose pmem, bd, brd, bard, cxl-dram or cmm-h",
                                       0});
  }
  for (curve* c : {&m.sequential_read, &m.random_read, &m.write}) scale_curve(*c, scale);
  m.other_readers = others.other_readers;
  m.other_writers = others.other_writers;
  m.random_line_ns /= scale;
  m.write_line_ns /= scale;
  m.name = full_name.starts_with("emu:") ? full_name : "emu:" + full_name;
  return m;
}

}  // namespace isotherm::device
