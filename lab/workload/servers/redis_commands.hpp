// The commands of the Redis protocol that drivers of stores send: GET, MGET, SET with PX, DEL,
// INCR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/workload/target.hpp"
#include "tool/redis_connection.hpp"

namespace isotherm::workload {

/// Sends commands over a connection of its own. Not thread-safe. A function fails when the
/// connection is lost or the server answers with an error.
class redis_commands {
 public:
  explicit redis_commands(tool::redis_connection connection) noexcept
      : connection_(std::move(connection)) {}

  /// A value; nullopt: the key is not there. Valid until the next command.
  using value = std::optional<std::string_view>;
  base::result<value> get(std::string_view key);
  /// Returns the values of `keys`, in their order.
  base::result<std::vector<value>> get_all(std::span<const std::string> keys);
  /// Sets the key for `ttl_ms` milliseconds; 0: for good.
  base::result<answer> set(std::string_view key, std::string_view value, std::uint64_t ttl_ms);
  base::result<answer> remove(std::string_view key);
  /// Adds 1; an absent key becomes 1. `missing`: the value is no number, and stays.
  base::result<answer> incr(std::string_view key);

  // Commands under way together. Call end_set() for each append_set() before any other command.
  base::result<void> append_set(std::string_view key, std::string_view value);
  base::result<answer> end_set();

 private:
  void* send(std::span<const std::string_view> words);

  tool::redis_connection connection_;
  tool::redis_connection::reply last_;  ///< holds the values that get() and get_all() returned
};

}  // namespace isotherm::workload
