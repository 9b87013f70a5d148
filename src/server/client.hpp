// What is known of one client, for its own connection and for CLIENT LIST of others.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "os/clock.hpp"
#include "store/commands/command.hpp"

namespace isotherm::server {

class server;
class event_loop;

/// Fields without a word are written by the owning event loop alone, and read by it alone.
class client final : public store::caller {
 public:
  client(server& where, std::uint64_t number, int descriptor, std::string peer, std::string local)
      : home(where),
        id(number),
        fd(descriptor),
        address(std::move(peer)),
        local_address(std::move(local)),
        born_ms(os::monotonic_ms()) {
    active_ms.store_relaxed(born_ms);
  }

  server& home;
  const std::uint64_t id;
  const int fd;
  const std::string address, local_address;  ///< "127.0.0.1:5000", "/path:0"
  const std::int64_t born_ms;                ///< os::monotonic_ms()

  event_loop* loop = nullptr;  ///< whose it is; set before the loop knows it
  bool authenticated = false;
  bool waits = false;    ///< for server::defer()'s work: nothing more of it is run until then
  bool closing = false;  ///< after the replies so far
  /// After a refused MULTI, until EXEC or DISCARD: a client sends a transaction in one piece and
  /// must not find that its commands ran one by one.
  bool in_refused_transaction = false;
  enum class replies : std::uint8_t { on, off, skip };
  replies mode = replies::on;

  base::atomic<std::int64_t> active_ms{0};                                   ///< read by all
  base::atomic<const store::command*> last{nullptr};                         ///< read by all
  base::atomic<int> protocol{2};                                             ///< read by all
  base::atomic<bool> killed{false};                                          ///< written by all
  base::atomic<bool> keeps_place{false};                                     ///< CLIENT NO-EVICT
  base::atomic<std::size_t> query_bytes{0}, query_room{0}, output_bytes{0};  ///< read by all
  base::atomic<std::size_t> argument_bytes{0};  ///< memory of its lists of arguments; read by all
  base::atomic<std::size_t> held_bytes{0};      ///< that and its buffers'; read by all

  std::string name() const {
    const std::lock_guard lock(mutex_);
    return name_;
  }
  void set_name(std::string_view name) {
    const std::lock_guard lock(mutex_);
    name_ = name;
  }
  /// Letters for what CLIENT LIST tells of it, as Redis writes them.
  std::string flags() const;
  /// The line of CLIENT LIST, without its end.
  std::string describe() const;

 private:
  mutable std::mutex mutex_;
  std::string name_;
};

/// All clients. Thread-safe.
class client_registry {
 public:
  void add(std::shared_ptr<client> who) {
    const std::lock_guard lock(mutex_);
    clients_.emplace(who->id, std::move(who));
  }
  void remove(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    clients_.erase(id);
  }
  std::vector<std::shared_ptr<client>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<client>> found;
    found.reserve(clients_.size());
    for (const auto& [id, who] : clients_) found.push_back(who);
    return found;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return clients_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<client>> clients_;
};

}  // namespace isotherm::server
