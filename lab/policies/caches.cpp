// Policies that decide at each use, from their papers.
#include <algorithm>
#include <utility>

#include "lab/policies/policy.hpp"

namespace isotherm::policies {
namespace {

/// A queue of objects, each in it at most once.
class queue {
 public:
  explicit queue(std::uint32_t objects)
      : before_(objects + 1, objects), behind_(objects + 1, objects), end_(objects) {}

  void push_front(std::uint32_t object) {
    behind_[object] = behind_[end_];
    before_[object] = end_;
    before_[behind_[end_]] = object;
    behind_[end_] = object;
    ++size_;
  }
  void remove(std::uint32_t object) {
    behind_[before_[object]] = behind_[object];
    before_[behind_[object]] = before_[object];
    --size_;
  }
  std::uint32_t pop_back() {
    const std::uint32_t last = before_[end_];
    remove(last);
    return last;
  }
  std::uint32_t back() const { return before_[end_]; }
  std::uint32_t size() const { return size_; }

 private:
  std::vector<std::uint32_t> before_, behind_;
  std::uint32_t end_;
  std::uint32_t size_ = 0;
};

/// Objects that left lately: the last so many.
class ghosts {
 public:
  ghosts(std::uint32_t objects, std::uint32_t most) : left_(objects), most_(most) {}
  void add(std::uint32_t object) { left_[object] = ++now_; }
  /// Whether the object is one of them; it is none from now on.
  bool take(std::uint32_t object) {
    const std::uint64_t then = std::exchange(left_[object], 0);
    return then > 0 && now_ - then < most_;
  }

 private:
  std::vector<std::uint64_t> left_;
  std::uint64_t now_ = 0;
  std::uint32_t most_;
};

class lru final : public policy {
 public:
  lru(std::uint32_t objects, std::uint32_t room) : kept_(objects), is_kept_(objects), room_(room) {}
  std::string_view name() const noexcept override { return "LRU"; }
  bool use(std::uint32_t object) override {
    const bool hit = is_kept_[object];
    if (hit) {
      kept_.remove(object);
    } else if (kept_.size() >= room_) {
      is_kept_[kept_.pop_back()] = false;
    }
    kept_.push_front(object);
    is_kept_[object] = true;
    return hit;
  }

 private:
  queue kept_;
  std::vector<bool> is_kept_;
  std::uint32_t room_;
};

enum class place : std::uint8_t { nowhere, first, second, third };

class two_queues final : public policy {
 public:
  two_queues(std::uint32_t objects, std::uint32_t room)
      : once_(objects), often_(objects), at_(objects), left_(objects, room / 2), room_(room) {}
  std::string_view name() const noexcept override { return "2Q"; }
  bool use(std::uint32_t object) override {
    if (at_[object] == place::first) return true;
    if (at_[object] == place::second) {
      often_.remove(object);
      often_.push_front(object);
      return true;
    }
    if (once_.size() + often_.size() >= room_) make_room();
    const bool again = left_.take(object);
    (again ? often_ : once_).push_front(object);
    at_[object] = again ? place::second : place::first;
    return false;
  }

 private:
  void make_room() {
    const bool from_once = once_.size() > room_ / 4 || often_.size() == 0;
    const std::uint32_t out = (from_once ? once_ : often_).pop_back();
    at_[out] = place::nowhere;
    if (from_once) left_.add(out);
  }

  queue once_, often_;
  std::vector<place> at_;
  ghosts left_;
  std::uint32_t room_;
};

class s3_fifo final : public policy {
 public:
  s3_fifo(std::uint32_t objects, std::uint32_t room)
      : small_(objects),
        main_(objects),
        at_(objects),
        uses_(objects),
        left_(objects, room - room / 10),
        room_(room) {}
  std::string_view name() const noexcept override { return "S3-FIFO"; }
  bool use(std::uint32_t object) override {
    if (at_[object] != place::nowhere) {
      uses_[object] = static_cast<std::uint8_t>(std::min(uses_[object] + 1, 3));
      return true;
    }
    while (small_.size() + main_.size() >= room_) make_room();
    const bool again = left_.take(object);
    (again ? main_ : small_).push_front(object);
    at_[object] = again ? place::second : place::first;
    uses_[object] = 0;
    return false;
  }

 private:
  void make_room() {
    if (small_.size() >= room_ / 10 || main_.size() == 0) {
      const std::uint32_t out = small_.pop_back();
      if (uses_[out] > 1) {
        main_.push_front(out);
        at_[out] = place::second;
        uses_[out] = 0;
      } else {
        at_[out] = place::nowhere;
        left_.add(out);
      }
      return;
    }
    const std::uint32_t out = main_.pop_back();
    if (uses_[out] > 0) {
      --uses_[out];
      main_.push_front(out);
    } else {
      at_[out] = place::nowhere;
    }
  }

  queue small_, main_;
  std::vector<place> at_;
  std::vector<std::uint8_t> uses_;
  ghosts left_;
  std::uint32_t room_;
};

class tiny_lfu final : public policy {
 public:
  tiny_lfu(std::uint32_t objects, std::uint32_t room)
      : window_(objects),
        probation_(objects),
        protected_(objects),
        at_(objects),
        counts_(objects),
        window_room_(std::max(1u, room / 100)),
        main_room_(room - window_room_),
        protected_room_(main_room_ / 5 * 4),
        sample_(std::uint64_t{10} * room) {}
  std::string_view name() const noexcept override { return "W-TinyLFU"; }
  bool use(std::uint32_t object) override {
    count(object);
    switch (at_[object]) {
      case place::first:
        move(object, window_, window_, place::first);
        return true;
      case place::second:
        protect(object);
        return true;
      case place::third:
        move(object, protected_, protected_, place::third);
        return true;
      case place::nowhere:
        break;
    }
    window_.push_front(object);
    at_[object] = place::first;
    if (window_.size() > window_room_) admit(window_.pop_back());
    return false;
  }

 private:
  void count(std::uint32_t object) {
    counts_[object] = static_cast<std::uint8_t>(std::min(counts_[object] + 1, 15));
    if (++counted_ < sample_) return;
    counted_ /= 2;
    for (auto& each : counts_) each /= 2;
  }
  void move(std::uint32_t object, queue& from, queue& to, place where) {
    from.remove(object);
    to.push_front(object);
    at_[object] = where;
  }
  void protect(std::uint32_t object) {
    move(object, probation_, protected_, place::third);
    if (protected_.size() > protected_room_) {
      move(protected_.back(), protected_, probation_, place::second);
    }
  }
  /// The object that leaves the window takes the place of the main part's next to go, if it was
  /// used more often.
  void admit(std::uint32_t object) {
    at_[object] = place::nowhere;
    if (probation_.size() + protected_.size() >= main_room_) {
      queue& from = probation_.size() > 0 ? probation_ : protected_;
      if (from.size() == 0 || counts_[object] <= counts_[from.back()]) return;
      at_[from.pop_back()] = place::nowhere;
    }
    probation_.push_front(object);
    at_[object] = place::second;
  }

  queue window_, probation_, protected_;
  std::vector<place> at_;
  std::vector<std::uint8_t> counts_;
  std::uint32_t window_room_, main_room_, protected_room_;
  std::uint64_t sample_, counted_ = 0;
};

}  // namespace

std::unique_ptr<policy> make_lru(std::uint32_t objects, std::uint32_t room) {
  return std::make_unique<lru>(objects, room);
}
std::unique_ptr<policy> make_two_queues(std::uint32_t objects, std::uint32_t room) {
  return std::make_unique<two_queues>(objects, room);
}
std::unique_ptr<policy> make_s3_fifo(std::uint32_t objects, std::uint32_t room) {
  return std::make_unique<s3_fifo>(objects, room);
}
std::unique_ptr<policy> make_tiny_lfu(std::uint32_t objects, std::uint32_t room) {
  return std::make_unique<tiny_lfu>(objects, room);
}

}  // namespace isotherm::policies
