// isotherm top: reads the flags and watches a server.
#include <cstdlib>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "top/top.hpp"

namespace isotherm::cli {
namespace {

constexpr const char* kFooter =
    "q or Ctrl-C quits. A password is taken from the variable REDISCLI_AUTH, as redis-cli does, "
    "so\n"
    "that nobody sees it among the processes. NO_COLOR and TERM=dumb switch colours off.";

struct top_arguments {
  top::top_options options{.server = "127.0.0.1:6379", .as = {}};
  bool once = false;
};

void run(top_arguments& a) {
  if (const char* const password = std::getenv("REDISCLI_AUTH")) a.options.as.password = password;
  if (a.options.as.password.empty() && !a.options.as.user.empty()) {
    refuse_words("--user goes with a password: put it into the variable REDISCLI_AUTH");
  }
  require(a.once ? top::print_frame(a.options) : top::watch_server(a.options));
}

}  // namespace

void add_top(command root) {
  auto a = std::make_shared<top_arguments>();
  const command c = root.subcommand("top", "watch a server's pages and figures in a terminal");
  c.add("server", a->options.server, "the path of a Unix socket, or HOST:PORT");
  c.add("--user", a->options.as.user, "to give with the password");
  c.add("--interval", a->options.interval_seconds, "seconds between two looks", 0.05, 3600);
  c.add_switch("--once", a->once, "print one frame and end, for pipes and scripts");
  c.footer(kFooter);
  c.action([a] { run(*a); });
}

}  // namespace isotherm::cli
