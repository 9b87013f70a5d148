#include "lab/workload/servers/memcached_target.hpp"

#include <fmt/format.h>
#include <libmemcached/memcached.h>

#include <cstdlib>
#include <ctime>

namespace isotherm::workload {
namespace {

/// A server that pages takes long; longer than this it does not answer at all.
constexpr std::uint64_t kPatienceMs = 60'000;

struct closer {
  void operator()(memcached_st* connection) const noexcept { memcached_free(connection); }
};
using connection_ptr = std::unique_ptr<memcached_st, closer>;

struct freer {
  void operator()(char* value) const noexcept { std::free(value); }
};

base::error failed(memcached_return_t how) {
  return {fmt::format("the request to memcached failed: {}", memcached_strerror(nullptr, how))};
}

class memcached_session final : public session {
 public:
  memcached_session(connection_ptr connection, const record_format& format, std::uint64_t seed)
      : connection_(std::move(connection)),
        buffer_(format, seed),
        ttl_s_(static_cast<std::time_t>((format.ttl_ms + 999) / 1000)) {}

  base::result<answer> read(std::uint64_t number) override {
    const auto key = buffer_.key(number);
    std::size_t bytes = 0;
    std::uint32_t flags = 0;
    memcached_return_t how = MEMCACHED_SUCCESS;
    const std::unique_ptr<char, freer> value(
        memcached_get(connection_.get(), key.data(), key.size(), &bytes, &flags, &how));
    if (how == MEMCACHED_NOTFOUND) return answer::missing;
    if (memcached_failed(how)) return std::unexpected(failed(how));
    return buffer_.take({value.get(), bytes}, number) ? answer::done : answer::corrupt;
  }

  base::result<answer> update(std::uint64_t number) override { return set(number, ttl_s_); }
  base::result<answer> insert(std::uint64_t number) override { return update(number); }

  base::result<answer> remove(std::uint64_t number) override {
    const auto key = buffer_.key(number);
    const memcached_return_t how = memcached_delete(connection_.get(), key.data(), key.size(), 0);
    if (how == MEMCACHED_NOTFOUND) return answer::missing;
    if (memcached_failed(how)) return std::unexpected(failed(how));
    return answer::done;
  }

  base::result<answer> incr(std::uint64_t number) override {
    const auto key = buffer_.key(counter_of(number));
    memcached_return_t how = increment(key);
    if (how == MEMCACHED_NOTFOUND) {
      how = memcached_add(connection_.get(), key.data(), key.size(), "1", 1, 0, 0);
      if (how == MEMCACHED_NOTSTORED) how = increment(key);  // another thread's add came first
    }
    if (how == MEMCACHED_CLIENT_ERROR) return answer::corrupt;
    if (memcached_failed(how)) return std::unexpected(failed(how));
    return answer::done;
  }

  base::result<answer> scan(std::uint64_t, unsigned, touched_keys&) override {
    return std::unexpected(base::error{"memcached has no ordered scan"});
  }

  base::result<void> load(std::uint64_t first, std::uint64_t last) override {
    for (std::uint64_t number = first; number < last; ++number) {
      if (auto how = set(number, 0); !how) return std::unexpected(std::move(how).error());
    }
    return {};
  }

 private:
  base::result<answer> set(std::uint64_t number, std::time_t ttl_s) {
    const auto key = buffer_.key(number);
    const auto value = buffer_.value(number);
    const memcached_return_t how = memcached_set(connection_.get(), key.data(), key.size(),
                                                 value.data(), value.size(), ttl_s, 0);
    if (memcached_failed(how)) return std::unexpected(failed(how));
    return answer::done;
  }
  memcached_return_t increment(std::string_view key) {
    std::uint64_t count = 0;
    return memcached_increment(connection_.get(), key.data(), key.size(), 1, &count);
  }

  connection_ptr connection_;
  record_buffer buffer_;
  std::time_t ttl_s_;
};

}  // namespace

base::result<std::unique_ptr<session>> memcached_target::connect() {
  connection_ptr made(memcached_create(nullptr));
  if (!made) return std::unexpected(base::error{"out of memory for a connection"});
  for (const auto patience :
       {MEMCACHED_BEHAVIOR_POLL_TIMEOUT, MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT}) {
    memcached_behavior_set(made.get(), patience, kPatienceMs);
  }
  memcached_behavior_set(made.get(), MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
  memcached_return_t how = where_.path.empty()
                               ? memcached_server_add(made.get(), where_.host.c_str(), where_.port)
                               : memcached_server_add_unix_socket(made.get(), where_.path.c_str());
  // It connects with the first request.
  if (memcached_success(how)) how = memcached_version(made.get());
  if (memcached_failed(how)) {
    const std::string where = where_.text();
    return std::unexpected(
        base::error{fmt::format("no memcached answers at {}: is one running there?", where)});
  }
  return std::make_unique<memcached_session>(std::move(made), format_, seed_);
}

}  // namespace isotherm::workload
