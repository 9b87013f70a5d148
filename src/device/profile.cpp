#include "device/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace isotherm::device {
namespace {

using json = nlohmann::json;

json curve_json(const curve& c) {
  json all = json::array();
  for (const auto& point : c) {
    all.push_back(
        {{"streams", point.streams}, {"bytes_per_s", point.bytes_per_s}, {"spread", point.spread}});
  }
  return all;
}

json sizes_json(const std::vector<sized_curve>& curves) {
  json all = json::array();
  for (const auto& c : curves) {
    all.push_back({{"access_bytes", c.access_bytes}, {"bandwidth", curve_json(c.bandwidth)}});
  }
  return all;
}

json interference_json(const std::vector<interference_point>& points) {
  json all = json::array();
  for (const auto& i : points) {
    all.push_back({{"writers", i.writers},
                   {"read_bytes_per_s", i.read_bytes_per_s},
                   {"write_bytes_per_s", i.write_bytes_per_s}});
  }
  return all;
}

std::vector<interference_point> read_interference(const json& j) {
  std::vector<interference_point> all;
  for (const auto& i : j) {
    all.push_back({i.at("writers").get<unsigned>(), i.at("read_bytes_per_s").get<double>(),
                   i.at("write_bytes_per_s").get<double>()});
  }
  return all;
}

constexpr std::pair<const char*, std::vector<double> letter_rounds::*> kLetterRounds[] = {
    {"sequential", &letter_rounds::sequential},
    {"random", &letter_rounds::random},
    {"random_small", &letter_rounds::random_small},
    {"random_page", &letter_rounds::random_page},
    {"write", &letter_rounds::write},
    {"write_most", &letter_rounds::write_most},
    {"read_alone", &letter_rounds::read_alone},
    {"read_beside", &letter_rounds::read_beside}};

json letters_json(const letter_rounds& letters) {
  json all = json::object();
  for (const auto& [key, rounds] : kLetterRounds) all[key] = letters.*rounds;
  return all;
}

letter_rounds read_letters(const json& j) {
  letter_rounds letters;
  for (const auto& [key, rounds] : kLetterRounds) {
    letters.*rounds = j.at(key).get<std::vector<double>>();
    for (const double rate : letters.*rounds) {
      if (!std::isfinite(rate) || rate <= 0) throw std::runtime_error("a bandwidth is not above 0");
    }
  }
  return letters;
}

constexpr std::int64_t kMostStreams = 1 << 16;

curve read_curve(const json& j) {
  curve c;
  for (const auto& point : j) {
    const auto streams = point.at("streams").get<std::int64_t>();
    const auto bandwidth = point.at("bytes_per_s").get<double>();
    const std::int64_t before = c.empty() ? 0 : std::int64_t{c.back().streams};
    if (streams <= before || streams > kMostStreams) {
      throw std::runtime_error("the streams of a curve do not ascend from 1");
    }
    if (!std::isfinite(bandwidth) || bandwidth <= 0) {
      throw std::runtime_error("a bandwidth is not above 0");
    }
    c.push_back({static_cast<unsigned>(streams), bandwidth, point.value("spread", 0.0)});
  }
  if (c.empty()) throw std::runtime_error("a curve is empty");
  return c;
}

std::vector<sized_curve> read_sizes(const json& j) {
  std::vector<sized_curve> all;
  for (const auto& c : j) {
    all.push_back({c.at("access_bytes").get<std::uint64_t>(), read_curve(c.at("bandwidth"))});
  }
  return all;
}

double peak(const curve& c) {
  double best = 0;
  for (const auto& point : c) best = std::max(best, point.bytes_per_s);
  return best;
}

double peak(const std::vector<sized_curve>& all, std::uint64_t bytes) {
  for (const auto& c : all) {
    if (c.access_bytes >= bytes) return peak(c.bandwidth);
  }
  return all.empty() ? 0 : peak(all.back().bandwidth);
}

}  // namespace

std::string to_json(const profile& p) {
  json j = {{"isotherm_profile", 3},
            {"path", p.path},
            {"device", p.device},
            {"sequential_read", curve_json(p.sequential_read)},
            {"write", curve_json(p.write)},
            {"strided_read",
             {{"access_bytes", p.strided_read.access_bytes},
              {"bandwidth", curve_json(p.strided_read.bandwidth)}}},
            {"random_read", sizes_json(p.random_read)},
            {"sequential_read_sizes", sizes_json(p.sequential_read_sizes)},
            {"mapped_read_sizes", sizes_json(p.mapped_read_sizes)},
            {"direct",
             {{"way", p.direct.way},
              {"sequential_read", sizes_json(p.direct.sequential_read)},
              {"random_read", sizes_json(p.direct.random_read)},
              {"write", curve_json(p.direct.write)},
              {"interference", interference_json(p.direct.interference)}}},
            {"interference", interference_json(p.interference)},
            {"interference_per_writer", interference_of(p)},
            {"letters", letters_json(p.letters)},
            {"braid", json::array()}};
  for (const auto& letter : braid(p)) {
    j["braid"].push_back({{"letter", std::string(1, letter.letter)},
                          {"holds", name(letter.holds)},
                          {"why", letter.why}});
  }
  return j.dump(2) + "\n";
}

base::result<profile> parse_profile(const std::string& text) {
  try {
    const json j = json::parse(text, nullptr, false);
    if (j.is_discarded()) throw std::runtime_error("not JSON");
    profile p;
    if (j.at("isotherm_profile") != 3) throw std::runtime_error("of another version: probe again");
    p.path = j.at("path").get<std::string>();
    p.device = j.at("device").get<std::string>();
    p.sequential_read = read_curve(j.at("sequential_read"));
    p.write = read_curve(j.at("write"));
    p.strided_read = {j.at("strided_read").at("access_bytes").get<std::uint64_t>(),
                      read_curve(j.at("strided_read").at("bandwidth"))};
    p.random_read = read_sizes(j.at("random_read"));
    p.sequential_read_sizes = read_sizes(j.at("sequential_read_sizes"));
    p.mapped_read_sizes = read_sizes(j.at("mapped_read_sizes"));
    const json& direct = j.at("direct");
    p.direct = {direct.at("way").get<std::string>(), read_sizes(direct.at("sequential_read")),
                read_sizes(direct.at("random_read")),
                direct.at("write").empty() ? curve{} : read_curve(direct.at("write")),
                read_interference(direct.at("interference"))};
    p.interference = read_interference(j.at("interference"));
    p.letters = read_letters(j.at("letters"));
    if (p.random_read.empty()) throw std::runtime_error("without random reads");
    return p;
  } catch (const std::exception& e) {
    return std::unexpected(base::error{
        fmt::format("no device profile ({}): make one with `isotherm device probe`, or name an "
                    "emulated device, emu:pmem",
                    e.what()),
        0});
  }
}

base::result<profile> load_profile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && text.empty()) {
    return std::unexpected(base::error{"cannot read the device profile " + path +
                                           ": make one with `isotherm device probe`, or "
                                           "name an emulated device, emu:pmem",
                                       0});
  }
  auto p = parse_profile(text);
  if (!p) return std::unexpected(base::error{path + ": " + p.error().message, 0});
  return p;
}

// Writes that take the share f of the device's time leave reads 1 - f of theirs; what reads lose
// beyond that is the writers' hindrance. More writers than writes want hinder no more.
double interference_of(const std::vector<interference_point>& beside, const curve& write) {
  double sum = 0;
  unsigned points = 0;
  const unsigned most = std::max(1u, best_streams(write));
  for (const auto& i : beside) {
    if (i.writers > most) continue;
    const double alone = beside.front().read_bytes_per_s;
    if (i.writers == 0 || i.read_bytes_per_s <= 0 || write.empty()) continue;
    const double share = std::min(1.0, i.write_bytes_per_s / at(write, i.writers));
    sum += ((1 - share) * alone / i.read_bytes_per_s - 1) / i.writers;
    ++points;
  }
  return points == 0 ? 0 : std::max(0.0, sum / points);
}

double interference_of(const profile& p) {
  const bool past = !p.direct.interference.empty();
  return interference_of(past ? p.direct.interference : p.interference,
                         past ? p.direct.write : p.write);
}

model as_model(const profile& p) {
  model m;
  // Not "emu:": who plans by this profile emulates nothing.
  m.name = p.device.starts_with("emu:") ? "profile of an emulated device, " + p.device
                                        : "profile of " + p.path;
  m.sequential_read = p.sequential_read;
  m.write = p.write;
  for (const auto& c : p.random_read) {
    m.random_read = c.bandwidth;
    if (c.access_bytes >= 256) break;
  }
  const double small = peak(p.random_read, 64);
  const double large = peak(p.random_read, 256);
  // The granule that explains how much less small accesses give.
  if (small > 0 && large / small > 2) m.granule_bytes = 256;
  // If it is not sure that writers hurt reads at all, how much they do is noise.
  for (const auto& letter : braid(p)) {
    if (letter.letter == 'I' && letter.holds == verdict::yes) m.interference = interference_of(p);
  }
  return m;
}

model model_past_the_cache(const profile& p) {
  constexpr std::uint64_t kWindow = 128 << 10;  // a read of sorts, among others at random places
  model m = as_model(p);
  const direct_profile& d = p.direct;
  if (d.sequential_read.empty() || d.random_read.empty() || d.write.empty()) return m;
  m.sequential_read = d.sequential_read.back().bandwidth;
  m.write = d.write;
  for (const auto& c : d.random_read) {
    m.random_read = c.bandwidth;
    if (c.access_bytes >= kWindow) break;
  }
  return m;
}

std::string_view name(verdict v) noexcept {
  constexpr std::string_view kNames[] = {"no", "unsure", "yes"};
  return kNames[static_cast<unsigned>(v)];
}

namespace {

/// The median of some numbers, and the bounds of the middle half of them: a round in which
/// something else had the processors counts for no more than any other.
struct summary {
  double low, median, high;
};

summary summary_of(std::vector<double> all) {
  std::ranges::sort(all);
  const std::size_t n = all.size();
  return {all[n / 4], all[n / 2], all[n - 1 - n / 4]};
}

/// Returns `of` / `to`, round by round; `to` has as many, in the same order.
std::vector<double> ratios(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> all(of.size());
  std::ranges::transform(of, to, all.begin(), std::divides<>());
  return all;
}

/// Returns the share of bandwidth `to` that is left in `of`, round by round, at most 1.
std::vector<double> kept(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> all = ratios(of, to);
  for (double& r : all) r = std::min(r, 1.0);
  return all;
}

verdict opposite(verdict v) {
  return v == verdict::unsure ? v : v == verdict::yes ? verdict::no : verdict::yes;
}

std::string percent(const std::vector<double>& part) {
  const summary s = summary_of(part);
  return fmt::format("{:.0f}% ({:.0f} .. {:.0f})", 100 * s.median, 100 * s.low, 100 * s.high);
}

double gb(const std::vector<double>& rounds) { return summary_of(rounds).median / 1e9; }

/// Whether letters were judged past the page cache.
bool past_the_cache(const profile& p) { return !p.direct.random_read.empty(); }

/// Whether all that letters compare is there.
bool complete(const profile& p) {
  const letter_rounds& r = p.letters;
  const bool past = past_the_cache(p);
  const auto same = [&](const std::vector<double>& rounds) {
    return rounds.size() == r.sequential.size();
  };
  return !r.sequential.empty() && same(r.random) && same(r.write) && same(r.write_most) &&
         same(r.read_alone) && same(r.read_beside) &&
         (past || (same(r.random_small) && same(r.random_page))) &&
         !(past ? p.direct.write : p.write).empty() &&
         !(past ? p.direct.interference : p.interference).empty();
}

braid_letter byte_addressable(const profile& p) {
  if (past_the_cache(p)) {
    return {'B', verdict::no,
            "past the page cache the file system moves blocks, of 4 KiB at the least"};
  }
  constexpr double kBlocks = 64.0 / 4096;  // what a device of 4 KiB blocks would give
  const letter_rounds& r = p.letters;
  const auto part = ratios(r.random_small, r.random_page);
  return {'B', above(part, 4 * kBlocks),
          fmt::format("random reads of 64 B reach {:.2f} GB/s, {:.1f} times what a device of "
                      "4 KiB blocks would give ({:.2f} GB/s at 4 KiB)",
                      gb(r.random_small), summary_of(part).median / kBlocks, gb(r.random_page))};
}

}  // namespace

verdict above(std::vector<double> ratios, double limit) {
  const summary s = summary_of(std::move(ratios));
  const double margin = 2 * (s.high - s.low);
  if (s.median - margin > limit) return verdict::yes;
  return s.median + margin < limit ? verdict::no : verdict::unsure;
}

std::vector<braid_letter> braid(const profile& p) {
  constexpr double kKept = 0.8;  // of a bandwidth that is not hurt
  const letter_rounds& r = p.letters;
  if (!complete(p)) return {};
  const bool past = past_the_cache(p);
  const curve& writes = past ? p.direct.write : p.write;
  const auto& beside = past ? p.direct.interference : p.interference;
  std::vector<braid_letter> all{byte_addressable(p)};
  const auto random = ratios(r.random, r.sequential);
  all.push_back({'R', above(random, 0.5),
                 fmt::format("random reads of {} B reach {:.2f} GB/s, {} of sequential reads "
                             "({:.2f} GB/s)",
                             past ? 4096 : 256, gb(r.random), percent(random), gb(r.sequential))});
  const auto reads = ratios(r.sequential, r.write);
  const summary faster = summary_of(reads);
  all.push_back({'A', above(reads, 1.5),
                 fmt::format("sequential reads are {:.1f} ({:.1f} .. {:.1f}) times as fast as "
                             "writes ({:.2f} GB/s)",
                             faster.median, faster.low, faster.high, gb(r.write))});
  const auto reads_kept = kept(r.read_beside, r.read_alone);
  all.push_back(
      {'I', opposite(above(reads_kept, kKept)),
       fmt::format("beside {} writers reads keep {} of their bandwidth; each writer "
                   "slows them by {:.0f}% beyond its share of the time",
                   beside.back().writers, percent(reads_kept), 100 * interference_of(p))});
  const auto crowded = kept(r.write_most, r.write);
  all.push_back({'D', opposite(above(crowded, kKept)),
                 fmt::format("writes peak with {} threads; with {} they give {} of the peak",
                             best_streams(writes), writes.back().streams, percent(crowded))});
  return all;
}

}  // namespace isotherm::device
