// Commands in tables: a name, how many arguments, what it does to keys, and the function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "store/database.hpp"
#include "store/reply.hpp"

namespace isotherm::store {

/// The sender of a command. The server's clients derive from it, and the server's commands cast to
/// that type.
class caller {
 protected:
  ~caller() = default;
};

/// Limits that commands respect; a server lets operators change them.
struct limits {
  std::uint64_t longest_value = std::uint64_t{512} << 20;  ///< at most kLongestValue
};

/// How far a walk through the keys has come.
struct walked_keys {
  std::uint64_t cursor = 0;
  std::vector<std::string> found;
  std::size_t found_bytes = 0;  ///< memory of these
};

/// One call of a command. Arguments include the command's name.
struct call {
  database& db;
  reply& out;
  std::span<const std::string_view> arguments;
  std::int64_t now;  ///< ms since 1970, the same for the whole command
  const limits& bounds;
  caller* sender = nullptr;
  /// The keys that a command found before it missed others, for when it runs again.
  walked_keys* walked = nullptr;
  /// The access of a command on keys; null for other commands. execute() makes one, which waits,
  /// where the caller has none.
  access* inside = nullptr;

  // Results that the command leaves for execute().
  look_ups looked = {};
  access::outcome failure = access::outcome::complete;

  std::string_view operator[](std::size_t i) const noexcept { return arguments[i]; }
  std::size_t count() const noexcept { return arguments.size(); }
  access& in() const noexcept { return *inside; }

  /// database::find(), counted.
  answer<std::optional<record>> find(std::string_view key, lookup purpose) {
    auto found = db.find(in(), key, now, purpose);
    if (found && is_counted(purpose)) ++(*found ? looked.hits : looked.misses);
    return found;
  }
  /// Ends a command that has no answer: it has written none. Only a command whose access waits may
  /// have changed something (DEL and MSET, some of the keys). After several calls the weightiest
  /// outcome counts.
  void fail(access::outcome why) noexcept { failure = std::max(failure, why); }
};

using handler = void (*)(call&);

enum command_flag : std::uint32_t {
  kWrite = 1,
  kReadOnly = 2,
  kDenyOom = 4,
  kFast = 8,
  kAdmin = 16,
  kNoAuth = 32,         ///< allowed before AUTH
  kDangerous = 64,      ///< in Redis's ACL category of that name, where every kAdmin is too
  kEndsOrLeaves = 128,  ///< runs also where a transaction's commands are refused
  kWalks = 256,         ///< reads keys that are not among its arguments
  kOnlyFrees = 512,     ///< writes, and takes no memory
  kLocates = 1024,      ///< answers with addresses of values, so that copies will not do
};

/// The places of keys among the arguments; `first` 0: none. `last` -1: to the end.
struct key_positions {
  int first = 0, last = 0, step = 0;
};

struct command {
  std::string_view name;  ///< lower case; for a subcommand its own word ("setname")
  int arity;              ///< with the name; negative: at least that many
  std::uint32_t flags;
  key_positions keys;
  handler run;  ///< null for a container of subcommands
  std::string_view group;
  std::string_view since;
  std::string_view summary;
  std::span<const command> subcommands = {};

  bool accepts(std::size_t arguments) const noexcept {
    const auto n = static_cast<int>(arguments);
    return arity >= 0 ? n == arity : n >= -arity;
  }
};

// The families of commands that need nothing but a database.
std::span<const command> string_commands();
std::span<const command> range_commands();
std::span<const command> counter_commands();
std::span<const command> key_commands();
std::span<const command> expiry_commands();
std::span<const command> keyspace_commands();
std::span<const command> object_commands();

namespace errors {
inline constexpr std::string_view kSyntax = "ERR syntax error";
inline constexpr std::string_view kNotInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotInt32 =
    "ERR value is out of range, value must between -2147483648 and 2147483647";
inline constexpr std::string_view kNoSuchDatabase = "ERR DB index is out of range";
inline constexpr std::string_view kOutOfMemory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kNoRoom = "OOM no memory for what the command needs";
inline constexpr std::string_view kUnreadable =
    "IOERR a page of cold memory that the command needs cannot be read from the disk";
inline constexpr std::string_view kNoSuchKey = "ERR no such key";
inline constexpr std::string_view kTooLong =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
}  // namespace errors

/// Whether a write was done; if not, the command fails, or is answered with an error.
inline bool is_done(call& c, index::outcome write) {
  if (write == index::outcome::done) return true;
  write == index::outcome::incomplete ? c.fail(c.in().result()) : c.out.error(errors::kNoRoom);
  return false;
}

/// Stores a record, or ends the command as is_done() does and returns false.
inline bool put_or_refuse(call& c, std::string_view key, const record& value) {
  return is_done(c, c.db.put(c.in(), key, value, value.payload, c.now));
}

}  // namespace isotherm::store
