// Runs a program under user-mode QEMU and observes each byte that it fetches, loads or stores.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "pages/qemu/control.hpp"
#include "pages/source.hpp"

namespace isotherm::pages {

struct qemu_options {
  std::vector<std::string> program;  ///< with its arguments; not empty
  bool counts_buffers = false;       ///< buffers of system calls are used, too
  bool traces_objects = false;       ///< allocations of the program are traced, too
  std::vector<int> default_signals;  ///< that the tool ignores, and the program is not to
};

class qemu_source final : public source {
 public:
  /// Starts the program. Errors: see find_program(), find_qemu(), find_plugin(), find_preload(); no
  /// memory; a static program of which objects are to be traced.
  static base::result<std::unique_ptr<qemu_source>> start(const qemu_options& options);
  qemu_source(const qemu_source&) = delete;
  qemu_source& operator=(const qemu_source&) = delete;
  /// Ends the program by SIGKILL if finish() was not called.
  ~qemu_source() override;

  const source_traits& traits() const override { return traits_; }
  base::result<window> observe(const window_limit& limit, const requests& asked) override;
  const shadow& marks() const override { return marks_; }
  const object_table* objects() const override { return knows_objects() ? &objects_ : nullptr; }
  /// Ends a program that still runs by SIGTERM, and 10 s later by SIGKILL.
  int finish(const requests& asked) override;
  std::vector<std::string> remarks() const override;

 private:
  using clock = std::chrono::steady_clock;
  qemu_source() = default;
  base::result<void> share_memory();
  /// Prepares the log of allocations, and adds words for it to QEMU's arguments.
  base::result<void> trace_objects(const std::string& program, std::vector<std::string>& words);
  allocation_log& log() const noexcept { return *reinterpret_cast<allocation_log*>(log_.data()); }
  /// Returns whether the program has the library that tells its allocations, and uses it.
  bool knows_objects() const noexcept {
    return log_.data() != nullptr && log().attached.load_acquire() != 0;
  }
  /// Takes the allocations so far.
  void take_allocations();
  base::result<void> spawn(const std::vector<std::string>& words, const qemu_options& options);
  control& shared() const noexcept { return *reinterpret_cast<control*>(shared_.data()); }
  /// Returns whether the process has ended.
  bool has_ended();
  /// Waits some milliseconds before.
  bool wait_for_end();
  /// Tells the plugin how another program that replaces this one is to be observed.
  void tell_plugin(const std::string& option);
  /// Returns whether the program waits for the tool at this stage.
  bool waits_at(control_stage stage) const;
  void let_go_on(control_stage stage);
  /// Reads the program's memory when it is about to end or to be replaced, and lets it go on.
  void answer_stage();
  /// Reads the program's memory now. Keeps the last image if that cannot be done.
  void read_memory();
  /// Has the plugin list the program's regions; returns whether it did.
  bool list_regions();
  /// Begins the next window, unless the plugin has begun it.
  void end_window();
  /// Returns whether another program runs in its process, by execve(), and is not observed.
  bool was_replaced() const;
  /// Returns whether the tool ends the window: it has taken the limit's time, or was asked to.
  bool ends_now(const window_limit& limit, const requests& asked);

  shadow marks_;
  os::file control_file_;
  os::mapping shared_;
  os::file log_file_;
  os::mapping log_;  // empty: allocations are not traced
  object_table objects_;
  bool objects_ended_ = false;  // were traced, of a program that made way for another one
  source_traits traits_;
  std::string observed_last_;  // path of the program that has replaced the one before
  std::string qemu_;           // path of the process's executable
  int pid_ = 0;                // 0: ended
  int status_ = 0;             // as waitpid() told it
  bool asked_to_end_ = false;  // by the tool
  bool replaced_ = false;
  std::uint32_t number_ = 0;  // of the window that runs
  clock::time_point window_began_;
  std::uint64_t accesses_began_ = 0;
  memory_image image_;  // read last
  clock::time_point image_read_;
  clock::duration image_took_{};
  unsigned missed_images_ = 0;    // at the ends of windows
  double image_age_seconds_ = 0;  // when the process had ended
};

}  // namespace isotherm::pages
