// What the operator asked of `isotherm serve`.
#pragma once

#include <cstddef>
#include <string>

#include "cli/serve/password.hpp"
#include "collector/options.hpp"
#include "heap/configure.hpp"
#include "server/options.hpp"

namespace isotherm::cli {

/// The flags, as given, and what they mean.
struct serve_options {
  server::options server;
  std::string index = "hash-pugh";
  std::string manage = "on";
  std::string maxmemory = "0", maxmemory_clients = "0";
  std::string cold_backing = "anon";
  bool huge_pages = false;
  bool unprotected = false;
  password_flags password;
  std::string unix_socket_mode;
  std::string pidfile;
  std::size_t expected_keys = 0;
  heap::cold_backing cold;
  collector::options collector;
};

/// Turns texts into values, and finds the password. A mistake fails the command, before anything
/// starts.
void understand(serve_options& given);

}  // namespace isotherm::cli
