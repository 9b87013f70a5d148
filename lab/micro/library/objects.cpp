#include "lab/micro/library/objects.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/page.hpp"
#include "base/random.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::library {
namespace {

constexpr std::size_t kLeast = 16;
constexpr unsigned kOctaves = 16;

using word = std::uint64_t;

/// Calls `visit` with the places of the words by which an object is known: one a page, and the last
/// one.
template <class Visit>
void for_each_mark(std::size_t size, Visit&& visit) {
  for (std::size_t at = 0; at + 2 * sizeof(word) <= size; at += base::kPageBytes) visit(at);
  visit(size - sizeof(word));
}

bool is_object(std::uint64_t number, const bytes& found) noexcept {
  if (found.size() != size_of(number)) return false;
  bool is_right = true;
  for_each_mark(found.size(), [&](std::size_t at) {
    word mark = 0;
    std::memcpy(&mark, found.data() + at, sizeof mark);
    is_right &= mark == base::mix64(number);
  });
  return is_right;
}

void fill(std::uint64_t number, bytes& made) noexcept {
  std::memset(made.data(), static_cast<int>(number & 0xff), made.size());
  const word mark = base::mix64(number);
  for_each_mark(made.size(),
                [&](std::size_t at) { std::memcpy(made.data() + at, &mark, sizeof mark); });
}

class objects_session final : public workload::session {
 public:
  explicit objects_session(std::vector<guide<bytes>>& guides) : guides_(guides) {}

  base::result<workload::answer> read(std::uint64_t number) override {
    const scope inside;
    const bytes* const found = guides_[number].get(inside);
    if (found == nullptr) return workload::answer::missing;
    return is_object(number, *found) ? workload::answer::done : workload::answer::corrupt;
  }

  /// A new object in the place of the old one.
  base::result<workload::answer> update(std::uint64_t number) override {
    {
      const scope inside;
      auto made = make_bytes_in(guides_[number].birth_heap(), size_of(number));
      if (made) fill(number, *made);
      if (!guides_[number].replace(inside, std::move(made))) {
        return std::unexpected(base::error{"out of memory for an object: make fewer"});
      }
    }
    heap::wait_for_room();
    return workload::answer::done;
  }
  base::result<workload::answer> insert(std::uint64_t number) override { return update(number); }

  base::result<workload::answer> scan(std::uint64_t, unsigned, workload::touched_keys&) override {
    return std::unexpected(base::error{"objects have no order: choose another workload than e"});
  }

  base::result<void> load(std::uint64_t first, std::uint64_t last) override {
    for (std::uint64_t number = first; number < last; ++number) {
      if (auto how = update(number); !how) return std::unexpected(std::move(how).error());
    }
    return {};
  }

  std::uint64_t objects_read() const noexcept override { return heap::thread_waited_misses(); }

 private:
  std::vector<guide<bytes>>& guides_;
};

}  // namespace

std::size_t size_of(std::uint64_t number) noexcept {
  // Half of all objects are in the first octave, a quarter in the second, ...
  const auto octave =
      std::min(static_cast<unsigned>(std::countl_zero(base::mix64(number))), kOctaves - 1);
  const std::size_t least = kLeast << octave;
  return least + base::mix64(~number) % (least + 1);
}

base::result<std::unique_ptr<workload::session>> objects::connect() {
  return std::make_unique<objects_session>(guides_);
}

void objects::remove(std::uint64_t number) noexcept {
  const scope inside;
  guides_[number].clear(inside);
}

}  // namespace isotherm::library
