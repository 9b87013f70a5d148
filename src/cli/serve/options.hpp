// The options that the operator gave to `isotherm serve`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/parser/command.hpp"
#include "cli/serve/password.hpp"
#include "collector/options.hpp"
#include "heap/configure.hpp"
#include "live/address.hpp"
#include "placement/node_memory.hpp"
#include "placement/node_placement.hpp"
#include "server/log.hpp"
#include "server/options.hpp"

namespace isotherm::cli {

/// The flags, as given, and what they mean.
struct serve_options {
  server::options server;
  std::string index = "hash-pugh";
  std::string manage = "on";
  std::string maxmemory = "0", maxmemory_clients = "12%";
  std::optional<std::string> cold_backing;  ///< none: where it is found (heap/configure.hpp)
  std::string cold_profile;                 ///< of the device behind COLD; empty: none was given
  std::optional<unsigned> hot_node;         ///< memory node of what is not cold
  bool huge_pages = false;
  bool unprotected = false;
  password_flags password;
  std::string unix_socket_mode;
  std::string pidfile;
  std::string log_file, log_level = "notice";
  server::log_level log_least = server::log_level::notice;  ///< what log_level means
  std::string http_address;             ///< of the live page; empty: there is none
  std::optional<live::address> http;    ///< what that means
  std::vector<std::string> http_names;  ///< by which browsers may ask for it, too
  bool http_control = false;
  std::size_t expected_keys = 0;
  heap::cold_backing cold = *heap::cold_backing::parse("anon");
  collector::options collector;
  std::string node_placement = "none", fast_memory = "20%";
  placement::fast_size fast_size;  ///< what fast_memory means
  placement::memory_nodes memory_nodes;
  std::vector<std::string> said_of_cold;  ///< where it lies and why, a line each
};

/// Turns texts into values, and finds the password and a place for COLD; `described` knows which
/// flags were given. A mistake fails the command, before anything starts.
void understand(const command& described, serve_options& given);

}  // namespace isotherm::cli
