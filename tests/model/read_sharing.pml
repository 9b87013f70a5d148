/* One read of COLD for all who miss the same pages (src/heap/cold/reader.*, read.hpp, misses.hpp).
 * Two loops, each with a reader and a client; both clients miss the same object. A read is in the
 * table until it has ended, and a later miss joins it. An end is told by the reader that made the
 * read, and posted to the mail of the other one, which is woken. A read may fail, on the disk or
 * for want of memory. A client may go away, and so may a reader: its reads end as cancelled if they
 * are queued, or if it does not wait for the disk any longer. What was cancelled is missed again.
 *
 * What the mutex of reader.cpp guards is one step. That a read of more pages serves a miss of fewer
 * is left out. How long an extent is kept, as seen by its object: fetch.pml. Here it is released
 * with the memory of the read.
 *
 * Mutations (-D):
 *   JOINS_IN_TWO_STEPS      the table is searched in one step and the read joined in another
 *   STAYS_IN_TABLE          a read that has ended is found by others
 *   OTHER_NOT_WOKEN         the other reader gets mail and is not woken
 *   SELF_NOT_WOKEN          a reader whose read ends before it was started does not wake itself
 *   ACKNOWLEDGED_LATE       the descriptor is acknowledged after the mail was taken
 *   TOLD_UNLOCKED           a reader is told of an end that was a waiter in the step before
 *   LEFT_IS_UNTOLD          a read that nobody kept when its turn came ends and tells nobody
 *   STAYS_A_WAITER          a reader that goes remains among the waiters
 *   QUEUED_IS_FORGOTTEN     a reader that goes does not end the read that it has queued
 *   UNDER_WAY_IS_FORGOTTEN  nor the one that the disk has not answered
 *   FREED_UNDER_WAY         the memory that the disk writes to goes with the last user
 *   FREED_WITH_THE_FIRST    it goes with the client that missed first, not with the last one
 *   ERROR_IGNORED           bytes of a read that failed are used
 *   CANCEL_IGNORED          bytes of a read that was cancelled are used
 *   CANCEL_IS_FINAL         a client whose read was cancelled does not miss it again
 *   ANSWER_TAKEN_LATE       what a reader has given up ends once more when the disk answers
 */
#define kReads 4
#define kNone 4
#define the_other (1 - me)

mtype = { queued, under_way, answered, at_rest };   /* where the request is */
mtype = { open, good, failed, cancelled };          /* how the read has ended */

typedef cold_read {
  mtype request;
  mtype result;
  bit by;        /* the reader that made it */
  byte waiters;  /* bit mask of readers */
  byte users;    /* bit mask of clients that keep it */
  bool has_bytes;
  bool disk_failed;
  bool is_freed; /* and its extent released */
}
cold_read reads[kReads];
byte made;
byte table = kNone;

bool signal[2];  /* the reader's descriptor can be read from */
byte mail[2];    /* tickets */
byte telling[2];
byte asked[2];   /* tickets that a reader has to tell */
bool has_gone[2];
bool is_served[2]; /* the client has an answer, or has gone */

#ifdef FREED_WITH_THE_FIRST
#define has_users(r) ((reads[r].users & (1 << reads[r].by)) != 0)
#else
#define has_users(r) (reads[r].users != 0)
#endif
#ifdef FREED_UNDER_WAY
#define is_kept(r) (has_users(r) || table == r)
#else
#define is_kept(r) (has_users(r) || table == r || reads[r].request != at_rest)
#endif

/* ~cold_read(), by whoever lets go of it last. */
inline free_if_last(r) {
  if
  :: !is_kept(r) ->
     assert(!reads[r].is_freed);
     reads[r].is_freed = true
  :: else
  fi
}

inline let_go(r) {
  reads[r].users = reads[r].users & ~(1 << me);
  free_if_last(r)
}

/* cold_reader::end(), in a step, for these waiters; the caller frees. */
inline end(r, how, waits) {
  assert(reads[r].result == open && !reads[r].is_freed);
  reads[r].result = how;
  if
  :: ((waits) & (1 << me)) != 0 -> telling[me]++
  :: else
  fi;
  if
  :: ((waits) & (1 << the_other)) != 0 ->
     assert(!has_gone[the_other]);
     mail[the_other]++;
#ifndef OTHER_NOT_WOKEN
     signal[the_other] = true
#endif
  :: else
  fi;
  reads[r].waiters = 0;
#ifndef STAYS_IN_TABLE
  table = (table == r -> kNone : table)
#endif
}

/* cold_reader::publish(): it is queued, and in the table. */
inline publish() {
  assert(table == kNone && made < kReads);
  mine = made;
  own = made;
  made++;
  table = mine;
  reads[mine].request = queued;
  reads[mine].result = open;
  reads[mine].by = me
}

/* cold_reader::read(). */
inline ask() {
#ifdef JOINS_IN_TWO_STEPS
  mine = table;
#endif
  d_step {
#ifndef JOINS_IN_TWO_STEPS
    mine = table;
#endif
    if
    :: mine == kNone -> publish()
    :: else
    fi;
    reads[mine].waiters = reads[mine].waiters | (1 << me);
    reads[mine].users = reads[mine].users | (1 << me);
    asked[me]++
  }
}

/* What ends without the disk, in a step. */
inline end_unstarted(how) {
  reads[own].request = at_rest;
  end(own, how, reads[own].waiters);
#ifndef SELF_NOT_WOKEN
  signal[me] = true
#endif
}

/* cold_reader::start_waiting(): whether somebody keeps the read is looked at without the mutex. */
inline start_waiting() {
  if
  :: reads[own].users != 0 ->
     if
     :: reads[own].request = under_way
     :: d_step { /* ENOMEM */
          end_unstarted(failed);
          free_if_last(own);
          own = kNone
        }
     fi
  :: reads[own].users == 0 -> d_step {
#ifdef LEFT_IS_UNTOLD
       reads[own].waiters = 0;
#endif
       end_unstarted(cancelled);
       free_if_last(own);
       own = kNone
     }
  fi
}

/* An end that the disk has told. */
inline take_answer() {
#ifdef TOLD_UNLOCKED
#define waiters_seen (seen | reads[own].waiters)
  seen = (own != kNone -> reads[own].waiters : 0);
#else
#define waiters_seen reads[own].waiters
#endif
  d_step {
    if
    :: own != kNone && reads[own].request == answered ->
       reads[own].request = at_rest;
       end(own, (reads[own].disk_failed -> failed : good), waiters_seen);
       free_if_last(own);
       own = kNone
    :: else
    fi
  }
}

/* cold_read::copy_of() and arrived_reads::find(): an error is an answer as well. */
inline look() {
  assert(reads[mine].result != open && !reads[mine].is_freed);
  if
#ifdef CANCEL_IGNORED
  :: reads[mine].result == cancelled -> assert(reads[mine].has_bytes); is_served[me] = true
#elif defined(CANCEL_IS_FINAL)
  :: reads[mine].result == cancelled
#else
  :: reads[mine].result == cancelled -> misses = true
#endif
#ifdef ERROR_IGNORED
  :: reads[mine].result == failed -> assert(reads[mine].has_bytes); is_served[me] = true
#else
  :: reads[mine].result == failed -> is_served[me] = true
#endif
  :: reads[mine].result == good -> assert(reads[mine].has_bytes); is_served[me] = true
  fi;
  let_go(mine);
  mine = kNone
}

/* cold_reader::take_ended(). A ticket of a client that has gone is told to nobody. */
inline take_ended() {
#ifndef ACKNOWLEDGED_LATE
  signal[me] = false;
#endif
  take_answer();
  d_step {
    telling[me] = telling[me] + mail[me];
    mail[me] = 0
  }
#ifdef ACKNOWLEDGED_LATE
  signal[me] = false;
#endif
  d_step {
    assert(telling[me] <= asked[me]);
    asked[me] = asked[me] - telling[me];
    if
    :: telling[me] != 0 && mine != kNone -> look()
    :: else
    fi;
    telling[me] = 0
  }
}

inline client_goes() {
  d_step {
    is_served[me] = true;
    misses = false;
    if
    :: mine != kNone -> let_go(mine)
    :: else
    fi;
    mine = kNone
  }
}

/* cold_reader::leave(): its waits are taken back, and then what it has queued ends. */
inline leave() {
  d_step {
#ifndef STAYS_A_WAITER
    reads[0].waiters = reads[0].waiters & ~(1 << me);
    reads[1].waiters = reads[1].waiters & ~(1 << me);
    reads[2].waiters = reads[2].waiters & ~(1 << me);
    reads[3].waiters = reads[3].waiters & ~(1 << me);
#endif
    asked[me] = telling[me] + mail[me]
  }
#ifndef QUEUED_IS_FORGOTTEN
  d_step {
    if
    :: own != kNone && reads[own].request == queued ->
       reads[own].request = at_rest;
       end(own, cancelled, reads[own].waiters);
       free_if_last(own);
       own = kNone
    :: else
    fi
  }
#endif
}

/* cold_reader::give_up(): what the disk writes to stays in memory. */
inline give_up() {
#ifdef UNDER_WAY_IS_FORGOTTEN
  skip;
#else
  d_step {
    if
    :: own != kNone && reads[own].request != queued ->
       end(own, cancelled, reads[own].waiters);
       free_if_last(own)
    :: else
    fi
  };
#endif
#ifdef ANSWER_TAKEN_LATE
  take_answer()
#else
  own = kNone
#endif
}

proctype loop(bit me) {
  byte mine = kNone; /* what the client waits for */
  byte own = kNone;  /* what the reader has queued or under way */
  bool misses = true;
  bool goes, leaves, is_woken;
#ifdef TOLD_UNLOCKED
  byte seen;
#endif
  if
  :: goes = true
  :: leaves = true
  :: true
  fi;
end_waits:
  do
  :: misses -> misses = false; ask()
  :: own != kNone && reads[own].request == queued -> start_waiting()
  :: signal[me] -> take_ended()
  :: (goes || leaves) && !is_served[me] -> client_goes()
  :: d_step { /* another read of this reader's has ended */
       !is_woken ->
       is_woken = true;
       signal[me] = true
     }
  :: leaves -> break
  od;
  client_goes();
  leave();
  do
  :: signal[me] -> take_ended()
  :: true -> break
  od;
  give_up();
  has_gone[me] = true
}

/* It answers each read that it was given. */
proctype disk() {
  byte r;
end_waits:
  do
  :: atomic {
       if
       :: reads[0].request == under_way -> r = 0
       :: reads[1].request == under_way -> r = 1
       :: reads[2].request == under_way -> r = 2
       :: reads[3].request == under_way -> r = 3
       fi;
       assert(!reads[r].is_freed);
       if
       :: reads[r].has_bytes = true
       :: reads[r].disk_failed = true
       fi;
       reads[r].request = answered;
       signal[reads[r].by] = true;
       r = 0
     }
  od
}

/* When nothing can happen any more: all were told, and all memory and extents are free, but for
 * what a reader that has gone may have left to the disk.
 */
#define is_over(r) \
  (reads[r].is_freed || (reads[r].request == answered && has_gone[reads[r].by]))
#define is_done(loop) (has_gone[loop] || (is_served[loop] && asked[loop] == 0))
inline check_the_end() {
  assert(is_done(0) && is_done(1) && table == kNone);
  assert(made <= 0 || (is_over(0) && reads[0].result != open));
  assert(made <= 1 || (is_over(1) && reads[1].result != open));
  assert(made <= 2 || (is_over(2) && reads[2].result != open));
  assert(made <= 3 || (is_over(3) && reads[3].result != open))
}

init {
  atomic {
    run loop(0);
    run loop(1);
    run disk()
  };
  timeout -> check_the_end()
}
