// The places of the accesses of one batch of a probe: small strided reads go through the file in
// its order, a stride apart, and random ones anywhere.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/random.hpp"
#include "device/model.hpp"

namespace isotherm::device {

class batch_places {
 public:
  /// `count` reads of `bytes` in a file of `file_bytes`, which holds more than `count` of them;
  /// strided ones lie `stride` bytes apart.
  batch_places(access kind, std::uint64_t bytes, std::uint64_t stride, std::uint64_t count,
               std::uint64_t file_bytes, base::random& random)
      : random_(random),
        strided_(kind == access::strided_read),
        apart_(strided_ ? std::max(bytes, stride) : std::max<std::uint64_t>(bytes, kLine)),
        places_(file_bytes / apart_),
        next_(strided_ ? random.below(places_ - count) : 0) {}

  /// Offset of the next access.
  std::uint64_t next() noexcept { return (strided_ ? next_++ : random_.below(places_)) * apart_; }

 private:
  static constexpr std::uint64_t kLine = 64;  // of memory: no two small reads share one
  base::random& random_;
  const bool strided_;
  const std::uint64_t apart_;
  const std::uint64_t places_;
  std::uint64_t next_;
};

}  // namespace isotherm::device
