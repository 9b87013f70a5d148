// Reads past the page cache, by all engines. The tests of `best` and `polled` repeat those of
// another engine if the system refuses io_uring, or a kernel thread for it.
#include "os/disk/read_queue.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "base/page.hpp"
#include "os/faults.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

using base::kPageBytes;
using engine = read_queue::engine;

/// Memory as O_DIRECT wants it.
class page_buffer {
 public:
  explicit page_buffer(std::size_t pages)
      : bytes_(pages * kPageBytes),
        memory_(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, bytes_))) {
    std::fill_n(memory_.get(), bytes_, std::byte{0xee});
  }
  std::byte* data() const { return memory_.get(); }
  std::span<std::byte> all() const { return {memory_.get(), bytes_}; }
  std::span<std::byte> page(std::size_t i) const {
    return all().subspan(i * kPageBytes, kPageBytes);
  }

 private:
  struct frees {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, frees> memory_;
};

/// No two pages of a file are alike.
void fill_page(std::span<std::byte> page, std::size_t number) {
  for (std::size_t i = 0; i < page.size(); ++i) {
    page[i] = static_cast<std::byte>(number * 31 + i * 7 + (i >> 8U));
  }
}
bool is_page(std::span<const std::byte> page, std::size_t number) {
  std::vector<std::byte> expected(page.size());
  fill_page(expected, number);
  return std::ranges::equal(page, expected);
}

bool is_readable(int descriptor) {
  pollfd asked{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) == 1;
}

/// Waits until `count` reads have ended; in the order of their ends.
std::vector<queued_read*> take(read_queue& queue, std::size_t count) {
  std::vector<queued_read*> ended;
  while (ended.size() < count) {
    queue.wait(-1);
    queue.acknowledge();
    while (queued_read* const one = queue.take_ended()) ended.push_back(one);
    queue.submit();  // what it had no room for
  }
  return ended;
}

class ReadQueue : public testing::TestWithParam<engine> {
 protected:
  static constexpr std::size_t kPages = 1024;

  ReadQueue() {
    auto made = file::unnamed("/var/tmp", "a file to read");
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return;
    file_ = std::move(*made);
    const page_buffer content(kPages);
    for (std::size_t i = 0; i < kPages; ++i) fill_page(content.page(i), i);
    EXPECT_TRUE(file_.write(content.all(), 0));
    auto queue = read_queue::open(file_, GetParam());
    EXPECT_TRUE(queue) << queue.error().message;
    if (queue) queue_ = std::move(*queue);
  }
  ~ReadQueue() override { set_fault_hook({}); }

  queued_read one(std::byte* to, std::size_t page, std::size_t pages) const {
    return {.to = to, .offset = page * kPageBytes, .bytes = pages * kPageBytes};
  }

  file file_;
  std::unique_ptr<read_queue> queue_;
};

INSTANTIATE_TEST_SUITE_P(Engines, ReadQueue,
                         testing::Values(engine::best, engine::polled, engine::threads),
                         [](const auto& info) {
                           return info.param == engine::best     ? "Best"
                                  : info.param == engine::polled ? "Polled"
                                                                 : "Threads";
                         });

TEST_P(ReadQueue, ReadsThePagesOfItsOffset) {
  EXPECT_TRUE(GetParam() != engine::threads || std::string(queue_->name()) == "threads");
  const page_buffer into(3);
  queued_read wanted = one(into.data(), 17, 3);
  EXPECT_EQ(queue_->take_ended(), nullptr);
  EXPECT_EQ(queue_->under_way(), 0u);
  queue_->start(wanted);
  EXPECT_EQ(queue_->under_way(), 1u);
  queue_->submit();
  EXPECT_EQ(take(*queue_, 1).front(), &wanted);
  EXPECT_EQ(queue_->under_way(), 0u);
  EXPECT_EQ(wanted.error, 0);
  EXPECT_EQ(wanted.done, 3 * kPageBytes);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(is_page(into.page(i), 17 + i)) << i;
}

// In ext4 a read that notes its time waits for the journal, also if an event loop asked for it.
TEST(PastTheCache, ReadsDoNotNoteTheirTime) {
  const auto made = file::unnamed("/var/tmp", "a file to read");
  ASSERT_TRUE(made);
  const auto direct = made->past_the_cache();
  ASSERT_TRUE(direct) << direct.error().message;
  EXPECT_NE(::fcntl(direct->descriptor(), F_GETFL) & O_NOATIME, 0);
}

// More than a ring has entries, and more than its completions have room.
TEST_P(ReadQueue, ReadsAsManyAtATimeAsItIsGiven) {
  const page_buffer into(kPages);
  std::vector<queued_read> wanted;
  for (std::size_t i = 0; i < kPages; ++i) {
    wanted.push_back(one(into.page(i).data(), kPages - 1 - i, 1));
  }
  for (queued_read& each : wanted) queue_->start(each);
  queue_->submit();
  EXPECT_EQ(queue_->under_way(), kPages);
  const auto ended = take(*queue_, kPages);
  EXPECT_EQ(std::set(ended.begin(), ended.end()).size(), kPages) << "each ends once";
  EXPECT_EQ(queue_->take_ended(), nullptr);
  for (std::size_t i = 0; i < kPages; ++i) {
    ASSERT_EQ(wanted[i].error, 0);
    ASSERT_TRUE(is_page(into.page(i), kPages - 1 - i)) << i;
  }
}

// Those of `polled` share a thread, whose ring may go first.
TEST_P(ReadQueue, OneOfSeveralMayGoBeforeTheOthers) {
  auto second = read_queue::open(file_, GetParam()), third = read_queue::open(file_, GetParam());
  ASSERT_TRUE(second && third);
  queue_.reset();
  auto fourth = read_queue::open(file_, GetParam());
  ASSERT_TRUE(fourth);
  std::size_t page = 100;
  for (auto* each : {&second, &third, &fourth}) {
    const page_buffer into(1);
    queued_read wanted = one(into.data(), ++page, 1);
    read_queue& queue = ***each;
    queue.start(wanted);
    queue.submit();
    take(queue, 1);
    EXPECT_TRUE(is_page(into.page(0), page));
    (*each)->reset();
  }
}

std::size_t kernel_threads() {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    count += read_proc_file((each.path() / "comm").c_str()).starts_with("iou-sqp");
  }
  return count;
}

TEST_P(ReadQueue, AnyNumberOfPolledOnesHaveOneKernelThread) {
  const bool is_polled = std::string(queue_->name()) == read_queue::kPolledName;
  EXPECT_TRUE(!is_polled || GetParam() == engine::polled);
  const auto second = read_queue::open(file_, GetParam()),
             third = read_queue::open(file_, GetParam());
  ASSERT_TRUE(second && third);
  // Those of earlier tests end a while after their rings. (Before Linux 5.12 none is seen here.)
  const std::size_t most = is_polled ? 1 : 0;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (kernel_threads() > most && std::chrono::steady_clock::now() < patience) {
    std::this_thread::yield();
  }
  EXPECT_LE(kernel_threads(), most);
}

TEST_P(ReadQueue, TheDescriptorTellsOfEndsUntilItIsAcknowledged) {
  EXPECT_FALSE(is_readable(queue_->descriptor()));
  const page_buffer into(1);
  queued_read wanted = one(into.data(), 5, 1);
  queue_->start(wanted);
  queue_->submit();
  queue_->wait(-1);
  EXPECT_TRUE(is_readable(queue_->descriptor()));
  queue_->acknowledge();
  EXPECT_FALSE(is_readable(queue_->descriptor()));
  EXPECT_EQ(queue_->take_ended(), &wanted) << "an end that was acknowledged can still be taken";
}

TEST_P(ReadQueue, AnotherThreadWakesWhoeverWaits) {
  std::thread other([this] { queue_->wake(); });
  queue_->wait(-1);
  other.join();
  EXPECT_TRUE(is_readable(queue_->descriptor()));
  EXPECT_EQ(queue_->take_ended(), nullptr);
  queue_->acknowledge();
  queue_->acknowledge();  // waits for nothing
  EXPECT_FALSE(is_readable(queue_->descriptor()));
}

TEST_P(ReadQueue, AnErrorIsTheReadsAlone) {
  const page_buffer into(kPages);
  std::vector<queued_read> wanted;
  for (std::size_t i = 0; i < 100; ++i) wanted.push_back(one(into.page(i).data(), i, 1));
  std::atomic<int> calls{0};
  set_fault_hook(
      [&calls](io_call call) { return call == io_call::read && ++calls % 10 == 0 ? EIO : 0; });
  for (queued_read& each : wanted) queue_->start(each);
  queue_->submit();
  take(*queue_, wanted.size());
  EXPECT_EQ(std::ranges::count(wanted, EIO, &queued_read::error), 10);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].error != 0) continue;
    ASSERT_EQ(wanted[i].done, kPageBytes);
    ASSERT_TRUE(is_page(into.page(i), i)) << i;
  }
}

// Models a system that is short of memory: the reads are not lost, and the descriptor says that
// they are to be submitted once more.
TEST_P(ReadQueue, WhatTheSystemRefusesIsSubmittedAgain) {
  const page_buffer into(300);  // more than a ring has entries
  std::vector<queued_read> wanted;
  for (std::size_t i = 0; i < 300; ++i) wanted.push_back(one(into.page(i).data(), i, 1));
  int refusals = 5;
  set_fault_hook([&refusals](io_call call) {
    return call == io_call::submit && refusals > 0 ? (--refusals, EAGAIN) : 0;
  });
  for (queued_read& each : wanted) queue_->start(each);
  queue_->submit();
  std::size_t ended = 0;
  while (ended < wanted.size()) {
    queue_->wait(-1);
    queue_->acknowledge();
    while (queue_->take_ended() != nullptr) ++ended;
    queue_->submit();
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(wanted[i].error, 0);
    ASSERT_TRUE(is_page(into.page(i), i)) << i;
  }
}

// A signal, or a device that has no room for the request, says nothing of the pages.
TEST_P(ReadQueue, AReadThatWasInterruptedGoesOn) {
  const page_buffer into(2);
  std::atomic<int> calls{0};
  set_fault_hook([&calls](io_call call) {
    if (call != io_call::read) return 0;
    const int now = ++calls;
    return now == 1 ? EINTR : now == 2 ? EAGAIN : 0;
  });
  queued_read wanted = one(into.data(), 9, 2);
  queue_->start(wanted);
  queue_->submit();
  take(*queue_, 1);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(wanted.error, 0);
  EXPECT_TRUE(is_page(into.page(0), 9));
  EXPECT_TRUE(is_page(into.page(1), 10));
}

// The system gives fewer bytes than it was asked for, as it may.
TEST_P(ReadQueue, AReadThatWasShortGoesOnWhereItEnded) {
  const page_buffer into(11);
  std::atomic<int> calls{0};
  set_fault_hook([&calls](io_call call) { return calls += call == io_call::read, 0; });
  set_longest_read(2 * kPageBytes);
  queued_read wanted = one(into.data(), 9, 7), other = one(into.page(7).data(), 30, 4);
  queue_->start(wanted);
  queue_->start(other);
  queue_->submit();
  take(*queue_, 2);
  set_longest_read(std::nullopt);
  EXPECT_EQ(calls, 6);
  for (const queued_read* each : {&wanted, &other}) {
    EXPECT_EQ(each->error, 0);
    EXPECT_EQ(each->done, each->bytes);
  }
  for (std::size_t i = 0; i < 7; ++i) EXPECT_TRUE(is_page(into.page(i), 9 + i)) << i;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(is_page(into.page(7 + i), 30 + i)) << i;
}

// Some pages have come before.
TEST_P(ReadQueue, AnErrorAmidAShortReadEndsIt) {
  const page_buffer into(6);
  std::atomic<int> calls{0};
  set_fault_hook(
      [&calls](io_call call) { return call == io_call::read && ++calls == 3 ? EIO : 0; });
  set_longest_read(kPageBytes);
  queued_read wanted = one(into.data(), 9, 6);
  queue_->start(wanted);
  queue_->submit();
  take(*queue_, 1);
  set_longest_read(std::nullopt);
  EXPECT_EQ(wanted.error, EIO);
  EXPECT_EQ(wanted.done, 2 * kPageBytes);
  EXPECT_TRUE(is_page(into.page(1), 10));
}

TEST_P(ReadQueue, TheEndOfTheFileInTheMiddleIsAnError) {
  ASSERT_TRUE(file_.resize(10 * kPageBytes));
  const page_buffer across(4), beyond(1);
  queued_read half = one(across.data(), 8, 4), none = one(beyond.data(), 10, 1);
  queue_->start(half);
  queue_->start(none);
  queue_->submit();
  take(*queue_, 2);
  EXPECT_EQ(half.error, EIO);
  EXPECT_EQ(none.error, EIO);
  EXPECT_EQ(half.done, 2 * kPageBytes);
  EXPECT_TRUE(is_page(across.page(1), 9));
}

// Stores to a mapping, and writes, that are in the page cache only.
TEST_P(ReadQueue, SeesWhatWasWrittenBefore) {
  const page_buffer content(1), into(1);
  fill_page(content.page(0), 4711);
  ASSERT_TRUE(file_.write(content.all(), 3 * kPageBytes));
  queued_read wanted = one(into.data(), 3, 1);
  queue_->start(wanted);
  queue_->submit();
  take(*queue_, 1);
  EXPECT_TRUE(is_page(into.page(0), 4711));
}

TEST_P(ReadQueue, LivesWithoutTheFileThatItWasMadeOf) {
  file_ = file();
  const page_buffer into(1);
  queued_read wanted = one(into.data(), 2, 1);
  queue_->start(wanted);
  queue_->submit();
  take(*queue_, 1);
  EXPECT_TRUE(is_page(into.page(0), 2));
}

// Models Linux 5.1 to 5.5, whose rings cannot be asked for reads.
TEST_P(ReadQueue, ARingWithoutReadsIsNotUsed) {
  set_fault_hook([](io_call call) { return call == io_call::probe ? EINVAL : 0; });
  const auto made = read_queue::open(file_, GetParam());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_STREQ((*made)->name(), "threads");
  const page_buffer into(1);
  queued_read wanted = one(into.data(), 17, 1);
  (*made)->start(wanted);
  (*made)->submit();
  take(**made, 1);
  EXPECT_EQ(wanted.error, 0);
  EXPECT_TRUE(is_page(into.page(0), 17));
}

TEST(ReadQueueOf, CallsAFunctionOnOtherThreads) {
  std::mutex mutex;
  std::set<std::thread::id> callers;
  auto made = read_queue::of([&](queued_read& each) {
    each.error = each.offset % 2 == 0 ? 0 : ENODATA;
    const std::lock_guard lock(mutex);
    callers.insert(std::this_thread::get_id());
  });
  ASSERT_TRUE(made) << made.error().message;
  read_queue& queue = **made;
  std::vector<queued_read> wanted(500);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i].offset = i;
    queue.start(wanted[i]);
    if (i % 7 == 0) queue.submit();
  }
  queue.submit();
  queue.submit();  // nothing more
  const auto ended = take(queue, wanted.size());
  EXPECT_EQ(std::set(ended.begin(), ended.end()).size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(wanted[i].error, i % 2 == 0 ? 0 : ENODATA);
  }
  EXPECT_FALSE(callers.contains(std::this_thread::get_id()));
}

TEST(ReadQueueOf, DoesNothingUntilItIsSubmitted) {
  std::atomic<int> calls{0};
  auto made = read_queue::of([&](queued_read&) { ++calls; });
  ASSERT_TRUE(made);
  queued_read first, second;
  (*made)->start(first);
  (*made)->start(second);
  EXPECT_EQ((*made)->under_way(), 2u);
  EXPECT_EQ(calls, 0);
  (*made)->submit();
  take(**made, 2);
  EXPECT_EQ(calls, 2);
}

TEST(ReadQueueOf, FailsWithoutAThread) {
  set_thread_fault(EAGAIN);
  EXPECT_FALSE(read_queue::of([](queued_read&) {}));
  set_thread_fault(0);
  EXPECT_TRUE(read_queue::of([](queued_read&) {}));
}

}  // namespace
}  // namespace isotherm::os
