// The commands that need a server: about the connection, the process and the collector.
#pragma once

#include <span>

#include "server/client.hpp"
#include "store/commands/command.hpp"

namespace isotherm::server {

std::span<const store::command> session_commands();
std::span<const store::command> client_commands();
std::span<const store::command> config_commands();
std::span<const store::command> info_commands();
std::span<const store::command> introspection_commands();
std::span<const store::command> isotherm_commands();
std::span<const store::command> slow_commands();

/// The client that sent the command.
inline client& sender(const store::call& c) noexcept { return static_cast<client&>(*c.sender); }

/// The version of Redis whose behaviour clients may expect.
inline constexpr std::string_view kRedisVersion = "7.0.15";

/// "name" or "container|name" as Redis writes it.
std::string full_name(const store::command& command, const class server& server);

}  // namespace isotherm::server
