/* Scope entry with the asymmetric fence (src/sync/{scope.hpp,slots.*,epoch.cpp,retire.cpp}), on a
 * machine with store buffers: a thread's store to its slot waits in the thread's own buffer until
 * the machine writes it, or until membarrier(2) drains it. Read-modify-writes drain the buffer of
 * their thread. Loads are not reordered: the code's are acquire loads.
 *
 * The reclaimer unlinks an object, changes the epoch and the state, and waits for the scopes; then the
 * object is free and the state is ACTIVE. No scope may hold the free object, and no scope may be
 * open in ACTIVE that does not count.
 *
 * Variants (-D):
 *   FALLBACK              without membarrier(2): the entering thread pays for the fence
 * Mutations (-D):
 *   NO_MEMBARRIER         the reclaimer reads the slots without draining the buffers
 *   NO_SECOND_LOOK        entering does not read the global word again
 *   SLOTS_COUNTED_EARLY   the number of slots is read before the epoch changes
 *   EPOCH_BEFORE_UNLINK   the object is unlinked after the epoch has changed
 */
#define kThreads 2
#define kScopes (id == 0 -> 2 : 1)
#define kRounds 2
#define kInactive 0
#define kPrepare 1
#define kActive 2
#define epoch_of(word) ((word) >> 2)
#define state_of(word) ((word) & 3)
#define kEpochStep 4

byte global_word = kEpochStep;
byte slots_used;
byte entered[kThreads];
chan buffer[kThreads] = [2] of { byte };

byte link;          /* the object that scopes can reach: 0, 1, ... */
bool freed[kRounds];

inline drain(t) {
  d_step {
    do
    :: nempty(buffer[t]) -> buffer[t] ? entered[t]
    :: empty(buffer[t]) -> break
    od
  }
}

/* The machine: writes the oldest store of a buffer whenever it likes. */
proctype machine(byte t) {
end:
  do
  :: d_step { nempty(buffer[t]) -> buffer[t] ? entered[t] }
  od
}

/* scope::enter(). */
inline enter() {
  seen = global_word;
  do
  :: buffer[id] ! epoch_of(seen) + 1;
#ifdef FALLBACK
     drain(id);
#endif
#ifdef NO_SECOND_LOOK
     break
#else
     atomic {
       again = global_word;
       if
       :: again == seen ->
          again = 0;
          break
       :: else -> seen = again
       fi
     }
#endif
  od;
  atomic {
    tracking = state_of(seen) != kInactive;
    seen = 0
  }
}

inline use() {
  d_step {
    assert(object == kRounds || !freed[object]);
    assert(state_of(global_word) != kActive || tracking)
  }
}

proctype application(byte id) {
  byte seen, again, object, scopes;
  bool tracking;
  /* claim_slot(): a read-modify-write, so the buffer (empty here) is drained. */
  d_step { slots_used = (slots_used < id + 1 -> id + 1 : slots_used) };
  do
  :: scopes < kScopes ->
     enter();
     object = link;
     use();
     use();
     atomic {
       object = 0;
       scopes++
     }
     buffer[id] ! 0 /* scope::leave() */
  :: else -> break
  od
}

inline membarrier() {
#if defined(FALLBACK) || defined(NO_MEMBARRIER)
  skip
#else
  i = 0;
  do
  :: i < kThreads ->
     drain(i);
     i++
  :: else -> break
  od
#endif
}

inline change_state(to, epochs) {
  d_step { global_word = ((epoch_of(global_word) + (epochs)) << 2) | (to) }
}

/* begin_migration_epoch(), with wait_until_all_carry() and oldest_open_epoch(). */
proctype reclaimer() {
  byte i, used, epoch, rounds;
  do
  :: rounds < kRounds ->
#ifndef EPOCH_BEFORE_UNLINK
     link++;
#endif
#ifdef SLOTS_COUNTED_EARLY
     used = slots_used;
#endif
     change_state(kPrepare, 1);
     epoch = epoch_of(global_word);
#ifdef EPOCH_BEFORE_UNLINK
     link++;
#endif
     membarrier();
#ifndef SLOTS_COUNTED_EARLY
     used = slots_used;
#endif
     i = 0;
     do
     :: i < used && (entered[i] == 0 || entered[i] - 1 >= epoch) -> i++
     :: i == used -> break
     od;
     change_state(kActive, 0);
     freed[rounds] = true;
     rounds++;
     change_state(kInactive, 0)
  :: else -> break
  od
}

init {
  atomic {
    run machine(0);
    run machine(1);
    run application(0);
    run application(1);
    run reclaimer()
  }
}
