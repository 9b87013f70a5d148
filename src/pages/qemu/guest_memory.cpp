#include "pages/qemu/guest_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace isotherm::pages {
namespace {

std::string permissions_of(const control_region& r) {
  return {(r.protection & 1) != 0 ? 'r' : '-', (r.protection & 2) != 0 ? 'w' : '-',
          (r.protection & 4) != 0 ? 'x' : '-', 'p'};
}

/// Names the mappings that the kernel knows as QEMU's and not as the program's.
void name_heap_and_stack(mapping& m, const control& c) {
  const std::uint64_t heap_begin = c.heap_begin.load_relaxed(),
                      heap_end = c.heap_end.load_relaxed();
  if (m.begin <= c.first_stack_address && c.first_stack_address < m.end) {
    m.kind = mapping_kind::stack;
    m.name = "[stack]";
  } else if (m.begin < heap_end && heap_begin < m.end && m.name.empty()) {
    m.kind = mapping_kind::heap;
    m.name = "[heap]";
  } else if (m.kind == mapping_kind::heap || m.kind == mapping_kind::stack) {
    m.kind = mapping_kind::anonymous;  // the kernel means QEMU's
    m.name.clear();
  }
}

/// Names the parts of mappings of anonymous memory that lie in the range: cuts them at its ends.
void name_range(std::vector<mapping>& all, const control_name& name) {
  std::vector<mapping> named;
  named.reserve(all.size() + 2);
  for (mapping& m : all) {
    const bool is_file = !m.name.empty() && !m.name.starts_with("[anon");
    const std::uint64_t begin = std::max(m.begin, name.begin), end = std::min(m.end, name.end);
    if (is_file || begin >= end) {
      named.push_back(std::move(m));
      continue;
    }
    const std::string text = *name.text != '\0' ? fmt::format("[anon:{}]", name.text) : "";
    if (m.begin < begin) named.push_back(m.part(m.begin, begin));
    named.push_back(m.part(begin, end));
    named.back().set_name(text);
    if (end < m.end) named.push_back(m.part(end, m.end));
  }
  all = std::move(named);
}

void name_ranges(std::vector<mapping>& all, const control& c) {
  const unsigned count = std::min(c.name_count.load_relaxed(), kNamesMost);
  for (const control_name& name : std::span(c.names).first(count)) {
    if (name.complete.load_acquire() != 0) name_range(all, name);
  }
}

/// Returns the parts of the process's mappings that are the program's, at host addresses.
std::vector<mapping> of_program(const std::vector<mapping>& of_process, const control& c) {
  std::vector<mapping> all;
  auto host = of_process.begin();
  const auto regions = std::span(c.regions).first(std::min(c.region_count, kRegionsMost));
  for (const control_region& r : regions) {
    const std::uint64_t begin = r.begin + c.guest_base, end = r.end + c.guest_base;
    while (host != of_process.end() && host->end <= begin) ++host;
    for (auto part = host; part != of_process.end() && part->begin < end; ++part) {
      mapping m = *part;
      m.begin = std::max(m.begin, begin);
      m.end = std::min(m.end, end);
      m.permissions = permissions_of(r);
      all.push_back(std::move(m));
    }
  }
  return all;
}

}  // namespace

base::result<memory_image> read_guest_memory(int pid, const control& c) {
  memory_image image;
  if (c.regions_known == 0) return image;
  const auto of_process = read_mappings(pid);
  if (!of_process) return std::unexpected(of_process.error());
  image.mappings = of_program(*of_process, c);
  auto resident = read_resident(pid, image.mappings);
  if (!resident) return std::unexpected(resident.error());
  image.resident = std::move(*resident);
  image.knows_resident = true;
  for (mapping& m : image.mappings) {
    m.begin -= c.guest_base;
    m.end -= c.guest_base;
    name_heap_and_stack(m, c);
  }
  name_ranges(image.mappings, c);
  for (resident_range& r : image.resident) {
    r.begin -= c.guest_base;
    r.end -= c.guest_base;
  }
  return image;
}

}  // namespace isotherm::pages
