#include "sort/packed/packing.hpp"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace isotherm::sort {
namespace {

struct format {
  sort_packing id;
  std::string_view name;
  std::string_view suffix;
  std::string_view magic;
};
constexpr std::array kFormats = {
    format{sort_packing::gzip, "gzip", ".gz", "\x1f\x8b\x08"},
    format{sort_packing::zstd, "zstd", ".zst", "\x28\xb5\x2f\xfd"},
    format{sort_packing::lz4, "lz4", ".lz4", "\x04\x22\x4d\x18"},
};
constexpr int kGzipWindow = 15 + 16;  // the largest window, and gzip's header and checksum

std::unexpected<base::error> no_memory() {
  return std::unexpected(base::error{"out of memory for the compression of a file", ENOMEM});
}

std::unexpected<base::error> damaged(const char* reason) {
  return std::unexpected(
      base::error{std::string("its compressed data are damaged (") + reason + ')', 0});
}

/// The message of zlib for a stream in trouble.
const char* reason_of(const z_stream& z) { return z.msg == nullptr ? "no gzip data" : z.msg; }

Bytef* bytes_of(const std::byte* p) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(p));  // zlib only reads its input
}

/// Returns `n`, or the most that zlib takes in one call.
uInt at_most(std::size_t n) { return static_cast<uInt>(std::min<std::size_t>(n, 1u << 30)); }

base::result<void> pack_gzip(std::span<const std::byte> piece, std::vector<std::byte>& frame) {
  z_stream z{};
  if (::deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return no_memory();
  }
  frame.resize(::deflateBound(&z, piece.size()));
  z.next_in = bytes_of(piece.data());
  z.avail_in = at_most(piece.size());
  z.next_out = bytes_of(frame.data());
  z.avail_out = at_most(frame.size());
  ::deflate(&z, Z_FINISH);  // cannot fail with so much room
  frame.resize(z.total_out);
  ::deflateEnd(&z);
  return {};
}

base::result<void> pack_zstd(std::span<const std::byte> piece, std::vector<std::byte>& frame) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(::ZSTD_createCCtx(),
                                                                        ::ZSTD_freeCCtx);
  if (!context) return no_memory();
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  frame.resize(::ZSTD_compressBound(piece.size()));
  const std::size_t n =
      ::ZSTD_compress2(context.get(), frame.data(), frame.size(), piece.data(), piece.size());
  if (::ZSTD_isError(n) != 0) return no_memory();
  frame.resize(n);
  return {};
}

base::result<void> pack_lz4(std::span<const std::byte> piece, std::vector<std::byte>& frame) {
  LZ4F_preferences_t wanted{};
  wanted.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  frame.resize(::LZ4F_compressFrameBound(piece.size(), &wanted));
  const std::size_t n =
      ::LZ4F_compressFrame(frame.data(), frame.size(), piece.data(), piece.size(), &wanted);
  if (::LZ4F_isError(n) != 0) return no_memory();
  frame.resize(n);
  return {};
}

class gzip_unpacker final : public unpacker {
 public:
  bool begin() { return ::inflateInit2(&z_, kGzipWindow) == Z_OK; }
  ~gzip_unpacker() override { ::inflateEnd(&z_); }

  base::result<std::size_t> unpack(std::span<const std::byte>& packed,
                                   std::span<std::byte> target) override {
    z_.next_in = bytes_of(packed.data());
    z_.avail_in = at_most(packed.size());
    z_.next_out = bytes_of(target.data());
    z_.avail_out = at_most(target.size());
    const int state = ::inflate(&z_, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
      return damaged(reason_of(z_));
    }
    const auto made = static_cast<std::size_t>(z_.next_out - bytes_of(target.data()));
    packed = packed.subspan(static_cast<std::size_t>(z_.next_in - bytes_of(packed.data())));
    whole_ = state == Z_STREAM_END;
    if (whole_) ::inflateReset(&z_);
    return made;
  }

 private:
  z_stream z_{};
};

class zstd_unpacker final : public unpacker {
 public:
  bool begin() { return context_ != nullptr; }
  ~zstd_unpacker() override { ::ZSTD_freeDCtx(context_); }

  base::result<std::size_t> unpack(std::span<const std::byte>& packed,
                                   std::span<std::byte> target) override {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{target.data(), target.size(), 0};
    const std::size_t left = ::ZSTD_decompressStream(context_, &out, &in);
    if (::ZSTD_isError(left) != 0) return damaged(::ZSTD_getErrorName(left));
    packed = packed.subspan(in.pos);
    whole_ = left == 0;
    return out.pos;
  }

 private:
  ZSTD_DCtx* context_ = ::ZSTD_createDCtx();
};

class lz4_unpacker final : public unpacker {
 public:
  bool begin() {
    return ::LZ4F_isError(::LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) == 0;
  }
  ~lz4_unpacker() override { ::LZ4F_freeDecompressionContext(context_); }

  base::result<std::size_t> unpack(std::span<const std::byte>& packed,
                                   std::span<std::byte> target) override {
    std::size_t used = packed.size();
    std::size_t made = target.size();
    const std::size_t left =
        ::LZ4F_decompress(context_, target.data(), &made, packed.data(), &used, nullptr);
    if (::LZ4F_isError(left) != 0) return damaged(::LZ4F_getErrorName(left));
    packed = packed.subspan(used);
    whole_ = left == 0;
    return made;
  }

 private:
  LZ4F_dctx* context_ = nullptr;
};

template <class Unpacker>
base::result<std::unique_ptr<unpacker>> opened() {
  auto u = std::make_unique<Unpacker>();
  if (!u->begin()) return no_memory();
  return u;
}

}  // namespace

sort_packing packing_of(std::span<const std::byte> first) noexcept {
  for (const format& each : kFormats) {
    if (first.size() >= each.magic.size() &&
        std::memcmp(first.data(), each.magic.data(), each.magic.size()) == 0) {
      return each.id;
    }
  }
  return sort_packing::none;
}

sort_packing packing_of_name(const std::string& path) noexcept {
  for (const format& each : kFormats) {
    if (path.ends_with(each.suffix)) return each.id;
  }
  return sort_packing::none;
}

base::result<void> pack(sort_packing format, std::span<const std::byte> piece,
                        std::vector<std::byte>& frame) {
  if (format == sort_packing::gzip) return pack_gzip(piece, frame);
  return format == sort_packing::zstd ? pack_zstd(piece, frame) : pack_lz4(piece, frame);
}

base::result<std::unique_ptr<unpacker>> make_unpacker(sort_packing format) {
  if (format == sort_packing::gzip) return opened<gzip_unpacker>();
  return format == sort_packing::zstd ? opened<zstd_unpacker>() : opened<lz4_unpacker>();
}

}  // namespace isotherm::sort

namespace isotherm {

std::string_view name(sort_packing packing) noexcept {
  if (packing == sort_packing::automatic) return "auto";
  for (const auto& each : sort::kFormats) {
    if (each.id == packing) return each.name;
  }
  return "none";
}

}  // namespace isotherm
