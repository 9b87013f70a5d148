#include "lab/traces/byte_stream.hpp"

#include <lzma.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace isotherm::traces {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::string_view kXzMagic{
    "\xfd"
    "7zXZ\0",
    6};

/// Decompresses xz. A stream needs memory for its dictionary, which the limit bounds: 64 MiB is
/// what `xz -9` asks for.
class xz_unpacker final : public sort::unpacker {
 public:
  xz_unpacker() { is_ready_ = ::lzma_stream_decoder(&z_, kMemory, LZMA_CONCATENATED) == LZMA_OK; }
  ~xz_unpacker() override { ::lzma_end(&z_); }
  xz_unpacker(const xz_unpacker&) = delete;
  xz_unpacker& operator=(const xz_unpacker&) = delete;

  bool is_ready() const noexcept { return is_ready_; }

  base::result<std::size_t> unpack(std::span<const std::byte>& packed,
                                   std::span<std::byte> target) override {
    z_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    z_.avail_in = packed.size();
    z_.next_out = reinterpret_cast<std::uint8_t*>(target.data());
    z_.avail_out = target.size();
    const lzma_ret how = ::lzma_code(&z_, packed.empty() ? LZMA_FINISH : LZMA_RUN);
    packed = packed.last(z_.avail_in);
    whole_ = how == LZMA_STREAM_END;
    if (how == LZMA_OK || how == LZMA_STREAM_END || how == LZMA_BUF_ERROR) {
      return target.size() - z_.avail_out;
    }
    if (how == LZMA_MEM_ERROR || how == LZMA_MEMLIMIT_ERROR) {
      return std::unexpected(base::error{"its xz data need more than 256 MiB of memory", ENOMEM});
    }
    return std::unexpected(base::error{"its compressed data are damaged (xz)", 0});
  }

 private:
  static constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;

  lzma_stream z_ = LZMA_STREAM_INIT;
  bool is_ready_ = false;
};

}  // namespace

byte_stream::byte_stream(std::unique_ptr<std::istream> packed)
    : file_(std::move(packed)), buffer_(kBufferBytes) {}

base::result<void> byte_stream::fill() {
  if (!packed_.empty()) return {};
  file_->read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(kBufferBytes));
  if (file_->bad()) return std::unexpected(base::system_error("cannot read it", errno));
  packed_ = std::span(buffer_).first(static_cast<std::size_t>(file_->gcount()));
  return {};
}

base::result<void> byte_stream::find_packing() {
  is_open_ = true;
  if (auto first = fill(); !first) return first;
  if (packed_.size() >= kXzMagic.size() &&
      std::memcmp(packed_.data(), kXzMagic.data(), kXzMagic.size()) == 0) {
    auto xz = std::make_unique<xz_unpacker>();
    if (!xz->is_ready()) return std::unexpected(base::error{"out of memory for xz", ENOMEM});
    unpacker_ = std::move(xz);
    return {};
  }
  const sort_packing format = sort::packing_of(packed_);
  if (format == sort_packing::none) return {};
  auto made = sort::make_unpacker(format);
  if (!made) return std::unexpected(std::move(made).error());
  unpacker_ = std::move(*made);
  return {};
}

base::result<std::size_t> byte_stream::read(std::span<char> to) {
  if (!is_open_) {
    if (auto found = find_packing(); !found) return std::unexpected(std::move(found).error());
  }
  for (;;) {
    if (auto more = fill(); !more) return std::unexpected(std::move(more).error());
    if (!unpacker_) {
      const auto part = packed_.first(std::min(packed_.size(), to.size()));
      std::memcpy(to.data(), part.data(), part.size());
      packed_ = packed_.subspan(part.size());
      return part.size();
    }
    const bool is_end = packed_.empty();
    if (is_end && unpacker_->whole()) return std::size_t{0};
    auto made = unpacker_->unpack(packed_, std::as_writable_bytes(to));
    if (!made || *made > 0) return made;
    if (!is_end || unpacker_->whole()) continue;
    return std::unexpected(base::error{"its compressed data end too early", 0});
  }
}

}  // namespace isotherm::traces
