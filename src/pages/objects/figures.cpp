#include "pages/objects/figures.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/page.hpp"

namespace isotherm::pages {
namespace {

constexpr std::size_t kSitesListed = 100;

/// Marks of a part of a page, or of an object.
struct marked {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;  // in bytes
  std::uint64_t pages = 0;
  void add(const marked& other) noexcept {
    bytes += other.bytes;
    lines += other.lines;
    pages += other.pages;
  }
};

/// Counts the marks of bytes [begin, end) of the page, 0 <= begin < end <= 4096.
marked count(const marked_page& page, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  marked found;
  for (std::uint64_t line = begin / kLineBytes; line * kLineBytes < end; ++line) {
    const std::uint64_t first = line * kLineBytes;
    std::uint64_t bits = page.bytes[line];
    if (begin > first) bits &= kAll << (begin - first);
    if (end < first + kLineBytes) bits &= kAll >> (first + kLineBytes - end);
    found.bytes += static_cast<std::uint64_t>(std::popcount(bits));
    found.lines += bits != 0 ? kLineBytes : 0;
  }
  found.pages = found.bytes > 0 ? 1 : 0;
  return found;
}

/// Spreads the marks of pages, which come in ascending order, over the objects on them.
class object_marks {
 public:
  explicit object_marks(const std::vector<object>& objects)
      : objects_(objects), marks_(objects.size()) {}

  void add_page(const marked_page& page) {
    const std::uint64_t begin = page.number * base::kPageBytes, end = begin + base::kPageBytes;
    while (first_ < objects_.size() && objects_[first_].end() <= begin) ++first_;
    const std::uint64_t all = count(page, 0, base::kPageBytes).bytes;
    std::uint64_t of_objects = 0;
    std::size_t at = first_;
    for (; at < objects_.size() && objects_[at].address < end; ++at) {
      const std::uint64_t from = std::max(objects_[at].address, begin);
      const std::uint64_t to = std::min(objects_[at].end(), end);
      if (from == to) continue;  // of no bytes
      const marked part = count(page, from - begin, to - begin);
      marks_[at].add(part);
      of_objects += part.bytes;
    }
    other_ += at == first_ ? base::kPageBytes : all - of_objects;
  }

  const marked& of(std::size_t object) const { return marks_[object]; }
  std::uint64_t other() const { return other_; }

 private:
  const std::vector<object>& objects_;
  std::vector<marked> marks_;
  std::size_t first_ = 0;  // that ends behind the page before
  std::uint64_t other_ = 0;
};

object_sizes sizes_of(const object& each, const marked& marks, std::uint64_t now_ns) {
  object_sizes sizes{.objects = 1, .asked = each.asked, .usable = each.usable};
  sizes.touched_objects = marks.bytes > 0 ? 1 : 0;
  sizes.touched = std::min(each.asked, marks.pages * base::kPageBytes);
  sizes.used = marks.bytes;
  sizes.lines = marks.lines;
  sizes.age_seconds = static_cast<double>(now_ns - std::min(now_ns, each.made_ns)) / 1e9;
  return sizes;
}

void list_sites(object_figures& figures, const std::map<std::uint32_t, object_sizes>& by_site,
                const std::vector<call_site>& sites) {
  figures.sites = by_site.size();
  for (const auto& [site, sizes] : by_site) {
    figures.by_site.push_back({.sizes = sizes, .frames = sites[site].frames, .functions = {}});
  }
  std::ranges::sort(figures.by_site, std::greater(), [](const site_figures& s) {
    return std::pair(s.sizes.untouched(), s.sizes.asked);
  });
  if (figures.by_site.size() > kSitesListed) figures.by_site.resize(kSitesListed);
}

}  // namespace

double object_sizes::mean_age() const noexcept {
  return objects == 0 ? 0 : age_seconds / static_cast<double>(objects);
}

void object_sizes::add(const object_sizes& other) noexcept {
  objects += other.objects;
  asked += other.asked;
  usable += other.usable;
  touched_objects += other.touched_objects;
  touched += other.touched;
  used += other.used;
  lines += other.lines;
  age_seconds += other.age_seconds;
}

std::uint64_t object_figures::predicted() const noexcept {
  return (all.touched + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes + other;
}

base::result<object_figures> measure_objects(const shadow& marks, unsigned area,
                                             const object_table& table,
                                             const std::vector<mapping>& mappings,
                                             std::uint64_t now_ns) {
  const std::vector<object> objects = table.ascending();
  object_marks spread(objects);
  const auto read =
      marks.for_each_page(area, [&](const marked_page& page) { spread.add_page(page); });
  if (!read) return std::unexpected(read.error());
  object_figures figures;
  figures.other = spread.other();
  std::map<std::uint64_t, object_sizes> by_size;
  std::map<std::uint32_t, object_sizes> by_site;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const object_sizes sizes = sizes_of(objects[i], spread.of(i), now_ns);
    figures.all.add(sizes);
    by_size[std::bit_ceil(std::max<std::uint64_t>(objects[i].asked, 1))].add(sizes);
    by_site[objects[i].site].add(sizes);
  }
  for (const auto& [largest, sizes] : by_size) figures.by_size.push_back({largest, sizes});
  list_sites(figures, by_site, table.sites());
  std::ranges::copy_if(mappings, std::back_inserter(figures.code),
                       [](const mapping& m) { return m.kind == mapping_kind::file; });
  return figures;
}

}  // namespace isotherm::pages
