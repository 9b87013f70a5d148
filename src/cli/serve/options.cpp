#include "cli/serve/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/numbers.hpp"
#include "cli/fail.hpp"
#include "cli/serve/cold.hpp"
#include "placement/registry.hpp"
#include "store/text.hpp"

namespace isotherm::cli {
namespace {

/// "700": permissions of a file in octal, 1 to 777.
std::optional<std::uint32_t> parse_mode(std::string_view text) {
  std::uint32_t mode = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (problem != std::errc() || end != text.data() + text.size() || mode == 0 || mode > 0777) {
    return std::nullopt;
  }
  return mode;
}

void take_password(serve_options& o) {
  auto word = find_password(o.password);
  if (!word) fail(word.error().message);
  o.server.password = std::move(*word);
  if (!o.password.word) return;
  const std::string advice = fmt::format(
      "isotherm: --requirepass shows the password to everyone on this machine; "
      "--requirepass-file or {} does not\n",
      kPasswordVariable);
  std::fputs(advice.c_str(), stderr);
}

/// "20%", or bytes.
void understand_nodes(serve_options& o) {
  if (o.node_placement == "none") {
    if (o.memory_nodes.fast || o.memory_nodes.slow) {
      refuse_words(fmt::format("--fast-node and --slow-node go with --node-placement {}",
                               fmt::join(placement::placement_names(), "|")));
    }
    return;
  }
  const auto size = server::parse_fast_size(o.fast_memory);
  if (!size) {
    refuse_words(
        fmt::format("--fast-memory is '{}', but takes bytes, 512mb or 20%", o.fast_memory));
  }
  o.fast_size = *size;
  if (o.manage != "off" && o.collector.protocol != "veto") {
    refuse_words("--node-placement moves guides: it needs --protocol veto, or --manage off");
  }
}

}  // namespace

void understand(const command& described, serve_options& o) {
  const auto maxmemory = base::parse_bytes(o.maxmemory);
  if (!maxmemory)
    refuse_words(fmt::format("--maxmemory is '{}', but takes bytes or 100mb", o.maxmemory));
  o.server.maxmemory_bytes = *maxmemory;
  const auto clients = server::parse_clients_limit(o.maxmemory_clients);
  if (!clients || *clients < -100) {
    refuse_words(fmt::format("--maxmemory-clients is '{}', but takes bytes, 64mb or 5%",
                             o.maxmemory_clients));
  }
  o.server.maxmemory_clients = *clients;
  const auto level = server::parse_log_level(o.log_level);
  if (!level) {
    refuse_words(fmt::format("--loglevel is '{}', but takes debug, verbose, notice or warning",
                             o.log_level));
  }
  o.log_least = *level;
  o.server.protected_mode = !o.unprotected;
  if (!o.unix_socket_mode.empty()) {
    const auto mode = parse_mode(o.unix_socket_mode);
    if (!mode) {
      refuse_words(fmt::format("--unixsocketperm is '{}', but takes permissions in octal, as 700",
                               o.unix_socket_mode));
    }
    o.server.unix_socket_mode = *mode;
  }
  if (o.server.port < 0) o.server.bind.clear();
  if (o.server.bind.empty() && o.server.unix_socket.empty()) {
    refuse_words("nothing to listen on: give --port or --unixsocket");
  }
  if (!o.http_address.empty()) {
    const auto where = live::parse_address(o.http_address);
    if (!where) refuse_words("--http: " + where.error().message);
    o.http = *where;
  }
  if (o.http_control && !(o.http && o.http->is_loopback())) {
    refuse_words("--http-control has no password: it needs --http with a loopback address");
  }
  place_cold(described, o);
  if (o.collector.memory_target_bytes > 0 && o.manage != "on") {
    refuse_words("--memory-target is held by moving objects: it needs --manage on");
  }
  if (const auto valid = collector::check(o.collector); !valid) {
    refuse_words(valid.error().message);
  }
  understand_nodes(o);
  o.collector.manage = o.manage == "on" ? collector::mode::on : collector::mode::track;
  take_password(o);
}

}  // namespace isotherm::cli
