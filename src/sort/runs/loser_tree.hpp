// A tournament of k sources whose inner nodes keep the losers (Knuth, TAOCP 3, 5.4.1): the next
// winner costs one comparison a level.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace isotherm::sort {

/// `Less(a, b)` tells whether source a's head goes before source b's; an exhausted source loses to
/// all others. At least one source.
template <class Less>
class loser_tree {
 public:
  loser_tree(std::size_t sources, Less less) : less_(less), losers_(sources), sources_(sources) {
    std::vector<std::size_t> winners(2 * sources);
    for (std::size_t i = 0; i < sources; ++i) winners[sources + i] = i;
    for (std::size_t node = sources - 1; node >= 1; --node) {
      const std::size_t a = winners[2 * node];
      const std::size_t b = winners[2 * node + 1];
      const bool first = less_(a, b);
      winners[node] = first ? a : b;
      losers_[node] = first ? b : a;
    }
    winner_ = winners[1];
  }

  std::size_t winner() const noexcept { return winner_; }
  /// To be called when the winner's head has changed.
  void replay() {
    std::size_t player = winner_;
    for (std::size_t node = (player + sources_) / 2; node >= 1; node /= 2) {
      if (less_(losers_[node], player)) std::swap(losers_[node], player);
    }
    winner_ = player;
  }

 private:
  Less less_;
  std::vector<std::size_t> losers_;
  std::size_t sources_;
  std::size_t winner_;
};

}  // namespace isotherm::sort
