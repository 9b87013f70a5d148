#include "pages/live/smaps.hpp"

#include <algorithm>
#include <utility>

#include "os/proc_file.hpp"

namespace isotherm::pages {

std::vector<mapping_use> parse_smaps(std::string_view text) {
  constexpr std::string_view kUsed = "Referenced:";
  std::vector<mapping_use> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!all.empty() && line.starts_with(kUsed)) {
      all.back().used = os::number_after(line, kUsed).value_or(0) << 10;
    } else if (auto opened = parse_mappings(line); !opened.empty()) {
      all.push_back({.where = std::move(opened.front())});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace isotherm::pages
