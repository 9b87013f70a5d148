#include "pages/live/live_source.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>

#include "base/atomic.hpp"
#include "base/page.hpp"
#include "pages/measure.hpp"
#include "pages/observe.hpp"

namespace isotherm::pages {
namespace {

// More pages are used than a TLB holds: the bits of those that stay in it are not set again.
constexpr std::size_t kPages = 30'000;  // of the known mapping
constexpr std::size_t kUsed = 9'999;    // of them, each third

/// A child process that holds kPages pages, of which it uses kUsed again and again.
class known_program {
 public:
  known_program() {
    // Pages without access on both sides, so that the mapping stays one of its own.
    void* const whole = mmap(nullptr, (kPages + 2) * base::kPageBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(whole, MAP_FAILED);
    known_ = static_cast<volatile char*>(whole) + base::kPageBytes;
    mprotect(const_cast<char*>(known_), kBytes, PROT_READ | PROT_WRITE);
    madvise(const_cast<char*>(known_), kBytes, MADV_NOHUGEPAGE);
    passes_ = new (mmap(nullptr, base::kPageBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0)) base::atomic<std::uint64_t>(0);
    child_ = fork();
    if (child_ == 0) use_for_ever();
    while (passes() == 0) sched_yield();
  }
  known_program(const known_program&) = delete;
  known_program& operator=(const known_program&) = delete;
  ~known_program() {
    end();
    munmap(const_cast<char*>(known_) - base::kPageBytes, kBytes + 2 * base::kPageBytes);
    munmap(passes_, base::kPageBytes);
  }

  void end() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  int pid() const { return child_; }
  std::uint64_t passes() const { return passes_->load_acquire(); }
  std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(known_); }

 private:
  static constexpr std::size_t kBytes = kPages * base::kPageBytes;

  [[noreturn]] void use_for_ever() {
    for (std::size_t page = 0; page < kPages; ++page) known_[page * base::kPageBytes] = 1;
    for (;;) {
      for (std::size_t i = 0; i < kUsed; ++i) {
        static_cast<void>(known_[3 * i * base::kPageBytes]);
      }
      passes_->fetch_add_acq_rel(1);
    }
  }

  volatile char* known_;
  base::atomic<std::uint64_t>* passes_;
  pid_t child_ = 0;
};

/// Lets a window end once the program has passed over its pages since it began.
class after_passes {
 public:
  explicit after_passes(const known_program& program)
      : program_(program), begin_(program.passes()) {}

  requests asked() {
    return {.stop = {}, .cuts = &cuts_, .progress = [this](double, std::uint64_t) {
              if (program_.passes() > begin_ + 1) cuts_.fetch_add_relaxed(1);
            }};
  }

 private:
  const known_program& program_;
  std::uint64_t begin_;
  base::atomic<std::uint64_t> cuts_{0};
};

TEST(LiveSource, CountsExactlyThePagesThatAreUsed) {
  const known_program program;
  auto source = live_source::open(program.pid());
  ASSERT_TRUE(source.has_value()) << source.error().message;
  EXPECT_EQ(source->traits().smallest, grain::page);
  EXPECT_FALSE(source->traits().cannot_see.empty());
  for (int round = 0; round < 2; ++round) {
    after_passes end(program);
    const auto seen = source->observe({}, end.asked());
    ASSERT_TRUE(seen.has_value()) << seen.error().message;
    EXPECT_FALSE(seen->last);
    const auto known = std::ranges::find(seen->memory.mappings, program.begin(), &mapping::begin);
    ASSERT_NE(known, seen->memory.mappings.end());
    std::uint64_t marked = 0;
    ASSERT_TRUE(source->marks()
                    .for_each_page(seen->area,
                                   [&](const marked_page& page) {
                                     const std::uint64_t at = page.number * base::kPageBytes;
                                     if (at >= known->begin && at < known->end) ++marked;
                                   })
                    .has_value());
    EXPECT_EQ(marked, kUsed);
    const auto figures = measure(source->marks(), *seen);
    ASSERT_TRUE(figures.has_value());
    EXPECT_GE(figures->all.resident, kPages * base::kPageBytes);
    EXPECT_GE(figures->could_leave(), (kPages - kUsed) * base::kPageBytes);
    EXPECT_EQ(figures->all.used, figures->all.touched);
    ASSERT_TRUE(source->marks().clear(seen->area).has_value());
  }
  ASSERT_FALSE(source->remarks().empty());
  EXPECT_NE(source->remarks()[0].find("Clearing the marks"), std::string::npos);
}

TEST(LiveSource, AStopEndsTheWindowWithItsFigures) {
  const known_program program;
  auto source = live_source::open(program.pid());
  ASSERT_TRUE(source.has_value());
  std::stop_source stop;
  stop.request_stop();
  const auto seen =
      source->observe({}, {.stop = stop.get_token(), .cuts = nullptr, .progress = {}});
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(seen->last);
  EXPECT_TRUE(seen->memory.knows_resident);
}

TEST(LiveSource, AProcessThatEndsInTheFirstWindowIsAnError) {
  known_program program;
  auto source = live_source::open(program.pid());
  ASSERT_TRUE(source.has_value());
  program.end();
  const auto seen = source->observe({}, {});
  ASSERT_FALSE(seen.has_value());
  EXPECT_NE(seen.error().message.find("ended within the first window"), std::string::npos);
}

TEST(LiveSource, AProcessThatEndsLaterKeepsTheWindowsBefore) {
  known_program program;
  auto source = live_source::open(program.pid());
  ASSERT_TRUE(source.has_value());
  after_passes end(program);
  requests asked = end.asked();
  const auto told = [&](const window_report&) { program.end(); };
  const auto seen = observe(*source, {}, asked, told);
  ASSERT_TRUE(seen.has_value()) << seen.error().message;
  EXPECT_EQ(seen->windows.size(), 1U);
  ASSERT_EQ(seen->remarks.size(), 2U);
  EXPECT_NE(seen->remarks[1].find("left out"), std::string::npos);
}

TEST(LiveSource, RefusesProcessesThatCannotBeObserved) {
  known_program program;
  const int gone = program.pid();
  program.end();
  for (const int none : {gone, 0}) {
    const auto refused = live_source::open(none);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("there is no process"), std::string::npos);
  }
}

}  // namespace
}  // namespace isotherm::pages
