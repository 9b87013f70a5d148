#include "sort/merge/run_record.hpp"

#include <algorithm>

namespace isotherm::sort {

namespace {

/// Appends to a frame in memory.
class appender {
 public:
  explicit appender(std::byte* at) noexcept : at_(at) {}
  template <class T>
  void value(const T& v) noexcept {
    std::memcpy(at_, &v, sizeof v);
    at_ += sizeof v;
  }
  void bytes(const std::byte* from, std::uint64_t n) noexcept {
    if (from != nullptr) std::memcpy(at_, from, n);  // null: the sort has failed
    at_ += n;
  }

 private:
  std::byte* at_;
};

}  // namespace

void framed_format::make(entry e, std::uint64_t count, std::byte* target,
                         source_view& input) const {
  const extent record = layout_.locate(e, input);
  const record_key key = layout_.key(e, compared::key, input);
  const std::uint64_t n = held_of(record.bytes, made_ ? key.size() : 0);
  appender to(target);
  if (n > kLongest) {
    const std::uint64_t kept = std::min<std::uint64_t>(key.size(), kKeptOfKey);
    to.value(static_cast<std::uint16_t>(kKeptOfKey | kLong));
    to.value(record);
    to.value(key.in_input());
    if (counts_) to.value(count);
    to.bytes(key.bytes(input, 0, kept), kept);
    return;
  }
  to.value(static_cast<std::uint16_t>(n));
  if (counts_) to.value(count);
  if (made_) to.value(static_cast<std::uint16_t>(key.size()));
  if (made_ || keys_alone_) to.bytes(key.bytes(input, 0, key.size()), key.size());
  if (keys_alone_) return;
  // The last line may lack its end; its extent includes one all the same.
  const std::uint64_t there = std::min(record.bytes, input.size() - record.offset);
  to.bytes(input.bytes(record.offset, there), there);
  if (there < record.bytes) to.value(static_cast<std::byte>(layout_.line_end()));
}

}  // namespace isotherm::sort
