// A server that speaks the Redis protocol: isotherm serve, or Redis itself. GET for reads, SET for
// updates and inserts, both for read-modify-writes; no scans.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "workload/record.hpp"
#include "workload/target.hpp"

struct redisContext;

namespace isotherm::workload {

/// A connection for commands whose answer is text. Not thread-safe.
class redis_connection {
 public:
  static base::result<redis_connection> open(const address& where);

  /// AUTH; `user` may be empty: the default one.
  base::result<void> authenticate(const std::string& user, const std::string& password);
  /// From now on an answer that takes longer is an error, after which the connection is of no use.
  void wait_at_most(std::chrono::seconds limit);

  /// Answer of a command (given word by word, separated by blanks): its text, or an error for
  /// errors of the server and of the connection.
  base::result<std::string> ask(const std::string& command);

  /// Answer of a command that answers with names and values, which may be such answers again:
  /// {"hot.bytes": "4096", ...}.
  using fields = std::map<std::string, std::string>;
  base::result<fields> ask_fields(const std::string& command);
  redisContext* get() const noexcept { return context_.get(); }

 private:
  struct closer {
    void operator()(redisContext* context) const noexcept;
  };
  std::unique_ptr<redisContext, closer> context_;
  std::string where_;
};

class redis_target final : public target {
 public:
  redis_target(address where, const record_format& format, std::uint64_t seed)
      : where_(std::move(where)), format_(format), seed_(seed) {}

  base::result<std::unique_ptr<session>> connect() override;
  bool can_scan() const noexcept override { return false; }
  place runs_in() const noexcept override { return place::elsewhere; }

 private:
  address where_;
  record_format format_;
  std::uint64_t seed_;
};

}  // namespace isotherm::workload
