#include "guide/fetcher.hpp"

#include <utility>

#include "heap/upkeep.hpp"

namespace isotherm {

base::result<fetcher> fetcher::make() {
  auto reader = heap::cold_reader::make();
  if (!reader) return std::unexpected(reader.error());
  return fetcher(std::move(*reader));
}

fetcher::ticket fetcher::fetch(heap::miss&& missed, std::function<void()> then) {
  const ticket given = next_++;
  waiting_.emplace(given, pending{reader_->read(std::move(missed), given), std::move(then)});
  reader_->submit();
  return given;
}

std::size_t fetcher::run() {
  reader_->end_unanswered();
  reader_->take_ended([this](ticket each) { ended_.push_back(each); });
  std::size_t called = 0;
  for (std::size_t left = ended_.size(); left > 0 && !ended_.empty(); --left) {
    const auto at = waiting_.find(ended_.front());
    ended_.pop_front();
    if (at == waiting_.end()) continue;  // cancelled
    const pending done = std::move(at->second);
    waiting_.erase(at);
    const heap::handed_over to_then(done.read);
    done.then();
    ++called;
  }
  // For what came back without room for it. In a scope moves would wait for this thread in turn.
  if (!sync::scope::is_open()) heap::wait_for_room();
  return called;
}

std::size_t fetcher::run_within(int milliseconds) {
  reader_->wait(milliseconds);
  return run();
}

}  // namespace isotherm
