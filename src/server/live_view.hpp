// The server on the live page: its own counters beside the collector's figures.
#pragma once

#include "live/view.hpp"

namespace isotherm::server {

class server;

/// For one thread, the page's.
class live_view final : public live::process_view {
 public:
  /// Both must outlive it; `running` is null where management is off.
  live_view(server& of, collector::object_collector* running)
      : process_view(running), server_(of) {}

  live::snapshot look() override;
  /// Does as ISOTHERM CONFIG SET, except for fast-memory.
  base::result<void> configure(std::string_view name, std::string_view value) override;

 private:
  server& server_;
};

}  // namespace isotherm::server
