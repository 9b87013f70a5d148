// An index whose records leave DRAM before each write: between what a command has found and what it
// changes then.
#pragma once

#include "heap/upkeep.hpp"
#include "index/forwarding_index.hpp"

namespace isotherm::server {

class leaving_index final : public index::forwarding_index {
 public:
  using index::forwarding_index::forwarding_index;

  index::outcome insert(std::string_view key, const index::content& value) override {
    send_out();
    return forwarding_index::insert(key, value);
  }
  index::outcome upsert(std::string_view key, const index::content& value) override {
    send_out();
    return forwarding_index::upsert(key, value);
  }
  bool erase(std::string_view key) override {
    send_out();
    return forwarding_index::erase(key);
  }
  index::outcome update(std::string_view key, const index::updater& decide) override {
    send_out();
    return forwarding_index::update(key, decide);
  }

 private:
  static void send_out() { heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}); }
};

}  // namespace isotherm::server
