// A connection to a server that speaks the Redis protocol.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "tool/address.hpp"

struct redisContext;
struct redisReply;

namespace isotherm::tool {

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

  // For callers that use the client library themselves.
  struct freed {
    void operator()(redisReply* reply) const noexcept;
  };
  using reply = std::unique_ptr<redisReply, freed>;
  redisContext* get() const noexcept { return context_.get(); }
  /// Takes ownership of an answer (a redisReply, or null); errors of the server become errors.
  base::result<reply> checked(void* answer) const;
  /// The error of a connection that gave no answer.
  base::error lost() const;

 private:
  struct closer {
    void operator()(redisContext* context) const noexcept;
  };
  std::unique_ptr<redisContext, closer> context_;
  std::string where_;
};

}  // namespace isotherm::tool
