#include "heap/configure.hpp"

#include <cstdlib>
#include <string_view>

#include "heap/packed/backing.hpp"
#include "heap/ranges.hpp"
#include "os/disk/cold_file.hpp"

namespace isotherm::heap {

namespace {

std::string text_of(const backing_kind& kind, std::string_view argument) {
  std::string text(kind.name);
  if (!kind.argument.empty()) text.append(":").append(argument);
  return text;
}

}  // namespace

base::result<cold_backing> cold_backing::parse(const std::string& text) {
  for (const backing_kind* kind : kBackingKinds) {
    const std::string before = text_of(*kind, {});
    const bool takes_argument = !kind->argument.empty();
    const bool has_argument = text.size() > before.size();
    if (text.starts_with(before) && has_argument == takes_argument) {
      return cold_backing(*kind, text.substr(before.size()));
    }
  }
  return std::unexpected(
      base::error{"cold backing '" + text + "' is not known: give " + forms(" or "), 0});
}

std::string cold_backing::forms(std::string_view between) {
  std::string all;
  for (const backing_kind* kind : kBackingKinds) {
    if (!all.empty()) all += between;
    all += text_of(*kind, kind->argument);
  }
  return all;
}

std::string cold_backing::help() {
  std::string all;
  for (const backing_kind* kind : kBackingKinds) {
    if (!all.empty()) all += "; ";
    all.append(text_of(*kind, kind->argument)).append(": ").append(kind->help);
  }
  return all;
}

std::string cold_backing::text() const { return text_of(*kind_, argument_); }

backing_description cold_backing::describe() const { return kind_->describe(argument_); }

base::result<std::unique_ptr<backing>> cold_backing::make() const { return kind_->make(argument_); }

std::vector<std::string> cold_directories() {
  std::vector<std::string> all;
  const char* const state = std::getenv("STATE_DIRECTORY");
  const std::string_view given = state != nullptr ? state : "";
  if (const auto first = given.substr(0, given.find(':')); !first.empty()) all.emplace_back(first);
  all.emplace_back("/var/tmp");  // kept on a disk where /tmp is memory
  return all;
}

cold_place find_cold_place(const std::vector<std::string>& directories) {
  cold_place found{.backing = *cold_backing::parse("anon"), .refused = {}};
  for (const std::string& directory : directories) {
    if (const auto made = os::open_cold_file(directory); made) {
      found.backing = *cold_backing::parse("file:" + directory);
      break;
    } else {
      found.refused.push_back(made.error().message);
    }
  }
  return found;
}

bool cold_can_leave_dram() {
  return heaps().packed(kind::cold).extents().pages().why_pages_stay().empty();
}

bool cold_is_logged() noexcept { return heaps().packed(kind::cold).extents().is_logged(); }

bool cold_is_direct() noexcept { return heaps().packed(kind::cold).extents().pages().is_direct(); }

bool cold_is_direct_and_charged() noexcept {
  const backing& pages = heaps().packed(kind::cold).extents().pages();
  return pages.is_direct() && pages.is_charged();
}

base::result<void> configure(const options& chosen) { return make_heaps(chosen); }

const cold_read_limits& read_limits() noexcept { return heaps().cold_reads; }

}  // namespace isotherm::heap
