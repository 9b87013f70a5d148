// The devices of one sort: that of input and output, and those of the directories for temporary
// files. The devices' numbers decide where runs go: a run is written once and read in pieces,
// beside other runs, so that an index map lies where reads at random places are cheap; what does
// not fit there lies where there is room (dissertation 7.2.1).
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/emulation.hpp"

namespace isotherm::sort {

/// How the files of one device are accessed.
struct device_use {
  device::emulation* emulation = nullptr;  ///< null: the device is not emulated
  unsigned read_threads = 1;               ///< of reads in sequence
  unsigned write_threads = 1;
};

/// A directory for runs.
struct run_directory {
  std::string path;
  const device::model* numbers = nullptr;  ///< null: they are not known
  std::uint64_t free_bytes = 0;            ///< of a directory that the options name
  bool apart = false;                      ///< whether its device holds neither input nor output
  device_use use{};                        ///< the plan chooses the threads
};

/// Owns the devices of a sort. Movable; what it has given out stays where it is.
class devices {
 public:
  /// Finds the devices that the options name. Without a temporary directory `usual` is one. An
  /// error if the numbers of one cannot be read, or files cannot be made in a directory that is
  /// named.
  static base::result<devices> open(const sort_options& options, const std::string& usual);

  /// Numbers of the device of input and output; null: they are not known.
  const device::model* numbers() const noexcept { return main_ ? &main_->numbers : nullptr; }
  /// Its emulation; null: it is not emulated.
  device::emulation* emulation() const noexcept { return main_ ? main_->emulation.get() : nullptr; }
  /// Directories for runs, the fastest first; those whose numbers are not known come last, the
  /// roomiest of them first.
  const std::vector<run_directory>& directories() const noexcept { return directories_; }
  /// The directory for copies of whole inputs and outputs: the one with the most free space.
  const std::string& roomiest() const noexcept;

 private:
  struct device {
    isotherm::device::model numbers;
    std::unique_ptr<isotherm::device::emulation> emulation;
  };
  enum class role : std::uint8_t { whole, runs };
  static base::result<std::unique_ptr<device>> find(const std::string& name, role r);
  base::result<void> add(const sort_directory& named);

  std::unique_ptr<device> main_;
  const isotherm::device::model* of_runs_ = nullptr;  // numbers of its accesses to runs
  std::vector<std::unique_ptr<device>> others_;
  std::vector<run_directory> directories_;
};

/// The directory for copies of whole inputs and outputs; `usual` if the options name none.
base::result<std::string> directory_for_copies(const sort_options& options,
                                               const std::string& usual);

/// A directory that takes `bytes` of runs, and the time of its device for them.
sort_place place_of(const run_directory& d, std::uint64_t bytes);

/// Seconds that a device takes for bytes of runs, by the threads that access it; 0 if its numbers
/// are not known.
struct run_seconds {
  double write = 0;
  double read = 0;
};
run_seconds seconds_of_runs(const run_directory& d, double bytes);

}  // namespace isotherm::sort
