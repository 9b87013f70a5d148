#include "lab/tlb/tlb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/numbers.hpp"
#include "base/random.hpp"
#include "lab/bench/options.hpp"
#include "lab/tlb/miss_counters.hpp"
#include "os/memory/available_memory.hpp"
#include "os/memory/huge_pages.hpp"

namespace isotherm::lab {
namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostRegionBytes = 128 * kGibibyte;  // line numbers of 32 bits

std::unexpected<base::error> refused(std::string line) {
  return std::unexpected(base::error{std::move(line)});
}

/// Fills `found` with the values whose names `words` has; each at most once.
template <class Value, std::size_t Count>
base::result<void> parse_names(const std::string& flag, const std::vector<std::string>& words,
                               const std::array<Value, Count>& values, std::vector<Value>& found) {
  for (const std::string& word : words) {
    const auto* const at = std::ranges::find(values, word, [](Value v) { return name_of(v); });
    if (at == values.end() || std::ranges::find(found, *at) != found.end()) {
      return refused(fmt::format("{} must list {} or {}, each once, not '{}'", flag,
                                 name_of(values[0]), name_of(values[1]), word));
    }
    found.push_back(*at);
  }
  return {};
}

base::result<std::vector<double>> parse_hot(const tlb_options& asked, std::uint64_t objects) {
  std::vector<double> shares;
  for (const std::string& word : asked.hot) {
    const auto percent = base::parse_number<double>(word, 0, 100);
    if (!percent || *percent / 100 * static_cast<double>(objects) < 2) {
      return refused(fmt::format(
          "--hot must list per cents up to 100 that are at least 2 of the {} objects, not '{}'",
          objects, word));
    }
    shares.push_back(*percent / 100);
  }
  return shares;
}

base::result<void> check_memory(const tlb_plan& plan) {
  const std::uint64_t wanted = plan.asked.region_bytes * plan.pages.size();
  const std::uint64_t room = os::available_memory();
  if (wanted <= room) return {};
  return refused(fmt::format(
      "{} MiB of memory are needed and {} MiB are left: give a smaller --size, or one of --pages",
      wanted >> 20, room >> 20));
}

struct sample {
  double ns = 0;
  read_misses misses;
};

/// A cell of the measurement: a layout in pages of one size.
struct side {
  memory_region* memory;
  layout placed;
  std::vector<sample> samples;  ///< one a round
};

/// Measures hot sets of one size with one kind of access.
class measurement {
 public:
  measurement(const tlb_plan& plan, std::vector<memory_region>& regions, miss_counters& counters)
      : plan_(plan), regions_(regions), counters_(counters) {}

  /// Chooses the hot objects, and links them in all regions.
  void choose(double hot_share, std::uint64_t seed) {
    hot_share_ = hot_share;
    const auto hot =
        static_cast<std::uint64_t>(hot_share * static_cast<double>(plan_.region.objects));
    for (const layout each : kLayouts) {
      orders_[static_cast<std::size_t>(each)] =
          choose_hot_lines(plan_.region, hot, each, seed + static_cast<std::uint64_t>(each));
      for (memory_region& region : regions_) region.link(order_of(each), each);
    }
    passes_ = (plan_.asked.accesses + hot - 1) / hot;
  }

  void begin(access_kind kind) {
    kind_ = kind;
    sides_.clear();
    for (memory_region& region : regions_) {
      for (const layout each : kLayouts) sides_.push_back({&region, each, {}});
    }
  }

  /// Measures each side once, in an order that is drawn.
  template <class Told>
  void run_round(base::random& random, Told&& told) {
    std::vector<side*> turns;
    turns.reserve(sides_.size());
    for (side& each : sides_) turns.push_back(&each);
    std::ranges::shuffle(turns, random);
    for (side* each : turns) {
      each->samples.push_back(measure(*each));
      told();
    }
  }

  void append_rows(std::vector<tlb_row>& rows) const {
    for (const side& each : sides_) rows.push_back(row_of(each));
  }

 private:
  std::span<const std::uint32_t> order_of(layout which) const {
    return orders_[static_cast<std::size_t>(which)];
  }

  sample measure(const side& of) {
    const auto order = order_of(of.placed);
    // One pass before fills caches and the TLB with what they hold of this side.
    of.memory->walk(order, of.placed, kind_, 1);
    counters_.start();
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t sum = of.memory->walk(order, of.placed, kind_, passes_);
    const auto ended = std::chrono::steady_clock::now();
    const read_misses misses = counters_.stop();
    ISO_CHECK(sum == checked_sum(order, kind_, passes_), "a walk comes by each hot line");
    const double accesses = this->accesses();
    const auto each = [accesses](std::optional<double> all) {
      return all ? std::optional(*all / accesses) : std::nullopt;
    };
    return {.ns = std::chrono::duration<double, std::nano>(ended - began).count() / accesses,
            .misses = {.tlb = each(misses.tlb), .last_cache = each(misses.last_cache)}};
  }

  double accesses() const {
    return static_cast<double>(passes_ * order_of(layout::scattered).size());
  }

  const side* baseline() const {
    const auto at = std::ranges::find_if(sides_, [](const side& each) {
      return each.memory->size() == page_size::small && each.placed == layout::scattered;
    });
    return at == sides_.end() ? nullptr : &*at;
  }

  tlb_row row_of(const side& of) const {
    const auto order = order_of(of.placed);
    std::vector<double> ns, speedups;
    const side* const scattered = baseline();
    for (std::size_t round = 0; round < of.samples.size(); ++round) {
      ns.push_back(of.samples[round].ns);
      if (scattered) speedups.push_back(scattered->samples[round].ns / ns.back());
    }
    return {.hot_share = hot_share_,
            .hot_objects = order.size(),
            .access = kind_,
            .pages = of.memory->size(),
            .placed = of.placed,
            .pages_touched = count_pages(order, bytes_of(of.memory->size())),
            .ns = spread_of(ns),
            .speedup = scattered ? std::optional(spread_of(speedups)) : std::nullopt,
            .tlb_misses = median_of(of, &read_misses::tlb),
            .last_cache_misses = median_of(of, &read_misses::last_cache)};
  }

  static std::optional<double> median_of(const side& of,
                                         std::optional<double> read_misses::* which) {
    std::vector<double> counted;
    for (const sample& each : of.samples) {
      if (const auto& misses = each.misses.*which) counted.push_back(*misses);
    }
    return counted.empty() ? std::nullopt : std::optional(spread_of(counted).median);
  }

  const tlb_plan& plan_;
  std::vector<memory_region>& regions_;
  miss_counters& counters_;
  double hot_share_ = 0;
  access_kind kind_ = access_kind::dependent;
  std::array<std::vector<std::uint32_t>, kLayouts.size()> orders_;
  std::uint64_t passes_ = 0;
  std::vector<side> sides_;
};

/// Makes the regions; leaves out that of huge pages where the system gave none.
base::result<std::vector<memory_region>> make_regions(const tlb_plan& plan, tlb_result& found) {
  std::vector<memory_region> regions;
  for (const page_size size : plan.pages) {
    auto made = memory_region::make(plan.asked.region_bytes, size);
    if (!made) return std::unexpected(made.error());
    if (size == page_size::huge) {
      found.huge_bytes = made->huge_bytes();
      if (*found.huge_bytes == 0) continue;
    }
    regions.push_back(std::move(*made));
  }
  if (!regions.empty()) return regions;
  return refused(fmt::format(
      "no huge pages came (setting of the system: {}): leave --pages 2m out, or as root write "
      "madvise to /sys/kernel/mm/transparent_hugepage/enabled",
      os::huge_page_setting()));
}

}  // namespace

base::result<tlb_plan> understand(const tlb_options& asked) {
  tlb_plan plan{.asked = asked, .region = {}, .hot_shares = {}, .pages = {}, .access = {}};
  if (asked.region_bytes < os::kHugePageBytes || asked.region_bytes > kMostRegionBytes) {
    return refused("--size must be 2mb to 128gb");
  }
  if (asked.object_bytes % kLineBytes != 0 || asked.object_bytes == 0 ||
      asked.object_bytes > os::kHugePageBytes) {
    return refused(fmt::format("--object must be a multiple of {} up to 2097152, not {}",
                               kLineBytes, asked.object_bytes));
  }
  plan.asked.region_bytes -= asked.region_bytes % os::kHugePageBytes;
  plan.region = {.objects = plan.asked.region_bytes / asked.object_bytes,
                 .lines_per_object = asked.object_bytes / kLineBytes};
  auto shares = parse_hot(asked, plan.region.objects);
  if (!shares) return std::unexpected(shares.error());
  plan.hot_shares = std::move(*shares);
  constexpr std::array kSizes{page_size::small, page_size::huge};
  if (auto pages = parse_names("--pages", asked.pages, kSizes, plan.pages); !pages) {
    return std::unexpected(pages.error());
  }
  constexpr std::array kKinds{access_kind::dependent, access_kind::independent};
  if (auto kinds = parse_names("--access", asked.access, kKinds, plan.access); !kinds) {
    return std::unexpected(kinds.error());
  }
  if (auto memory = check_memory(plan); !memory) return std::unexpected(memory.error());
  plan.seed = asked.seed ? *asked.seed : drawn_seed();
  return plan;
}

spread spread_of(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {.median = median, .least = samples.front(), .most = samples.back()};
}

base::result<tlb_result> run_tlb(const tlb_plan& plan, const tool::record_progress& progress) {
  tlb_result found;
  auto regions = make_regions(plan, found);
  if (!regions) return std::unexpected(regions.error());
  miss_counters counters;
  found.why_no_misses = counters.why_absent();
  measurement measured(plan, *regions, counters);
  base::random random(plan.seed);
  const std::uint64_t total = plan.hot_shares.size() * plan.access.size() * plan.asked.rounds *
                              regions->size() * kLayouts.size();
  std::uint64_t done = 0;
  for (const double share : plan.hot_shares) {
    measured.choose(share, random());
    for (const access_kind kind : plan.access) {
      measured.begin(kind);
      for (unsigned round = 0; round < plan.asked.rounds; ++round) {
        measured.run_round(random, [&] {
          if (progress) progress(++done, total);
        });
      }
      measured.append_rows(found.rows);
    }
  }
  return found;
}

}  // namespace isotherm::lab
