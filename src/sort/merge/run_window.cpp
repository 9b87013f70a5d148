#include "sort/merge/run_window.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace isotherm::sort {

read_ahead::~read_ahead() {
  {
    const std::lock_guard guard(lock_);
    stop_ = true;
  }
  wanted_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void read_ahead::start(fetch& f) {
  f.done = false;
  if (!thread_.joinable()) {
    auto started = os::start_thread("iso-read", [this] { work(); });
    if (!started) {
      read(f);
      f.done = true;
      return;
    }
    thread_ = std::move(*started);
  }
  {
    const std::lock_guard guard(lock_);
    fetches_.push_back(&f);
  }
  wanted_.notify_one();
}

void read_ahead::wait(fetch& f) {
  std::unique_lock guard(lock_);
  done_.wait(guard, [&] { return f.done; });
}

void read_ahead::read(const fetch& f) {
  const stage_timer timer(ctx_.job, sort_stage::merge_read);
  if (ctx_.job.stopped()) return;
  if (f.from->at.use.emulation != nullptr) {
    pooled_read(ctx_, *f.from, f.target, f.offset, sort_stage::merge_read);
    return;
  }
  if (!ctx_.job.keep(f.from->file.read(f.target, f.offset))) return;
  ctx_.job.count(sort_stage::merge_read, f.target.size(), 0);
}

void read_ahead::work() {
  std::unique_lock guard(lock_);
  for (;;) {
    wanted_.wait(guard, [&] { return stop_ || !fetches_.empty(); });
    if (stop_) return;
    fetch& next = *fetches_.front();
    fetches_.pop_front();
    guard.unlock();
    ctx_.job.guard([&] { read(next); });
    guard.lock();
    next.done = true;
    done_.notify_one();
  }
}

run_window::run_window(const context& ctx, const record_run& run, std::span<std::byte> memory,
                       std::size_t kept, after_reading space, read_ahead* ahead)
    : ctx_(ctx), run_(run), kept_(kept), space_(space), ahead_(ahead) {
  ISO_CHECK(
      memory.size() >= bytes_for(kept, ahead != nullptr ? reading::ahead : reading::when_asked),
      "a run has a larger window");
  const std::size_t half =
      std::min(ahead != nullptr ? memory.size() / 2 : memory.size(), kept + kMostRead);
  halves_[0] = memory.first(half);
  halves_[1] = ahead != nullptr ? memory.subspan(half, half) : halves_[0];
  if (ahead_ != nullptr) start_fetch();
}

void run_window::start_fetch() {
  const std::span<std::byte> room = halves_[turn_].subspan(kept_);
  const std::uint64_t n = std::min<std::uint64_t>(room.size(), run_.bytes - read_);
  next_ = {run_.place, room.first(n), run_.offset + read_, false};
  read_ += n;
  if (n > 0 && ahead_ != nullptr) ahead_->start(next_);
}

std::span<const std::byte> run_window::more(const std::byte* first) {
  const auto left = static_cast<std::size_t>(end_ - first);
  if (left > kept_) return {first, left};
  if (ahead_ == nullptr) start_fetch();
  if (next_.target.empty() || ctx_.job.stopped()) return {first, left};
  if (ahead_ != nullptr) ahead_->wait(next_);
  std::byte* const begin = next_.target.data() - left;
  if (left > 0) std::memmove(begin, first, left);
  if (ahead_ == nullptr) {
    const stage_timer timer(ctx_.job, sort_stage::merge_read, sort_stage::merge_other);
    pooled_read(ctx_, *run_.place, next_.target, next_.offset, sort_stage::merge_read);
  }
  end_ = next_.target.data() + next_.target.size();
  const std::span<const std::byte> all(begin, left + next_.target.size());
  if (space_ == after_reading::give_back) {
    give_back(ctx_.job, run_.place->file, run_.offset, next_.offset,
              next_.offset + next_.target.size());
  }
  turn_ ^= 1;
  if (ahead_ != nullptr) start_fetch();
  return all;
}

}  // namespace isotherm::sort
