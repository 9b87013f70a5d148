#include "live/http_server.hpp"

#include <fmt/format.h>
#include <microhttpd.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <list>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "live/address_map.hpp"
#include "live/files.hpp"
#include "live/received.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"
#include "os/wake_event.hpp"

namespace isotherm::live {

namespace {

using nlohmann::json;

constexpr std::size_t kBodyBytesMost = 4096;
constexpr std::size_t kStreamBlockBytes = std::size_t{16} << 10;
/// A connection without a whole request is closed after so long, however slowly one comes; sooner
/// while more than half of the connections are taken.
constexpr unsigned kIdleSeconds = 10, kIdleSecondsWhenFull = 1;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kTickNs = kSecondNs;

constexpr std::string_view kJson = "application/json", kText = "text/plain; charset=utf-8";

/// Headers of every answer: no load from elsewhere, no frame around the page, no guessed type.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
     "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

/// An answer that is to be sent.
struct answer {
  unsigned status = 200;
  std::string_view type = kText;
  std::string body{};
  std::uint64_t retry_after_ms = 0;  ///< 0: at once
  bool closes = false;               ///< what comes behind the request is not understood
};

answer problem(unsigned status, std::string_view why) {
  return {status, kJson, json{{"error", why}}.dump()};
}

/// A request on its way in.
struct incoming {
  bool has_head = false;
  bool is_unclear = false;  ///< another reader may understand it differently
  std::string body;
};

/// A connection on which a request is awaited, or has not come as a whole yet.
struct awaited {
  MHD_Connection* connection;
  std::uint64_t since_ns;  ///< 0: the request has come
};

/// Returns the entry that on_connection() made for the connection; null: there was no memory.
awaited* awaited_on(MHD_Connection* connection) {
  const auto* const context =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return static_cast<awaited*>(context->socket_context);
}

std::string_view type_of(std::string_view file) {
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool send(MHD_Connection* to, unsigned status, MHD_Response* response) {
  if (!response) return false;
  for (const auto& [name, value] : kHeaders) MHD_add_response_header(response, name, value);
  const bool queued = MHD_queue_response(to, status, response) == MHD_YES;
  MHD_destroy_response(response);
  return queued;
}

bool send(MHD_Connection* to, answer&& of) {
  MHD_Response* const response =
      MHD_create_response_from_buffer(of.body.size(), of.body.data(), MHD_RESPMEM_MUST_COPY);
  if (!response) return false;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, std::string(of.type).c_str());
  if (of.retry_after_ms > 0) {
    const std::string seconds = fmt::format("{}", (of.retry_after_ms + 999) / 1000);
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds.c_str());
  }
  if (of.closes) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  return send(to, of.status, response);
}

answer of_map(map_answer&& found) {
  if (!found.json.empty()) return {200, kJson, std::move(found.json)};
  // The answer is no failure, which a browser would report: the page asks again.
  const json body{{"retry_after_ms", found.retry_after_ms}};
  return {202, kJson, body.dump(), found.retry_after_ms};
}

}  // namespace

struct http_server::state {
  state(process_view& view, control allowed, address listening, std::vector<std::string> names)
      : shown(view), changes(allowed), where(std::move(listening)), own_names(std::move(names)) {
    own_names.push_back(machine_name());
    if (view.collector()) map.emplace(*view.collector());
  }
  ~state();

  /// An event stream. It sends the newest event when it has sent the one before: a client that
  /// reads slowly misses some, and one that does not read keeps one.
  struct stream {
    state& of;
    MHD_Connection* connection;
    std::list<stream>::iterator self{};
    std::shared_ptr<const std::string> event{};
    std::size_t sent = 0;
    bool is_suspended = false;
  };
  struct route {
    std::string_view path;
    access wanted;
    answer (state::*act)(MHD_Connection*, std::string_view body);
  };
  static const route kRoutes[];

  process_view& shown;
  const control changes;
  address where;
  std::vector<std::string> own_names;
  const pid_t process = ::getpid();
  std::optional<address_map> map;
  std::string start_problem;  // what the library said when it did not start

  MHD_Daemon* daemon = nullptr;
  int epoll = -1;
  const os::wake_event wake;
  base::atomic<bool> stopping{false};  // release by stop(), acquire by the thread
  os::thread thread;

  // State of the thread.
  std::list<stream> streams;
  std::list<awaited> connections;
  bool has_closed = false;  // one of these, which may have had the last place
  std::shared_ptr<const std::string> newest;
  std::uint64_t next_tick_ns = 0;

  base::result<void> listen();
  base::result<void> start_thread();
  void stop();
  void run();
  int wait_ms() const;
  void tick();
  bool is_rather_full() const { return connections.size() > kConnections / 2; }
  void close_late();

  // Callbacks of the library, in the thread.
  static MHD_Result on_request(void* of, MHD_Connection* from, const char* path, const char* method,
                               const char* version, const char* data, std::size_t* bytes,
                               void** request);
  static void* on_path(void* of, const char* path, MHD_Connection* from);
  static void on_end_of_request(void*, MHD_Connection*, void** request, MHD_RequestTerminationCode);
  static void on_connection(void* of, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code);
  static void on_message(void* of, const char* format, std::va_list values);
  static ssize_t next_piece(stream& to, char* buffer, std::size_t most);

  bool take(MHD_Connection* from, std::string_view path, std::string_view method,
            std::string_view body);
  answer answer_to(MHD_Connection* from, std::string_view path, std::string_view method,
                   std::string_view body);
  std::optional<answer> refused(MHD_Connection* from, access wanted, std::string_view method) const;
  bool stream_to(MHD_Connection* to, std::string_view method);

  answer healthz(MHD_Connection*, std::string_view) { return {200, kText, "ok\n"}; }
  answer metrics(MHD_Connection*, std::string_view) {
    return {200, "text/plain; version=0.0.4; charset=utf-8", to_metrics(shown.look())};
  }
  answer stats(MHD_Connection*, std::string_view) { return {200, kJson, to_json(shown.look())}; }
  answer tables(MHD_Connection*, std::string_view);
  answer map_cells(MHD_Connection* from, std::string_view);
  answer page_objects(MHD_Connection* from, std::string_view);
  answer change_option(MHD_Connection*, std::string_view body);
};

const http_server::state::route http_server::state::kRoutes[] = {
    {"/healthz", access::read, &state::healthz},
    {"/metrics", access::read, &state::metrics},
    {"/api/stats", access::read, &state::stats},
    {"/api/tables", access::read, &state::tables},
    {"/api/map", access::read, &state::map_cells},
    {"/api/page", access::read, &state::page_objects},
    {"/api/options", access::change, &state::change_option},
};

answer http_server::state::tables(MHD_Connection*, std::string_view) {
  json figures = json::array(), options = json::array();
  for (const auto& each : shown.look().figures) {
    figures.push_back({{"name", each.name},
                       {"unit", each.unit},
                       {"help", each.help},
                       {"metric", metric_name(each)}});
  }
  for (const auto& each : shown.options()) {
    options.push_back({{"name", each.name},
                       {"unit", each.unit},
                       {"help", each.help},
                       {"range", each.range},
                       {"value", each.value},
                       {"live", each.is_live}});
  }
  const json all{{"figures", std::move(figures)},
                 {"options", std::move(options)},
                 {"control", changes == control::allowed}};
  return {200, kJson, all.dump(-1, ' ', false, json::error_handler_t::replace)};
}

answer http_server::state::map_cells(MHD_Connection* from, std::string_view) {
  if (!map) return problem(404, "management is off: there are no heaps");
  const auto name = parameter_of(from, "heap");
  if (!name) return of_map(map->overview());
  const auto heap = parse_heap(*name);
  const auto first = number_of(from, "from"), count = number_of(from, "count");
  if (!heap || !first || !count) {
    return problem(400, "ask as /api/map?heap=hot&from=0&count=256, in pages");
  }
  return of_map(map->part(*heap, *first, *count));
}

answer http_server::state::page_objects(MHD_Connection* from, std::string_view) {
  if (!map) return problem(404, "management is off: there are no heaps");
  const auto name = parameter_of(from, "heap");
  const auto heap = name ? parse_heap(*name) : std::nullopt;
  const auto page = number_of(from, "page");
  if (!heap || !page) return problem(400, "ask as /api/page?heap=hot&page=0");
  return of_map(map->page(*heap, *page));
}

answer http_server::state::change_option(MHD_Connection*, std::string_view body) {
  const auto wanted = parse_change(body);
  if (!wanted) return problem(400, wanted.error().message);
  const auto done = shown.configure(wanted->name, wanted->value);
  if (!done) return problem(400, done.error().message);
  return {200, kJson, "{}"};
}

std::optional<answer> http_server::state::refused(MHD_Connection* from, access wanted,
                                                  std::string_view method) const {
  const request_head head{.method = method,
                          .host = host_of(from),
                          .origin = header_of(from, MHD_HTTP_HEADER_ORIGIN),
                          .fetch_site = header_of(from, "Sec-Fetch-Site"),
                          .content_type = header_of(from, MHD_HTTP_HEADER_CONTENT_TYPE)};
  const auto why = refusal_of(head, wanted, changes, own_names);
  return why ? std::optional(problem(why->status, why->reason)) : std::nullopt;
}

answer http_server::state::answer_to(MHD_Connection* from, std::string_view path,
                                     std::string_view method, std::string_view body) {
  for (const route& each : kRoutes) {
    if (each.path != path) continue;
    if (auto no = refused(from, each.wanted, method)) return std::move(*no);
    return (this->*each.act)(from, body);
  }
  if (auto no = refused(from, access::page, method)) return std::move(*no);
  const std::string_view wanted = path == "/" ? "index.html" : path.substr(path.starts_with('/'));
  const auto all = page_files();
  const auto file = std::ranges::find(all, wanted, &page_file::name);
  if (file == all.end()) return problem(404, "there is no such path");
  return {200, type_of(file->name), std::string(file->content)};
}

bool http_server::state::take(MHD_Connection* from, std::string_view path, std::string_view method,
                              std::string_view body) {
  if (path == "/events") return stream_to(from, method);
  return send(from, answer_to(from, path, method, body));
}

bool http_server::state::stream_to(MHD_Connection* to, std::string_view method) {
  if (auto no = refused(to, access::read, method)) return send(to, std::move(*no));
  if (method != "GET") return send(to, problem(405, "an event stream is for GET"));
  if (streams.size() >= kStreams) return send(to, problem(503, "too many event streams"));
  if (streams.empty()) tick();  // what it shows first must be of now
  streams.push_back({*this, to});
  streams.back().self = std::prev(streams.end());
  MHD_Response* const response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, kStreamBlockBytes,
      [](void* of, std::uint64_t, char* buffer, std::size_t most) {
        return next_piece(*static_cast<stream*>(of), buffer, most);
      },
      &streams.back(),
      [](void* of) {
        auto& ended = *static_cast<stream*>(of);
        ended.of.streams.erase(ended.self);
      });
  if (!response) {
    streams.pop_back();
    return false;
  }
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
  MHD_add_response_header(response, "X-Accel-Buffering", "no");  // nginx would keep the events
  return send(to, MHD_HTTP_OK, response);
}

ssize_t http_server::state::next_piece(stream& to, char* buffer, std::size_t most) {
  if (!to.event || to.sent == to.event->size()) {
    if (to.event == to.of.newest) {
      MHD_suspend_connection(to.connection);
      to.is_suspended = true;
      return 0;
    }
    to.event = to.of.newest;
    to.sent = 0;
  }
  const std::size_t piece = std::min(most, to.event->size() - to.sent);
  to.event->copy(buffer, piece, to.sent);
  to.sent += piece;
  return static_cast<ssize_t>(piece);
}

/// One snapshot for all streams.
void http_server::state::tick() {
  newest = std::make_shared<const std::string>("data: " + to_json(shown.look()) + "\n\n");
  next_tick_ns = os::monotonic_ns() + kTickNs;
  for (stream& each : streams) {
    if (std::exchange(each.is_suspended, false)) MHD_resume_connection(each.connection);
  }
}

/// Without end when no client is connected.
int http_server::state::wait_ms() const {
  if (has_closed) return 0;  // only its next run listens again
  constexpr std::uint64_t kLongest = 60'000;
  MHD_UNSIGNED_LONG_LONG of_library = 0;
  std::uint64_t least = ~std::uint64_t{0};
  if (MHD_get_timeout(daemon, &of_library) == MHD_YES) least = of_library;
  if (!connections.empty()) least = std::min<std::uint64_t>(least, 1000);  // close_late()
  if (!streams.empty()) {
    const std::uint64_t now = os::monotonic_ns();
    least = std::min(least, now < next_tick_ns ? (next_tick_ns - now) / 1'000'000 + 1 : 0);
  }
  return least == ~std::uint64_t{0} ? -1 : static_cast<int>(std::min(least, kLongest));
}

void http_server::state::run() {
  while (!stopping.load_acquire()) {
    std::array<pollfd, 2> ready{{{epoll, POLLIN, 0}, {wake.descriptor(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), wait_ms());
    try {
      if (!streams.empty() && os::monotonic_ns() >= next_tick_ns) tick();
    } catch (const std::exception&) {               // for want of memory
      next_tick_ns = os::monotonic_ns() + kTickNs;  // the streams miss one
    }
    has_closed = false;
    MHD_run(daemon);
    close_late();
  }
}

/// Closes connections whose request has not come as a whole in time.
void http_server::state::close_late() {
  const std::uint64_t now = os::monotonic_ns();
  const std::uint64_t most = (is_rather_full() ? kIdleSecondsWhenFull : kIdleSeconds) * kSecondNs;
  for (const awaited& each : connections) {
    if (each.since_ns == 0 || now - each.since_ns <= most) continue;
    const auto* const facts =
        MHD_get_connection_info(each.connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    ::shutdown(facts->connect_fd, SHUT_RDWR);  // the library finds its end, and closes it
  }
}

/// Looks at the path as it came: the library takes a zero for its end.
void* http_server::state::on_path(void*, const char* path, MHD_Connection*) {
  auto* const made = new (std::nothrow) incoming;
  if (made) made->is_unclear = std::strstr(path, "%00") != nullptr;
  return made;
}

MHD_Result http_server::state::on_request(void* of, MHD_Connection* from, const char* path,
                                          const char* method, const char*, const char* data,
                                          std::size_t* bytes, void** request) {
  try {
    auto* const known = static_cast<incoming*>(*request);
    if (!known) return MHD_NO;
    if (!std::exchange(known->has_head, true)) {
      return leaves_room_to_answer(from, path) ? MHD_YES : refuse_head(from);
    }
    std::string& body = known->body;
    if (*bytes == 0) {
      awaited* const here = awaited_on(from);
      if (!here) return MHD_NO;
      here->since_ns = 0;
      known->is_unclear |= is_ambiguous(from);
      const bool is_done =
          known->is_unclear
              ? send(from, {400, kText, "this request can be understood in two ways\n", 0, true})
              : static_cast<state*>(of)->take(from, path, method, body);
      return is_done ? MHD_YES : MHD_NO;
    }
    if (body.size() + *bytes > kBodyBytesMost) return MHD_NO;  // closes the connection
    body.append(data, *bytes);
    *bytes = 0;
    return MHD_YES;
  } catch (const std::exception&) {
    return MHD_NO;
  }
}

void http_server::state::on_end_of_request(void*, MHD_Connection* connection, void** request,
                                           MHD_RequestTerminationCode) {
  if (awaited* const known = awaited_on(connection)) known->since_ns = os::monotonic_ns();
  delete static_cast<incoming*>(std::exchange(*request, nullptr));
}

/// The fuller, the sooner idle connections go.
void http_server::state::on_connection(void* of, MHD_Connection* connection, void** context,
                                       MHD_ConnectionNotificationCode code) {
  auto* const serving = static_cast<state*>(of);
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    serving->has_closed = true;
    serving->connections.remove_if(
        [connection](const awaited& each) { return each.connection == connection; });
    return;
  }
  try {
    serving->connections.push_back({connection, os::monotonic_ns()});
    *context = &serving->connections.back();
  } catch (const std::bad_alloc&) {
    return;  // its requests are not answered
  }
  if (!serving->is_rather_full()) return;
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, kIdleSecondsWhenFull);
}

void http_server::state::on_message(void* of, const char* format, std::va_list values) {
  auto* const serving = static_cast<state*>(of);
  if (serving->daemon) return;  // what clients do wrong is theirs
  std::array<char, 256> line{};
  std::vsnprintf(line.data(), line.size(), format, values);
  serving->start_problem = line.data();
}

base::result<void> http_server::state::listen() {
  const socket_address at(where);
  unsigned flags = MHD_USE_EPOLL | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
  if (where.is_v6()) flags |= MHD_USE_IPv6;
  errno = 0;
  daemon = MHD_start_daemon(flags, where.port, nullptr, nullptr, &on_request, this,  //
                            MHD_OPTION_EXTERNAL_LOGGER, &on_message, this,           //
                            MHD_OPTION_SOCK_ADDR, &at.any,                           //
                            MHD_OPTION_CONNECTION_LIMIT, kConnections,               //
                            MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,             //
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,    //
                            MHD_OPTION_NOTIFY_COMPLETED, &on_end_of_request, nullptr,
                            MHD_OPTION_URI_LOG_CALLBACK, &on_path, nullptr,      //
                            MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this,  //
                            MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
  if (!daemon) {
    const int code = errno;
    while (start_problem.ends_with('\n')) start_problem.pop_back();
    return std::unexpected(base::error{
        fmt::format("cannot serve HTTP at {} port {}: {}", where.host, where.port,
                    start_problem.empty() ? std::strerror(code) : start_problem.c_str()),
        code});
  }
  epoll = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  where.port = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
  if (wake.descriptor() < 0) {
    return std::unexpected(base::system_error("cannot serve HTTP", -wake.descriptor()));
  }
  return {};
}

base::result<void> http_server::state::start_thread() {
  const os::signals_blocked in_the_new_thread;
  auto started = os::start_thread("iso-http", [this] { run(); });
  if (!started) return std::unexpected(started.error());
  thread = std::move(*started);
  return {};
}

void http_server::state::stop() {
  stopping.store_release(true);
  if (!thread.joinable()) return;
  wake.wake();
  thread.join();
}

http_server::state::~state() {
  stop();
  for (stream& each : streams) {
    if (each.is_suspended) MHD_resume_connection(each.connection);
  }
  if (daemon) MHD_stop_daemon(daemon);  // ends the streams
}

http_server::http_server(std::unique_ptr<state> running) : state_(std::move(running)) {}

http_server::~http_server() {
  if (state_->process != ::getpid()) static_cast<void>(state_.release());
}

base::result<std::unique_ptr<http_server>> http_server::start(const address& where,
                                                              process_view& shown, control changes,
                                                              std::vector<std::string> names) {
  if (changes == control::allowed && !where.is_loopback()) {
    return std::unexpected(
        base::error{"changes over HTTP are for loopback addresses: there is no password"});
  }
  auto made = std::make_unique<state>(shown, changes, where, std::move(names));
  if (auto listening = made->listen(); !listening) return std::unexpected(listening.error());
  if (auto started = made->start_thread(); !started) return std::unexpected(started.error());
  return std::unique_ptr<http_server>(new http_server(std::move(made)));
}

std::string http_server::url() const { return url_of(state_->where); }

}  // namespace isotherm::live
