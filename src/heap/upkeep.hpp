// Requests of the collector to the heaps, besides memory: which extents are worth emptying, and
// that COLD leaves DRAM.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heap/configure.hpp"
#include "heap/kind.hpp"
#include "heap/object.hpp"

namespace isotherm::heap {

inline constexpr double kSparseShare = 0.75;
/// True when the object lies in an extent whose live bytes fell under `live_share` of its
/// used bytes and that no longer takes allocations: worth evacuating. Does not touch the object.
bool is_sparse(const void* object, double live_share = kSparseShare) noexcept;
/// True when that extent takes no more allocations. Does not touch the object.
bool is_closed(const void* object) noexcept;
/// Returns the band of an object of HOT.
band band_of(const void* object) noexcept;
/// The extents of a heap by number, from its begin. All that were ever in use are below the first.
std::size_t used_extents(kind where) noexcept;
std::size_t extent_of(kind where, const void* object) noexcept;
/// Whether the extent takes no more allocations, and an object lives there.
bool is_closed_and_used(kind where, std::size_t extent) noexcept;
/// Live and used bytes of a heap of objects, for deciding on compaction: dead = used - live.
struct packing {
  std::uint64_t live_bytes = 0, used_bytes = 0;
};
packing packing_of(kind where) noexcept;

/// Gives back the pages of NEW or HOT in which nothing lives, of extents that are kept by less than
/// half of their bytes, once for each time that an extent is filled; and whole extents that are
/// kept only to be appended to. Returns their bytes. Any thread. Takes a microsecond for a hundred
/// extents, and a tenth of a millisecond for each of which pages go.
std::uint64_t release_dead_pages(kind where) noexcept;

/// The treatment of an extent of a logged COLD when the last object in it is freed. To give it back
/// is a call that waits for the disk in some file systems: in ext4 for all direct reads of the
/// file that are under way.
enum class emptied : std::uint8_t {
  given_back,  ///< at once, by the thread that frees that object: the default
  left         ///< until give_back_emptied_cold(), to be called several times a second
};
/// Any thread. For `given_back` also gives back what was left until now.
void treat_emptied_cold(emptied how) noexcept;
/// Gives back the extents that were left; a thread that finds no room in COLD does so, too. Returns
/// their bytes. Any thread; a microsecond where none were left.
std::uint64_t give_back_emptied_cold() noexcept;

/// Some extents of a heap that are to be emptied.
class sparse_extents {
 public:
  sparse_extents(kind where, std::size_t extents) : where_(where), chosen_(extents) {}
  kind where() const noexcept { return where_; }
  /// Whether the object, of that heap, lies in a chosen extent.
  bool contains(const void* object) const noexcept;
  void choose(std::size_t extent) { chosen_[extent] = true; }

 private:
  kind where_;
  std::vector<bool> chosen_;  // by number
};

/// Which extents are worth emptying, and how many of them at a time.
struct emptying {
  static constexpr std::uint64_t kAny = ~std::uint64_t{0};
  double live_share;                    ///< of their used bytes less than so much lives
  std::uint64_t live_bytes = kAny;      ///< what lives in all that are chosen, at most
  std::uint64_t dead_bytes = kAny;      ///< no more than it takes to have so much dead
  std::uint64_t together_bytes = kAny;  ///< what lives in those that are emptied together, at most
  std::uintptr_t end = ~std::uintptr_t{0};  ///< addresses below it
};
/// The sparsest that take no more allocations, in groups that are to be emptied one after the
/// other, so that the copies of one group take the room that the last one left; an extent alone may
/// exceed `together_bytes`.
std::vector<sparse_extents> sparsest_of(kind where, const emptying& which);

/// The extents of a heap in the order in which they were opened, without those that take
/// allocations and those in which nothing lives.
struct aged_extent {
  std::size_t number;   ///< of a run its first
  std::uint32_t birth;  ///< counts up, and round at its end
  std::uint64_t live_bytes;
};
std::vector<aged_extent> by_birth(kind where);
/// Says that the objects of a closed extent are about to move out: until it is empty, no object is
/// put into room that others leave there. Any thread.
void begin_emptying(kind where, std::size_t number) noexcept;
/// Returns the birth of the extent in which an object lies. Does not touch the object.
std::uint32_t birth_of(kind where, const void* object) noexcept;

/// Cuts what the extents of a heap have in use into `count` parts of about as many bytes: the
/// addresses where they end, the last one's not.
std::vector<std::uintptr_t> cut_evenly(kind where, std::uint64_t count);

/// Notes that an object of a mapped COLD was used: its pages are in DRAM, and may be asked to leave
/// again. Any thread.
void note_cold_use(const void* object) noexcept;

inline constexpr std::uint64_t kUnlimitedGrowth = ~std::uint64_t{0};
/// For a collector that holds DRAM to a target: the extents of NEW and HOT that threads may open
/// until the next call, in bytes. Beyond them each thread waits before it opens another, a quarter
/// of a second at most also for an object of many, under no lock of the heaps: a program that loads
/// faster than records can leave is slowed. kUnlimitedGrowth, the default: no thread waits.
/// Allocations with recycling::none are not counted and never wait. Any thread.
void allow_growth(std::uint64_t bytes) noexcept;
/// For the layer that knows scopes, whose close moves have to wait for: a thread for which
/// `may_wait_here` is false does not wait then, and owes it. Before the first allocation.
void ask_before_waiting(bool (*may_wait_here)() noexcept) noexcept;
/// Lets a collector know that room is wanted: each thread that is going to wait, or owes a wait,
/// calls `tell` first, under no lock of the heaps. Any thread.
void tell_of_waits(void (*tell)() noexcept) noexcept;
/// Waits if the calling thread owes a wait; tests a flag otherwise. For programs that allocate
/// within scopes, between two of them: a server after each batch of requests.
void wait_for_room() noexcept;
/// A wait for room of one thread that does other work meanwhile, which is to take no memory.
class room_wait {
 public:
  /// Begins a wait if the calling thread owes one; takes next to nothing.
  void begin() noexcept;
  /// Does as begin(), and ends a wait that is over. To be called some dozens of times a second.
  void update() noexcept;
  bool is_on() const noexcept { return began_ns_ != 0; }

 private:
  std::uint64_t began_ns_ = 0;
};
/// Those waits since start, and the time that they took in all. Any thread.
std::uint64_t slowed_allocations() noexcept;
std::uint64_t slowed_allocation_us() noexcept;

struct page_out_report {
  std::uint64_t bytes_asked = 0;  ///< bytes of DRAM of the extents that leave
  std::string
      problem;  ///< one line when they cannot leave (no swap, a disk that fails), else empty
};
/// Makes COLD leave DRAM, at most `limit_bytes`; does nothing with hint::none, nor with a direct
/// COLD, which is not in DRAM. Writes the extents
/// of a logged COLD that were closed since to its file; their memory goes when the scopes that are
/// open have closed. Gives `how` for those of a mapped one that were closed, or had an object used
/// (note_cold_use()), since they were last hinted, and with `pageout` also for some of the others,
/// other ones in each call, when pages of theirs are found in DRAM. One caller at a time (the
/// collector). An object larger than `limit_bytes` stays. `stop` is asked before each MiB, under no
/// lock: it may wait there, to keep a pace. Once it says true the rest is left, and the next call
/// begins with it.
page_out_report page_out_cold(
    hint how, std::uint64_t limit_bytes, const std::function<bool()>& stop = [] { return false; });
/// Does the work of page_out_cold(), but does not wait for the last writes of a logged COLD, of
/// 4 MiB or an object: they end beside the caller's other work, and the next call tells of them.
page_out_report begin_page_out(hint how, std::uint64_t limit_bytes,
                               const std::function<bool()>& stop);
/// Waits for these writes, until `stop` says true, which is asked ten times a second: those that
/// are still under way are told of by a later call.
page_out_report finish_page_out(const std::function<bool()>& stop);

}  // namespace isotherm::heap
