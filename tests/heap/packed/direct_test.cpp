// A direct COLD: memory of a node, and memory behind a path. tmpfs stands for DAX unless
// ISOTHERM_TEST_DAX names a directory that has it, and the node 0 for a slow one. Each case runs in
// a fork child: a process configures once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "heap/cold/arrived_reads.hpp"
#include "heap/configure.hpp"
#include "heap/object.hpp"
#include "heap/poison.hpp"
#include "heap/ranges.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"
#include "os/limited_group.hpp"

// Stands before the C library's: a memory node without room.
static bool is_node_full = false;
extern "C" int madvise(void* begin, std::size_t bytes, int advice) noexcept {
  if (is_node_full && advice == MADV_POPULATE_WRITE) {
    errno = ENOMEM;
    return -1;
  }
  return static_cast<int>(syscall(SYS_madvise, begin, bytes, advice));
}

namespace isotherm::heap {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kObjectBytes = 4000;
constexpr std::size_t kObjects = 4000;  // 16 MB
constexpr std::uint64_t kNearly = std::uint64_t{2} << 20;
// AddressSanitizer's shadow of the objects, 2 MB, and its stacks for locals, as large, are in DRAM.
#if defined(ISOTHERM_ASAN)
constexpr std::uint64_t kMoreDram = std::uint64_t{8} << 20;
#else
constexpr std::uint64_t kMoreDram = kNearly;
#endif

std::string dax_backing() {
  const char* const given = std::getenv("ISOTHERM_TEST_DAX");
  return std::string("dax:") + (given != nullptr ? given : "/dev/shm");
}

/// Returns what `body` returns, in a fork child; empty: all is well.
template <class F>
std::string said_by_child(F body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = body();
    const bool is_written =
        write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(is_written ? 0 : 1);
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

std::string configured(const std::string& backing, std::optional<unsigned> hot_node = {}) {
  options chosen;
  chosen.range_bytes = std::size_t{64} << 20U;
  chosen.cold = *cold_backing::parse(backing);
  chosen.hot_node = hot_node;
  const auto made = configure(chosen);
  return made ? std::string() : made.error().message;
}

std::vector<char*> make_objects(kind where, std::size_t count) {
  std::vector<char*> made;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(static_cast<char*>(allocate(where, kObjectBytes)));
    if (made.back() == nullptr) break;
    std::memset(made.back(), static_cast<int>(i), kObjectBytes);
  }
  return made;
}

class Direct : public testing::TestWithParam<std::string> {};

TEST_P(Direct, ObjectsAreUsedWhereTheyLieAndTakeNoDram) {
  EXPECT_EQ(said_by_child([] {
              if (auto why = configured(GetParam()); !why.empty()) return why;
              make_objects(kind::cold, 1);  // a child's pages of code count from their first use on
              const std::uint64_t before = dram_set().all_bytes;
              const auto objects = make_objects(kind::cold, kObjects);
              for (std::size_t i = 0; i < objects.size(); ++i) {
                if (is_out(objects[i])) return std::string("an object is out");
                if (objects[i][kObjectBytes - 1] != static_cast<char>(i))
                  return std::string("an object has other bytes");
              }
              const usage in_cold = usage_of(kind::cold);
              if (in_cold.resident_bytes < kObjects * kObjectBytes)
                return "resident: " + std::to_string(in_cold.resident_bytes);
              const std::uint64_t now_in_dram = dram_set().all_bytes;
              const std::uint64_t changed =
                  std::max(before, now_in_dram) - std::min(before, now_in_dram);
              if (changed > kMoreDram)
                return "DRAM was " + std::to_string(before) + ", is " + std::to_string(now_in_dram);
              const footprint now = read_footprint(in_cold.resident_bytes);
              const std::uint64_t apart =
                  std::max(now.dram, now_in_dram) - std::min(now.dram, now_in_dram);
              if (apart > kNearly) return "DRAM by the footprint: " + std::to_string(now.dram);
              const page_out_report asked = page_out_cold(hint::pageout, ~std::uint64_t{0});
              if (asked.bytes_asked != 0 || !asked.problem.empty())
                return "pages were asked to leave" + asked.problem;
              return std::string(cold_is_direct() && cold_can_leave_dram() ? "" : "not direct");
            }),
            "");
}

TEST_P(Direct, EmptiedExtentsGiveTheirMemoryBack) {
  EXPECT_EQ(said_by_child([] {
              if (auto why = configured(GetParam()); !why.empty()) return why;
              for (int round = 0; round < 3; ++round) {
                for (char* each : make_objects(kind::cold, kObjects)) deallocate(each);
                const std::uint64_t left = usage_of(kind::cold).resident_bytes;
                if (left > 2 * kNearly) return std::to_string(left) + " bytes stay";
              }
              return std::string(is_valid() ? "" : "not valid");
            }),
            "");
}

TEST_P(Direct, WithoutRoomAnAllocationIsRefusedAndCounted) {
  EXPECT_EQ(said_by_child([] {
              if (auto why = configured(GetParam()); !why.empty()) return why;
              auto objects = make_objects(kind::cold, 10);
              is_node_full = true;
              os::set_fault_hook(
                  [](os::io_call call) { return call == os::io_call::resize ? ENOSPC : 0; });
              const auto more = make_objects(kind::cold, kObjects);
              if (more.back() != nullptr) return std::string("there was room");
              if (refused_allocations(kind::cold) != 1) return std::string("not counted");
              const int code = cold_refusal_code();
              if (code != ENOMEM && code != ENOSPC) return "the code is " + std::to_string(code);
              is_node_full = false;
              os::set_fault_hook({});
              for (std::size_t i = 0; i < objects.size(); ++i) {
                if (objects[i][0] != static_cast<char>(i)) return std::string("an object changed");
              }
              if (allocate(kind::cold, kSmallBytesMax) == nullptr)
                return std::string("refused though there is room");
              return std::string(is_valid() ? "" : "not valid");
            }),
            "");
}

TEST_P(Direct, NearTheLimitOfAControlGroupAnAllocationIsRefused) {
  const testing_help::limited_group group(std::uint64_t{32} << 20);
  if (!group.is_made()) return;  // it needs root, and control groups that may be written
  EXPECT_EQ(said_by_child([&group] {
              if (!group.enter()) return std::string("not in the group");
              if (auto why = configured(GetParam()); !why.empty()) return why;
              const auto objects = make_objects(kind::cold, 3 * kObjects);  // 48 MB
              const bool is_refused = objects.back() == nullptr;
              if (is_refused != cold_is_direct_and_charged())
                return "refused after " + std::to_string(objects.size());
              if (is_refused && cold_refusal_code() != ENOMEM)
                return "the code is " + std::to_string(cold_refusal_code());
              return std::string(objects.size() > kObjects ? "" : "refused too soon");
            }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Backings, Direct, testing::Values("node:0", dax_backing()),
                         [](const auto& each) {
                           return each.param.substr(0, each.param.find(':'));
                         });

TEST(DirectPlaces, UnusableOnesAreRefused) {
  const auto refusal = [](const char* backing) {
    return said_by_child([backing] { return configured(backing); });
  };
  EXPECT_THAT(refusal("node:1023"), HasSubstr("there is no memory node 1023"));
  EXPECT_THAT(refusal("node:x"), HasSubstr("names no memory node: give a number, as node:1"));
  EXPECT_THAT(refusal("node:-1"), HasSubstr("names no memory node"));
  EXPECT_THAT(refusal("dax:/no/such"), HasSubstr("'/no/such' does not exist"));
}

TEST(DirectPlaces, TheNodeOfWhatIsHotIsChecked) {
  EXPECT_THAT(said_by_child([] { return configured("anon", 1023); }),
              HasSubstr("there is no memory node 1023"));
  EXPECT_EQ(said_by_child([] {
              if (auto why = configured("node:0", 0); !why.empty()) return why;
              for (const kind where : {kind::newborn, kind::hot}) {
                if (make_objects(where, 100).back() == nullptr) return std::string("no object");
              }
              return std::string();
            }),
            "");
}

TEST(DirectPlaces, AForkChildLeavesTheMemoryOfItsParentAlone) {
  EXPECT_EQ(said_by_child([] {
              if (auto why = configured(dax_backing()); !why.empty()) return why;
              const auto objects = make_objects(kind::cold, kObjects);
              const std::string said = said_by_child([&] {
                for (char* each : objects) deallocate(each);
                return std::string(allocate(kind::cold, 100) == nullptr ? "" : "made an object");
              });
              if (!said.empty()) return said;
              for (std::size_t i = 0; i < objects.size(); ++i) {
                if (objects[i][7] != static_cast<char>(i)) return std::string("an object is gone");
              }
              return std::string();
            }),
            "");
}

}  // namespace
}  // namespace isotherm::heap
