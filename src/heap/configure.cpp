#include "heap/configure.hpp"

#include <string_view>

#include "heap/ranges.hpp"

namespace isotherm::heap {

base::result<cold_backing> cold_backing::parse(const std::string& text) {
  constexpr std::string_view kFile = "file:";
  if (text == "anon") return cold_backing{};
  if (text.starts_with(kFile) && text.size() > kFile.size()) {
    return cold_backing{type::file, text.substr(kFile.size())};
  }
  return std::unexpected(
      base::error{"cold backing '" + text + "' is not known: give anon or file:DIR", 0});
}

base::result<void> configure(const options& chosen) { return make_heaps(chosen); }

const cold_read_limits& read_limits() noexcept { return heaps().cold_reads; }

}  // namespace isotherm::heap
