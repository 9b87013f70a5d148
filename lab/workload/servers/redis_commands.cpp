#include "lab/workload/servers/redis_commands.hpp"

#include <hiredis/hiredis.h>

#include <array>

namespace isotherm::workload {
namespace {

using words_of_two = std::array<std::string_view, 2>;
using words_of_three = std::array<std::string_view, 3>;

redis_commands::value value_of(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_STRING) return std::nullopt;
  return std::string_view(reply.str, reply.len);
}

/// The words of a command as the client library takes them.
struct word_list {
  explicit word_list(std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
  }
  int count() const noexcept { return static_cast<int>(texts.size()); }

  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
};

}  // namespace

void* redis_commands::send(std::span<const std::string_view> words) {
  word_list list(words);
  return redisCommandArgv(connection_.get(), list.count(), list.texts.data(), list.sizes.data());
}

base::result<redis_commands::value> redis_commands::get(std::string_view key) {
  auto reply = connection_.checked(send(words_of_two{"GET", key}));
  if (!reply) return std::unexpected(std::move(reply).error());
  last_ = std::move(*reply);
  return value_of(*last_);
}

base::result<std::vector<redis_commands::value>> redis_commands::get_all(
    std::span<const std::string> keys) {
  std::vector<std::string_view> words{"MGET"};
  words.insert(words.end(), keys.begin(), keys.end());
  auto reply = connection_.checked(send(words));
  if (!reply) return std::unexpected(std::move(reply).error());
  last_ = std::move(*reply);
  if (last_->elements != keys.size()) {
    return std::unexpected(base::error{"the server answered MGET with another number of values"});
  }
  std::vector<value> values;
  for (const redisReply* one : std::span(last_->element, last_->elements)) {
    values.push_back(value_of(*one));
  }
  return values;
}

base::result<answer> redis_commands::set(std::string_view key, std::string_view value,
                                         std::uint64_t ttl_ms) {
  const std::string expiry = std::to_string(ttl_ms);
  const std::array<std::string_view, 5> words{"SET", key, value, "PX", expiry};
  auto reply = connection_.checked(send(std::span(words).first(ttl_ms > 0 ? 5 : 3)));
  if (!reply) return std::unexpected(std::move(reply).error());
  return answer::done;
}

base::result<answer> redis_commands::remove(std::string_view key) {
  auto reply = connection_.checked(send(words_of_two{"DEL", key}));
  if (!reply) return std::unexpected(std::move(reply).error());
  return (*reply)->integer == 1 ? answer::done : answer::missing;
}

base::result<answer> redis_commands::incr(std::string_view key) {
  const tool::redis_connection::reply reply(
      static_cast<redisReply*>(send(words_of_two{"INCR", key})));
  if (!reply) return std::unexpected(connection_.lost());
  if (reply->type == REDIS_REPLY_INTEGER) return answer::done;
  const std::string_view text(reply->str, reply->len);
  if (reply->type == REDIS_REPLY_ERROR && text.contains("not an integer")) return answer::missing;
  return std::unexpected(base::error{"the server answered: " + std::string(text)});
}

base::result<void> redis_commands::append_set(std::string_view key, std::string_view value) {
  word_list list(words_of_three{"SET", key, value});
  const int how =
      redisAppendCommandArgv(connection_.get(), list.count(), list.texts.data(), list.sizes.data());
  if (how == REDIS_OK) return {};
  return std::unexpected(connection_.lost());
}

base::result<answer> redis_commands::end_set() {
  void* raw = nullptr;
  if (redisGetReply(connection_.get(), &raw) != REDIS_OK) {
    return std::unexpected(connection_.lost());
  }
  auto reply = connection_.checked(raw);
  if (!reply) return std::unexpected(std::move(reply).error());
  return answer::done;
}

}  // namespace isotherm::workload
