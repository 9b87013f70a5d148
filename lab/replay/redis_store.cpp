#include "lab/replay/redis_store.hpp"

#include <hiredis/hiredis.h>

#include <array>
#include <span>
#include <string>
#include <utility>

#include "lab/replay/values.hpp"
#include "tool/redis_connection.hpp"

namespace isotherm::replay {
namespace {

using tool::redis_connection;

class redis_session final : public session {
 public:
  explicit redis_session(redis_connection connection) : connection_(std::move(connection)) {}

  base::result<answer> get(const item& of) override {
    auto reply = connection_.checked(send(std::array<std::string_view, 2>{"GET", of.key}));
    if (!reply) return std::unexpected(std::move(reply).error());
    if ((*reply)->type != REDIS_REPLY_STRING) return answer::missing;
    return values_.take({(*reply)->str, (*reply)->len}, of.number) ? answer::done : answer::corrupt;
  }

  base::result<answer> set(const item& of, std::uint32_t bytes, std::uint64_t ttl_ms) override {
    const std::string_view value = values_.make(of.number, bytes);
    const std::string expiry = std::to_string(ttl_ms);
    auto reply = connection_.checked(
        ttl_ms > 0 ? send(std::array<std::string_view, 5>{"SET", of.key, value, "PX", expiry})
                   : send(std::array<std::string_view, 3>{"SET", of.key, value}));
    if (!reply) return std::unexpected(std::move(reply).error());
    return answer::done;
  }

  base::result<answer> remove(const item& of) override {
    auto reply = connection_.checked(send(std::array<std::string_view, 2>{"DEL", of.key}));
    if (!reply) return std::unexpected(std::move(reply).error());
    return (*reply)->integer == 1 ? answer::done : answer::missing;
  }

  base::result<answer> incr(const item& of) override {
    redis_connection::reply reply(
        static_cast<redisReply*>(send(std::array<std::string_view, 2>{"INCR", of.key})));
    if (!reply) return std::unexpected(connection_.lost());
    if (reply->type == REDIS_REPLY_INTEGER) return answer::done;
    const std::string_view text(reply->str, reply->len);
    if (reply->type == REDIS_REPLY_ERROR && text.contains("not an integer")) return answer::missing;
    return std::unexpected(base::error{"the server answered: " + std::string(text)});
  }

  base::result<answer> seek(const item&, std::uint32_t, workload::touched_keys&) override {
    return std::unexpected(base::error{"the Redis protocol has no ordered scan"});
  }

 private:
  void* send(std::span<const std::string_view> words) {
    static constexpr std::size_t kMostWords = 5;
    std::array<const char*, kMostWords> texts{};
    std::array<std::size_t, kMostWords> sizes{};
    for (std::size_t i = 0; i < words.size(); ++i) {
      texts[i] = words[i].data();
      sizes[i] = words[i].size();
    }
    return redisCommandArgv(connection_.get(), static_cast<int>(words.size()), texts.data(),
                            sizes.data());
  }

  redis_connection connection_;
  values values_;
};

class redis_store final : public store {
 public:
  explicit redis_store(tool::address where) : where_(std::move(where)) {}

  base::result<std::unique_ptr<session>> connect() override {
    auto connection = redis_connection::open(where_);
    if (!connection) return std::unexpected(std::move(connection).error());
    return std::make_unique<redis_session>(std::move(*connection));
  }
  bool can_seek() const noexcept override { return false; }
  bool can_expire() const noexcept override { return true; }
  workload::target::place runs_in() const noexcept override {
    return workload::target::place::elsewhere;
  }

 private:
  tool::address where_;
};

}  // namespace

std::unique_ptr<store> over_redis(const tool::address& where) {
  return std::make_unique<redis_store>(where);
}

}  // namespace isotherm::replay
