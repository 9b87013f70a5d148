#include "guide/fetcher.hpp"

#include <utility>
#include <vector>

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
  std::vector<ticket> ended;
  reader_->take_ended([&ended](ticket each) { ended.push_back(each); });
  std::size_t called = 0;
  for (const ticket each : ended) {
    const auto at = waiting_.find(each);
    if (at == waiting_.end()) continue;  // cancelled
    const pending done = std::move(at->second);
    waiting_.erase(at);
    heap::arrived_reads arrived;
    arrived.add(done.read);
    const heap::miss_watch watch(arrived, heap::miss_watch::copies::refused,
                                 heap::miss_watch::missing::waited_for);
    done.then();
    ++called;
  }
  return called;
}

std::size_t fetcher::run_within(int milliseconds) {
  reader_->wait(milliseconds);
  return run();
}

}  // namespace isotherm
