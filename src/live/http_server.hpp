// The page's server: libmicrohttpd, driven by one thread of our own, which also builds the
// snapshots that event streams share. It sleeps while there are no requests.
//
//   GET  /  /page.css  /page.js ...   the page (files.hpp)
//   GET  /healthz                     "ok"
//   GET  /metrics                     Prometheus' text format
//   GET  /api/stats                   the same numbers as JSON
//   GET  /api/tables                  names, units and help of figures and options, options' values
//   GET  /api/map [?heap&from&count]  the address space as cells; a part of one heap
//   GET  /api/page?heap&page          the objects of a page
//   GET  /events                      /api/stats once a second, as server-sent events
//   POST /api/options                 changes one option, where that is allowed
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "live/address.hpp"
#include "live/request.hpp"
#include "live/view.hpp"

namespace isotherm::live {

class http_server {
 public:
  /// Connections at a time; more wait until one of these is idle for some seconds.
  static constexpr unsigned kConnections = 256;
  /// Open files that it takes at most.
  static constexpr unsigned kDescriptors = kConnections + 8;
  /// Event streams among them; more are refused.
  static constexpr unsigned kStreams = 64;

  /// Listens and serves on a thread of its own, which takes no signals. `shown` must outlive it,
  /// and is used by that thread alone. `names`: by which browsers may ask beside the machine's own,
  /// as that of a proxy before this. Fails with one line.
  static base::result<std::unique_ptr<http_server>> start(const address& where, process_view& shown,
                                                          control changes,
                                                          std::vector<std::string> names = {});
  /// Closes connections and the listener. In a fork child, which has none of the threads: nothing.
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  std::string url() const;

 private:
  struct state;
  explicit http_server(std::unique_ptr<state> running);
  std::unique_ptr<state> state_;
};

}  // namespace isotherm::live
