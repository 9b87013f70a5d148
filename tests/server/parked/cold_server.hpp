// Servers in process over managed indexes whose records the test makes leave DRAM, and a disk whose
// reads the test holds up or makes fail. For a program of its own, since heaps are configured once.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "collector/collector.hpp"
#include "guide/fetched.hpp"
#include "heap/cold/reader.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "heap/object.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/truncate_cold.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"
#include "server/parked/waited_reads.hpp"
#include "server/serving.hpp"
#include "sync/retire.hpp"

namespace isotherm::server {

/// ISOTHERM_TEST_SEED, or another one each time; printed, so that a failure can be repeated.
inline std::uint64_t test_seed() {
  const char* given = std::getenv("ISOTHERM_TEST_SEED");
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : base::mix64(static_cast<std::uint64_t>(now));
  std::printf("seed: ISOTHERM_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// Decides the fate of reads and writes of COLD's file.
class cold_disk {
 public:
  /// Before any server.
  static void watch() { os::set_fault_hook(&fate); }

  /// Readers made from now on read by threads, each of which hold() can stop.
  static void use_threads() { refuses_rings = true; }
  static void use_best() { refuses_rings = false; }
  /// From now on no read ends, in readers that read by threads.
  static void hold() {
    const std::lock_guard held(gate);
    holds = true;
    passing = 0;
  }
  /// Lets one read end that is held, or the next one.
  static void let_one_go() {
    const std::lock_guard held(gate);
    ++passing;
    changed.notify_one();
  }
  static void let_go() {
    const std::lock_guard held(gate);
    holds = false;
    changed.notify_all();
  }
  /// From now on reads end so; 0: as they do.
  static void fail_with(int code) {
    failure = code;
    spares_waiting_threads = false;
  }
  /// From now on reads end so, but for those of commands that wait for the disk elsewhere.
  static void fail_reads_of_loops_with(int code) {
    fail_with(code);
    spares_waiting_threads = true;
  }
  /// From now on no write succeeds; 0: each does.
  static void fail_writes_with(int code) { write_failure = code; }
  /// From now on no write ends, until let_writes_go().
  static void hold_writes() { holds_writes = true; }
  static void let_writes_go() {
    holds_writes = false;
    holds_writes.notify_all();
  }
  /// Returns the writes that have been asked for.
  static int writes() { return write_calls; }

 private:
  static int fate(os::io_call call) {
    // A reader opens the file past the cache, and once more for its ring.
    if (call == os::io_call::open) return refuses_rings && opened++ % 2 == 1 ? EMFILE : 0;
    if (call == os::io_call::write) {
      ++write_calls;
      holds_writes.wait(true);
      return write_failure;
    }
    if (call != os::io_call::read) return 0;
    wait_at_gate();
    return spares_waiting_threads && waits_for_the_disk() ? 0 : failure.load();
  }
  static void wait_at_gate() {
    std::unique_lock held(gate);
    changed.wait(held, [] { return !holds || passing > 0; });
    if (holds) --passing;
  }
  /// Returns whether this is the server's thread for commands that wait.
  static bool waits_for_the_disk() {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    return std::string_view(name.data()) == kWaitingThread;
  }
  static constexpr std::string_view kWaitingThread = "iso-background";
  static inline std::mutex gate;  // of reads
  static inline std::condition_variable changed;
  static inline bool holds = false;
  static inline int passing = 0;
  static inline std::atomic<bool> refuses_rings{false}, holds_writes{false};
  static inline std::atomic<bool> spares_waiting_threads{false};
  static inline std::atomic<int> write_calls{0};
  static inline std::atomic<unsigned> opened{0};
  static inline std::atomic<int> failure{0}, write_failure{0};
};

/// A command as clients send it.
inline std::string encode(const std::vector<std::string>& words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const auto& word : words) {
    text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return text;
}
inline std::string bulk(std::string_view value) {
  return "$" + std::to_string(value.size()) + "\r\n" + std::string(value) + "\r\n";
}

class talker : public peer {
 public:
  using peer::peer;
  /// Sends whole commands, and returns their replies.
  std::string ask(std::string_view commands) {
    send(std::string(commands).append(kLast));
    return replies();
  }
  std::string run(const std::vector<std::string>& words) { return ask(encode(words)); }
  /// Returns the replies before that to kLast, which was sent.
  std::string replies() {
    const std::string end = bulk("that is all");
    std::string text;
    char piece[std::size_t{64} << 10];
    while (!text.ends_with(end)) {
      const ssize_t got = ::recv(fd(), piece, sizeof piece, 0);
      if (got <= 0) return text + "(closed)";
      text.append(piece, static_cast<std::size_t>(got));
    }
    text.resize(text.size() - end.size());
    return text;
  }
  bool has_replies() const {
    char one = 0;
    return ::recv(fd(), &one, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }
  static constexpr std::string_view kLast = "*2\r\n$4\r\nECHO\r\n$11\r\nthat is all\r\n";
};

/// An index with a server over it.
class running {
 public:
  running(std::string_view name, index::management kind, unsigned threads = 1)
      : running(std::move(*index::make(name, kind)), threads) {}
  explicit running(std::unique_ptr<index::any_index> over, unsigned threads = 1)
      : index(std::move(over)), db(*index, [] { return std::uint64_t{0}; }) {
    static std::atomic<int> made{0};
    path = std::filesystem::temp_directory_path() /
           ("isotherm-test-" + std::to_string(::getpid()) + "-" + std::to_string(made++) + ".sock");
    options chosen;
    chosen.bind.clear();
    chosen.unix_socket = path;
    chosen.threads = threads;
    serving = std::make_unique<server>(chosen, db, index->is_managed() ? &manager : nullptr);
    const auto started = serving->start();
    EXPECT_TRUE(started) << started.error().message;
  }

  std::unique_ptr<index::any_index> index;
  store::database db;
  idle_management manager;
  std::string path;
  std::unique_ptr<server> serving;
};

class ColdServer : public ::testing::Test {
 public:
  static constexpr std::size_t kRangeBytes = std::size_t{1} << 30;

 protected:
  static void SetUpTestSuite() {
    static const bool configured = configure();
    ASSERT_TRUE(configured);
  }
  ColdServer() {
    close_extents(200);  // keys find one that they do not fill, so that it leaves when it is to
  }
  ~ColdServer() override {
    cold_disk::let_go();
    cold_disk::fail_with(0);
    cold_disk::fail_writes_with(0);
    cold_disk::let_writes_go();
    cold_disk::use_best();
  }

  enum class leaving { values, keys_too };
  /// Makes all records of the process leave DRAM: of values of at least 300 bytes, or of all. While
  /// no client asks for anything.
  void send_out(leaving which = leaving::values) {
    let_leave(which);
    page_out();
  }
  /// They lie in COLD, and do not leave yet.
  void let_leave(leaving which) {
    while (in_dram() > 0) collector_.run_window();
    close_extents(std::size_t{200} << 10);
    if (which == leaving::keys_too) close_extents(200);
  }
  /// One window, after which what is in COLD leaves. Beside clients.
  void send_out_some() {
    collector_.run_window();
    close_extents(std::size_t{200} << 10);
    close_extents(200);
    page_out();
  }
  /// Writes what may leave, and ends its memory where no scope is open. Returns the problem.
  static std::string page_out() {
    std::string problem = heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}).problem;
    sync::reclaim_ready();
    return problem;
  }
  /// Until the next send_out(): what is read for a command stays in COLD, or comes back.
  static void leave_in_cold() {
    static stays always;
    guides::set_return_policy(&always);
  }
  /// Leaves all in COLD, until the next send_out(), but for what uses need in DRAM, and counts
  /// these, and the records that were used for the first time in a window, and again.
  struct use_counts final : guides::return_policy {
    std::optional<unsigned> admit(guides::word, std::size_t,
                                  heap::used_before before) noexcept override {
      ++(before == heap::used_before::yes ? later_uses : first_uses);
      return std::nullopt;
    }
    void note_returned(std::size_t) noexcept override { ++returned; }
    std::atomic<int> first_uses{0}, later_uses{0}, returned{0};
  };
  static use_counts& tell_uses() {
    static use_counts counts;
    counts.first_uses = counts.later_uses = counts.returned = 0;
    guides::set_return_policy(&counts);
    return counts;
  }
  /// Objects that lie in no COLD.
  static std::uint64_t in_dram() {
    const auto objects = [](heap::kind where) {
      return heap::usage_of(where, heap::residency::left_out).objects;
    };
    return objects(heap::kind::newborn) + objects(heap::kind::hot);
  }
  static inline std::string directory;
  /// Set before the first suite of the program is set up. A command is soon too large to be held;
  /// what a walk misses at once (8 MiB) is not.
  static inline heap::cold_read_limits limits{.leaves_within = std::chrono::seconds(3),
                                              .noted_bytes = std::uint64_t{12} << 20};

 private:
  struct stays final : guides::return_policy {
    std::optional<unsigned> admit(guides::word, std::size_t, heap::used_before) noexcept override {
      return std::nullopt;
    }
    void note_returned(std::size_t) noexcept override {}
  };
  static bool configure() {
    const testing_help::temporary_directory made;
    directory = made.path();
    heap::options chosen;
    chosen.range_bytes = kRangeBytes;
    chosen.cold = *heap::cold_backing::parse("file:" + directory);
    chosen.cold_reads = limits;
    cold_disk::watch();
    return heap::configure(chosen).has_value();
  }
  static collector::options all_is_cold() {
    collector::options chosen;
    chosen.policy = collector::policy_name::published;
    chosen.cold_threshold = 1;
    chosen.adaptive_threshold = false;
    return chosen;
  }
  /// The extent that takes objects of this size takes no more, and may leave DRAM; what is made now
  /// has an extent of its own.
  static void close_extents(std::size_t bytes) {
    const auto extent_of = [](const void* object) {
      return reinterpret_cast<std::uintptr_t>(object) >> 20U;
    };
    std::vector<void*> taken{heap::allocate(heap::kind::cold, bytes)};
    while (extent_of(taken.front()) == extent_of(taken.back())) {
      taken.push_back(heap::allocate(heap::kind::cold, bytes));
    }
    for (void* each : taken) heap::deallocate(each);
  }

  collector::object_collector collector_{all_is_cold()};
};

}  // namespace isotherm::server
