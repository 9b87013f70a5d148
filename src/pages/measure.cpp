#include "pages/measure.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/page.hpp"
#include "pages/ascending_search.hpp"

namespace isotherm::pages {
namespace {

constexpr std::uint64_t kSmall = base::kPageBytes;
constexpr std::uint64_t kHuge = std::uint64_t{2} << 20;

/// Used bytes and lines of one page, of any size.
struct page_use {
  std::uint64_t number = 0;  // address / size
  std::uint64_t used = 0;
  std::uint64_t lines = 0;  // in bytes
};

page_use count(const marked_page& page) {
  page_use use{.number = page.number};
  for (const std::uint64_t line : page.bytes) {
    use.used += static_cast<std::uint64_t>(std::popcount(line));
    use.lines += line != 0 ? kLineBytes : 0;
  }
  return use;
}

void add(page_figures& figures, const page_use& use, std::uint64_t size) {
  if (use.used == 0) return;
  ++figures.pages;
  figures.capacity += size;
  figures.used += use.used;
  figures.lines += use.lines;
  figures.by_bytes.add(use.used, size);
  figures.by_lines.add(use.lines, size);
}

/// Adds up the small pages of one huge page, which come side by side, and passes it on.
class huge_page_sum {
 public:
  explicit huge_page_sum(page_figures& target) : target_(target) {}
  void add_page(const page_use& small) {
    const std::uint64_t number = small.number / (kHuge / kSmall);
    if (number != sum_.number) finish();
    sum_.number = number;
    sum_.used += small.used;
    sum_.lines += small.lines;
  }
  void finish() { add(target_, std::exchange(sum_, {}), kHuge); }

 private:
  page_figures& target_;
  page_use sum_;
};

/// Sizes of each mapping; the last one is of addresses that lie in none.
class sizes_by_mapping {
 public:
  explicit sizes_by_mapping(const memory_image& image)
      : image_(image), sizes_(image.mappings.size() + 1), search_(image.mappings) {
    for (std::size_t i = 0; i < image.mappings.size(); ++i) {
      sizes_[i].mapped = image.mappings[i].bytes();
    }
    add_resident();
  }

  void add_touched(const page_use& use, bool resident) {
    amounts& sizes = sizes_[search_.find(use.number * kSmall)];
    sizes.touched += kSmall;
    sizes.used += use.used;
    sizes.lines += use.lines;
    if (resident) sizes.untouched -= kSmall;
  }

  void report_to(window_report& report) const {
    std::map<std::pair<mapping_kind, std::string_view>, amounts> named;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const bool known = i < image_.mappings.size();
      const auto kind = known ? image_.mappings[i].kind : mapping_kind::unknown;
      const std::string_view name = known ? image_.mappings[i].name : std::string_view();
      report.all.add(sizes_[i]);
      report.by_kind[static_cast<std::size_t>(kind)].add(sizes_[i]);
      if (known || sizes_[i].touched > 0) named[{kind, name}].add(sizes_[i]);
    }
    for (const auto& [key, sizes] : named) {
      report.mappings.push_back({key.first, std::string(key.second), sizes});
    }
    std::ranges::sort(report.mappings, std::greater(), [](const mapping_figures& m) {
      return std::tuple(m.sizes.resident, m.sizes.touched, std::string_view(m.name));
    });
  }

 private:
  /// Adds the resident ranges. Every range lies in one mapping, as read_resident() returns them.
  void add_resident() {
    ascending_search<mapping> mappings(image_.mappings);
    for (const resident_range& r : image_.resident) {
      amounts& sizes = sizes_[mappings.find(r.begin)];
      sizes.resident += r.bytes();
      sizes.untouched += r.bytes();  // until add_touched() finds its pages
    }
  }

  const memory_image& image_;
  std::vector<amounts> sizes_;
  ascending_search<mapping> search_;
};

}  // namespace

void amounts::add(const amounts& other) noexcept {
  mapped += other.mapped;
  resident += other.resident;
  untouched += other.untouched;
  touched += other.touched;
  used += other.used;
  lines += other.lines;
}

void utilization_histogram::add(std::uint64_t used, std::uint64_t size) noexcept {
  ++counts_[(used * kSteps + size - 1) / size];  // rounded up: "at most" stays exact
  ++pages_;
}

double utilization_histogram::share_up_to(unsigned per_mille) const noexcept {
  if (pages_ == 0) return 0;
  const auto last = counts_.begin() + std::min(per_mille, kSteps) + 1;
  const auto found = std::accumulate(counts_.begin(), last, std::uint64_t{0});
  return static_cast<double>(found) / static_cast<double>(pages_);
}

double page_figures::utilization() const noexcept {
  return capacity == 0 ? 0 : static_cast<double>(used) / static_cast<double>(capacity);
}

std::uint64_t window_report::could_leave_in_order() const noexcept {
  const std::uint64_t in_use = knows_resident ? all.resident - all.untouched : all.touched;
  return in_use - std::min(in_use, all.lines);
}

base::result<window_report> measure(const shadow& marks, const window& ended) {
  window_report report;
  report.seconds = ended.seconds;
  report.accesses = ended.accesses;
  report.knows_resident = ended.memory.knows_resident;
  sizes_by_mapping sizes(ended.memory);
  ascending_search<resident_range> resident(ended.memory.resident);
  huge_page_sum as_huge(report.huge), really_huge(report.real);
  heat_strip_builder heat(ended.memory);
  const auto read = marks.for_each_page(ended.area, [&](const marked_page& page) {
    const page_use use = count(page);
    const std::size_t at = resident.find(page.number * kSmall);
    const bool is_resident = at < ended.memory.resident.size();
    sizes.add_touched(use, is_resident);
    heat.add_touched(use.number * kSmall, use.used,
                     is_resident ? page_state::held : page_state::given_back);
    add(report.small, use, kSmall);
    as_huge.add_page(use);
    if (is_resident && ended.memory.resident[at].huge) {
      really_huge.add_page(use);
    } else {
      add(report.real, use, kSmall);
    }
  });
  if (!read) return std::unexpected(read.error());
  as_huge.finish();
  really_huge.finish();
  sizes.report_to(report);
  report.heat = heat.finish();
  for (const resident_range& r : ended.memory.resident) {
    if (r.huge) report.resident_in_huge += r.bytes();
  }
  return report;
}

}  // namespace isotherm::pages
