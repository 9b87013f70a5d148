#include "sort/packed/input_reader.hpp"

#include <algorithm>
#include <cstring>

#include "os/files/spool.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;

}  // namespace

/// Reads on, behind the bytes that are not yet used. False at the end of the input.
base::result<bool> input_reader::fetch() {
  std::memmove(buffer_.data(), fetched_.data(), fetched_.size());
  const auto n = os::read_waiting(from_, std::span(buffer_).subspan(fetched_.size()), stop_);
  if (!n) return std::unexpected(n.error());
  fetched_ = std::span(buffer_).first(fetched_.size() + *n);
  return *n > 0;
}

base::result<void> input_reader::look() {
  buffer_.resize(kBufferBytes);
  fetched_ = std::span(buffer_).first(0);
  while (fetched_.size() < kMagicBytes) {
    const auto more = fetch();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  const sort_packing format = packing_of(fetched_);
  if (format == sort_packing::none) return {};
  auto u = make_unpacker(format);
  if (!u) return std::unexpected(u.error());
  unpacker_ = std::move(*u);
  return {};
}

base::result<std::size_t> input_reader::read(std::span<std::byte> target) {
  if (unpacker_) return unpack(target);
  if (fetched_.empty()) return os::read_waiting(from_, target, stop_);
  const std::size_t n = std::min(target.size(), fetched_.size());
  std::memcpy(target.data(), fetched_.data(), n);
  fetched_ = fetched_.subspan(n);
  return n;
}

base::result<std::size_t> input_reader::unpack(std::span<std::byte> target) {
  for (;;) {
    if (fetched_.empty()) {
      const auto more = fetch();
      if (!more) return std::unexpected(more.error());
      if (!*more && unpacker_->whole()) return 0;
      if (!*more) {
        return std::unexpected(
            base::error{from_.path() + ": its compressed data end early: the file is cut", 0});
      }
    }
    auto n = unpacker_->unpack(fetched_, target);
    if (!n) return std::unexpected(base::error{from_.path() + ": " + n.error().message, 0});
    if (*n > 0) return n;
  }
}

}  // namespace isotherm::sort
