// A child process that talks with its parent in lines, and never outlives it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace isotherm::lab {

/// An end of the conversation. Thread: one.
class line_channel {
 public:
  explicit line_channel(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  line_channel(line_channel&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), partial_(std::move(other.partial_)) {}
  line_channel& operator=(line_channel&&) = delete;
  ~line_channel();

  /// Sends a line, which has no line feed. Does nothing where the other end is gone, if the process
  /// ignores SIGPIPE.
  void send(const std::string& line) const;
  /// Returns the lines that have come, at once. `is_open` turns false at the other end's end.
  std::vector<std::string> received();
  bool is_open() const noexcept { return is_open_; }
  /// Waits for a line, or for the other end's end: then returns "".
  std::string next();
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
  bool is_open_ = true;
  std::string partial_;  ///< of a line whose end has not come
};

/// Thread: one, which must be the one that started it and must not end before.
class child_process {
 public:
  /// Runs `body` in a fork of this process, which must have one thread. The child is of a session
  /// of its own, so that an interrupt of a terminal does not meet it, and is killed when the parent
  /// ends. It keeps no descriptor but the standard ones and its channel.
  static base::result<child_process> start(const std::function<void(line_channel&)>& body);
  child_process(child_process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}
  child_process& operator=(child_process&&) = delete;
  ~child_process();  ///< kills it and waits for its end

  pid_t pid() const noexcept { return pid_; }
  line_channel& channel() noexcept { return channel_; }

 private:
  child_process(pid_t pid, line_channel channel) : pid_(pid), channel_(std::move(channel)) {}
  pid_t pid_;
  line_channel channel_;
};

}  // namespace isotherm::lab
