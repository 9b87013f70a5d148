#include "heap/configure.hpp"

#include <cstdlib>
#include <string_view>

#include "heap/ranges.hpp"
#include "os/files/cold_file.hpp"

namespace isotherm::heap {

namespace {
constexpr std::string_view kFile = "file:";
}  // namespace

base::result<cold_backing> cold_backing::parse(const std::string& text) {
  if (text == "anon") return cold_backing{type::anon, {}};
  if (text.starts_with(kFile) && text.size() > kFile.size()) {
    return cold_backing{type::file, text.substr(kFile.size())};
  }
  return std::unexpected(
      base::error{"cold backing '" + text + "' is not known: give anon or file:DIR", 0});
}

std::string cold_backing::text() const {
  switch (where) {
    case type::anon:
      return "anon";
    case type::file:
      return std::string(kFile) + directory;
    case type::found:
      break;
  }
  return "found";
}

std::vector<std::string> cold_directories() {
  std::vector<std::string> all;
  const char* const state = std::getenv("STATE_DIRECTORY");
  const std::string_view given = state != nullptr ? state : "";
  if (const auto first = given.substr(0, given.find(':')); !first.empty()) all.emplace_back(first);
  all.emplace_back("/var/tmp");  // kept on a disk where /tmp is memory
  return all;
}

cold_place find_cold_place(const std::vector<std::string>& directories) {
  cold_place found{.backing = {cold_backing::type::anon, {}}, .refused = {}};
  for (const std::string& directory : directories) {
    if (const auto made = os::open_cold_file(directory); made) {
      found.backing = {cold_backing::type::file, directory};
      break;
    } else {
      found.refused.push_back(made.error().message);
    }
  }
  return found;
}

bool cold_can_leave_dram() {
  return heaps().packed(kind::cold).extents().pages().why_pages_stay().empty();
}

base::result<void> configure(const options& chosen) { return make_heaps(chosen); }

const cold_read_limits& read_limits() noexcept { return heaps().cold_reads; }

}  // namespace isotherm::heap
