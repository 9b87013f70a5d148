// The call stack of a thread of the observed program, followed call by call: it needs no frame
// pointers, no unwind tables and no reads of the program's memory. The plugin inside QEMU sees each
// call instruction store its return address. This header needs no library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace isotherm::pages {

/// The instructions of x86-64 that a call stack is followed by.
enum class instruction : unsigned char { call, ret, other };

/// Returns the kind of an instruction: near calls are E8 and FF /2, near returns C2 and C3, behind
/// prefixes.
inline instruction kind_of(const unsigned char* code, std::size_t bytes) noexcept {
  constexpr unsigned char kPrefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64,
                                         0x65, 0x66, 0x67, 0xf2, 0xf3};
  const auto is_prefix = [&](unsigned char byte) {
    return std::memchr(kPrefixes, byte, sizeof kPrefixes) != nullptr || (byte & 0xf0) == 0x40;
  };
  std::size_t at = 0;
  while (at < bytes && is_prefix(code[at])) ++at;
  if (at == bytes) return instruction::other;
  if (code[at] == 0xc2 || code[at] == 0xc3) return instruction::ret;
  const bool is_call =
      code[at] == 0xe8 || (code[at] == 0xff && at + 1 < bytes && (code[at + 1] >> 3 & 7) == 2);
  return is_call ? instruction::call : instruction::other;
}

/// Owned by one thread. A frame is known by the place of its return address. Frames that an
/// exception or longjmp has left go with the next call or return from above their places. In a
/// program that changes between stacks (coroutines) the outer frames may be another stack's.
class call_stack {
 public:
  void call(std::uint64_t place, std::uint64_t returns_to) noexcept {
    drop_below(place + 1);
    if (depth_ == kMost) {
      depth_ /= 2;  // the outer half goes
      std::memmove(frames_, frames_ + depth_, depth_ * sizeof(frame));
    }
    frames_[depth_++] = {.place = place, .returns_to = returns_to};
  }

  /// A function returns whose return address lies at `place`.
  void ret(std::uint64_t place) noexcept { drop_below(place + 1); }

  /// Copies the return addresses of the function whose own lies at `place`, and of its callers, to
  /// `target`, innermost first. Returns their number, at most `most`.
  unsigned copy(std::uint64_t place, std::uint64_t* target, unsigned most) noexcept {
    drop_below(place);
    unsigned count = 0;
    for (; count < most && count < depth_; ++count) {
      target[count] = frames_[depth_ - 1 - count].returns_to;
    }
    return count;
  }

  void clear() noexcept { depth_ = 0; }

 private:
  struct frame {
    std::uint64_t place, returns_to;
  };
  static constexpr unsigned kMost = 1024;

  void drop_below(std::uint64_t place) noexcept {
    while (depth_ > 0 && frames_[depth_ - 1].place < place) --depth_;
  }

  unsigned depth_ = 0;
  frame frames_[kMost];
};

}  // namespace isotherm::pages
