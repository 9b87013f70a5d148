#include "heap/configure.hpp"

#include <cstdlib>
#include <string_view>

#include "heap/ranges.hpp"
#include "os/files/cold_file.hpp"
#include "os/memory/swap.hpp"

namespace isotherm::heap {

base::result<cold_backing> cold_backing::parse(const std::string& text) {
  constexpr std::string_view kFile = "file:";
  if (text == "anon") return cold_backing{type::anon, {}};
  if (text.starts_with(kFile) && text.size() > kFile.size()) {
    return cold_backing{type::file, text.substr(kFile.size())};
  }
  return std::unexpected(
      base::error{"cold backing '" + text + "' is not known: give anon or file:DIR", 0});
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
  return heaps().packed(kind::cold).pages().is_file() || os::read_swap_space().total_bytes > 0;
}

base::result<void> configure(const options& chosen) { return make_heaps(chosen); }

const cold_read_limits& read_limits() noexcept { return heaps().cold_reads; }

}  // namespace isotherm::heap
