#include "device/direct.hpp"

#include <cerrno>
#include <utility>

#include "os/disk/ring.hpp"

namespace isotherm::device {

base::result<direct_stream> direct_stream::open(const os::file& f, std::size_t bytes) {
  direct_stream d;
  auto direct = f.past_the_cache();
  if (!direct) return std::unexpected(direct.error());
  auto memory = os::buffer::reserve(kDepth * bytes);
  if (!memory) return std::unexpected(memory.error());
  d.file_ = std::move(*direct);
  d.memory_ = std::move(*memory);
  d.bytes_ = bytes;
  auto ring = std::make_unique<io_uring>();
  if (io_uring_queue_init(kDepth, ring.get(), 0) != 0) return d;
  d.ring_.reset(ring.release());
  if (!os::ring_has(*d.ring_, {IORING_OP_READ, IORING_OP_WRITE})) d.ring_.reset();
  return d;
}

base::result<void> direct_stream::transfer(std::span<const std::uint64_t> offsets, direction way) {
  if (ring_ != nullptr) return submit(offsets, way);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::span<std::byte> part(memory_.data() + i * bytes_, bytes_);
    auto r = way == direction::write ? file_.write(part, offsets[i]) : file_.read(part, offsets[i]);
    if (!r) return r;
  }
  return {};
}

base::result<void> direct_stream::submit(std::span<const std::uint64_t> offsets, direction way) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    io_uring_sqe* request = io_uring_get_sqe(ring_.get());
    std::byte* part = memory_.data() + i * bytes_;
    const auto n = static_cast<unsigned>(bytes_);
    if (way == direction::write) {
      io_uring_prep_write(request, file_.descriptor(), part, n, offsets[i]);
    } else {
      io_uring_prep_read(request, file_.descriptor(), part, n, offsets[i]);
    }
  }
  const auto wanted = static_cast<unsigned>(offsets.size());
  int result = io_uring_submit_and_wait(ring_.get(), wanted);
  for (unsigned done = 0; result >= 0 && done < wanted; ++done) {
    io_uring_cqe* completion = nullptr;
    if (const int e = io_uring_wait_cqe(ring_.get(), &completion); e < 0) {
      result = e;
      break;
    }
    // A short transfer has an error's reason; the probe's files are larger than what is asked.
    if (completion->res != static_cast<int>(bytes_)) {
      result = completion->res < 0 ? completion->res : -EIO;
    }
    io_uring_cqe_seen(ring_.get(), completion);
  }
  if (result >= 0) return {};
  return std::unexpected(
      base::system_error((way == direction::write ? "cannot write past the cache to "
                                                  : "cannot read past the cache from ") +
                             file_.path(),
                         -result));
}

}  // namespace isotherm::device
