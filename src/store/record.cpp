#include "store/record.hpp"

#include "base/check.hpp"
#include "guide/in_place.hpp"

namespace isotherm::store::records {

namespace {

/// Writes while a collector may be copying the object.
void write_beside_collector(char* to, std::string_view bytes) noexcept {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::size_t i = 0;
  while (i < bytes.size()) {
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(to + i) % kWord == 0;
    if (is_aligned && bytes.size() - i >= kWord) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + i, kWord);
      write_in_place(*reinterpret_cast<std::uint64_t*>(to + i), word);
      i += kWord;
    } else {
      write_in_place(to[i], bytes[i]);
      ++i;
    }
  }
}

}  // namespace

void append_in_place(const record& grown, std::size_t zeros, std::string_view tail) noexcept {
  static constexpr char kZeros[4096] = {};
  ISO_ASSERT(zeros + tail.size() <= grown.room, "a record has no room for what is appended");
  char* const begin = const_cast<char*>(grown.payload.data());
  char* end = begin + grown.payload.size();
  while (zeros > 0) {
    const std::size_t some = std::min(zeros, sizeof kZeros);
    write_beside_collector(end, {kZeros, some});
    end += some;
    zeros -= some;
  }
  write_beside_collector(end, tail);
  end += tail.size();
  char* const header = begin - (grown.expires_ms == kNever ? 0 : sizeof grown.expires_ms);
  auto* const length = reinterpret_cast<std::uint32_t*>(header - kGrowingHeader + kLengthAt);
  // Release: pairs with decode(). Atomic also for the collector, as write_in_place() is.
  __atomic_store_n(length, static_cast<std::uint32_t>(end - begin), __ATOMIC_RELEASE);
}

void encoded::operator()(char* to) const noexcept {
  const bool expires = value_.expires_ms != kNever, grows = value_.room > 0;
  const auto how = static_cast<std::uint8_t>(value_.how);
  to[0] =
      static_cast<char>((expires ? kExpires : 0) | (grows ? kGrows : 0) | how << kEncodingShift);
  char* at = to + 1;
  if (grows) {
    ISO_ASSERT(reinterpret_cast<std::uintptr_t>(to) % alignof(std::uint32_t) == 0,
               "a record's length could not be stored at once");
    const auto length = static_cast<std::uint32_t>(payload_.size());
    std::memset(at, 0, kLengthAt - 1);
    std::memcpy(to + kLengthAt, &length, sizeof length);
    at = to + kGrowingHeader;
  }
  if (expires) {
    std::memcpy(at, &value_.expires_ms, sizeof value_.expires_ms);
    at += sizeof value_.expires_ms;
  }
  payload_.write(at);
}

}  // namespace isotherm::store::records
