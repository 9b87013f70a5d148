/* Scopes and epochs (src/sync/{scope.hpp,slots.*,epoch.cpp}), sequentially consistent: that
 * membarrier(2) makes them so is what scope_entry.pml proves.
 */
#define kInactive 0
#define kPrepare 1
#define kActive 2
#define epoch_of(word) ((word) >> 2)
#define state_of(word) ((word) & 3)
#define kEpochStep 4

byte global_word = kEpochStep;
byte entered[kThreads]; /* 0 outside, else epoch + 1 */

#if defined(MOVES_UNANNOUNCED) || defined(ANNOUNCED_LATE)
#define PEEK
#endif
bool moves; /* a sync::moving_guard lives; looked at by peek() alone */
#ifdef PEEK
#define announce(is_moving) moves = is_moving
#else
#define announce(is_moving) skip
#endif

/* scope::enter(). */
inline enter(id, tracking) {
  seen = global_word;
  do
  :: entered[id] = epoch_of(seen) + 1;
     atomic {
       again = global_word;
       if
       :: again == seen ->
          again = 0;
          break
       :: else -> seen = again
       fi
     }
  od;
  atomic {
    tracking = state_of(seen) != kInactive;
    scope_opened(1 << id);
    seen = 0
  }
}

/* advance_epoch(), or change_state(to, 1). */
inline change_epoch(to, epoch) {
  d_step {
    global_word = ((epoch_of(global_word) + 1) << 2) | (to);
    epoch = epoch_of(global_word)
  }
}

inline change_state(to) { d_step { global_word = (epoch_of(global_word) << 2) | (to) } }

/* wait_until_all_carry(): the time-out may strike at any moment. */
inline wait_until_all_carry(epoch, ok) {
  ok = true;
  i = 0;
  do
  :: i < kThreads && (entered[i] == 0 || entered[i] - 1 >= epoch) -> i++
  :: i < kThreads -> ok = false; break
  :: i == kThreads -> break
  od;
  i = 0
}
