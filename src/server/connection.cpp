#include "server/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

namespace {

constexpr std::size_t kReadBytes = std::size_t{16} << 10;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;
/// Sent before others have a turn, though the client takes more.
constexpr std::size_t kSentAtOnce = std::size_t{1} << 20;
/// Arguments or a reply of more are copied on another thread: that takes a millisecond or more.
constexpr std::size_t kLargeBytes = std::size_t{4} << 20;
/// Bytes reserved for the replies to a pipeline of commands. The allocator caches memory of about
/// this size for each thread; for more it would take a lock.
constexpr std::size_t kPipelineBytes = std::size_t{4} << 10;

constexpr std::string_view kNotRun =
    "ERR not run: MULTI was refused, as there are no transactions; EXEC or DISCARD ends its "
    "commands";

constexpr std::string_view kOverTarget =
    "OOM command not allowed when DRAM is above --memory-target (or near the control group's "
    "limit) "
    "and what is cold cannot leave fast enough: delete keys, raise the limit or slow down";

/// Whether a copy of a record will do for the command.
bool may_use_copies(const store::command& command) noexcept {
  return (command.flags & (store::kReadOnly | store::kLocates)) == store::kReadOnly;
}

/// Whether a browser tricked into talking to this port would send it; its connection is closed.
bool is_http(std::string_view word) {
  return store::equals_folded(word, "post") || store::equals_folded(word, "host:");
}

}  // namespace

connection::connection(server& server, std::shared_ptr<client> client, loop_share& shared)
    : server_(server),
      client_(std::move(client)),
      shared_(shared),
      parked_(shared.reader.get(), client_->id),
      reply_(output_) {}

connection::~connection() {
  count_memory(0);
  client_->killed.store_release(true);  // a command of it that waits elsewhere need not begin
  ::close(client_->fd);
}

bool connection::on_readable() {
  ISO_ASSERT(wants_to_read(), "a command that waits has its arguments in the buffer");
  const std::size_t wanted = parser_.wanted();
  const std::size_t missing = wanted > query_.size() ? wanted - query_.size() : 0;
  // For a large value the buffer grows with what has arrived, not with what was announced. A long
  // backlog is read in larger pieces too.
  query_.prepare(std::clamp(std::max(missing, query_.size() / 4), kReadBytes, kReadAtOnce));
  const ssize_t got = ::recv(client_->fd, query_.tail(), query_.room(), 0);
  if (got == 0) {
    has_ended_ = true;
    return !is_done();
  }
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  const std::uint64_t now = os::monotonic_ns();
  if (is_idle()) asked_ns_ = now;
  query_.filled(static_cast<std::size_t>(got));
  note_memory();  // before the commands run: CLIENT LIST may be among them
  server_.statistics.add("input_bytes", static_cast<std::uint64_t>(got));
  client_->active_ms.store_relaxed(os::milliseconds(now));
  if (query_.size() > server_.tuning().query_buffer_limit.load_relaxed()) {
    server_.note_query_limit(*client_);
    return false;
  }
  return run_buffer() && advance();
}

bool connection::on_arrival() {
  if (!is_parked()) return true;
  if (parked_.is_ready()) return run_buffer();
  if (parked_.may_look_again()) {
    read_ahead(turn(turn_length()));
    note_memory();
  }
  return true;
}

bool connection::go_on() {
  if (is_parked() && is_looking_) {
    read_ahead(turn(turn_length()));
    note_memory();
  }
  // The state may have changed since this turn was promised.
  if (!is_unfinished() && !is_held()) return true;
  return run_buffer() && advance();
}

bool connection::on_writable() { return flush() && advance() && !is_done(); }

bool connection::advance() {
  // Replies have room again: goes on with what was read before the pause. While replies go out as
  // fast as they are made, no event would call this again.
  while (state_ == state::paused && has_room_for_replies()) {
    if (!run_buffer() || !flush()) return false;
  }
  return true;
}

bool connection::parse() {
  // The arguments of a command that runs again are those of its first run.
  if (state_ == state::rerunning && !is_moved_) return true;
  is_moved_ = false;
  // The parser accepted a command before it was parked: no limit set since refuses it now.
  constexpr resp_parser::limits kAnyLength{.longest_bulk = store::kLongestValue};
  const auto status =
      parser_.parse(query_.view(), state_ == state::rerunning ? kAnyLength : bounds());
  if (status == resp_parser::status::incomplete) parked_.forget();
  if (status == resp_parser::status::error) {
    reply_.error(parser_.problem());
    state_ = state::closing;
  }
  return status == resp_parser::status::command;
}

bool connection::run_buffer() {
  ISO_ASSERT(!is_running() && state_ != state::deferred && state_ != state::closing,
             "the next command may not run");
  state_ = is_held() || is_parked() ? state::rerunning : state::running;
  client_->is_blocked.store_relaxed(false);
  now_ns_ = os::monotonic_ns();
  std::optional<turn> mine;
  while (query_.size() > 0 && may_run()) {
    reply_.set_limit(sent_ + output_limit());
    if (!parse()) break;
    const bool more = query_.size() > parser_.consumed();
    if (more && !mine) mine.emplace(turn_length());
    if (more && output_.empty()) output_.reserve(kPipelineBytes);
    if (!parser_.arguments().empty()) run(parser_.arguments());
    if (is_held()) break;
    if (is_parked()) {
      if (more) read_ahead(*mine);
      // Many clients may be parked at once, each with a buffer for what it might have sent.
      is_moved_ |= query_.shrink();
      break;
    }
    if (state_ == state::rerunning) state_ = state::running;
    parked_.finish();
    query_.consume(std::exchange(has_lent_, false) ? 0 : parser_.consumed());
    read_ahead_end_ -= std::min(read_ahead_end_, parser_.consumed());
    looked_to_ -= std::min(looked_to_, parser_.consumed());
    if (reply_.overflowed()) {
      server_.note_output_limit(*client_);
      return false;
    }
    if (more && may_run() && mine->is_over()) {
      state_ = state::turn_over;
      break;
    }
  }
  ISO_ASSERT(state_ != state::rerunning, "replies would have kept a waiting command from running");
  if (is_running()) {
    const bool is_paused = query_.size() > 0 && !has_room_for_replies();
    state_ = is_paused ? state::paused : state::reading;
  }
  if (query_.size() == 0) {
    parser_.release();
    parked_.forget();
  }
  if (output_.empty()) release_output();
  if (state_ != state::deferred) client_->is_blocked.store_relaxed(is_held() || is_parked());
  note_memory();
  // A muted last reply leaves nothing to send.
  return wants_to_write() || !(state_ == state::closing || is_done());
}

std::chrono::microseconds connection::turn_length() const noexcept {
  return std::chrono::microseconds(server_.tuning().turn_us.load_relaxed());
}

bool connection::is_stranger() const noexcept {
  return !client_->authenticated && server_.tuning().has_password();
}

std::size_t connection::output_limit() const noexcept {
  const std::size_t chosen = server_.tuning().output_hard_limit.load_relaxed();
  return is_stranger() ? std::min(chosen, settings::kStrangersOutputBytes) : chosen;
}

resp_parser::limits connection::bounds() const {
  return {server_.tuning().longest_storable(), !is_stranger()};
}

/// Reads meanwhile what the commands behind the parked one are going to miss.
void connection::read_ahead(const turn& mine) {
  const std::size_t behind = parser_.consumed();
  const bool has_passed_all = read_ahead_end_ <= behind;
  if (has_passed_all) parked_.forget();
  const std::uint64_t left = server_.room_for_reads_ahead();
  if (left == 0) {
    is_looking_ = false;
    return;
  }
  if (has_passed_all) {
    looked_to_ = 0;
  } else if (!is_looking_) {
    if (!parked_.may_look_again()) return;  // what a look finds is being read, or has been
    parked_.look_again();
    looked_to_ = 0;
  }
  const std::size_t from = std::max(looked_to_, behind);
  look_ahead found = look(query_.view().substr(from), bounds(), server_.commands(), server_.db(),
                          parked_.arrived(), mine, parked_.room_ahead(left));
  looked_to_ = from + found.seen;
  read_ahead_end_ = std::max(read_ahead_end_, looked_to_);
  is_looking_ = found.ended_by_turn;
  parked_.read_ahead(std::move(found.missed));
}

bool connection::resume(std::optional<std::string> reply) {
  ISO_ASSERT(state_ == state::deferred, "no command waits for this reply");
  state_ = state::reading;
  client_->is_blocked.store_relaxed(false);
  lent_bytes_ = 0;
  if (reply) {
    const auto took = note_answered(*reply);
    if (took && server_.takes_long(*took)) {
      server_.note_slow(*client_, *command_, std::move(deferred_arguments_), *took);
    }
  }
  if (reply && mute_) reply->clear();
  if (!reply || waiting() + reply->size() > output_limit()) {
    server_.note_output_limit(*client_);
    return false;
  }
  output_.empty() ? output_.swap(*reply) : static_cast<void>(output_.append(*reply));
  // First what is left: the flush fails if the client has gone.
  if (query_.size() > 0 && !run_buffer()) return false;
  return is_unfinished() || (flush() && advance());
}

/// Frees the output's memory, as query_buffer frees its own: an idle client takes none.
void connection::release_output() noexcept { std::string().swap(output_); }

void connection::note_memory() noexcept {
  client_->query_bytes.store_relaxed(query_.size());
  client_->query_room.store_relaxed(query_.room());
  client_->output_bytes.store_relaxed(waiting());
  client_->argument_bytes.store_relaxed(parser_.held_bytes());
  const std::uint64_t held = query_.capacity() + output_.capacity() + parser_.held_bytes() +
                             parked_.held_bytes() + lent_bytes_;
  client_->held_bytes.store_relaxed(held);
  count_memory(client_->keeps_place.load_relaxed() ? 0 : held);
}

void connection::count_memory(std::uint64_t bytes) noexcept {
  const std::uint64_t others = shared_.held_bytes.load_relaxed() - counted_bytes_;
  shared_.held_bytes.store_relaxed(others + bytes);  // only the loop's thread writes
  counted_bytes_ = bytes;
}

void connection::run(std::span<const std::string_view> arguments) {
  using replies = client::replies;
  const std::size_t before = output_.size();
  if (client_->mode == replies::skip_next) client_->mode = replies::skip;
  mute_ = client_->mode != replies::on;
  if (state_ == state::rerunning) {
    run_resolved(*command_, arguments);
  } else {
    began_ns_ = now_ns_;
    dispatch(arguments);
  }
  // A command changes the state only through these two fields of its client.
  if (std::exchange(client_->defers, false)) state_ = state::deferred;
  if (client_->closing) state_ = state::closing;
  if (is_parked() || is_held()) return;
  if (state_ == state::deferred) {
    if (!has_lent_) deferred_arguments_ = server_.loggable(*command_, arguments);
  } else if (output_.size() >= before) {
    const auto took = note_answered(std::string_view(output_).substr(before));
    if (took && server_.takes_long(*took)) [[unlikely]] {
      // Arguments that were lent are gone with the thread that could not be had for them.
      server_.note_slow(
          *client_, *command_,
          has_lent_ ? std::move(deferred_arguments_) : server_.loggable(*command_, arguments),
          *took);
    }
  }
  if (client_->mode == replies::on) [[likely]]
    return;                                          // CLIENT REPLY ON has a reply
  output_.resize(std::min(before, output_.size()));  // dispatch() may have emptied it
  if (client_->mode == replies::skip) client_->mode = replies::on;
}

void connection::dispatch(std::span<const std::string_view> arguments) {
  command_ = nullptr;
  if (is_http(arguments[0])) [[unlikely]] {
    // Closes without a reply, even to earlier commands: a browser's request must learn nothing.
    output_.resize(sent_);
    state_ = state::closing;
    return;
  }
  const store::command* command = server_.commands().resolve(arguments, reply_);
  if (!command) {
    server_.statistics.add("unknown_commands");
    return;
  }
  if (is_stranger() && !(command->flags & store::kNoAuth)) {
    return reject(*command, "NOAUTH Authentication required.");
  }
  if (client_->in_refused_transaction && !(command->flags & store::kEndsOrLeaves)) [[unlikely]] {
    return reject(*command, kNotRun);
  }
  run_resolved(*command, arguments);
}

/// Runs a command that the client may run, or that was parked or held: from here on it runs again.
void connection::run_resolved(const store::command& command,
                              std::span<const std::string_view> arguments) {
  command_ = nullptr;
  if (command.flags & store::kDenyOom && server_.refuses_growth()) [[unlikely]] {
    server_.statistics.add("refused_writes");
    return reject(command, kOverTarget);
  }
  command_ = &command;
  client_->last.store_relaxed(&command);
  if (state_ != state::rerunning) server_.statistics.add("commands");
  // Not by kDenyOom: EXPIRE and its like, which no limit refuses, make another copy of the record.
  const bool may_take_memory =
      (command.flags & (store::kWrite | store::kOnlyFrees)) == store::kWrite;
  if (shared_.room.is_on() && may_take_memory) [[unlikely]] {
    state_ = state::held;
    return;
  }
  const store::limits bounds{server_.tuning().longest_storable()};
  store::call c{server_.db(), reply_,        arguments,        store::now_ms(),
                bounds,       client_.get(), &parked_.walked()};
  const std::size_t before = output_.size();
  try {
    execute(command, c);
  } catch (const std::exception& failed) {
    // A command that does not fit in memory fails, and nothing else does.
    output_.resize(before);
    std::ignore = reply_.take_overflowed();  // of what is gone
    lent_bytes_ = 0;
    reply_.error(error_for(failed));
  }
  if (command.flags & store::kWrite)
    shared_.room.begin();  // the next one waits if this took the room
}

void connection::reject(const store::command& command, std::string_view why) {
  shared_.commands.count_rejected(server_.commands().number_of(command));
  reply_.error(why);
}

std::optional<std::uint64_t> connection::note_answered(std::string_view reply) {
  now_ns_ = os::monotonic_ns();
  const bool is_error = reply.starts_with('-');
  const std::string_view code =
      is_error ? reply.substr(1, reply.find_first_of(" \r") - 1) : std::string_view();
  if (is_error) [[unlikely]]
    server_.errors_by_code.count(code);
  if (command_ == nullptr) return std::nullopt;
  const std::size_t number = server_.commands().number_of(*command_);
  if (is_error && reply.substr(1).starts_with(store::errors::kOutOfMemory)) [[unlikely]] {
    // store::execute() did not run it
    shared_.commands.count_rejected(number);
    return std::nullopt;
  }
  if (is_error) [[unlikely]]
    shared_.commands.count_failed(number);
  shared_.commands.record(number, now_ns_ - began_ns_);
  return now_ns_ - began_ns_;
}

/// Large values are copied, and found room for, on another thread: others' turns would wait for it.
void connection::execute(const store::command& command, store::call& call) {
  const bool has_keys = command.keys.first != 0;
  if (has_keys && is_large(call)) return run_elsewhere(command, call, elsewhere::copies);
  const std::size_t before = output_.size(), limit = sent_ + output_limit();
  // A reply that the client's limit refuses is not made anew elsewhere.
  const bool may_be_large =
      has_keys && (command.flags & store::kReadOnly) != 0 && before + kLargeBytes < limit;
  if (may_be_large) reply_.set_limit(before + kLargeBytes);
  const store::executed how = execute_here(command, call);
  if (may_be_large) reply_.set_limit(limit);
  if (how == store::executed::must_wait) {
    run_elsewhere(command, call, elsewhere::waits);
  } else if (how == store::executed::overflowed && may_be_large) {
    output_.resize(before);  // the begin of a reply that is made anew
    std::ignore = reply_.take_overflowed();
    run_elsewhere(
        command, call, elsewhere::copies,
        may_use_copies(command) ? parked_.own_reads() : std::vector<heap::arrived_reads::read>());
  }
}

/// Runs a command without waiting for objects of COLD; one that misses some is parked. `must_wait`:
/// only a thread that waits can run it.
store::executed connection::execute_here(const store::command& command, store::call& call) {
  const std::uint64_t maxmemory = server_.tuning().maxmemory.load_relaxed();
  const bool walks = (command.flags & store::kWalks) != 0;
  if (!parked_.is_possible() || (command.keys.first == 0 && !walks)) {
    return store::execute(command, call, maxmemory);
  }
  std::vector<heap::miss> missed;
  {
    access inside(access::when_cold::record, &parked_.arrived(),
                  may_use_copies(command) ? access::copies::allowed : access::copies::refused);
    call.inside = &inside;
    const store::executed how = store::execute(command, call, maxmemory);
    call.inside = nullptr;
    if (how != store::executed::missed) [[likely]]
      return how;
    missed = inside.take_misses();
  }
  // If there is no memory to park the command, it is answered with an error.
  if (!parked_.park(std::move(missed))) return store::executed::must_wait;
  state_ = state::parked;
  return store::executed::missed;
}

bool connection::is_large(const store::call& call) const noexcept {
  if (query_.size() <= kLargeBytes) [[likely]]
    return false;
  std::size_t bytes = 0;
  for (const auto each : call.arguments) bytes += each.size();
  return bytes > kLargeBytes;
}

/// Runs it on a thread that waits for reads of COLD, but for what has `arrived`. It has what it
/// needs: the connection may go before it is done.
void connection::run_elsewhere(const store::command& command, const store::call& call,
                               elsewhere where, std::vector<heap::arrived_reads::read> arrived) {
  struct own {
    query_buffer memory;             // of the arguments, where these are large
    std::vector<std::string> words;  // else
    std::vector<std::string_view> arguments;
    store::limits bounds;
    store::walked_keys walked;
    std::vector<heap::arrived_reads::read> arrived;
  };
  // A long backlog behind them would have to be copied in their place.
  const bool takes_memory =
      is_large(call) && query_.size() - parser_.consumed() <= parser_.consumed();
  const auto mine = std::make_shared<own>(
      own{{}, {}, {}, call.bounds, std::move(parked_.walked()), std::move(arrived)});
  if (takes_memory) {
    deferred_arguments_ = server_.loggable(command, call.arguments);
    mine->arguments.assign(call.arguments.begin(), call.arguments.end());
    mine->memory = query_.take_front(parser_.consumed());
    lent_bytes_ = mine->memory.capacity();
    has_lent_ = true;
  } else {
    mine->words.assign(call.arguments.begin(), call.arguments.end());
    mine->arguments.assign(mine->words.begin(), mine->words.end());
  }
  for (const auto& each : mine->arrived) lent_bytes_ += each->where().bytes;
  const auto work = [mine, &command, whose = client_, &server = server_](store::reply& out) {
    if (whose->killed.load_acquire()) return;
    store::call again{server.db(),  out,     mine->arguments, store::now_ms(),
                      mine->bounds, nullptr, &mine->walked};
    heap::arrived_reads found;
    for (const auto& each : mine->arrived) found.add(each);
    const bool has_reads = !found.is_empty();
    const heap::arrived_reads* const reads = has_reads ? &found : nullptr;
    // The command waits for the disk before it locks keys, or holds one scope for all of them.
    if (command.flags & store::kWrite || command.keys.last == -1) {
      using store::values_are;
      const bool is_plain_set = command.name == "set" && again.count() == 3;
      store::bring_in(command, again, is_plain_set ? values_are::replaced : values_are::read,
                      reads);
    }
    {
      access inside(access::when_cold::wait, reads,
                    may_use_copies(command) ? access::copies::allowed : access::copies::refused);
      again.inside = &inside;
      store::execute(command, again, server.tuning().maxmemory.load_relaxed());
    }
    heap::wait_for_room();  // this thread serves no other client
  };
  where == elsewhere::copies ? server_.defer_large(*client_, work)
                             : server_.defer_to_disk(*client_, work);
  client_->is_blocked.store_relaxed(true);
}

/// Moves what waits to the front of its buffer: when so much has been sent that this pays, and, as
/// long as no command waits whose reply would come behind it, only the last of a long reply.
void connection::forget_sent() {
  const bool is_worth_it = sent_ >= settings::kOutputPauseBytes && sent_ >= waiting();
  if (!is_worth_it || (query_.size() == 0 && waiting() > settings::kOutputPauseBytes)) return;
  output_.erase(0, sent_);
  sent_ = 0;
}

bool connection::flush() {
  for (std::size_t put_now = 0; waiting() > 0;) {
    if (put_now >= kSentAtOnce) {
      forget_sent();
      note_memory();
      return true;  // wants_to_write()
    }
    const ssize_t put =
        ::send(client_->fd, output_.data() + sent_, std::min(waiting(), kSentAtOnce), MSG_NOSIGNAL);
    if (put < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return false;
      forget_sent();
      note_memory();
      return true;
    }
    sent_ += static_cast<std::size_t>(put);
    put_now += static_cast<std::size_t>(put);
    const std::uint64_t now = os::monotonic_ns();
    client_->active_ms.store_relaxed(os::milliseconds(now));  // a client that reads is not idle
    server_.statistics.add("output_bytes", static_cast<std::uint64_t>(put));
    if (is_idle()) shared_.times.record(now - asked_ns_);
  }
  sent_ = 0;
  release_output();
  note_memory();
  return state_ != state::closing;
}

}  // namespace isotherm::server
