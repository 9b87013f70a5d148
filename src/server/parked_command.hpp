// A command that missed objects of COLD waits, with its client's later ones, until they have been
// read; other clients are served meanwhile. The reads of the commands behind it are started too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heap/cold/misses.hpp"
#include "heap/cold/reader.hpp"
#include "server/resp_parser.hpp"
#include "server/timing/turn.hpp"
#include "store/commands/table.hpp"

namespace isotherm::server {

/// Of one connection; for its loop. Reads are asked for under the client's number as their ticket.
class parked_command {
 public:
  /// `reader` is the loop's; null: nothing is ever missed.
  parked_command(heap::cold_reader* reader, std::uint64_t client) noexcept
      : reader_(reader), client_(client) {}

  /// Whether the next command on keys is to go without waiting: there is a reader, and the command
  /// does not need more at once than may be held for it.
  bool is_possible() const noexcept { return reader_ != nullptr && !must_wait_; }

  /// What has been read for the command that is to run next.
  const heap::arrived_reads& arrived();

  /// What the command has found in its runs so far.
  store::walked_keys& walked() noexcept { return walked_; }

  /// The command has missed these. What is held for it is bounded: of these, and in the next runs
  /// of what it misses then, so many are read as come to kHeldBytes, or one. A command that needs
  /// more runs again at once, and waits. What a walk asked for before it parked the last time is
  /// dropped if it has come further since: it has used that.
  void park(std::vector<heap::miss> missed);
  static constexpr std::uint64_t kHeldBytes = std::uint64_t{32} << 20;
  /// Asks also for what later commands of the client are going to read, as far as it comes to
  /// kHeldBytes.
  void read_ahead(std::vector<heap::miss> missed);
  bool is_parked() const noexcept { return is_parked_; }
  /// All that it waits for has been read: it is to run again.
  bool is_ready() const noexcept;
  /// It is about to run again.
  void resume();
  /// It has been answered.
  void finish() noexcept;
  /// No command is left that reads were started for.
  void forget() noexcept {
    counted_twice_ = 0;
    ahead_.clear();
  }
  /// What is held for it, or being read.
  std::uint64_t held_bytes() const noexcept;

 private:
  using read = std::shared_ptr<const heap::cold_read>;
  read ask(heap::miss&& missed);

  heap::cold_reader* const reader_;
  const std::uint64_t client_;
  bool is_parked_ = false, must_wait_ = false;
  std::vector<read> awaited_;        // by the command that is parked
  std::vector<read> ended_;          // that it has waited for, in this order
  std::vector<read> ahead_;          // for those behind it, and of those that were
  std::uint64_t counted_twice_ = 0;  // of the first two, what is among the third as well
  heap::arrived_reads arrived_;
  store::walked_keys walked_;
  std::uint64_t parked_at_ = 0;   // the cursor of these when it parked last
  std::size_t ended_before_ = 0;  // of ended_, what had ended then
};

/// Notes what the reading commands at the begin of `requests` are going to miss: of the first one,
/// and of more until `mine` is over. `seen`: bytes of the commands that were looked at.
std::vector<heap::miss> misses_of(std::string_view requests, const resp_parser::limits& bounds,
                                  const store::command_table& commands, store::database& db,
                                  const heap::arrived_reads& arrived, const turn& mine,
                                  std::size_t& seen);

}  // namespace isotherm::server
