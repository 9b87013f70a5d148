#include "lab/bench/index_target.hpp"

#include "heap/cold/statistics.hpp"
#include "heap/upkeep.hpp"
#include "lab/workload/touched.hpp"
#include "sync/scope.hpp"

namespace isotherm::lab {
namespace {

using workload::answer;

base::error no_memory() {
  return {"out of memory: the heap's range or the disk of --cold-backing is full"};
}

class index_session final : public workload::session {
 public:
  index_session(index::any_index& index, const workload::record_format& format, std::uint64_t seed)
      : index_(index), buffer_(format, seed) {}

  base::result<answer> read(std::uint64_t number) override {
    heap::wait_for_room();  // what comes back takes some
    access inside = access_to_read();
    const auto value = index_.find(inside, buffer_.key(number));
    if (!value) return answer::missing;
    return buffer_.take(*value, number) ? answer::done : answer::corrupt;
  }

  base::result<answer> update(std::uint64_t number) override {
    heap::wait_for_room();  // what it allocates is allocated in a scope
    return answer_of(index_.upsert(buffer_.key(number), buffer_.value(number)));
  }

  base::result<answer> insert(std::uint64_t number) override {
    heap::wait_for_room();
    return answer_of(index_.insert(buffer_.key(number), buffer_.value(number)));
  }

  base::result<answer> remove(std::uint64_t number) override {
    return index_.erase(buffer_.key(number)) ? answer::done : answer::missing;
  }

  base::result<answer> scan(std::uint64_t number, unsigned records,
                            workload::touched_keys& used) override {
    heap::wait_for_room();
    answer how = answer::done;
    access inside = access_to_read();
    index_.scan(inside, buffer_.key(number), [&](std::string_view, std::string_view value) {
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
      const auto how = insert(number);
      if (!how) return std::unexpected(how.error());
      if (*how != answer::done) {
        return std::unexpected(base::error{"the index holds a key that was not inserted yet"});
      }
    }
    return {};
  }

  std::uint64_t objects_read() const noexcept override { return heap::thread_waited_misses(); }

 private:
  /// Waits for objects that are out, and leaves in COLD those that are not worth DRAM.
  static access access_to_read() noexcept {
    return access(access::when_cold::wait, nullptr, access::copies::allowed);
  }
  static base::result<answer> answer_of(index::outcome how) {
    if (how == index::outcome::no_memory) return std::unexpected(no_memory());
    return how == index::outcome::done ? answer::done : answer::corrupt;
  }

  index::any_index& index_;
  workload::record_buffer buffer_;
};

}  // namespace

base::result<std::unique_ptr<workload::session>> index_target::connect() {
  return std::make_unique<index_session>(index_, format_, seed_);
}

}  // namespace isotherm::lab
