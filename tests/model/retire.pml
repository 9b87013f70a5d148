/* retire() and reclaim_slot() (src/sync/retire.cpp): threads replace a shared object and retire the
 * old one, and reclaim; another reclaimer goes through the slots of both. Sealing happens at
 * reclamation, by an epoch that advances at that moment.
 *
 * Mutations (-D):
 *   SEAL_IN_RETIRE           blocks carry the epoch in which they were retired
 *   SEAL_WITHOUT_ADVANCE     the epoch does not advance when blocks are sealed
 *   RETIRE_BEFORE_UNLINK     the caller retires what scopes can still reach
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
byte retired[kThreads]; /* bit mask: the lists */
byte sealed[kObjects];  /* 0: not yet */
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
    retired[id] = retired[id] | (1 << object);
#ifdef SEAL_IN_RETIRE
    sealed[object] = epoch
#endif
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

#define seal_one(object)                                                        \
  sealed[object] =                                                              \
      ((taken & (1 << object)) && sealed[object] == 0 -> sealing : sealed[object])
#define take_one(object)                                                        \
  ready = ((taken & (1 << object)) && sealed[object] <= oldest         \
           -> ready | (1 << object) : ready)
#define free_one(object)                                                        \
  assert(!(ready & (1 << object)) || !freed[object]); /* freed twice */         \
  freed[object] = ((ready & (1 << object)) -> true : freed[object])

inline reclaim_slot(which) {
  if
  :: retired[which] != 0 ->
     lock(which); /* take_retired() */
     taken = retired[which];
     retired[which] = 0;
     unlock(which);
     d_step {
#ifndef SEAL_WITHOUT_ADVANCE
       epoch++; /* advance_epoch() */
#endif
       sealing = epoch
     }
     d_step {
       seal_one(0);
       seal_one(1);
       seal_one(2)
     }
     find_oldest(sealing);
     d_step {
       take_one(0);
       take_one(1);
       take_one(2);
       sealing = 0;
       oldest = 0
     }
     lock(which); /* put_back() */
     retired[which] = retired[which] | (taken & (255 - ready));
     unlock(which);
     d_step {
       free_one(0);
       free_one(1);
       free_one(2);
       taken = 0;
       ready = 0
     }
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
  byte seen, object, old, scopes, sealing, oldest, i, taken, ready;
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
     reclaim_slot(id) /* maybe_reclaim() */
  :: else -> break
  od
}

/* reclaim_ready(). */
proctype reclaimer() {
  byte which, sealing, oldest, i, taken, ready;
  do
  :: which < kThreads ->
     reclaim_slot(which);
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
