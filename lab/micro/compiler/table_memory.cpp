// Resident memory of a chained hash table whose values are of one size:
//
//   table_memory_<kind> VALUE_BYTES VALUES USED reads|replaces
//
// prints the bytes above those at the program's start: of the filled table, after 40 rounds in
// which the program reads or replaces USED values, and at the peak. Compiled with the plugin, a
// round is a window of a collector.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <isotherm/compiler.hpp>
#include <vector>
#ifdef ISOTHERM_INSTRUMENTED
#include <isotherm/runtime.hpp>
#endif

namespace {

template <std::size_t Bytes>
struct object {
  explicit object(std::uint64_t key) : number(key) { std::memset(filling, 1, sizeof filling); }
  std::uint64_t number;
  char filling[Bytes - sizeof number];
};

template <std::size_t Bytes>
class table {
 public:
  explicit table(std::uint64_t keys) : buckets_(keys) {
    for (std::uint64_t key = 0; key < keys; ++key) {
      node*& first = buckets_[key * kSpread % keys];
      first = new node{first, key, {}};
      first->value = isotherm::make<object<Bytes>>(key);
    }
  }
  table(const table&) = delete;
  table& operator=(const table&) = delete;
  ~table() {
    for (node* first : buckets_) {
      while (node* const gone = first) {
        first = gone->next;
        isotherm::discard(gone->value);
        delete gone;
      }
    }
  }

  std::uint64_t read(std::uint64_t key) const { return find(key)->value->number; }
  void replace(std::uint64_t key) {
    node* const at = find(key);
    object<Bytes>* const old = at->value;
    at->value = isotherm::make<object<Bytes>>(key);
    isotherm::discard(old);
  }

 private:
  struct node {
    node* next;
    std::uint64_t key;
    [[isotherm::guide]] object<Bytes>* value = nullptr;
  };
  node* find(std::uint64_t key) const {
    node* at = buckets_[key * kSpread % buckets_.size()];
    while (at->key != key) at = at->next;
    return at;
  }

  static constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
  std::vector<node*> buckets_;
};

std::uint64_t resident_bytes() {
  std::ifstream counts("/proc/self/statm");
  std::uint64_t mapped = 0, resident = 0;
  counts >> mapped >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// At the peak. The system counts it less exactly than resident_bytes().
std::uint64_t most_resident_bytes() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return std::max(static_cast<std::uint64_t>(used.ru_maxrss) * 1024, resident_bytes());
}

/// Calls `uses()` in each of 40 rounds.
template <class Uses>
void run_rounds(Uses uses) {
  constexpr int kRounds = 40;
#ifdef ISOTHERM_INSTRUMENTED
  isotherm::collector::options options;
  options.window_seconds = 0.05;
  options.policy = isotherm::collector::policy_name::published;
  options.cold_threshold = 1;
  options.adaptive_threshold = false;
  isotherm::collector::object_collector collector(options);
#endif
  for (int round = 0; round < kRounds; ++round) {
    uses();
#ifdef ISOTHERM_INSTRUMENTED
    collector.run_window();
#endif
  }
}

template <std::size_t Bytes>
int measure(std::uint64_t values, std::uint64_t used, bool replaces) {
  const std::uint64_t at_start = resident_bytes();
  table<Bytes> all(values);
  const std::uint64_t filled = resident_bytes();
  std::uint64_t wrong = 0;
  run_rounds([&] {
    for (std::uint64_t key = 0; key < used; ++key) {
      if (replaces) {
        all.replace(key);
      } else {
        wrong += all.read(key) != key;
      }
    }
  });
  std::printf("%lu %lu %lu\n", filled - at_start, resident_bytes() - at_start,
              most_resident_bytes() - at_start);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const std::uint64_t values = std::strtoull(arguments[2], nullptr, 10);
  const std::uint64_t used = std::strtoull(arguments[3], nullptr, 10);
  const bool replaces = std::strcmp(arguments[4], "replaces") == 0;
  switch (std::strtoull(arguments[1], nullptr, 10)) {
    case 16:
      return measure<16>(values, used, replaces);
    case 64:
      return measure<64>(values, used, replaces);
    case 200:
      return measure<200>(values, used, replaces);
    case 1024:
      return measure<1024>(values, used, replaces);
    default:
      return 2;
  }
}
