#include "top/terminal.hpp"

#include <fmt/format.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace isotherm::top {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[2J";  // second screen, no cursor
constexpr std::string_view kLeave = "\033[0m\033[?25h\033[?1049l";
constexpr std::array kEndings{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t g_resized = 0;
volatile std::sig_atomic_t g_ended = 0;

void take_signal(int number) {
  if (number == SIGWINCH) {
    g_resized = 1;
  } else {
    g_ended = 1;
  }
}

/// Blocked but while wait() waits, so that none comes between a look and the wait.
sigset_t heeded_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  for (const int each : kEndings) sigaddset(&set, each);
  return set;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(STDOUT_FILENO, text.data(), text.size());
    if (done < 0 && errno != EINTR) return;  // a terminal that has gone ends the next wait
    if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
  }
}

std::size_t number_of(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  std::size_t value = 0;
  if (!text) return otherwise;
  const auto [end, problem] = std::from_chars(text, text + std::strlen(text), value);
  return problem == std::errc() && value > 0 ? value : otherwise;
}

/// Behind the sequence that begins at `at` with an escape, as keys without a letter send it, or a
/// letter with Alt.
std::size_t end_of_sequence(std::string_view keys, std::size_t at) {
  const char kind = at + 1 < keys.size() ? keys[at + 1] : '\0';
  if (kind != '[') return at + (kind == 'O' ? 3 : 2);
  const auto is_final = [](char c) { return c >= '@' && c <= '~'; };
  for (at += 2; at < keys.size() && !is_final(keys[at]);) ++at;
  return at + 1;
}

bool asks_to_quit(std::string_view keys) {
  constexpr std::string_view kQuits = "qQ\003";
  for (std::size_t at = 0; at < keys.size();) {
    if (kQuits.contains(keys[at])) return true;
    at = keys[at] == '\033' ? end_of_sequence(keys, at) : at + 1;
  }
  return false;
}

bool is_set(const char* variable) {
  const char* const text = std::getenv(variable);
  return text && *text;
}

}  // namespace

text_style style_of_environment() {
  const char* const term = std::getenv("TERM");
  const bool is_dumb = !term || std::string_view(term) == "dumb";
  std::setlocale(LC_CTYPE, "");
  text_style style;
  if (std::string_view(nl_langinfo(CODESET)) == "UTF-8" && !(is_dumb && isatty(STDOUT_FILENO))) {
    style.drawn_with = text_style::letters::blocks;
  }
  if (!is_dumb && !is_set("NO_COLOR") && isatty(STDOUT_FILENO)) {
    style.shown_in = text_style::colours::indexed;
  }
  return style;
}

window_size size_of_window() {
  winsize found{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 && found.ws_row > 0) {
    return {found.ws_col, found.ws_row};
  }
  const window_size usual;
  return {number_of("COLUMNS", usual.columns), number_of("LINES", usual.rows)};
}

base::result<void> terminal::check() {
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) return {};
  return std::unexpected(
      base::error{"standard input and output are no terminal; --once prints one frame"});
}

terminal::terminal() {
  g_resized = 0;
  g_ended = 0;
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  const sigset_t heeded = heeded_signals();
  pthread_sigmask(SIG_BLOCK, &heeded, nullptr);
  struct sigaction how{};
  how.sa_handler = take_signal;
  sigaction(SIGWINCH, &how, nullptr);
  for (const int each : kEndings) sigaction(each, &how, nullptr);
  how.sa_handler = SIG_IGN;  // of a connection that broke the answer tells
  sigaction(SIGPIPE, &how, nullptr);
  write_all(kEnter);
}

terminal::~terminal() {
  write_all(kLeave);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  struct sigaction how{};
  how.sa_handler = SIG_DFL;
  sigaction(SIGWINCH, &how, nullptr);
  sigaction(SIGPIPE, &how, nullptr);
  for (const int each : kEndings) sigaction(each, &how, nullptr);
  const sigset_t heeded = heeded_signals();
  pthread_sigmask(SIG_UNBLOCK, &heeded, nullptr);
}

void terminal::draw(const std::vector<std::string>& lines) {
  std::string text = "\033[H";
  for (const std::string& line : lines) {
    if (&line != &lines.front()) text += "\r\n";
    // Cleared before it is written: behind a line as wide as the window, its last character would
    // be cleared. The last line clears the rows below it, too.
    text += &line == &lines.back() ? "\033[J" : "\033[K";
    text += line + "\033[0m";
  }
  write_all(text);
}

terminal::event terminal::wait(std::chrono::milliseconds limit) {
  sigset_t open;
  pthread_sigmask(SIG_BLOCK, nullptr, &open);
  sigdelset(&open, SIGWINCH);
  for (const int each : kEndings) sigdelset(&open, each);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
  const timespec patience{
      .tv_sec = seconds.count(),
      .tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(limit - seconds).count()};
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  ppoll(&input, 1, &patience, &open);
  if (g_ended) return event::quit;
  if (input.revents != 0) {
    std::array<char, 64> keys{};
    const ssize_t count = read(STDIN_FILENO, keys.data(), keys.size());
    if (count <= 0) return event::quit;
    if (asks_to_quit({keys.data(), static_cast<std::size_t>(count)})) return event::quit;
  }
  if (g_resized) {
    g_resized = 0;
    return event::resized;
  }
  return event::timeout;
}

}  // namespace isotherm::top
