#include "pages/qemu/qemu_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "pages/qemu/guest_memory.hpp"
#include "pages/qemu/program.hpp"

namespace isotherm::pages {
namespace {

using std::chrono::milliseconds;

constexpr auto kLook = milliseconds(5);
constexpr auto kAnswerWait = milliseconds(60'000);  // some seconds for a terabyte of addresses
constexpr auto kEndWait = milliseconds(10'000);
constexpr auto kBetweenImages = milliseconds(1000);
constexpr const char* kPreloadVariable = "LD_PRELOAD";
constexpr int kImageShare = 20;  // an image takes at most this part of the time

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

void wake(base::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// QEMU splits its options at commas; a doubled one stands for itself.
std::string with_commas_doubled(const std::string& text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == ',' ? 2 : 1, c);
  return doubled;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

std::string executable_of(int pid) {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", failure).string();
}

source_traits traits_of(const qemu_options& options) {
  source_traits traits;
  traits.name = "QEMU";
  traits.subject = options.program.front();
  traits.cannot_see = {
      "Processes that it started by fork are not in the figures.",
      "It ran several times slower than by itself, so that a window of seconds saw fewer "
      "requests."};
  if (!options.counts_buffers) {
    traits.cannot_see.emplace_back(
        "Bytes that the kernel read or wrote for it (buffers of system calls) are not in them: "
        "--syscalls counts them.");
  } else {
    traits.cannot_see.emplace_back(
        "Of what the kernel read or wrote for it only the buffers of read, write, send, receive, "
        "their variants and getrandom are in them.");
  }
  return traits;
}

}  // namespace

base::result<std::unique_ptr<qemu_source>> qemu_source::start(const qemu_options& options) {
  const auto program = find_program(options.program.front());
  if (!program) return std::unexpected(program.error());
  const auto qemu = find_qemu();
  if (!qemu) return std::unexpected(qemu.error());
  const auto plugin = find_plugin();
  if (!plugin) return std::unexpected(plugin.error());
  auto marks = shadow::create();
  if (!marks) return std::unexpected(marks.error());
  std::unique_ptr<qemu_source> made(new qemu_source);
  made->marks_ = std::move(*marks);
  made->traits_ = traits_of(options);
  if (auto r = made->share_memory(); !r) return std::unexpected(r.error());
  const auto plugin_option =
      fmt::format("{},syscalls={}", with_commas_doubled(*plugin), options.counts_buffers ? 1 : 0);
  made->tell_plugin(plugin_option);
  std::vector<std::string> words{
      *qemu, "-plugin",
      fmt::format("{},control={},shadow={}", plugin_option, made->control_file_.descriptor(),
                  made->marks_.file().descriptor())};
  if (options.traces_objects) {
    if (auto r = made->trace_objects(*program, words); !r) return std::unexpected(r.error());
  }
  words.insert(words.end(), {"-0", options.program.front(), *program});
  words.insert(words.end(), options.program.begin() + 1, options.program.end());
  if (auto r = made->spawn(words, options); !r) return std::unexpected(r.error());
  return made;
}

base::result<void> qemu_source::share_memory() {
  auto file = os::file::in_memory("memory that is shared with QEMU");
  if (!file) return std::unexpected(file.error());
  if (auto r = file->resize(sizeof(control)); !r) return r;
  auto mapped = os::mapping::map(*file, sizeof(control), os::mapping_access::read_write);
  if (!mapped) return std::unexpected(mapped.error());
  control_file_ = std::move(*file);
  shared_ = std::move(*mapped);
  shared().window_ends.store_release(kNever);
  return {};
}

base::result<void> qemu_source::trace_objects(const std::string& program,
                                              std::vector<std::string>& words) {
  if (!loads_libraries(program)) {
    return std::unexpected(
        base::error{program +
                    " is a static program: its objects cannot be traced, since no library can be "
                    "loaded into it; leave --objects out"});
  }
  const auto preload = find_preload();
  if (!preload) return std::unexpected(preload.error());
  if (preload->find_first_of(",: ") != std::string::npos) {
    return std::unexpected(base::error{
        "objects cannot be traced by " + *preload +
        ": a program cannot be told to load a library whose path has a comma, colon or space"});
  }
  auto file = os::file::in_memory("allocations of the program");
  if (!file) return std::unexpected(file.error());
  if (auto r = file->resize(sizeof(allocation_log)); !r) return r;
  auto mapped = os::mapping::map(*file, sizeof(allocation_log), os::mapping_access::read_write);
  if (!mapped) return std::unexpected(mapped.error());
  log_file_ = std::move(*file);
  log_ = std::move(*mapped);
  words.back() += fmt::format(",allocations={}", log_file_.descriptor());
  const char* const others = std::getenv(kPreloadVariable);
  words.insert(words.end(),
               {"-E", fmt::format("{}={}{}{}", kPreloadVariable, *preload,
                                  others != nullptr ? ":" : "", others != nullptr ? others : "")});
  return {};
}

void qemu_source::take_allocations() {
  if (log_.data() != nullptr) objects_.take(log());
}

void qemu_source::tell_plugin(const std::string& option) {
  option.copy(shared().plugin, sizeof shared().plugin - 1);
  shared().files[0] = static_cast<std::uint32_t>(control_file_.descriptor());
  shared().files[1] = static_cast<std::uint32_t>(marks_.file().descriptor());
}

base::result<void> qemu_source::spawn(const std::vector<std::string>& words,
                                      const qemu_options& options) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int kept :
       {control_file_.descriptor(), marks_.file().descriptor(), log_file_.descriptor()}) {
    if (kept < 0) continue;                                // objects are not traced
    posix_spawn_file_actions_adddup2(&files, kept, kept);  // open in the new program, too
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : options.default_signals) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int problem = posix_spawn(&pid_, words.front().c_str(), &files, &attributes,
                                  pointers(words).data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) {
    pid_ = 0;
    return std::unexpected(base::system_error("cannot run " + words.front(), problem));
  }
  window_began_ = image_read_ = clock::now();
  qemu_ = executable_of(pid_);
  return {};
}

qemu_source::~qemu_source() {
  if (pid_ == 0) return;
  if (::kill(pid_, SIGKILL) == 0) ::waitpid(pid_, nullptr, 0);
}

bool qemu_source::has_ended() {
  if (pid_ == 0) return true;
  const pid_t ended = ::waitpid(pid_, &status_, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  if (ended < 0) status_ = 0;  // the system has reaped it, since SIGCHLD was ignored at the start
  pid_ = 0;
  image_age_seconds_ = seconds(clock::now() - image_read_);
  return true;
}

bool qemu_source::wait_for_end() {
  if (pid_ != 0) std::this_thread::sleep_for(kLook);
  return has_ended();
}

bool qemu_source::list_regions() {
  const std::uint32_t asked = shared().regions_asked.fetch_add_acq_rel(1) + 1;
  wake(shared().regions_asked);
  const auto until = clock::now() + kAnswerWait;
  while (shared().regions_told.load_acquire() != asked) {
    if (clock::now() > until || has_ended() || was_replaced() || waits_at(kReplaced)) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

void qemu_source::read_memory() {
  const auto begin = clock::now();
  if (pid_ == 0 || shared().stage.load_acquire() == kStarting || !list_regions()) return;
  auto image = read_guest_memory(pid_, shared());
  image_took_ = clock::now() - begin;
  if (!image) return;
  image_ = std::move(*image);
  image_read_ = clock::now();
}

bool qemu_source::waits_at(control_stage stage) const {
  return shared().stage.load_acquire() == stage && shared().acknowledged.load_acquire() != stage;
}

void qemu_source::let_go_on(control_stage stage) {
  shared().acknowledged.store_release(stage);
  wake(shared().acknowledged);
}

void qemu_source::answer_stage() {
  for (const control_stage stage : {kExecuting, kEnding}) {
    if (!waits_at(stage)) continue;
    read_memory();
    let_go_on(stage);
  }
}

void qemu_source::end_window() {
  shared().window_ends.store_release(kNever);
  std::uint32_t running = number_;
  shared().window.compare_exchange_acq_rel(running, number_ + 1);  // unless the plugin has ended it
}

bool qemu_source::was_replaced() const {
  return pid_ != 0 && shared().stage.load_acquire() == kExecuting && executable_of(pid_) != qemu_;
}

bool qemu_source::ends_now(const window_limit& limit, const requests& asked) {
  const bool in_time = limit.seconds && seconds(clock::now() - window_began_) >= *limit.seconds;
  if (!in_time && !asked.ask_for_end()) return false;
  end_window();
  return true;
}

base::result<window> qemu_source::observe(const window_limit& limit, const requests& asked) {
  if (limit.accesses) shared().window_ends.store_release(accesses_began_ + *limit.accesses);
  window w;
  if (!observed_last_.empty() && log_.data() != nullptr) {  // by another program now
    log_ = {};
    objects_ended_ = true;
  }
  w.area = number_ % kAreas;
  while (shared().window.load_acquire() == number_) {
    w.last = wait_for_end() || was_replaced();
    take_allocations();
    answer_stage();
    w.replaced = waits_at(kReplaced);
    if (w.replaced) end_window();
    if (w.last || w.replaced || ends_now(limit, asked)) break;
    const auto since = clock::now() - image_read_;
    const bool is_due = since > kBetweenImages && since > image_took_ * kImageShare;
    if (is_due && shared().stage.load_acquire() == kRunning) read_memory();
    if (asked.progress) {
      asked.progress(seconds(clock::now() - window_began_),
                     accesses_of(shared()) - accesses_began_);
    }
  }
  const auto now = clock::now();
  const std::uint64_t accesses = accesses_of(shared());
  w.seconds = seconds(now - std::exchange(window_began_, now));
  w.accesses = accesses - std::exchange(accesses_began_, accesses);
  w.last |= asked.stop.stop_requested();
  if (pid_ == 0 && shared().stage.load_acquire() == kStarting) {
    return std::unexpected(
        base::error{"QEMU could not run " + traits_.subject + ": its own message says why"});
  }
  if (w.replaced) {
    observed_last_ = shared().executed;
    let_go_on(kReplaced);  // `image_` is of the moment before
  } else if (pid_ != 0 && !was_replaced()) {
    const auto read_before = image_read_;
    read_memory();
    if (image_read_ == read_before) ++missed_images_;
  }
  w.memory = image_;
  take_allocations();
  number_ = shared().window.load_acquire();
  return w;
}

int qemu_source::finish(const requests& asked) {
  replaced_ = was_replaced() || (pid_ == 0 && shared().stage.load_acquire() == kExecuting);
  shared().detached.store_release(1);
  wake(shared().acknowledged);
  while (pid_ != 0 && replaced_ && !asked.stop.stop_requested()) wait_for_end();
  asked_to_end_ = pid_ != 0 || asked.stop.stop_requested();
  if (pid_ != 0) ::kill(pid_, SIGTERM);
  const auto until = clock::now() + kEndWait;
  while (pid_ != 0 && !wait_for_end()) {
    if (clock::now() <= until) continue;
    // A program that has gained other rights (by exec of sudo, say) runs on by itself.
    if (::kill(pid_, SIGKILL) != 0 && errno == EPERM) pid_ = 0;
  }
  if (WIFEXITED(status_)) return WEXITSTATUS(status_);
  return asked_to_end_ ? 0 : 128 + WTERMSIG(status_);
}

std::vector<std::string> qemu_source::remarks() const {
  std::vector<std::string> all;
  if (replaced_) {
    all.push_back(
        fmt::format("It replaced itself by {}, which was not observed: a script, a program with "
                    "other rights, or none of x86-64. Name the program that is meant.",
                    static_cast<const char*>(shared().executed)));
  } else if (WIFSIGNALED(status_) && !asked_to_end_) {
    const int signal = WTERMSIG(status_);
    const std::string age =
        image_.knows_resident
            ? fmt::format("the memory that it held is of {:.1f} s before", image_age_seconds_)
            : "too early for a look at the memory that it held";
    all.push_back(fmt::format("It died by signal {} ({}); {}.", signal, ::strsignal(signal), age));
  }
  if (const auto programs = shared().replacements.load_relaxed(); programs > 0) {
    all.push_back(fmt::format(
        "It replaced itself {} time{}, each time at the end of a window; the program observed last "
        "was {}.",
        programs, programs == 1 ? "" : "s", observed_last_));
  }
  if (const auto children = shared().children.load_relaxed(); children > 0) {
    all.push_back(fmt::format("It forked {} time{}; its children were not observed.", children,
                              children == 1 ? "" : "s"));
  }
  if (log_.data() != nullptr && !knows_objects()) {
    all.emplace_back(
        "It called no allocation function of a shared library, so that its objects are not known: "
        "it has its own malloc, or needs none.");
  }
  if (objects_ended_) {
    all.emplace_back("Objects were traced until it replaced itself.");
  }
  if (missed_images_ > 0) {
    all.push_back(fmt::format("The memory that it held could not be read at the end of {} windows.",
                              missed_images_));
  }
  if (shared().regions_known == 0) {
    all.emplace_back("This QEMU does not tell which memory the program held.");
  }
  return all;
}

}  // namespace isotherm::pages
