#include "live/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "live/address.hpp"

namespace isotherm::live {

namespace {

constexpr std::string_view kJson = "application/json";

/// "application/json", with or without parameters. A form of another site's page can't have it.
bool is_json(std::string_view content_type) noexcept {
  return content_type == kJson ||
         (content_type.starts_with(kJson) && content_type[kJson.size()] == ';');
}

/// Whether a browser says that another site's page asks. Programs send neither header. A proxy
/// before one of our own names may speak https.
bool is_of_another_site(const request_head& head, std::span<const std::string> own) {
  if (!head.origin.empty()) {
    const std::string_view host = head.host.value_or("");
    const bool may_be_secure = std::ranges::any_of(own, [host](const std::string& name) {
      return host == name || host.starts_with(name + ":");
    });
    return head.origin != fmt::format("http://{}", host) &&
           !(may_be_secure && head.origin == fmt::format("https://{}", host));
  }
  return !head.fetch_site.empty() && head.fetch_site != "same-origin" && head.fetch_site != "none";
}

}  // namespace

std::optional<refusal> refusal_of(const request_head& head, access wanted, control changes,
                                  std::span<const std::string> own) {
  const bool may_lack_host = wanted != access::change;
  if (!(head.host ? is_own_name(*head.host, own) : may_lack_host)) {
    return refusal{403,
                   "ask by an IP address, localhost, this machine's name or that of --http-host"};
  }
  const bool is_read = head.method == "GET" || head.method == "HEAD";
  if (wanted == access::change ? head.method != "POST" : !is_read) {
    return refusal{405, "this path does not take that method"};
  }
  if (wanted != access::page && is_of_another_site(head, own)) {
    return refusal{403, "pages of other sites get no answer"};
  }
  if (wanted != access::change) return std::nullopt;
  if (changes == control::refused) {
    return refusal{403, "started without --http-control: nothing can be changed here"};
  }
  if (!is_json(head.content_type)) return refusal{415, "changes come as application/json"};
  return std::nullopt;
}

base::result<change> parse_change(std::string_view body) {
  const auto refused = [] {
    return std::unexpected(base::error{R"(a change is {"name": "...", "value": "..."})"});
  };
  const auto parsed = nlohmann::json::parse(body, nullptr, false);
  if (!parsed.is_object() || parsed.size() != 2) return refused();
  const auto name = parsed.find("name"), value = parsed.find("value");
  if (name == parsed.end() || value == parsed.end()) return refused();
  if (!name->is_string() || !value->is_string()) return refused();
  return change{name->get<std::string>(), value->get<std::string>()};
}

std::optional<heap::kind> parse_heap(std::string_view text) noexcept {
  const auto* const found = std::ranges::find(heap::kKinds, text, &heap::name_of);
  return found == heap::kKinds.end() ? std::nullopt : std::optional(*found);
}

}  // namespace isotherm::live
