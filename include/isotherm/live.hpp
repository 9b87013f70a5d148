// A page over HTTP that shows what the collector of this process sees and does, and how the pages
// of its heaps are used; and the same numbers for Prometheus.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "collector/collector.hpp"

namespace isotherm::live {

/// Whether the page may change the collector's options.
enum class control : unsigned char { refused, allowed };

/// An open page. Its thread sleeps while no browser asks.
class page {
 public:
  /// Closes it.
  ~page();
  page(const page&) = delete;
  page& operator=(const page&) = delete;
  /// The address for a browser: "http://127.0.0.1:9180/".
  const std::string& url() const noexcept;

 private:
  friend base::result<std::unique_ptr<page>> open(std::string_view, collector::object_collector&,
                                                  control);
  struct state;
  explicit page(std::unique_ptr<state> opened);
  std::unique_ptr<state> state_;
};

/// Opens the page at "HOST:PORT" (an IP address), or on loopback at ":PORT"; port 0 takes any free
/// one. `shown` must outlive the page. Fails with one line: for an address that is none or is
/// taken, where the system gives no thread, and for control::allowed at an address that is not on
/// loopback, as there is no password. Any thread.
base::result<std::unique_ptr<page>> open(std::string_view address,
                                         collector::object_collector& shown,
                                         control changes = control::refused);

}  // namespace isotherm::live
