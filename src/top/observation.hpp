// An observation of a server by `isotherm top`: asked over the server's protocol, so that it needs
// only a connection.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tool/redis_connection.hpp"

namespace isotherm::top {

/// Pages of one heap: a digit a cell, 0 (none of its pages in DRAM) to 9 (all). `extent_bytes` of
/// them the heap holds; others it has given back.
struct heap_map {
  std::string name;
  std::uint64_t pages = 0, pages_per_cell = 1, extent_bytes = 0, resident_bytes = 0;
  std::string cells;
};

/// One look at a server. Texts are as the server gave them.
struct observation {
  using fields = std::map<std::string, std::string>;
  fields statistics;               ///< ISOTHERM STATS
  fields configuration;            ///< ISOTHERM CONFIG GET *; empty without management
  std::vector<heap_map> heaps;     ///< NEW, HOT, COLD, NODE; empty without management
  double at_seconds = 0;           ///< of a clock that only advances
  std::uint64_t own_commands = 0;  ///< asked so far, as far as `statistics` counts them

  /// A statistic as a number; 0 where there is none of that name.
  double number(const std::string& name) const;
  /// A value of the configuration as a number; 0 where there is none of that name.
  double setting(const std::string& name) const;
  std::string text(const std::string& name) const;
  /// A target of the promotion rate and a threshold in windows are policy `published`'s alone.
  bool has_threshold() const;
  bool is_managed() const { return !heaps.empty(); }
};

/// "127.0.0.1:6379", a path, or with "tcp:" or "unix:" before it. An error says what is wrong.
base::result<tool::address> parse_server(const std::string& text);

/// The user that asks: without a password none in particular.
struct credentials {
  std::string user, password;
};

/// A connection that is asked again and again. Not thread-safe. Each question waits for at most a
/// few seconds, so that a server that hangs is reported.
class observer {
 public:
  static base::result<observer> connect(const tool::address& where, const credentials& as);
  base::result<observation> look();

 private:
  explicit observer(tool::redis_connection connection) : connection_(std::move(connection)) {}
  base::result<observation::fields> ask(const std::string& command);

  tool::redis_connection connection_;
  std::uint64_t commands_ = 0;
};

}  // namespace isotherm::top
