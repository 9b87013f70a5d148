// Miss ratios of the collector's policy beside those of caches and of the best fixed choice, on the
// same requests, for objects of one size: a simulation, of what is kept, not of what that costs.
//
//   miss_ratios --objects 2000000 --window 200000 --windows 400
//   xz -dc TRACE | ... | miss_ratios --requests -     numbers, one request a line
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <unordered_map>

#include "lab/policies/policy.hpp"
#include "lab/workload/generators.hpp"

namespace {

using namespace isotherm;

struct settings {
  std::uint32_t objects = 500'000;
  std::uint64_t window = 50'000;
  unsigned windows = 400;
  unsigned shift = 0;
  double theta = 0.99;
  std::uint64_t seed = 1;
  std::string requests;
  std::vector<double> shares{0.10, 0.25, 0.35, 0.50, 0.75};
};

struct load {
  std::vector<std::uint32_t> requests;
  std::size_t measured_from = 0;          ///< the first request that counts
  std::vector<std::uint64_t> popularity;  ///< of each object, higher is more
};

/// Objects are numbered in the order of their first use. Popular is what the requests that count
/// use, which cannot be known beforehand.
load read_requests(std::istream& in) {
  load made;
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (std::string line; std::getline(in, line);) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    made.requests.push_back(numbers.try_emplace(line, next).first->second);
  }
  made.measured_from = made.requests.size() / 2;
  made.popularity.resize(numbers.size());
  for (std::size_t i = made.measured_from; i < made.requests.size(); ++i) {
    ++made.popularity[made.requests[i]];
  }
  return made;
}

/// Zipfian; from window `shift` on the objects have other ranks.
load draw_requests(const settings& s) {
  load made;
  base::random random(s.seed);
  const workload::zipfian ranks(s.objects, s.theta);
  std::vector<std::uint32_t> object_of(s.objects);
  for (std::uint32_t i = 0; i < s.objects; ++i) object_of[i] = i;
  made.requests.reserve(s.window * s.windows);
  for (unsigned w = 0; w < s.windows; ++w) {
    if (w == 0 || w == s.shift) std::ranges::shuffle(object_of, random);
    for (std::uint64_t i = 0; i < s.window; ++i) {
      made.requests.push_back(object_of[ranks(random)]);
    }
  }
  made.measured_from = s.window * (s.windows - s.windows / 4);
  made.popularity.resize(s.objects);
  for (std::uint32_t rank = 0; rank < s.objects; ++rank) {
    made.popularity[object_of[rank]] = s.objects - rank;
  }
  return made;
}

struct outcome {
  double misses = 0;               ///< share of the measured requests
  std::vector<double> of_windows;  ///< share of each window's requests
};

outcome run(policies::policy& policy, const load& given, std::uint64_t window) {
  outcome seen;
  std::uint64_t measured = 0, of_window = 0;
  for (std::size_t i = 0; i < given.requests.size(); ++i) {
    const bool missed = !policy.use(given.requests[i]);
    of_window += missed;
    measured += missed && i >= given.measured_from;
    if ((i + 1) % window != 0) continue;
    seen.of_windows.push_back(static_cast<double>(of_window) / static_cast<double>(window));
    of_window = 0;
  }
  seen.misses = static_cast<double>(measured) /
                static_cast<double>(given.requests.size() - given.measured_from);
  return seen;
}

/// How soon a policy learns, or learns anew.
std::vector<std::size_t> windows_shown(const settings& s, std::size_t count) {
  std::vector<std::size_t> shown;
  if (s.shift > 0) {
    for (std::size_t w = s.shift; w < s.shift + 6; ++w) shown.push_back(w);
  } else {
    for (std::size_t w = 2; w <= count; w *= 2) shown.push_back(w);
  }
  return shown;
}

void compare(const settings& s, const load& given) {
  const auto objects = static_cast<std::uint32_t>(given.popularity.size());
  fmt::print("{} objects, {} requests, windows of {}, seed {}\n\n", objects, given.requests.size(),
             s.window, s.seed);
  fmt::print("| in DRAM | policy | misses | over best static |{}\n|---|---|---|---|{}\n",
             s.shift > 0 ? " misses before the shift, and in the windows behind it |"
                         : " misses in windows 2, 4, 8, 16 .. |",
             "---|");
  for (const double share : s.shares) {
    const auto room = static_cast<std::uint32_t>(share * objects);
    double best = -1;
    for (const auto& policy :
         {policies::make_best_static(given.popularity, room),
          policies::make_rates(objects, room, s.window), policies::make_tiny_lfu(objects, room),
          policies::make_s3_fifo(objects, room), policies::make_two_queues(objects, room),
          policies::make_lru(objects, room)}) {
      const outcome seen = run(*policy, given, s.window);
      if (best < 0) best = seen.misses;
      fmt::print("| {:.0f}% | {} | {:.2f}% | {} |", 100 * share, policy->name(), 100 * seen.misses,
                 best > 0 ? fmt::format("{:.2f}", seen.misses / best) : "-");
      for (const std::size_t w : windows_shown(s, seen.of_windows.size())) {
        fmt::print(" {:.1f}%", 100 * seen.of_windows[w - 1]);
      }
      fmt::print(" |\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Miss ratios of the collector's policy, of caches and of the best fixed choice");
  app.add_option("--objects", s.objects, "objects of the Zipfian load")
      ->check(CLI::Range(1000u, 100'000'000u))
      ->capture_default_str();
  app.add_option("--window", s.window, "requests of a window")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--windows", s.windows, "windows; the last quarter is measured")
      ->check(CLI::Range(4u, 100'000u))
      ->capture_default_str();
  app.add_option("--shift", s.shift, "window in which all objects get other ranks; 0: none");
  app.add_option("--theta", s.theta, "skew")->check(CLI::Range(0.01, 10.0))->capture_default_str();
  app.add_option("--seed", s.seed)->capture_default_str();
  app.add_option("--shares", s.shares, "shares of the objects that DRAM has room for")
      ->check(CLI::Range(0.001, 1.0))
      ->delimiter(',');
  app.add_option("--requests", s.requests,
                 "file of requests, one object a line (-: standard input), instead of the Zipfian "
                 "load; the second half is measured");
  CLI11_PARSE(app, argc, argv);
  if (s.shift > 0 && s.shift + 6 > s.windows) {
    std::cerr << "miss_ratios: --shift must lie six windows before the end\n";
    return 1;
  }
  if (s.requests.empty()) {
    compare(s, draw_requests(s));
    return 0;
  }
  std::ifstream file;
  if (s.requests != "-") file.open(s.requests);
  if (s.requests != "-" && !file) {
    std::cerr << "miss_ratios: cannot read " << s.requests << '\n';
    return 1;
  }
  compare(s, read_requests(s.requests == "-" ? std::cin : file));
}
