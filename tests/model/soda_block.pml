/* The bitmap's blocks (src/guide/soda.cpp): made when a guide first appears in their 2 MiB, given back
 * by the collector when none is left. Two threads make guides in the same block and destroy them,
 * and the collector gives blocks back. Nobody may touch a block that is gone, and a registered guide
 * must be found.
 *
 * population = registered bits + registrations in flight; kDead once given back.
 *
 * Mutations (-D):
 *   POPULATION_FIRST       unregistering gives up its share of the block before its last look at it
 *   REGISTER_OUTSIDE_SCOPE the block found is not kept by a scope
 *   ENTER_DEAD             a registration in a block given back is not turned away
 *   CHECK_THEN_KILL        the collector looks at the population and then kills, in two steps
 *   RESET_UNREGISTERED     a guide that was never registered is looked up when it is destroyed
 */
#define kThreads 2
#define kBlocks 3 /* 0: none */
#ifndef kGuides
#define kGuides 2
#endif
#ifndef kCollections
#define kCollections 2
#endif
#define kDead (-1)

byte entry;      /* the directory's entry: number of the block */
byte made;
bool gone[kBlocks + 1];
short population[kBlocks + 1];
byte registered[kBlocks + 1]; /* one bit a thread */
byte waits_for[kBlocks + 1];  /* retired: scopes that must close */
byte open_scopes;

inline open_scope() { d_step { open_scopes = open_scopes | (1 << id) } }
#define close_one(b)                                                   \
  gone[b] = gone[b] || (waits_for[b] != 0 && (waits_for[b] & open_scopes) == 0); \
  waits_for[b] = waits_for[b] & open_scopes
inline close_scope() {
  d_step {
    open_scopes = open_scopes & (255 - (1 << id));
    close_one(1);
    close_one(2);
    close_one(3)
  }
}

/* enter_block(): when it is done, `block` has a registration of ours in flight. */
inline enter_block() {
  do
  :: block = entry;
     if
     :: block == 0 && made < kBlocks ->
        d_step {
          if
          :: entry == 0 ->
             made++;
             entry = made;
             block = made
          :: else -> block = entry
          fi
        }
     :: else
     fi;
     if
     :: block != 0 ->
        d_step {
          assert(!gone[block]);
          found = population[block];
          /* Dead blocks stay dead: the code's kDead is too far down for its increments to matter. */
          population[block] = (found >= 0 -> population[block] + 1 : population[block])
        }
        if
#ifdef ENTER_DEAD
        :: true -> break
#else
        :: found >= 0 -> break
        :: else /* the collector is about to clear the entry */
#endif
        fi
     :: else
     fi
  od;
  found = 0
}

/* register_slot(). */
inline register_slot() {
#ifndef REGISTER_OUTSIDE_SCOPE
  open_scope();
#endif
  enter_block();
  d_step {
    assert(!gone[block]);
    registered[block] = registered[block] | (1 << id)
  }
  block = 0;
#ifndef REGISTER_OUTSIDE_SCOPE
  close_scope()
#else
  skip
#endif
}

/* unregister_slot(): in no scope; its registered bit keeps the block. */
inline unregister_slot() {
  block = entry;
#ifndef RESET_UNREGISTERED
  assert(block != 0 && (registered[block] & (1 << id)));
#endif
  if
  :: block != 0 ->
     d_step {
       assert(!gone[block]);
       found = registered[block] & (1 << id);
       registered[block] = registered[block] & (255 - (1 << id))
     }
#ifdef POPULATION_FIRST
     d_step { population[block] = (found != 0 -> population[block] - 1 : population[block]) }
#endif
     assert(!gone[block]); /* the due bit, after the wait for the hazard */
#ifndef POPULATION_FIRST
     d_step {
       assert(!gone[block]);
       population[block] = (found != 0 -> population[block] - 1 : population[block])
     }
#endif
  :: else
  fi;
  d_step { block = 0; found = 0 }
}

proctype owner(byte id) {
  byte block, guides;
  short found;
  do
  :: guides < kGuides ->
     guides++;
     if
     :: register_slot();
        unregister_slot()
#ifdef RESET_UNREGISTERED
     :: unregister_slot()
#endif
     fi
  :: else -> break
  od
}

/* visit_all() beside free_empty_blocks(): only the collector gives blocks back, so what it finds
 * stays while it looks.
 */
proctype collector() {
  byte block, collections;
  bool idle;
  do
  :: collections < kCollections ->
     collections++;
     block = entry;
     if
     :: block != 0 ->
        assert(!gone[block]);
#ifdef CHECK_THEN_KILL
        idle = (population[block] == 0);
        d_step { population[block] = (idle -> kDead : population[block]) }
#else
        d_step {
          idle = (population[block] == 0);
          population[block] = (idle -> kDead : population[block])
        }
#endif
        if
        :: idle ->
           entry = 0;
           d_step { /* retire() */
             waits_for[block] = open_scopes;
             gone[block] = (open_scopes == 0);
             idle = false
           }
        :: else
        fi
     :: else
     fi;
     block = 0
  :: else -> break
  od
}

init {
  atomic {
    run owner(0);
    run owner(1);
    run collector()
  }
}
