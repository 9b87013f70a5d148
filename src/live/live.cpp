#include <isotherm/live.hpp>

#include "live/address.hpp"
#include "live/http_server.hpp"
#include "live/view.hpp"

namespace isotherm::live {

struct page::state {
  explicit state(collector::object_collector& of) : shown(&of) {}
  process_view shown;
  std::unique_ptr<http_server> serving;
  std::string url;
};

page::page(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
page::~page() { state_->serving.reset(); }
const std::string& page::url() const noexcept { return state_->url; }

base::result<std::unique_ptr<page>> open(std::string_view address,
                                         collector::object_collector& shown, control changes) {
  const auto where = parse_address(address);
  if (!where) return std::unexpected(where.error());
  auto made = std::make_unique<page::state>(shown);
  auto serving = http_server::start(*where, made->shown, changes);
  if (!serving) return std::unexpected(serving.error());
  made->serving = std::move(*serving);
  made->url = made->serving->url();
  return std::unique_ptr<page>(new page(std::move(made)));
}

}  // namespace isotherm::live
