#include "pages/qemu/guest_memory.hpp"

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
  for (resident_range& r : image.resident) {
    r.begin -= c.guest_base;
    r.end -= c.guest_base;
  }
  return image;
}

}  // namespace isotherm::pages
