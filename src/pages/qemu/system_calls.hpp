// Buffers of the observed program that the kernel reads or writes: system calls of x86-64.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>

namespace isotherm::pages {

struct system_call {
  std::int64_t number = -1;
  std::uint64_t arguments[3] = {};
};

enum system_call_number : std::int64_t {
  kRead = 0,
  kWrite = 1,
  kBrk = 12,
  kPread64 = 17,
  kPwrite64 = 18,
  kReadv = 19,
  kWritev = 20,
  kSendto = 44,
  kRecvfrom = 45,
  kSendmsg = 46,
  kRecvmsg = 47,
  kExecve = 59,
  kPreadv = 295,
  kPwritev = 296,
  kRecvmmsg = 299,
  kSendmmsg = 307,
  kGetrandom = 318,
  kExecveat = 322,
  kPreadv2 = 327,
  kPwritev2 = 328
};

/// Marks the first `bytes` bytes of the buffers of `count` vectors. `at` translates an address of
/// the program to one of this process.
template <class Mark, class At>
void mark_vectors(std::uint64_t vectors, std::uint64_t count, std::uint64_t bytes, const Mark& mark,
                  const At& at) {
  for (std::uint64_t i = 0; i < count && bytes > 0; ++i) {
    const auto* const v = static_cast<const iovec*>(at(vectors)) + i;
    const std::uint64_t part = std::min<std::uint64_t>(bytes, v->iov_len);
    mark(reinterpret_cast<std::uint64_t>(v->iov_base), part);
    bytes -= part;
  }
}

/// Calls mark(address, bytes) for each part of a buffer that the call has read or written when it
/// `returned` so.
template <class Mark, class At>
void mark_buffers(const system_call& call, std::int64_t returned, const Mark& mark, const At& at) {
  if (returned <= 0) return;
  const auto done = static_cast<std::uint64_t>(returned);
  const auto& a = call.arguments;
  switch (call.number) {
    case kRead:
    case kWrite:
    case kPread64:
    case kPwrite64:
    case kSendto:
    case kRecvfrom:
      return mark(a[1], std::min(done, a[2]));
    case kGetrandom:
      return mark(a[0], std::min(done, a[1]));
    case kReadv:
    case kWritev:
    case kPreadv:
    case kPwritev:
    case kPreadv2:
    case kPwritev2:
      return mark_vectors(a[1], a[2], done, mark, at);
    case kSendmsg:
    case kRecvmsg: {
      const auto* const m = static_cast<const msghdr*>(at(a[1]));
      return mark_vectors(reinterpret_cast<std::uint64_t>(m->msg_iov), m->msg_iovlen, done, mark,
                          at);
    }
    case kSendmmsg:
    case kRecvmmsg:
      for (std::uint64_t i = 0; i < done; ++i) {
        const auto* const m = static_cast<const mmsghdr*>(at(a[1])) + i;
        mark_vectors(reinterpret_cast<std::uint64_t>(m->msg_hdr.msg_iov), m->msg_hdr.msg_iovlen,
                     m->msg_len, mark, at);
      }
      return;
    default:
      return;
  }
}

}  // namespace isotherm::pages
