// A command that missed objects of COLD waits, with its client's later ones, until they have been
// read; other clients are served meanwhile. The reads of the commands behind it are started too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "guide/access.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/reader.hpp"
#include "server/resp_parser.hpp"
#include "server/timing/turn.hpp"
#include "store/commands/table.hpp"

namespace isotherm::server {

/// The parked command of one connection; for its loop. Reads are asked for under the client's
/// number as their ticket.
class parked_command {
 public:
  /// `reader` is the loop's; null: nothing is ever missed.
  parked_command(heap::cold_reader* reader, std::uint64_t client) noexcept
      : reader_(reader), client_(client) {}

  /// Whether there is a reader, so that commands on keys need not wait.
  bool is_possible() const noexcept { return reader_ != nullptr; }

  /// The reads that have arrived for the command that is to run next.
  const heap::arrived_reads& arrived() const noexcept { return reads_; }

  /// Returns the reads that the command has asked for; the caller may keep them.
  std::vector<heap::arrived_reads::read> own_reads() const;

  /// The keys that the command has found in its runs so far.
  store::walked_keys& walked() noexcept { return walked_; }

  /// Parks the command, which has missed these. The reads held for it are bounded: of these, and of
  /// its next runs' misses, so many are read as come to heap::read_limits().noted_bytes, or one.
  /// False: the command needs more, and is not parked. Reads that a walk asked for before it parked
  /// the last time are dropped if it has come further since: it has used them.
  bool park(std::vector<heap::miss> missed);
  /// Returns how many bytes a look at the client's later commands may find: half of kAheadBytes in
  /// the first, so that the second has room for the values whose keys were missed in the first, and
  /// at most `left` bytes, which all clients together may still hold.
  std::uint64_t room_ahead(std::uint64_t left) const noexcept;
  /// Asks for the objects that such a look has found. More than kAheadBytes and an object, which
  /// the reader reads at once, would only be held, for a client that may not read its replies.
  void read_ahead(std::vector<heap::miss> missed);
  static constexpr std::uint64_t kAheadBytes = heap::cold_reader::kBytesUnderWay;
  /// Whether a second look at the same commands may find more: what the first has found has been
  /// read.
  bool may_look_again() noexcept {
    return !has_looked_again_ && !ahead_.is_empty() && ahead_.have_ended();
  }
  void look_again() noexcept { has_looked_again_ = true; }
  /// All that it waits for has been read: it is to run again.
  bool is_ready() noexcept { return own_.have_ended(); }
  /// It has been answered.
  void finish() noexcept;
  /// Tells that reads were started for no command any more but the parked one.
  void forget() noexcept;
  /// Bytes held for it, or being read. A single read is left out: it takes memory while the disk
  /// is at work on it, of which the reader bounds the sum, and the command runs when it has ended.
  /// Thousands of clients may wait for one each.
  std::uint64_t held_bytes() const noexcept {
    const std::uint64_t own = own_.size() == 1 ? 0 : own_.bytes() - counted_twice_;
    return own + ahead_.bytes() + walked_.found_bytes;
  }

 private:
  using read = heap::arrived_reads::read;

  /// Reads in the order in which they were asked for.
  class asked_reads {
   public:
    void add(read asked);
    void remove_first(std::size_t count) noexcept;
    void clear() noexcept;
    bool is_empty() const noexcept { return reads_.empty(); }
    std::size_t size() const noexcept { return reads_.size(); }
    const read& operator[](std::size_t i) const noexcept { return reads_[i]; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    /// Takes constant time a call, and one look at each read over all calls.
    bool have_ended() noexcept;

   private:
    std::vector<read> reads_;
    std::size_t ended_ = 0;  // the first so many have ended, or more
    std::uint64_t bytes_ = 0;
  };

  heap::cold_reader* const reader_;
  const std::uint64_t client_;
  bool has_looked_again_ = false;
  asked_reads own_;                           // of the command that is parked, or is to run again
  asked_reads ahead_;                         // for those behind it, and of those that were
  std::uint64_t counted_twice_ = 0;           // of the first, what is among the second as well
  heap::arrived_reads reads_ahead_;           // the same as ahead_
  heap::arrived_reads reads_{&reads_ahead_};  // the same as own_
  store::walked_keys walked_;
  std::uint64_t parked_at_ = 0;  // the cursor of these when it parked last
  std::size_t waited_for_ = 0;   // of own_, what had ended when it parked last
};

/// Objects that a client's later commands are going to miss.
struct look_ahead {
  std::vector<heap::miss> missed;
  std::size_t seen = 0;        ///< bytes of the commands that were looked at
  bool ended_by_turn = false;  ///< the turn was over, and there is more to look at
};
/// Looks at the commands at the begin of `requests`: at one key, and at more until `mine` is over
/// or the misses come to `room` bytes; an object more may be noted. The other keys of a command in
/// whose midst it ends are passed over. For commands that write only the keys are looked for: the
/// value may be replaced unread.
look_ahead look(std::string_view requests, const resp_parser::limits& bounds,
                const store::command_table& commands, store::database& db,
                const heap::arrived_reads& arrived, const turn& mine, std::uint64_t room);

}  // namespace isotherm::server
