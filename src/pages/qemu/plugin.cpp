// The plugin that user-mode QEMU loads: it marks the bytes that the program fetches, loads and
// stores. A shared object of its own, which links no library of Isotherm or of C++.
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pages/bits.hpp"
#include "pages/objects/allocation.hpp"
#include "pages/objects/call_stack.hpp"
#include "pages/qemu/control.hpp"
#include "pages/qemu/follow.hpp"
#include "pages/qemu/plugin_api.hpp"
#include "pages/qemu/program_memory.hpp"
#include "pages/qemu/system_calls.hpp"

extern "C" __attribute__((visibility("default"))) int qemu_plugin_version;
int qemu_plugin_version = 1;

namespace isotherm::pages {
namespace {

constexpr std::uint64_t kAccessesBetweenLooks = 1024;
constexpr unsigned kAddressBits = 47;
static_assert(kAddressEnd == std::uint64_t{1} << kAddressBits);

control* shared = nullptr;
shadow_word* areas[kAreas] = {};
bool observed = true;  // false in a child of the program, which inherits all this
bool counts_buffers = false;
pid_t tool = 0;
system_call calls[kCounters];  // the call that a thread is in

allocation_log* allocations = nullptr;  // null: they are not asked for
pthread_mutex_t appending = PTHREAD_MUTEX_INITIALIZER;
call_stack stacks[kCounters];  // of the first threads; objects of further ones have no call stack

shadow_word* area() noexcept { return areas[shared->window.load_relaxed() % kAreas]; }

long futex(base::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit) noexcept {
  return ::syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

/// Begins the next window if the running one has had its accesses. The tool may begin one, too.
void end_window_in_time() noexcept {
  std::uint64_t ends = shared->window_ends.load_acquire();
  if (ends == kNever || accesses_of(*shared) < ends) return;
  // Loaded after its limit, which the tool sets last. If the tool ends it meanwhile, that counts.
  std::uint32_t running = shared->window.load_acquire();
  if (shared->window_ends.compare_exchange_acq_rel(ends, kNever)) {
    shared->window.compare_exchange_acq_rel(running, running + 1);
  }
}

void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t address, void*) {
  if (!observed) return;
  if (shared->first_stack_address == 0 && qemu_plugin_mem_is_store(info)) {
    shared->first_stack_address = address;  // a program begins by a push or a call
  }
  mark_bytes(area(), address, std::uint64_t{1} << qemu_plugin_mem_size_shift(info));
  auto& count = shared->accesses[vcpu % kCounters].value;
  count.add_as_only_writer(1);
  if (count.load_relaxed() % kAccessesBetweenLooks == 0) end_window_in_time();
}

/// The accesses of a call instruction, which stores its return address.
void on_call_access(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t address,
                    void* returns_to) {
  on_access(vcpu, info, address, nullptr);
  if (vcpu >= kCounters || !qemu_plugin_mem_is_store(info)) return;
  stacks[vcpu].call(address, reinterpret_cast<std::uint64_t>(returns_to));
}

/// The access of a return instruction, which loads its return address.
void on_return_access(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t address, void*) {
  on_access(vcpu, info, address, nullptr);
  if (vcpu < kCounters) stacks[vcpu].ret(address);
}

void register_accesses(qemu_plugin_insn* of) {
  const std::size_t bytes = qemu_plugin_insn_size(of);
  const auto* const code = static_cast<const unsigned char*>(qemu_plugin_insn_data(of));
  const instruction kind = allocations != nullptr ? kind_of(code, bytes) : instruction::other;
  const std::uint64_t behind = qemu_plugin_insn_vaddr(of) + bytes;
  qemu_plugin_register_vcpu_mem_cb(of,
                                   kind == instruction::call  ? on_call_access
                                   : kind == instruction::ret ? on_return_access
                                                              : on_access,
                                   QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                   reinterpret_cast<void*>(behind));
}

/// `data` packs the block's address and, above it, its size.
void on_block(unsigned, void* data) {
  if (!observed) return;
  const auto packed = reinterpret_cast<std::uint64_t>(data);
  mark_bytes(area(), packed % kAddressEnd, packed >> kAddressBits);
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  const std::size_t count = qemu_plugin_tb_n_insns(block);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    bytes += qemu_plugin_insn_size(instruction);
    register_accesses(instruction);
  }
  if (count == 0) return;
  const std::uint64_t begin = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
  qemu_plugin_register_vcpu_tb_exec_cb(
      block, on_block, QEMU_PLUGIN_CB_NO_REGS,
      reinterpret_cast<void*>(begin % kAddressEnd | bytes << kAddressBits));
  std::uint32_t stage = kStarting;
  shared->stage.compare_exchange_acq_rel(stage, kRunning);
}

int add_region(void*, std::uint64_t begin, std::uint64_t end, unsigned long flags) {
  if (shared->region_count < kRegionsMost) {
    shared->regions[shared->region_count++] = {begin, end, flags & 7};
  }
  return 0;
}

void list_regions() noexcept {
  shared->region_count = 0;
  shared->guest_base = base_of_program();
  if (&walk_memory_regions == nullptr) return;
  shared->regions_known = 1;
  walk_memory_regions(nullptr, add_region);
}

/// The one thread of the plugin: lists the program's regions when the tool asks, once it runs.
void* answer(void*) {
  constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 1'000'000};
  while (shared->stage.load_acquire() == kStarting) ::nanosleep(&kLook, nullptr);
  for (std::uint32_t told = shared->regions_told.load_acquire();;) {
    const std::uint32_t asked = shared->regions_asked.load_acquire();
    if (asked == told) {
      futex(shared->regions_asked, FUTEX_WAIT, asked, nullptr);
      continue;
    }
    list_regions();
    shared->regions_told.store_release(told = asked);
    futex(shared->regions_told, FUTEX_WAKE, 1, nullptr);
  }
}

/// Holds the program up until the tool has read what it needs of its memory.
void enter(control_stage stage) noexcept {
  shared->stage.store_release(stage);
  constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 50'000'000};
  while (shared->acknowledged.load_acquire() != stage && shared->detached.load_acquire() == 0 &&
         ::getppid() == tool) {
    futex(shared->acknowledged, FUTEX_WAIT, shared->acknowledged.load_acquire(), &kLook);
  }
}

void on_exit(qemu_plugin_id_t, void*) {
  if (observed) enter(kEnding);
}

/// Keeps the name that the program gives a range of its memory: prctl(PR_SET_VMA), which QEMU
/// refuses.
void keep_name(std::uint64_t begin, std::uint64_t bytes, std::uint64_t text) noexcept {
  const std::uint32_t index = shared->name_count.fetch_add_relaxed(1);
  if (index >= kNamesMost) return;
  control_name& name = shared->names[index];
  name.begin = begin;
  name.end = begin + bytes;
  copy_text(text, name.text);
  name.complete.store_release(1);
}

/// Appends an event, and holds the program up while the tool has not read older ones.
void append_event(const allocation_event& event) noexcept {
  constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 1'000'000};
  pthread_mutex_lock(&appending);
  while (is_full(*allocations) && shared->detached.load_acquire() == 0 && ::getppid() == tool) {
    ::nanosleep(&kLook, nullptr);
  }
  if (!is_full(*allocations)) append(*allocations, event);
  pthread_mutex_unlock(&appending);
}

std::uint64_t now_ns() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void on_allocation(unsigned vcpu, allocation_message message, std::uint64_t address,
                   std::uint64_t asked, std::uint64_t usable, std::uint64_t place) noexcept {
  if (message == allocation_message::attach) {
    const std::uint32_t answer = 1;
    if (!write_whole(address, &answer, sizeof answer)) return;
    allocations->attached.store_release(1);
    return;
  }
  allocation_event event{.is_made = message == allocation_message::made,
                         .frame_count = 0,
                         .address = address,
                         .asked = asked,
                         .usable = usable,
                         .time_ns = now_ns(),
                         .frames = {}};
  if (event.is_made != 0 && vcpu < kCounters) {
    event.frame_count = stacks[vcpu].copy(place, event.frames, kFrames);
  }
  append_event(event);
}

void on_call(qemu_plugin_id_t, unsigned vcpu, std::int64_t number, std::uint64_t a1,
             std::uint64_t a2, std::uint64_t a3, std::uint64_t a4, std::uint64_t a5, std::uint64_t,
             std::uint64_t, std::uint64_t) {
  if (!observed) return;
  if (number == kAllocationCall && allocations != nullptr) {
    return on_allocation(vcpu, static_cast<allocation_message>(a1), a2, a3, a4, a5);
  }
  calls[vcpu % kCounters] = {.number = number, .arguments = {a1, a2, a3}};
  if (number == kPrctl && a1 == PR_SET_VMA && a2 == PR_SET_VMA_ANON_NAME) keep_name(a3, a4, a5);
  if (number != kExecve && number != kExecveat) return;
  copy_text(number == kExecve ? a1 : a2, shared->executed);
  shared->acknowledged.store_release(kStarting);
  enter(kExecuting);
  const bool is_detached = shared->detached.load_acquire() != 0;
  const bool is_whole = std::strlen(shared->executed) + 1 < sizeof shared->executed;
  if (number == kExecve && !is_detached && is_whole)
    follow(*shared, tool, shared->executed, a2, a3);
}

void on_return(qemu_plugin_id_t, unsigned vcpu, std::int64_t number, std::int64_t returned) {
  if (!observed) return;
  if (number == kExecve || number == kExecveat) shared->stage.store_release(kRunning);  // failed
  if (number == kBrk && returned > 0) {
    const auto end = static_cast<std::uint64_t>(returned);
    if (shared->heap_begin.load_relaxed() == 0) shared->heap_begin.store_relaxed(end);
    shared->heap_end.store_relaxed(end);
  }
  const system_call& call = calls[vcpu % kCounters];
  if (!counts_buffers || call.number != number) return;
  mark_buffers(
      call, returned,
      [](std::uint64_t address, std::uint64_t bytes) { mark_bytes(area(), address, bytes); },
      [](std::uint64_t address, auto* value) { return copy_whole(address, value, sizeof *value); });
}

/// A new thread has no callers, also where its number was another's.
void on_thread(qemu_plugin_id_t, unsigned vcpu) {
  if (vcpu < kCounters) stacks[vcpu].clear();
}

void before_fork() {
  if (observed) shared->children.fetch_add_relaxed(1);
}

void in_child() { observed = false; }

/// Maps the file that the tool has left open as `descriptor`, and closes it, so that the program
/// does not see it.
void* map(int descriptor, std::uint64_t bytes) {
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  ::close(descriptor);
  if (mapped == MAP_FAILED) return nullptr;
  ::madvise(mapped, bytes, MADV_DONTDUMP);
  return mapped;
}

/// The number that follows "name=" in the arguments, or -1.
long argument(const char* name, int count, char** words) {
  const std::size_t length = std::strlen(name);
  for (int i = 0; i < count; ++i) {
    if (std::strncmp(words[i], name, length) == 0 && words[i][length] == '=') {
      return std::strtol(words[i] + length + 1, nullptr, 10);
    }
  }
  return -1;
}

/// Forgets the program before, which has given way to the one that is about to run, and lets the
/// tool end its window.
void take_over() {
  shared->first_stack_address = 0;
  shared->heap_begin.store_relaxed(0);
  shared->heap_end.store_relaxed(0);
  for (control_name& name : shared->names) name.complete.store_relaxed(0);
  shared->name_count.store_relaxed(0);
  shared->replacements.fetch_add_relaxed(1);
  enter(kReplaced);
  shared->stage.store_release(kStarting);
}

bool start_answering() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are its threads'
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, answer, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace
}  // namespace isotherm::pages

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                                          const qemu_info_t*,
                                                                          int count, char** words) {
  using namespace isotherm::pages;
  counts_buffers = argument("syscalls", count, words) == 1;
  tool = ::getppid();
  shared = static_cast<control*>(
      map(static_cast<int>(argument("control", count, words)), sizeof(control)));
  auto* const marks = static_cast<std::byte*>(
      map(static_cast<int>(argument("shadow", count, words)), kAreas * kAreaBytes));
  const long events = argument("allocations", count, words);
  if (events >= 0) {
    allocations =
        static_cast<allocation_log*>(map(static_cast<int>(events), sizeof(allocation_log)));
  }
  if (shared == nullptr || marks == nullptr || (events >= 0 && allocations == nullptr)) {
    std::perror(
        "isotherm: cannot map the marks of used bytes in QEMU (is the address space limited?)");
    return 1;
  }
  for (unsigned i = 0; i < kAreas; ++i) {
    areas[i] = reinterpret_cast<shadow_word*>(marks + i * kAreaBytes);
  }
  pthread_atfork(before_fork, nullptr, in_child);
  if (argument("replaces", count, words) == 1) take_over();
  if (!start_answering()) {
    std::fputs("isotherm: cannot start a thread in QEMU\n", stderr);
    return 1;
  }
  qemu_plugin_register_vcpu_init_cb(id, on_thread);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_syscall_cb(id, on_call);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
