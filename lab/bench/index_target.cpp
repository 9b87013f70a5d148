#include "lab/bench/index_target.hpp"

#include <chrono>
#include <optional>

#include "base/numbers.hpp"
#include "heap/cold/statistics.hpp"
#include "lab/workload/touched.hpp"

namespace isotherm::lab {

using workload::answer;

namespace {

base::result<answer> answer_of(index::outcome how, answer unchanged) {
  if (how != index::outcome::no_memory) {
    return how == index::outcome::done ? answer::done : unchanged;
  }
  return std::unexpected(
      base::error{"out of memory: the heap's range or the disk of --cold-backing is full"});
}

std::uint64_t now_us() {
  using std::chrono::microseconds;
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(since_start).count());
}

class index_session final : public workload::session {
 public:
  index_session(index::any_index& index, const workload::record_format& format, std::uint64_t seed,
                shared_expiry& expiry, read_observer* observer)
      : index_(index),
        buffer_(format, seed),
        ttl_us_(format.ttl_ms * 1000),
        expiry_(expiry),
        observer_(observer) {}

  base::result<answer> read(std::uint64_t number) override {
    expire();
    return index_.get(buffer_.key(number), [&](std::string_view value) {
      const bool is_right = buffer_.take(value, number);
      if (observer_ != nullptr) observer_->see(value);
      return is_right;
    });
  }

  base::result<answer> update(std::uint64_t number) override {
    expire();
    return expiring(number, index_.set(buffer_.key(number), buffer_.value(number)));
  }

  base::result<answer> insert(std::uint64_t number) override {
    expire();
    return expiring(number, index_.insert(buffer_.key(number), buffer_.value(number)));
  }

  base::result<answer> remove(std::uint64_t number) override {
    expire();
    return index_.remove(buffer_.key(number));
  }

  base::result<answer> incr(std::uint64_t number) override {
    expire();
    const auto how = index_.incr(buffer_.key(workload::counter_of(number)));
    return how == answer::missing ? answer::corrupt : how;
  }

  base::result<answer> scan(std::uint64_t number, unsigned records,
                            workload::touched_keys& used) override {
    expire();
    answer how = answer::done;
    index_.scan(buffer_.key(number), [&](std::string_view, std::string_view value) {
      const auto found = workload::number_of(value);
      if (!found || !buffer_.take(value, *found)) {
        how = answer::corrupt;
        return false;
      }
      used.mark(*found);
      return --records > 0;
    });
    return how;
  }

  base::result<void> load(std::uint64_t first, std::uint64_t last) override {
    for (std::uint64_t number = first; number < last; ++number) {
      const auto how = index_.insert(buffer_.key(number), buffer_.value(number));
      if (!how) return std::unexpected(how.error());
      if (*how != answer::done) {
        return std::unexpected(base::error{"the index holds a key that was not inserted yet"});
      }
    }
    return {};
  }

  std::uint64_t objects_read() const noexcept override { return heap::thread_waited_misses(); }

 private:
  /// Deletes the records whose time has come. One that is written meanwhile may be deleted, too.
  void expire() {
    if (ttl_us_ == 0) return;
    const std::lock_guard lock(expiry_.mutex);
    (void)expiry_.times.run(now_us(), [&](const workload::item& of) -> base::result<void> {
      index_.remove(of.key);
      return {};
    });
  }
  base::result<answer> expiring(std::uint64_t number, base::result<answer> written) {
    if (ttl_us_ == 0 || !written) return written;
    const std::lock_guard lock(expiry_.mutex);
    expiry_.times.set({buffer_.key(number), number}, now_us() + ttl_us_);
    return written;
  }

  index_commands index_;
  workload::record_buffer buffer_;
  std::uint64_t ttl_us_;
  shared_expiry& expiry_;
  read_observer* observer_;
};

}  // namespace

base::result<answer> index_commands::insert(std::string_view key, std::string_view value) {
  heap::wait_for_room();  // what it allocates is allocated in a scope
  return answer_of(index_.insert(key, value), answer::corrupt);
}

base::result<answer> index_commands::set(std::string_view key, std::string_view value) {
  heap::wait_for_room();
  return answer_of(index_.upsert(key, value), answer::done);
}

answer index_commands::remove(std::string_view key) {
  return index_.erase(key) ? answer::done : answer::missing;
}

base::result<answer> index_commands::incr(std::string_view key) {
  heap::wait_for_room();
  const auto how = index_.update(key, [this](std::optional<std::string_view> current) {
    std::int64_t count = 0;
    if (current) {
      const auto number = base::parse_number<std::int64_t>(*current);
      if (!number) return index::decision{};
      count = *number;
    }
    counter_ = std::to_string(static_cast<std::int64_t>(static_cast<std::uint64_t>(count) + 1));
    return index::decision{index::action::write, counter_};
  });
  return answer_of(how, answer::missing);
}

base::result<std::unique_ptr<workload::session>> index_target::connect() {
  return std::make_unique<index_session>(index_, format_, seed_, expiry_, observer_);
}

}  // namespace isotherm::lab
