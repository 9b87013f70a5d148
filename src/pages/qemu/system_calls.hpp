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
  kPrctl = 157,
  kPreadv = 295,
  kPwritev = 296,
  kRecvmmsg = 299,
  kSendmmsg = 307,
  kGetrandom = 318,
  kExecveat = 322,
  kPreadv2 = 327,
  kPwritev2 = 328
};

/// Vectors that one system call may have (IOV_MAX).
inline constexpr std::uint64_t kVectorsMost = 1024;

/// Marks the first `bytes` bytes of the buffers of `count` vectors, up to a vector that the program
/// has given back or overwritten meanwhile. `copy(address, &value)` reads a value of the program's
/// memory and returns false where there is none.
template <class Mark, class Copy>
void mark_vectors(std::uint64_t vectors, std::uint64_t count, std::uint64_t bytes, const Mark& mark,
                  const Copy& copy) {
  iovec v;
  for (std::uint64_t i = 0; i < std::min(count, kVectorsMost) && bytes > 0; ++i) {
    if (!copy(vectors + i * sizeof v, &v)) return;
    const std::uint64_t part = std::min<std::uint64_t>(bytes, v.iov_len);
    mark(reinterpret_cast<std::uint64_t>(v.iov_base), part);
    bytes -= part;
  }
}

template <class Mark, class Copy>
void mark_message(const msghdr& message, std::uint64_t bytes, const Mark& mark, const Copy& copy) {
  mark_vectors(reinterpret_cast<std::uint64_t>(message.msg_iov), message.msg_iovlen, bytes, mark,
               copy);
}

/// Calls mark(address, bytes) for each part of a buffer that the call has read or written when it
/// `returned` so. `copy` as for mark_vectors().
template <class Mark, class Copy>
void mark_buffers(const system_call& call, std::int64_t returned, const Mark& mark,
                  const Copy& copy) {
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
      return mark_vectors(a[1], a[2], done, mark, copy);
    case kSendmsg:
    case kRecvmsg:
      if (msghdr m; copy(a[1], &m)) mark_message(m, done, mark, copy);
      return;
    case kSendmmsg:
    case kRecvmmsg: {
      mmsghdr m;
      for (std::uint64_t i = 0; i < done && copy(a[1] + i * sizeof m, &m); ++i) {
        mark_message(m.msg_hdr, m.msg_len, mark, copy);
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace isotherm::pages
