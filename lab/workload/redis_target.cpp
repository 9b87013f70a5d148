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

  base::result<answer> remove(std::uint64_t number) override {
    const auto key = buffer_.key(number);
    std::array<const char*, 2> words{"DEL", key.data()};
    std::array<std::size_t, 2> sizes{3, key.size()};
    auto reply = connection_.checked(redisCommandArgv(context(), 2, words.data(), sizes.data()));
    if (!reply) return std::unexpected(std::move(reply).error());
    return (*reply)->integer == 1 ? answer::done : answer::missing;
  }

  base::result<answer> read_all(std::span<const std::uint64_t> numbers) override {
    std::vector<std::string> words{"MGET"};
    for (const std::uint64_t number : numbers) words.emplace_back(buffer_.key(number));
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    auto reply = connection_.checked(
        redisCommandArgv(context(), static_cast<int>(words.size()), texts.data(), sizes.data()));
    if (!reply) return std::unexpected(std::move(reply).error());
    if ((*reply)->elements != numbers.size()) return answer::corrupt;
    answer worst = answer::done;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const redisReply& one = *(*reply)->element[i];
      const bool is_there = one.type == REDIS_REPLY_STRING;
      const bool is_right = is_there && buffer_.take({one.str, one.len}, numbers[i]);
      worst = std::max(worst, is_right   ? answer::done
                              : is_there ? answer::corrupt
                                         : answer::missing);
    }
    return worst;
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
