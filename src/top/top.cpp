#include "top/top.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "top/frame.hpp"
#include "top/terminal.hpp"

namespace isotherm::top {

using clock = std::chrono::steady_clock;

namespace {

using std::chrono::milliseconds;

base::result<observer> connect(const top_options& asked) {
  const auto where = parse_server(asked.server);
  if (!where) return std::unexpected(where.error());
  return observer::connect(*where, asked.as);
}

/// One window after another until the user quits, or the server is no more.
base::result<void> watch(observer& server, history& seen, terminal& screen, milliseconds interval) {
  const text_style style = style_of_environment();
  for (;;) {
    const auto began = clock::now();
    auto found = server.look();
    if (!found) return std::unexpected(std::move(found).error());
    const auto next = next_look(began, clock::now(), interval);
    seen.add(std::move(*found));
    for (;;) {
      screen.draw(render(seen, style, size_of_window()));
      const auto left = std::chrono::ceil<milliseconds>(next - clock::now());
      const auto event = screen.wait(std::max(left, milliseconds{0}));
      if (event == terminal::event::quit) return {};
      if (event == terminal::event::timeout && clock::now() >= next) break;
    }
  }
}

}  // namespace

clock::time_point next_look(clock::time_point began, clock::time_point ended,
                            milliseconds interval) {
  constexpr int kRests = 20;
  return std::max(began + interval, ended + kRests * (ended - began));
}

base::result<void> print_frame(const top_options& asked) {
  auto server = connect(asked);
  if (!server) return std::unexpected(std::move(server).error());
  auto found = server->look();
  if (!found) return std::unexpected(std::move(found).error());
  history seen(asked.server);
  seen.add(std::move(*found));
  for (const std::string& line : render(seen, style_of_environment(), size_of_window())) {
    fmt::print("{}\n", line);
  }
  return {};
}

base::result<void> watch_server(const top_options& asked) {
  if (auto there = terminal::check(); !there) return there;
  auto server = connect(asked);
  if (!server) return std::unexpected(std::move(server).error());
  history seen(asked.server);
  terminal screen;
  return watch(*server, seen, screen,
               milliseconds(static_cast<std::int64_t>(asked.interval_seconds * 1000)));
}

}  // namespace isotherm::top
