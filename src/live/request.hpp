// The conditions under which a request is answered, as functions of its parts: no request of
// another site's page reads or changes anything, whatever a browser is made to send.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <isotherm/live.hpp>

#include "base/error.hpp"
#include "heap/kind.hpp"

namespace isotherm::live {

/// The effect of a route.
enum class access : std::uint8_t {
  page,   ///< gives a part of the page, which tells nothing: a link may lead to it
  read,   ///< tells something
  change  ///< changes something: only where that is allowed
};

/// The parts that matter; a header that is not there is empty, but for `host`.
struct request_head {
  std::string_view method{};
  std::optional<std::string_view> host{};
  std::string_view origin{}, fetch_site{}, content_type{};
};

struct refusal {
  unsigned status;
  std::string_view reason;
};

/// Why the request is not answered; nullopt: it is. `own`: see is_own_name(). A request without a
/// Host, as health checks send it by HTTP/1.0, is no browser's and may read.
std::optional<refusal> refusal_of(const request_head& head, access wanted, control changes,
                                  std::span<const std::string> own);

/// {"name": "window", "value": "5"} in a request's body. Fails with one line.
struct change {
  std::string name, value;
};
base::result<change> parse_change(std::string_view body);

/// "new", "hot", "cold" or "node".
std::optional<heap::kind> parse_heap(std::string_view text) noexcept;

}  // namespace isotherm::live
