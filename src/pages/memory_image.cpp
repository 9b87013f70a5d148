#include "pages/memory_image.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>

#include "os/files/file.hpp"
#include "os/page_scan.hpp"
#include "os/proc_file.hpp"
#include "pages/bits.hpp"

namespace isotherm::pages {
namespace {

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

mapping_kind kind_of(std::string_view name) {
  if (name == "[heap]") return mapping_kind::heap;
  if (name == "[stack]") return mapping_kind::stack;
  // os::name_memory() names them so.
  if (name == "[anon:isotherm-new]") return mapping_kind::isotherm_new;
  if (name == "[anon:isotherm-hot]") return mapping_kind::isotherm_hot;
  if (name == "[anon:isotherm-cold]") return mapping_kind::isotherm_cold;
  if (name == "[anon:isotherm-node]") return mapping_kind::isotherm_node;
  if (name.empty() || name.starts_with("[anon")) return mapping_kind::anonymous;
  return name.starts_with('[') ? mapping_kind::kernel : mapping_kind::file;
}

/// A line is "begin-end permissions offset device inode name".
std::optional<mapping> parse_line(std::string_view line) {
  const std::string_view range = take_word(line);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = hexadecimal(range.substr(0, dash)), end = hexadecimal(range.substr(dash + 1));
  mapping m;
  m.permissions = take_word(line);
  for (int skipped = 0; skipped < 3; ++skipped) take_word(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!begin || !end || *begin >= *end || *end > kAddressEnd || m.permissions.size() != 4)
    return std::nullopt;
  m.begin = *begin;
  m.end = *end;
  m.set_name(line);
  return m;
}

std::string of_process(int pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

}  // namespace

std::string_view name(mapping_kind kind) {
  switch (kind) {
    case mapping_kind::heap:
      return "heap";
    case mapping_kind::stack:
      return "stack";
    case mapping_kind::anonymous:
      return "anonymous";
    case mapping_kind::isotherm_new:
      return "isotherm-new";
    case mapping_kind::isotherm_hot:
      return "isotherm-hot";
    case mapping_kind::isotherm_cold:
      return "isotherm-cold";
    case mapping_kind::isotherm_node:
      return "isotherm-node";
    case mapping_kind::file:
      return "file";
    case mapping_kind::kernel:
      return "kernel";
    case mapping_kind::unknown:
      break;
  }
  return "unknown";
}

void mapping::set_name(std::string_view text) {
  name = text;
  kind = kind_of(text);
}

mapping mapping::part(std::uint64_t from, std::uint64_t to) const {
  mapping cut = *this;
  cut.begin = from;
  cut.end = to;
  return cut;
}

std::vector<mapping> parse_mappings(std::string_view text) {
  std::vector<mapping> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto m = parse_line(text.substr(0, end))) all.push_back(std::move(*m));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

base::result<std::vector<mapping>> read_mappings(int pid) {
  const std::string path = of_process(pid, "maps");
  if (auto readable = os::file::open(path); !readable) return std::unexpected(readable.error());
  return parse_mappings(os::read_proc_file(path.c_str()));
}

base::result<std::vector<resident_range>> read_resident(int pid,
                                                        const std::vector<mapping>& mappings) {
  const auto pagemap = os::file::open(of_process(pid, "pagemap"));
  if (!pagemap) return std::unexpected(pagemap.error());
  const os::page_choice present{.with = os::kPagePresent,
                                .without = os::kPageOfZeros,
                                .told = os::kPagePresent | os::kPageHuge};
  std::vector<resident_range> all;
  for (const mapping& m : mappings) {
    auto runs = os::scan_pages(*pagemap, m.begin, m.end, present);
    if (!runs && runs.error().code == ENOTTY) {
      if (m.permissions.starts_with("---")) continue;  // reserved addresses, up to terabytes
      runs = os::read_present_pages(*pagemap, m.begin, m.end);
    }
    if (!runs) return std::unexpected(runs.error());
    for (const auto& run : *runs) {
      all.push_back({{run.begin, run.end}, (run.facts & os::kPageHuge) != 0});
    }
  }
  return all;
}

}  // namespace isotherm::pages
