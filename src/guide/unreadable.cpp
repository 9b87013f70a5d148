#include "guide/unreadable.hpp"

#include "heap/cold/misses.hpp"
#include "heap/header.hpp"
#include "heap/readable.hpp"

namespace isotherm::guides {

namespace {

/// Laid out as `bytes`: the header, then the content. The first byte is a record's flags (none);
/// the others were drawn at random.
struct stand_in {
  heap::header head{heap::kLiveMark, 17};
  unsigned char content[17] = {0,    0x9d, 0x31, 0xe4, 0x0f, 0x77, 0xb8, 0x52, 0xc6,
                               0x1a, 0x83, 0xfd, 0x2e, 0x60, 0xd9, 0x44, 0xab};
};
constinit stand_in unreadable, absent;

bool is_of(std::string_view text, const stand_in& one) noexcept {
  return text.data() == reinterpret_cast<const char*>(one.content);
}

}  // namespace

const bytes* unreadable_bytes() noexcept {
  return reinterpret_cast<const bytes*>(unreadable.content);
}

bool is_unreadable(std::string_view text) noexcept { return is_of(text, unreadable); }

bool has_missed() noexcept {
  const heap::miss_watch* const watch = heap::miss_watch::of_this_thread();
  return watch != nullptr && watch->has_missed();
}

bool is_unanswered() noexcept { return heap::read_watch::outermost_disk_is_silent(); }

const bytes* absent_bytes() noexcept { return reinterpret_cast<const bytes*>(absent.content); }

bool is_absent(std::string_view text) noexcept { return is_of(text, absent); }

}  // namespace isotherm::guides
