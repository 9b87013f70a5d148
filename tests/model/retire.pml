/* retire() and retired_list (src/sync/retired_list.cpp): threads replace a shared object and retire
 * the old one, and reclaim; another reclaimer goes through the lists of both. A list is two sets: what
 * was retired last is open; it is sealed as a whole, when nothing sealed is left, by an epoch that
 * advances at that moment.
 *
 * Mutations (-D):
 *   SEAL_IN_RETIRE           blocks carry the epoch in which they were retired
 *   SEAL_WITHOUT_ADVANCE     the epoch does not advance when blocks are sealed
 *   RETIRE_BEFORE_UNLINK     the caller retires what scopes can still reach
 *   TAKE_WITHOUT_LOOKING_AGAIN  what another reclaimer sealed meanwhile is taken as well
 *   NO_MUTEX                 two reclaimers take from one list at the same time
 */
#define kThreads 2
#define kObjects 3
#define kScopes (id == 0 -> 2 : 1)

#define kEpochStep 4
#define epoch_of(word) ((word) >> 2)
byte epoch = 1;
byte entered[kThreads]; /* 0 outside, else epoch + 1 */

byte link;              /* the object that scopes can reach */
byte made = 1;          /* objects made so far */
bool freed[kObjects];
byte retired[kThreads]; /* bit mask: the open part of each list */
byte closing[kThreads]; /* bit mask: the sealed part */
byte sealed[kThreads];  /* its epoch; 0 while the reclaimer that seals it is about to set it */
#ifdef SEAL_IN_RETIRE
byte retired_in[kThreads]; /* epoch of the first object in the open part */
#endif
bool mutex[kThreads];

inline lock(which) {
#ifdef NO_MUTEX
  skip
#else
  d_step { !mutex[which] -> mutex[which] = true }
#endif
}
inline unlock(which) {
#ifdef NO_MUTEX
  skip
#else
  mutex[which] = false
#endif
}

inline retire(object) {
  lock(id);
  atomic {
#ifdef SEAL_IN_RETIRE
    retired_in[id] = (retired[id] == 0 -> epoch : retired_in[id]);
#endif
    retired[id] = retired[id] | (1 << object)
  }
  unlock(id)
}

/* oldest_open_epoch(sealing). */
inline find_oldest(otherwise) {
  oldest = otherwise;
  i = 0;
  do
  :: i < kThreads ->
     d_step {
       oldest = ((entered[i] != 0 && entered[i] - 1 < oldest) -> entered[i] - 1 : oldest);
       i++
     }
  :: else -> break
  od;
  i = 0
}

#define free_one(object)                                                        \
  assert(!(taken & (1 << object)) || !freed[object]); /* freed twice */         \
  freed[object] = ((taken & (1 << object)) -> true : freed[object])

#ifdef TAKE_WITHOUT_LOOKING_AGAIN
#define MAY_TAKE(which) true
#else
#define MAY_TAKE(which) (sealed[which] == sealing)
#endif

/* take_ready(), as often as there are segments, and the callbacks. */
inline reclaim_list(which) {
  if
  :: retired[which] != 0 || closing[which] != 0 ->
     lock(which); /* is_front_ready(): seal */
     if
     :: closing[which] == 0 && retired[which] != 0 ->
        d_step {
          closing[which] = retired[which];
          retired[which] = 0;
          sealed[which] = 0
        }
        unlock(which);
        d_step {
#ifndef SEAL_WITHOUT_ADVANCE
          epoch++; /* advance_epoch() */
#endif
          sealing = epoch;
#ifdef SEAL_IN_RETIRE
          sealing = retired_in[which]
#endif
        }
        lock(which);
        d_step { sealed[which] = sealing; sealing = 0 }
     :: else
     fi;
     sealing = sealed[which];
     unlock(which);
     if
     :: sealing != 0 ->
        find_oldest(sealing);
        lock(which);
        d_step {
          /* Another reclaimer may have emptied and sealed the front anew. */
          taken = (oldest >= sealing && MAY_TAKE(which) -> closing[which] : 0);
          closing[which] = closing[which] & (255 - taken);
          sealing = 0;
          oldest = 0
        }
        unlock(which);
        d_step {
          free_one(0);
          free_one(1);
          free_one(2);
          taken = 0
        }
     :: else
     fi
  :: else
  fi
}

/* scope::enter(); see scope_entry.pml for the fence. */
inline enter() {
  seen = epoch;
  do
  :: entered[id] = seen + 1;
     atomic {
       if
       :: epoch == seen ->
          seen = 0;
          break
       :: else -> seen = epoch
       fi
     }
  od
}

proctype application(byte id) {
  byte seen, object, old, scopes, sealing, oldest, i, taken;
  do
  :: scopes < kScopes ->
     enter();
     object = link;
     if
     :: atomic { made < kObjects -> old = made; made++ };
#ifdef RETIRE_BEFORE_UNLINK
        sealing = link;
        retire(sealing);
        sealing = 0;
        link = old;
#else
        d_step { sealing = link; link = old; old = sealing; sealing = 0 };
        retire(old);
#endif
        old = 0
     :: true
     fi;
     d_step {
       assert(!freed[object]);
       object = 0;
       scopes++
     }
     entered[id] = 0;
     reclaim_list(id) /* maybe_reclaim() */
  :: else -> break
  od
}

/* reclaim_ready(). */
proctype reclaimer() {
  byte which, sealing, oldest, i, taken;
  do
  :: which < kThreads ->
     reclaim_list(which);
     which++
  :: else -> break
  od
}

init {
  atomic {
    run application(0);
    run application(1);
    run reclaimer()
  }
}
