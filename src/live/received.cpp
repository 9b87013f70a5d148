#include "live/received.hpp"

#include <strings.h>
#include <sys/socket.h>

#include <tuple>

#include "base/numbers.hpp"
#include "live/request.hpp"

namespace isotherm::live {
namespace {

std::optional<std::string_view> value_of(MHD_Connection* from, MHD_ValueKind kind,
                                         const char* name) {
  const char* const found = MHD_lookup_connection_value(from, kind, name);
  return found ? std::optional<std::string_view>(found) : std::nullopt;
}
}  // namespace

std::string_view header_of(MHD_Connection* from, const char* name) {
  return value_of(from, MHD_HEADER_KIND, name).value_or("");
}
std::optional<std::string_view> host_of(MHD_Connection* from) {
  return value_of(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
}
std::optional<std::string_view> parameter_of(MHD_Connection* from, const char* name) {
  return value_of(from, MHD_GET_ARGUMENT_KIND, name);
}

bool is_ambiguous(MHD_Connection* from) {
  int hosts = 0;
  MHD_get_connection_values(
      from, MHD_HEADER_KIND,
      [](void* count, MHD_ValueKind, const char* name, const char*) {
        if (::strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) ++*static_cast<int*>(count);
        return MHD_YES;
      },
      &hosts);
  const bool has_two_lengths = !header_of(from, MHD_HTTP_HEADER_CONTENT_LENGTH).empty() &&
                               !header_of(from, MHD_HTTP_HEADER_TRANSFER_ENCODING).empty();
  return hosts > 1 || has_two_lengths;
}

std::optional<std::uint64_t> number_of(MHD_Connection* from, const char* name) {
  const auto text = parameter_of(from, name);
  return text ? base::parse_number<std::uint64_t>(*text) : std::nullopt;
}

bool leaves_room_to_answer(MHD_Connection* from, std::string_view path) {
  constexpr std::size_t kAnswerBytes = 1536, kRowBytes = 80;
  std::size_t taken = kAnswerBytes + path.size();
  const auto add = [](void* sum, MHD_ValueKind, const char*, std::size_t name_bytes, const char*,
                      std::size_t value_bytes) {
    *static_cast<std::size_t*>(sum) += name_bytes + value_bytes + kRowBytes;
    return MHD_YES;
  };
  for (const auto kind : {MHD_HEADER_KIND, MHD_COOKIE_KIND, MHD_GET_ARGUMENT_KIND}) {
    MHD_get_connection_values_n(from, kind, add, &taken);
  }
  return taken <= kConnectionBytes;
}

MHD_Result refuse_head(MHD_Connection* from) {
  constexpr std::string_view kAnswer =
      "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
      "Content-Length: 0\r\n\r\n";
  if (const auto* known = MHD_get_connection_info(from, MHD_CONNECTION_INFO_CONNECTION_FD)) {
    // A connection that cannot take so little is closed without an answer.
    std::ignore = ::send(known->connect_fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
  }
  return MHD_NO;
}

}  // namespace isotherm::live
