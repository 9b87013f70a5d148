// Signals of commands that write a file: they end by cleaning up.
#pragma once

#include <stop_token>

namespace isotherm::cli {

/// The exit status after such a signal.
inline constexpr int kInterrupted = 130;

/// From now on SIGINT, SIGTERM and SIGHUP request a stop by the token that is returned, but for
/// those that the process was started to ignore (nohup, jobs in the background). A reader that goes
/// away (SIGPIPE) and the limit of file sizes (SIGXFSZ) make the write fail instead of ending the
/// process. Do not register a callback with the token: a handler would run it.
std::stop_token catch_signals();

/// Ends the process by SIGPIPE, as a program that catches nothing ends when no process reads its
/// output any more; returns if the process was started to ignore that signal. After
/// catch_signals().
void end_as_by_closed_pipe();

}  // namespace isotherm::cli
