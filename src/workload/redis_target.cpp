#include "workload/redis_target.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <array>
#include <optional>

namespace isotherm::workload {
namespace {

constexpr std::uint64_t kPipelined = 64;  ///< records of a load that are under way together

struct reply_deleter {
  void operator()(void* reply) const noexcept { freeReplyObject(reply); }
};
using reply_ptr = std::unique_ptr<redisReply, reply_deleter>;

base::error lost(const redisContext* context) {
  return {fmt::format("the connection to the server failed: {}",
                      context->err ? context->errstr : "no answer")};
}

/// Takes ownership of an answer; errors of the server become errors.
base::result<reply_ptr> checked(const redisContext* context, void* answer) {
  reply_ptr reply(static_cast<redisReply*>(answer));
  if (!reply) return std::unexpected(lost(context));
  if (reply->type == REDIS_REPLY_ERROR) {
    return std::unexpected(base::error{
        fmt::format("the server answered: {}", std::string_view(reply->str, reply->len))});
  }
  return reply;
}

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

class redis_session final : public session {
 public:
  redis_session(redis_connection connection, const record_format& format, std::uint64_t seed)
      : connection_(std::move(connection)), buffer_(format, seed) {}

  base::result<answer> read(std::uint64_t number) override {
    const auto key = buffer_.key(number);
    std::array<const char*, 2> words{"GET", key.data()};
    std::array<std::size_t, 2> sizes{3, key.size()};
    auto reply = checked(context(), redisCommandArgv(context(), 2, words.data(), sizes.data()));
    if (!reply) return std::unexpected(std::move(reply).error());
    if ((*reply)->type != REDIS_REPLY_STRING) return answer::missing;
    return buffer_.take({(*reply)->str, (*reply)->len}, number) ? answer::done : answer::corrupt;
  }

  base::result<answer> update(std::uint64_t number) override {
    if (!append_set(number)) return std::unexpected(lost(context()));
    return take_set();
  }
  base::result<answer> insert(std::uint64_t number) override { return update(number); }

  base::result<answer> modify(std::uint64_t number) override {
    auto how = read(number);
    if (!how || *how != answer::done) return how;
    return update(number);
  }

  base::result<answer> scan(std::uint64_t, unsigned, touched_keys&) override {
    return std::unexpected(base::error{"the Redis protocol has no ordered scan"});
  }

  base::result<void> load(std::uint64_t first, std::uint64_t last) override {
    for (std::uint64_t at = first; at < last;) {
      const std::uint64_t end = std::min(at + kPipelined, last);
      for (std::uint64_t number = at; number < end; ++number) {
        if (!append_set(number)) return std::unexpected(lost(context()));
      }
      for (; at < end; ++at) {
        if (auto how = take_set(); !how) return std::unexpected(std::move(how).error());
      }
    }
    return {};
  }

 private:
  redisContext* context() const noexcept { return connection_.get(); }

  bool append_set(std::uint64_t number) {
    const auto key = buffer_.key(number);
    const auto value = buffer_.value(number);
    std::array<const char*, 3> words{"SET", key.data(), value.data()};
    std::array<std::size_t, 3> sizes{3, key.size(), value.size()};
    return redisAppendCommandArgv(context(), 3, words.data(), sizes.data()) == REDIS_OK;
  }

  base::result<answer> take_set() {
    void* raw = nullptr;
    if (redisGetReply(context(), &raw) != REDIS_OK) return std::unexpected(lost(context()));
    auto reply = checked(context(), raw);
    if (!reply) return std::unexpected(std::move(reply).error());
    return answer::done;
  }

  redis_connection connection_;
  record_buffer buffer_;
};

}  // namespace

void redis_connection::closer::operator()(redisContext* context) const noexcept {
  redisFree(context);
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
  auto reply = checked(context_.get(), redisCommandArgv(context_.get(), user.empty() ? 2 : 3,
                                                        words.data(), sizes.data()));
  if (!reply) return std::unexpected(std::move(reply).error());
  return {};
}

void redis_connection::wait_at_most(std::chrono::seconds limit) {
  redisSetTimeout(context_.get(), timeval{.tv_sec = limit.count(), .tv_usec = 0});
}

base::result<std::string> redis_connection::ask(const std::string& command) {
  auto reply = checked(context_.get(), redisCommand(context_.get(), command.c_str()));
  if (!reply) return std::unexpected(std::move(reply).error());
  if (auto text = text_of(**reply)) return std::move(*text);
  return std::unexpected(
      base::error{fmt::format("{} gave an answer that is not text to {}", where_, command)});
}

base::result<redis_connection::fields> redis_connection::ask_fields(const std::string& command) {
  auto reply = checked(context_.get(), redisCommand(context_.get(), command.c_str()));
  if (!reply) return std::unexpected(std::move(reply).error());
  fields found;
  if (gather(**reply, "", found)) return found;
  return std::unexpected(base::error{
      fmt::format("{} answered {} with something else than names and values", where_, command)});
}

base::result<std::unique_ptr<session>> redis_target::connect() {
  auto connection = redis_connection::open(where_);
  if (!connection) return std::unexpected(std::move(connection).error());
  return std::make_unique<redis_session>(std::move(*connection), format_, seed_);
}

}  // namespace isotherm::workload
