// Refusals and fallbacks of configure(). Cases run in fork children: a process configures once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "heap/configure.hpp"
#include "heap/object.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/memory/swap.hpp"
#include "sync/retire.hpp"

// Stands before the C library's: a sandbox that forbids it.
static bool forbids_mincore = false;
extern "C" int mincore(void* begin, std::size_t bytes, unsigned char* pages) noexcept {
  if (forbids_mincore) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(syscall(SYS_mincore, begin, bytes, pages));
}

namespace isotherm::heap {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns the result of `body` in a fork child.
template <class F>
std::string said_by_child(F body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = body();
    const bool written =
        write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) said += " (child failed)";
  return said;
}

std::string refusal_of(const std::string& backing) {
  return said_by_child([&] {
    options chosen;
    chosen.cold = *cold_backing::parse(backing);
    const auto made = configure(chosen);
    return made ? std::string("accepted") : made.error().message;
  });
}

std::string refusal(const std::string& directory) { return refusal_of("file:" + directory); }

TEST(Configure, AMissingDirectoryIsRefusedWithAdvice) {
  EXPECT_EQ(refusal("/no/such/directory"),
            "cold directory '/no/such/directory' does not exist: create it or name another");
}

TEST(Configure, APlainFileIsRefused) {
  EXPECT_EQ(refusal("/proc/self/status"),
            "'/proc/self/status' is not a directory: name a directory for cold memory");
}

TEST(Configure, ASandboxThatHidesWhatIsInDramIsRefusedForMappedCold) {
  const testing_help::temporary_directory folder;
  forbids_mincore = true;
  EXPECT_EQ(refusal(folder.path()), "accepted");
  EXPECT_EQ(refusal_of("anon"),
            "this process may not ask which pages are in DRAM: allow it mincore (seccomp)");
  forbids_mincore = false;
}

TEST(Configure, TmpfsIsRefused) {
  struct stat shared_memory{};
  ASSERT_EQ(stat("/dev/shm", &shared_memory), 0) << "Linux has tmpfs at /dev/shm";
  EXPECT_EQ(refusal("/dev/shm"),
            "cold directory '/dev/shm' is on tmpfs, which is DRAM itself: name a directory on a "
            "disk");
}

TEST(Configure, ADirectoryThatIsNotWritableIsRefused) {
  const testing_help::temporary_directory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0555), 0);
  const std::string said = said_by_child([&] {
    if (geteuid() == 0 && seteuid(65534) != 0) return std::string("cannot become an ordinary user");
    options chosen;
    chosen.cold = *cold_backing::parse("file:" + directory.path());
    const auto made = configure(chosen);
    return made ? std::string("accepted") : made.error().message;
  });
  EXPECT_EQ(said, "cold directory '" + directory.path() +
                      "' is not writable: change its mode or name another");
}

TEST(Configure, ADiskDirectoryIsAcceptedAndNothingIsLeftInIt) {
  const testing_help::temporary_directory directory;
  EXPECT_EQ(refusal(directory.path()), "accepted");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Configure, TheSecondCallIsRefused) {
  const std::string said = said_by_child([] {
    if (!configure({})) return std::string("first call failed");
    const auto again = configure({});
    return again ? std::string("accepted") : again.error().message;
  });
  EXPECT_EQ(said, "the heaps are in use already: configure them before the first object is made");
}

TEST(Configure, ParsesBackings) {
  for (const char* known : {"anon", "file:/var/tmp", "file:a:b", "node:1", "dax:/dev/dax0.0"}) {
    const auto parsed = cold_backing::parse(known);
    ASSERT_TRUE(parsed) << known;
    EXPECT_EQ(parsed->text(), known);
  }
  for (const char* wrong :
       {"", "file:", "file", "swap", "anonymous", "anon:", "found", "node:", "dax"}) {
    const auto parsed = cold_backing::parse(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_NE(parsed.error().message.find("anon or file:DIR or node:N or dax:PATH"),
              std::string::npos);
  }
}

TEST(Configure, DescribesBackings) {
  EXPECT_EQ(cold_backing::forms("|"), "anon|file:DIR|node:N|dax:PATH");
  EXPECT_THAT(cold_backing::help(),
              AllOf(HasSubstr("anon: swap; file:DIR: an unlinked file in a directory on a disk; "),
                    HasSubstr("; node:N: a memory node"), HasSubstr("; dax:PATH: a DAX device")));
  const backing_description memory = cold_backing::parse("anon")->describe();
  EXPECT_EQ(memory.room, "memory and swap");
  EXPECT_TRUE(memory.needs_swap);
  EXPECT_EQ(memory.directory, "") << "no disk has its pages";
  const backing_description file = cold_backing::parse("file:/var/tmp")->describe();
  EXPECT_EQ(file.leaves_for, "an unlinked file in /var/tmp, of which nothing stays behind");
  EXPECT_EQ(file.room, "'/var/tmp'");
  EXPECT_EQ(file.directory, "/var/tmp");
  EXPECT_FALSE(file.needs_swap);
  EXPECT_FALSE(file.is_direct);
  const backing_description node = cold_backing::parse("node:1")->describe();
  EXPECT_EQ(node.leaves_for, "memory node 1");
  EXPECT_EQ(node.directory, "") << "no disk has its pages";
  EXPECT_TRUE(node.is_direct);
  EXPECT_TRUE(cold_backing::parse("dax:/dev/dax0.0")->describe().is_direct);
}

// The sanitizers' shadow memory does not fit into a limited address space.
#if !defined(ISOTHERM_SANITIZED)
std::string range_under_limit(rlim_t limit) {
  return said_by_child([&] {
    const rlimit small{limit, limit};
    if (setrlimit(RLIMIT_AS, &small) != 0) return std::string("cannot limit");
    const auto made = configure({});
    if (!made) return made.error().message;
    const range hot = range_of(kind::hot);
    void* object = allocate(kind::hot, 100);
    return object == nullptr ? std::string("no object")
                             : std::to_string((hot.end - hot.begin) >> 20U);
  });
}

TEST(Configure, ALimitedAddressSpaceGetsSmallerRanges) {
  const int mebibytes = std::stoi(range_under_limit(rlim_t{4} << 30U));
  EXPECT_GE(mebibytes, 64);
  EXPECT_LE(mebibytes, 512);
}

TEST(Configure, TooLittleAddressSpaceIsSaid) {
  EXPECT_EQ(range_under_limit(rlim_t{200} << 20U),
            "cannot reserve four address ranges of 64 MiB for the heaps: raise the limit on "
            "address space (ulimit -v)");
}
#endif

/// Writes objects of COLD to a file, in a process that locks its memory. Returns "left", or why
/// not.
std::string leaves_after(int locked_before, int locked_later) {
  const testing_help::temporary_directory directory;
  return said_by_child([&] {
    if (locked_before != 0 && mlockall(locked_before) != 0) return std::string("may not lock");
    options chosen;
    chosen.range_bytes = std::size_t{64} << 20U;
    chosen.cold = *cold_backing::parse("file:" + directory.path());
    if (!configure(chosen)) return std::string("not configured");
    std::vector<void*> objects;
    objects.reserve(4000);
    for (int i = 0; i < 2000; ++i) objects.push_back(allocate(kind::cold, 4000));
    for (void* each : objects) std::memset(each, 1, 4000);
    if (locked_later != 0 && mlockall(locked_later) != 0) return std::string("may not lock");
    const page_out_report report = page_out_cold(hint::pageout, ~std::uint64_t{0});
    if (!report.problem.empty()) return report.problem;
    sync::reclaim_ready();
    const std::uint64_t left = usage_of(kind::cold).resident_bytes;
    if (left > 2U << 20U) return std::to_string(left) + " bytes stay";
    for (int i = 0; i < 2000; ++i) objects.push_back(allocate(kind::cold, 4000));
    if (usage_of(kind::cold).resident_bytes > (12U << 20U)) return std::string("more was locked");
    return std::string(objects.back() != nullptr ? "left" : "no more objects");
  });
}

// A server may lock its memory so that no page of it is swapped out.
TEST(Configure, ColdLeavesDramThoughTheProcessHasLockedItsMemory) {
  constexpr int kAll = MCL_CURRENT | MCL_FUTURE;
  const std::string locks =
      said_by_child([] { return std::string(mlockall(kAll) == 0 ? "left" : "may not lock"); });
  EXPECT_EQ(leaves_after(0, 0), "left");
  EXPECT_EQ(leaves_after(kAll, 0), locks);
  EXPECT_EQ(leaves_after(0, kAll), locks);
  EXPECT_EQ(leaves_after(kAll, MCL_CURRENT), locks);
}

TEST(Configure, HugePagesAreAcceptedWhereTheKernelHasThem) {
  const std::string said = said_by_child([] {
    options chosen;
    chosen.huge_pages = true;
    const auto made = configure(chosen);
    if (!made) return made.error().message;
    return std::string(allocate(kind::hot, 100) != nullptr ? "accepted" : "no object");
  });
  const bool present = access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0;
  EXPECT_EQ(said, present ? "accepted"
                          : "this kernel has no transparent huge pages: leave huge pages off");
}

TEST(ColdPlace, IsTheServicesOwnDirectoryFirst) {
  const auto directories_with = [](const char* state) {
    setenv("STATE_DIRECTORY", state, 1);
    auto all = cold_directories();
    unsetenv("STATE_DIRECTORY");
    return all;
  };
  EXPECT_THAT(cold_directories(), ElementsAre("/var/tmp"));
  EXPECT_THAT(directories_with(""), ElementsAre("/var/tmp"));
  EXPECT_THAT(directories_with("/var/lib/store"), ElementsAre("/var/lib/store", "/var/tmp"));
  EXPECT_THAT(directories_with("/var/lib/store:/var/lib/more"),
              ElementsAre("/var/lib/store", "/var/tmp"));
}

TEST(ColdPlace, IsTheFirstDirectoryThatCanTakeAFile) {
  const cold_place first = find_cold_place({"/var/tmp", "/nowhere"});
  EXPECT_EQ(first.backing.text(), "file:/var/tmp");
  EXPECT_THAT(first.refused, IsEmpty());

  const cold_place third = find_cold_place({"/dev/shm", "/nowhere", "/var/tmp"});
  EXPECT_EQ(third.backing.text(), "file:/var/tmp");
  EXPECT_THAT(third.refused, ElementsAre(AllOf(HasSubstr("/dev/shm"), HasSubstr("tmpfs")),
                                         AllOf(HasSubstr("/nowhere"), HasSubstr("not exist"))));
}

TEST(ColdPlace, IsAnonymousMemoryWhereNoDirectoryCan) {
  const cold_place none = find_cold_place({"/nowhere", "/dev/shm"});
  EXPECT_EQ(none.backing.text(), "anon");
  EXPECT_EQ(none.refused.size(), 2u);
}

TEST(ColdPlace, IsFoundByDefaultAndAnonymousWhereOneSaysSo) {
  EXPECT_EQ(said_by_child([] { return std::string(cold_can_leave_dram() ? "leaves" : "stays"); }),
            "leaves");
  const bool has_swap = os::read_swap_space().total_bytes > 0;
  EXPECT_EQ(said_by_child([] {
              options chosen;
              chosen.cold = *cold_backing::parse("anon");
              if (!configure(chosen)) return std::string("not configured");
              return std::string(cold_can_leave_dram() ? "leaves" : "stays");
            }),
            has_swap ? "leaves" : "stays");
}

}  // namespace
}  // namespace isotherm::heap
