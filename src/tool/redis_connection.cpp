#include "tool/redis_connection.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <array>
#include <optional>

namespace isotherm::tool {
namespace {

/// Text of a scalar answer; nullopt for the others.
std::optional<std::string> text_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      return std::string(reply.str, reply.len);
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    default:
      return std::nullopt;
  }
}

/// Puts names and values of an array into `found`; false when it is no such array.
bool gather(const redisReply& reply, const std::string& prefix, redis_connection::fields& found) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements % 2 != 0) return false;
  for (std::size_t i = 0; i < reply.elements; i += 2) {
    const auto name = text_of(*reply.element[i]);
    const redisReply& value = *reply.element[i + 1];
    if (!name) return false;
    if (auto text = text_of(value)) {
      found[prefix + *name] = std::move(*text);
    } else if (!gather(value, prefix + *name + ".", found)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void redis_connection::freed::operator()(redisReply* reply) const noexcept {
  freeReplyObject(reply);
}

void redis_connection::closer::operator()(redisContext* context) const noexcept {
  redisFree(context);
}

base::error redis_connection::lost() const {
  return {fmt::format("the connection to the server failed: {}",
                      context_->err ? context_->errstr : "no answer")};
}

base::result<redis_connection::reply> redis_connection::checked(void* answer) const {
  reply taken(static_cast<redisReply*>(answer));
  if (!taken) return std::unexpected(lost());
  if (taken->type == REDIS_REPLY_ERROR) {
    return std::unexpected(base::error{
        fmt::format("the server answered: {}", std::string_view(taken->str, taken->len))});
  }
  return taken;
}

base::result<redis_connection> redis_connection::open(const address& where) {
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  redis_connection made;
  made.where_ = where.text();
  made.context_.reset(where.path.empty()
                          ? redisConnectWithTimeout(where.host.c_str(), where.port, patience)
                          : redisConnectUnixWithTimeout(where.path.c_str(), patience));
  if (!made.context_) return std::unexpected(base::error{"out of memory for a connection"});
  if (made.context_->err) {
    return std::unexpected(base::error{fmt::format(
        "cannot connect to {}: {}; is the server running?", made.where_, made.context_->errstr)});
  }
  // Commands may take long (a collection, a large load): from here on only a closed connection ends
  // the wait.
  redisSetTimeout(made.context_.get(), timeval{});
  return made;
}

base::result<void> redis_connection::authenticate(const std::string& user,
                                                  const std::string& password) {
  std::array<const char*, 3> words{"AUTH", user.data(), password.data()};
  std::array<std::size_t, 3> sizes{4, user.size(), password.size()};
  if (user.empty()) {
    words[1] = words[2];
    sizes[1] = sizes[2];
  }
  auto reply =
      checked(redisCommandArgv(context_.get(), user.empty() ? 2 : 3, words.data(), sizes.data()));
  if (!reply) return std::unexpected(std::move(reply).error());
  return {};
}

void redis_connection::wait_at_most(std::chrono::seconds limit) {
  redisSetTimeout(context_.get(), timeval{.tv_sec = limit.count(), .tv_usec = 0});
}

base::result<std::string> redis_connection::ask(const std::string& command) {
  auto reply = checked(redisCommand(context_.get(), command.c_str()));
  if (!reply) return std::unexpected(std::move(reply).error());
  if (auto text = text_of(**reply)) return std::move(*text);
  return std::unexpected(
      base::error{fmt::format("{} gave an answer that is not text to {}", where_, command)});
}

base::result<redis_connection::fields> redis_connection::ask_fields(const std::string& command) {
  auto reply = checked(redisCommand(context_.get(), command.c_str()));
  if (!reply) return std::unexpected(std::move(reply).error());
  fields found;
  if (gather(**reply, "", found)) return found;
  return std::unexpected(base::error{
      fmt::format("{} answered {} with something else than names and values", where_, command)});
}

}  // namespace isotherm::tool
