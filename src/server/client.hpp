// Facts about one client, for its own connection and for CLIENT LIST of others.
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

/// Fields without a comment on threads are written and read only by the owning event loop.
class client final : public store::caller {
 public:
  client(class server& where, std::uint64_t number, int descriptor, std::string peer,
         std::string local)
      : server(where),
        id(number),
        fd(descriptor),
        address(std::move(peer)),
        local_address(std::move(local)),
        born_ms(os::monotonic_ms()) {
    active_ms.store_relaxed(born_ms);
  }

  class server& server;
  const std::uint64_t id;
  const int fd;
  const std::string address, local_address;  ///< "127.0.0.1:5000", "/path:0"
  const std::int64_t born_ms;                ///< os::monotonic_ms()

  event_loop* loop = nullptr;  ///< the owner; set before the loop knows this client
  bool authenticated = false;
  // A command that runs sets one of these at most. connection::run() derives its state from them.
  bool defers = false;   ///< the command is answered by the work passed to server::defer()
  bool closing = false;  ///< the client is to be closed after the replies so far
  /// From a refused MULTI until EXEC or DISCARD: a client sends a transaction in one piece, and its
  /// commands must not run one by one.
  bool in_refused_transaction = false;
  /// skip_next: the command after the one that runs gets no reply.
  enum class replies : std::uint8_t { on, off, skip, skip_next };
  replies mode = replies::on;

  base::atomic<std::int64_t> active_ms{0};            ///< read by all
  base::atomic<const store::command*> last{nullptr};  ///< read by all
  base::atomic<int> protocol{2};                      ///< read by all
  base::atomic<bool> killed{false};                   ///< written by all
  base::atomic<bool> keeps_place{false};              ///< CLIENT NO-EVICT
  base::atomic<bool> is_blocked{false};  ///< a command waits for a disk, or for room; read by all
  base::atomic<std::size_t> query_bytes{0}, query_room{0}, output_bytes{0};  ///< read by all
  base::atomic<std::size_t> argument_bytes{0};  ///< memory of its argument lists; read by all
  base::atomic<std::size_t> held_bytes{0};      ///< argument_bytes and the buffers; read by all

  std::string name() const {
    const std::lock_guard lock(mutex_);
    return name_;
  }
  void set_name(std::string_view name) {
    const std::lock_guard lock(mutex_);
    name_ = name;
  }
  /// The flags in CLIENT LIST, as letters, as Redis writes them.
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
  void add(std::shared_ptr<client> client) {
    const std::lock_guard lock(mutex_);
    clients_.emplace(client->id, std::move(client));
  }
  void remove(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    clients_.erase(id);
  }
  std::vector<std::shared_ptr<client>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<client>> found;
    found.reserve(clients_.size());
    for (const auto& [id, client] : clients_) found.push_back(client);
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
