#include "lab/replay/redis_store.hpp"

#include <utility>

#include "lab/replay/values.hpp"
#include "lab/workload/servers/redis_commands.hpp"

namespace isotherm::replay {
namespace {

using tool::redis_connection;

class redis_session final : public session {
 public:
  explicit redis_session(redis_connection connection) : commands_(std::move(connection)) {}

  base::result<answer> get(const item& of) override {
    const auto value = commands_.get(of.key);
    if (!value) return std::unexpected(value.error());
    if (!*value) return answer::missing;
    return values_.take(**value, of.number) ? answer::done : answer::corrupt;
  }
  base::result<answer> set(const item& of, std::uint32_t bytes, std::uint64_t ttl_ms) override {
    return commands_.set(of.key, values_.make(of.number, bytes), ttl_ms);
  }
  base::result<answer> remove(const item& of) override { return commands_.remove(of.key); }
  base::result<answer> incr(const item& of) override { return commands_.incr(of.key); }
  base::result<answer> seek(const item&, std::uint32_t, workload::touched_keys&) override {
    return std::unexpected(base::error{"the Redis protocol has no ordered scan"});
  }

 private:
  workload::redis_commands commands_;
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
