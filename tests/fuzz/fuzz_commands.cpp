// A whole connection under libFuzzer: bytes from a socket through the parser and every command on a
// small database, with and without a password, under limits that are easily broken.
//
// The input's first byte chooses the server, the second how the stream is cut; the rest is what the
// client sends. Whatever that is, the server must not fall, must answer in whole replies of the
// protocol, and must let a stranger change nothing.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "server/connection.hpp"
#include "server/server.hpp"
#include "store/fake_index.hpp"
#include "store/text.hpp"

namespace {

using namespace isotherm;

/// Takes one whole reply of RESP2 or RESP3 from the front; false when there is none.
bool take_reply(std::string_view& stream) {
  const auto end = stream.find("\r\n");
  if (stream.empty() || end == stream.npos) return false;
  const char kind = stream[0];
  const std::string_view line = stream.substr(1, end - 1);
  stream.remove_prefix(end + 2);
  if (std::string_view("+-,_#").contains(kind)) return line.find_first_of("\r\n") == line.npos;
  const auto number = store::parse_integer(line);
  if (!number) return false;
  if (kind == ':') return true;
  if (*number < -1) return false;
  const auto length = static_cast<std::size_t>(std::max<std::int64_t>(*number, 0));
  if (std::string_view("$=").contains(kind)) {
    if (*number < 0) return true;
    if (stream.size() < length + 2 || stream.substr(length, 2) != "\r\n") return false;
    stream.remove_prefix(length + 2);
    return true;
  }
  if (!std::string_view("*%~").contains(kind)) return false;
  for (std::size_t i = 0; i < length * (kind == '%' ? 2 : 1); ++i) {
    if (!take_reply(stream)) return false;
  }
  return true;
}

enum choice : unsigned char { kSecret = 1, kStranger = 2, kFewReplies = 4, kFull = 8 };
constexpr std::string_view kUnguessable = "q7VZ0x2mB9tKc4LwYh8RsE1uNfJ6gDpA";

server::options options_of(unsigned char chosen) {
  server::options start;
  if (chosen & kSecret) start.password = "secret";
  if (chosen & kStranger) start.password = kUnguessable;
  if (chosen & kFull) start.maxmemory_bytes = 1;
  return start;
}

/// The keys, emptied for each input; a database made anew would take most of the time.
store::database& empty_database() {
  static std::optional<store::testing::fake_index> index(std::in_place);
  static store::database db(*index, [] { return std::uint64_t{2}; });
  db.clear();
  index.emplace();
  return db;
}

class session {
 public:
  explicit session(unsigned char chosen)
      : db_(empty_database()), server_(options_of(chosen), db_, nullptr) {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) != 0) std::abort();
    outside_ = both[1];
    client_ = std::make_shared<server::client>(server_, 1, both[0], "peer:1", "local:1");
    client_->authenticated = !server_.tuning().has_password();
    server_.clients().add(client_);
    if (chosen & kFewReplies) server_.tuning().output_hard_limit.store_relaxed(4096);
    server_.tuning().query_buffer_limit.store_relaxed(8192);
    server_.tuning().longest_value.store_relaxed(1 << 20);
    inside_ = std::make_unique<server::connection>(server_, client_, shared_);
  }
  ~session() { ::close(outside_); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// False when the connection was closed.
  bool send(std::string_view piece) {
    if (::send(outside_, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) std::abort();
    bool lives = inside_->on_readable();
    while (lives && inside_->wants_to_write()) {
      lives = inside_->on_writable();
      receive();
    }
    receive();
    return lives && !client_->killed.load_relaxed();
  }
  const std::string& received() const { return received_; }
  std::size_t keys() const { return db_.keys(); }

 private:
  void receive() {
    char buffer[65536];
    for (ssize_t got; (got = ::recv(outside_, buffer, sizeof buffer, 0)) > 0;) {
      received_.append(buffer, static_cast<std::size_t>(got));
    }
  }

  store::database& db_;
  server::server server_;
  std::shared_ptr<server::client> client_;
  server::loop_share shared_{server_.commands().callables().size()};
  std::unique_ptr<server::connection> inside_;
  int outside_ = -1;
  std::string received_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  ::signal(SIGTERM, SIG_IGN);  // SHUTDOWN
  if (size < 3) return -1;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  // Values of gigabytes are slow and find nothing.
  if (store::to_lower(stream).contains("proto-max")) return -1;
  session one(data[0]);
  const std::size_t step = data[1] == 0 ? stream.size() : data[1];
  for (std::size_t at = 0; at < stream.size(); at += step) {
    if (!one.send(stream.substr(at, step))) break;
  }
  std::string_view replies = one.received();
  while (!replies.empty()) {
    if (!take_reply(replies)) std::abort();
  }
  if (data[0] & kStranger && one.keys() != 0) std::abort();
  return 0;
}
