// Parts of a request that the live page reads, under libFuzzer: headers, numbers and a change's
// JSON. Whatever they are, a request that is answered named this machine, and a change is two
// strings.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "live/address.hpp"
#include "live/request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  namespace live = isotherm::live;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = text.substr(0, size / 2), second = text.substr(size / 2);
  static const std::vector<std::string> kOwn = {"box.example.org"};
  const bool is_own = live::is_own_name(first, kOwn);
  if (is_own && first.contains('/')) std::abort();
  for (const auto wanted : {live::access::page, live::access::read, live::access::change}) {
    const live::request_head head{.method = wanted == live::access::change ? "POST" : "GET",
                                  .host = first,
                                  .origin = second,
                                  .content_type = "application/json"};
    const auto refused = live::refusal_of(head, wanted, live::control::allowed, kOwn);
    if (!refused && !is_own) std::abort();
    if (!refused && wanted != live::access::page && !second.empty() && !second.ends_with(first)) {
      std::abort();
    }
  }
  if (const auto where = live::parse_address(text); where && where->host.empty()) std::abort();
  if (const auto number = isotherm::base::parse_number<std::uint64_t>(text); number && text.empty())
    std::abort();
  static_cast<void>(live::parse_change(text));
  static_cast<void>(live::parse_heap(text));
  return 0;
}
