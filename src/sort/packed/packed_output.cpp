#include "sort/packed/packed_output.hpp"

#include <cerrno>
#include <utility>

namespace isotherm::sort {
namespace {

constexpr std::size_t kPiece = 1 << 20;

}  // namespace

packed_output::~packed_output() { static_cast<void>(finish()); }

base::result<void> packed_output::start(unsigned threads) {
  auto ends = os::file::pipe("a pipe to the compression");
  if (!ends) return std::unexpected(ends.error());
  entrance_ = std::move(ends->writing);
  exit_ = std::move(ends->reading);
  for (unsigned i = 0; i < threads; ++i) {
    auto t = os::start_thread("iso-pack", [this] { work(); });
    if (t) {
      threads_.push_back(std::move(*t));
    } else if (i == 0) {
      return std::unexpected(t.error());
    }
  }
  return {};
}

base::result<void> packed_output::finish() {
  entrance_ = os::file();  // the threads end where the pipe does
  for (os::thread& t : threads_) t.join();
  threads_.clear();
  return state_;
}

void packed_output::work() {
  for (;;) {
    std::uint64_t number = 0;
    const auto piece = next_piece(number);
    if (!piece) return fail(piece.error());
    if (piece->empty() && number > 0) return;  // an empty file has one frame, too
    std::vector<std::byte> frame;
    if (auto r = pack(format_, *piece, frame); !r) return fail(r.error());
    if (auto r = write_in_turn(frame, number); !r) return fail(r.error());
  }
}

/// Returns what the pipe has next, as much as one frame holds; less only at its end.
base::result<std::vector<std::byte>> packed_output::next_piece(std::uint64_t& number) {
  const std::lock_guard guard(reading_);
  std::vector<std::byte> piece(kPiece);
  std::size_t filled = 0;
  while (exit_ && filled < piece.size()) {
    const auto n = exit_.read_next(std::span(piece).subspan(filled));
    if (!n && n.error().code == EINTR) continue;
    if (!n) return std::unexpected(n.error());
    if (*n == 0) break;
    filled += *n;
  }
  piece.resize(filled);
  number = pieces_++;
  return piece;
}

base::result<void> packed_output::write_in_turn(const std::vector<std::byte>& frame,
                                                std::uint64_t number) {
  std::unique_lock guard(writing_);
  turn_.wait(guard, [&] { return frames_ == number || !state_; });
  if (!state_) return state_;
  auto r = to_.write(frame, written_);
  if (!r) return r;
  written_ += frame.size();
  ++frames_;
  turn_.notify_all();
  return {};
}

/// Keeps the first error, and closes the pipe, so that its writer ends.
void packed_output::fail(base::error error) {
  {
    const std::lock_guard guard(writing_);
    if (state_) state_ = std::unexpected(std::move(error));
    turn_.notify_all();
  }
  const std::lock_guard guard(reading_);
  exit_ = os::file();
}

}  // namespace isotherm::sort
