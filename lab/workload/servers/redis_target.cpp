#include "lab/workload/servers/redis_target.hpp"

#include "lab/workload/servers/redis_commands.hpp"

namespace isotherm::workload {
namespace {

constexpr std::uint64_t kPipelined = 64;  ///< records of a load that are under way together

class redis_session final : public session {
 public:
  redis_session(tool::redis_connection connection, const record_format& format, std::uint64_t seed)
      : commands_(std::move(connection)), buffer_(format, seed), ttl_ms_(format.ttl_ms) {}

  base::result<answer> read(std::uint64_t number) override {
    const auto value = commands_.get(buffer_.key(number));
    if (!value) return std::unexpected(value.error());
    return answer_of(*value, number);
  }

  base::result<answer> update(std::uint64_t number) override {
    return commands_.set(buffer_.key(number), buffer_.value(number), ttl_ms_);
  }
  base::result<answer> insert(std::uint64_t number) override { return update(number); }

  base::result<answer> remove(std::uint64_t number) override {
    return commands_.remove(buffer_.key(number));
  }

  base::result<answer> incr(std::uint64_t number) override {
    const auto how = commands_.incr(buffer_.key(counter_of(number)));
    return how == answer::missing ? answer::corrupt : how;
  }

  base::result<answer> read_all(std::span<const std::uint64_t> numbers) override {
    std::vector<std::string> keys;
    for (const std::uint64_t number : numbers) keys.emplace_back(buffer_.key(number));
    const auto values = commands_.get_all(keys);
    if (!values) return std::unexpected(values.error());
    answer worst = answer::done;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      worst = std::max(worst, answer_of((*values)[i], numbers[i]));
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
        auto sent = commands_.append_set(buffer_.key(number), buffer_.value(number));
        if (!sent) return sent;
      }
      for (; at < end; ++at) {
        if (auto how = commands_.end_set(); !how) return std::unexpected(std::move(how).error());
      }
    }
    return {};
  }

 private:
  answer answer_of(const redis_commands::value& value, std::uint64_t number) noexcept {
    if (!value) return answer::missing;
    return buffer_.take(*value, number) ? answer::done : answer::corrupt;
  }

  redis_commands commands_;
  record_buffer buffer_;
  std::uint64_t ttl_ms_;
};

}  // namespace

base::result<std::unique_ptr<session>> redis_target::connect() {
  auto connection = tool::redis_connection::open(where_);
  if (!connection) return std::unexpected(std::move(connection).error());
  return std::make_unique<redis_session>(std::move(*connection), format_, seed_);
}

}  // namespace isotherm::workload
