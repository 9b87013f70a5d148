// An index whose records leave DRAM before each write: between what a command has found and what it
// changes then.
#pragma once

#include "heap/upkeep.hpp"
#include "index/forwarding_index.hpp"

namespace isotherm::server {

class leaving_index final : public index::forwarding_index {
 public:
  using index::forwarding_index::forwarding_index;

  index::outcome insert(access& inside, std::string_view key,
                        const index::content& value) override {
    send_out();
    return forwarding_index::insert(inside, key, value);
  }
  index::outcome upsert(access& inside, std::string_view key,
                        const index::content& value) override {
    send_out();
    return forwarding_index::upsert(inside, key, value);
  }
  bool erase(access& inside, std::string_view key) override {
    send_out();
    return forwarding_index::erase(inside, key);
  }
  index::outcome update(access& inside, std::string_view key,
                        const index::updater& decide) override {
    send_out();
    return forwarding_index::update(inside, key, decide);
  }

 private:
  static void send_out() { heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}); }
};

}  // namespace isotherm::server
