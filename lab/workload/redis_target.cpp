#include "lab/workload/redis_target.hpp"

#include <hiredis/hiredis.h>

#include <array>

#include "tool/redis_connection.hpp"

namespace isotherm::workload {
namespace {

constexpr std::uint64_t kPipelined = 64;  ///< records of a load that are under way together

class redis_session final : public session {
 public:
  redis_session(tool::redis_connection connection, const record_format& format, std::uint64_t seed)
      : connection_(std::move(connection)), buffer_(format, seed) {}

  base::result<answer> read(std::uint64_t number) override {
    const auto key = buffer_.key(number);
    std::array<const char*, 2> words{"GET", key.data()};
    std::array<std::size_t, 2> sizes{3, key.size()};
    auto reply = connection_.checked(redisCommandArgv(context(), 2, words.data(), sizes.data()));
    if (!reply) return std::unexpected(std::move(reply).error());
    if ((*reply)->type != REDIS_REPLY_STRING) return answer::missing;
    return buffer_.take({(*reply)->str, (*reply)->len}, number) ? answer::done : answer::corrupt;
  }

  base::result<answer> update(std::uint64_t number) override {
    if (!append_set(number)) return std::unexpected(connection_.lost());
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
        if (!append_set(number)) return std::unexpected(connection_.lost());
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
    if (redisGetReply(context(), &raw) != REDIS_OK) return std::unexpected(connection_.lost());
    auto reply = connection_.checked(raw);
    if (!reply) return std::unexpected(std::move(reply).error());
    return answer::done;
  }

  tool::redis_connection connection_;
  record_buffer buffer_;
};

}  // namespace

base::result<std::unique_ptr<session>> redis_target::connect() {
  auto connection = tool::redis_connection::open(where_);
  if (!connection) return std::unexpected(std::move(connection).error());
  return std::make_unique<redis_session>(std::move(*connection), format_, seed_);
}

}  // namespace isotherm::workload
