/* One read of COLD for all threads that miss the same pages (src/heap/cold/shared_reads.*,
 * reader.*, read.*). Two loops, each with a reader and a client; both clients miss the same
 * object. The read of the loop that comes first leads: it is in the table until it has ended, and
 * the other loop's read follows it. The end of the first ends the second as well, with its bytes;
 * the second reader gets the ticket and is woken. If the first is cancelled, or if its reader is
 * busy, the second goes on by itself: it is an orphan until its reader adopts it. A read may
 * fail, on the disk or for want of memory. A client may go away, and so may a reader: its read
 * ends as cancelled if it is queued, or if it does not wait for the disk any longer.
 *
 * A thread that holds the mutex of shared_reads makes one step. The model leaves out that a read of
 * more pages serves a miss of fewer, a third reader, and reads that are given up. fetch.pml has how
 * long an extent is pinned, as seen by its object. Here it is unpinned with the memory of the read.
 *
 * Smaller (-DSMALL): the client of one loop alone, and its reader, may go away.
 * Mutations (-D):
 *   FOLLOWS_IN_TWO_STEPS    the table is searched in one step and the read followed in another
 *   STAYS_IN_TABLE          a read that has ended is found by others
 *   OTHER_NOT_WOKEN         the other reader gets a ticket, or an orphan, and is not woken
 *   SELF_NOT_WOKEN          a reader whose read ends before it was started does not wake itself
 *   ACKNOWLEDGED_LATE       the descriptor is acknowledged after the tickets were taken
 *   TOLD_UNLOCKED           what follows is told that did so in the step before
 *   LEFT_IS_UNTOLD          a read that nobody kept when its turn came ends, and what follows not
 *   STAYS_A_FOLLOWER        a read still follows when its reader goes
 *   QUEUED_IS_FORGOTTEN     a reader that goes does not end the read that it has queued
 *   UNDER_WAY_IS_FORGOTTEN  nor the one that the disk has not answered
 *   FREED_UNDER_WAY         the memory that the disk writes to goes with the last user
 *   FREED_WITH_THE_FIRST    it goes with the client of its own loop
 *   ERROR_IGNORED           bytes of a read that failed are used
 *   CANCEL_IS_TOLD          what follows a read that was cancelled ends with it
 *   ANSWER_TAKEN_LATE       what a reader has given up ends once more when the disk answers
 *   FOLLOWS_BOTH            what goes on without a busy reader still follows that one's read
 *   LEFT_NOT_WOKEN          and its own reader is not woken
 */
#define the_other (1 - me)

mtype = { none, follows, orphan, queued, under_way, answered, at_rest }; /* the request */
mtype = { open, good, failed, cancelled };                              /* how it has ended */

/* Of each loop one, as its client misses once. */
typedef cold_read {
  mtype request = none;
  mtype result = open;
  bool is_in_table;
  bool may_be_followed;
  bool is_followed;    /* by the other loop's */
  bool is_awaited;     /* by a ticket */
  bool is_used;        /* by its client */
  bool serves_other;   /* and is kept by the other loop's read */
  bool is_served;      /* by the other loop's */
  bool has_bytes;
  bool disk_failed;
  bool is_freed;       /* and its extent released */
}
cold_read reads[2];

bool signal[2]; /* the reader's descriptor can be read from */
byte mail[2];   /* tickets */
bool has_gone[2];
bool has_answer[2]; /* the client, or it has gone */

#ifdef FREED_UNDER_WAY
#define has_request(r) (reads[r].request == follows || reads[r].request == orphan)
#else
#define has_request(r) (reads[r].request != none && reads[r].request != at_rest)
#endif
#ifdef FREED_WITH_THE_FIRST
#define is_kept(r) (reads[r].is_used || has_request(r))
#else
#define is_kept(r) (reads[r].is_used || has_request(r) || reads[r].serves_other)
#endif

/* ~cold_read(), by the last thread that lets go of it; it lets go of the one that has served it. */
inline free_if_last(r) {
  if
  :: !is_kept(r) && !reads[r].is_in_table && !reads[r].is_freed ->
     reads[r].is_freed = true;
     if
     :: reads[r].is_served ->
        reads[1 - r].serves_other = false;
        if
        :: !is_kept(1 - r) && !reads[1 - r].is_in_table && !reads[1 - r].is_freed ->
           reads[1 - r].is_freed = true
        :: else
        fi
     :: else
     fi
  :: else
  fi
}

/* cold_read::end() and shared_reads::deliver(). */
inline deliver(r, how) {
  assert(reads[r].result == open && !reads[r].is_freed);
  reads[r].result = how;
  if
  :: reads[r].is_awaited ->
     assert(!has_gone[r]);
     reads[r].is_awaited = false;
     mail[r]++
  :: else
  fi
}

#ifdef CANCEL_IS_TOLD
#define tells_others(how) true
#else
#define tells_others(how) (how != cancelled)
#endif

/* shared_reads::end(), in a step. */
inline end(how, has_follower) {
  assert(reads[me].is_in_table);
  deliver(me, how);
  reads[me].is_in_table = false;
#ifndef STAYS_IN_TABLE
  reads[me].may_be_followed = false;
#endif
  if
  :: has_follower ->
     reads[me].is_followed = false;
     assert(!has_gone[the_other]);
     if
     :: tells_others(how) ->
        reads[the_other].is_served = true;
        reads[me].serves_other = true;
        deliver(the_other, how);
        reads[the_other].request = at_rest;
        free_if_last(the_other)
     :: else -> reads[the_other].request = orphan
     fi;
#ifndef OTHER_NOT_WOKEN
     signal[the_other] = true
#endif
  :: else
  fi
}

/* shared_reads::publish(). */
inline publish() {
  reads[me].request = queued;
  reads[me].is_in_table = true;
  reads[me].may_be_followed = true
}

/* shared_reads::follow(). */
inline follow() {
  reads[me].request = follows;
  reads[the_other].is_followed = true
}

/* shared_reads::ask(). */
inline ask() {
#ifdef FOLLOWS_IN_TWO_STEPS
  is_found = reads[the_other].may_be_followed;
#endif
  d_step {
#ifndef FOLLOWS_IN_TWO_STEPS
    is_found = reads[the_other].may_be_followed;
#endif
    reads[me].is_used = true;
    reads[me].is_awaited = true;
    if
    :: is_found -> follow()
    :: else -> publish()
    fi;
    misses = false
  }
}

/* What ends without the disk, in a step. */
inline end_unstarted(how, has_follower) {
  reads[me].request = at_rest;
  end(how, has_follower);
#ifndef SELF_NOT_WOKEN
  signal[me] = true;
#endif
  free_if_last(me)
}

#ifdef LEFT_IS_UNTOLD
#define left_has_follower false
#else
#define left_has_follower reads[me].is_followed
#endif

/* cold_reader::start_waiting(): it asks without the mutex whether some thread keeps the read. */
inline start_waiting() {
  if
  :: reads[me].is_used ->
     if
     :: reads[me].request = under_way
     :: d_step { end_unstarted(failed, reads[me].is_followed) } /* ENOMEM */
     fi
  :: d_step { !reads[me].is_used -> end_unstarted(cancelled, left_has_follower) }
  fi
}

/* cold_reader::take_answers(): the disk has answered. */
inline take_answer() {
#ifdef TOLD_UNLOCKED
#define follower_seen seen
  seen = reads[me].is_followed;
#else
#define follower_seen reads[me].is_followed
#endif
  d_step {
    if
    :: reads[me].request == answered ->
       reads[me].request = at_rest;
       end((reads[me].disk_failed -> failed : good), follower_seen);
       free_if_last(me)
    :: else
    fi
  }
}

/* shared_reads::adopt_orphans(). */
inline adopt() {
  d_step {
    if
    :: reads[me].request == orphan ->
       if
       :: reads[the_other].may_be_followed -> follow()
       :: else -> publish()
       fi
    :: else
    fi
  }
}

/* cold_read::copy_of(): an error is an answer as well. */
inline look() {
  assert(reads[me].result == good || reads[me].result == failed);
  assert(!reads[me].is_freed);
  if
#ifndef ERROR_IGNORED
  :: reads[me].result == failed
#endif
  :: else ->
     if
     :: reads[me].is_served -> assert(reads[the_other].has_bytes && !reads[the_other].is_freed)
     :: else -> assert(reads[me].has_bytes)
     fi
  fi;
  has_answer[me] = true;
  reads[me].is_used = false;
  free_if_last(me)
}

/* cold_reader::take_ended(). A ticket of a client that has gone is told to nobody. */
inline take_ended() {
#ifndef ACKNOWLEDGED_LATE
  signal[me] = false;
#endif
  take_answer();
  adopt();
  d_step {
    assert(mail[me] <= 1);
    if
    :: mail[me] != 0 && !has_answer[me] -> look()
    :: else
    fi;
    mail[me] = 0
  }
#ifdef ACKNOWLEDGED_LATE
  signal[me] = false;
#endif
}

/* shared_reads::leave_busy_leaders(). It reads the other mailbox: its reader must not have gone. */
inline leave_busy_leader() {
  d_step {
    looks && reads[me].request == follows ->
    assert(!has_gone[the_other]);
    looks = false; /* once */
    reads[the_other].may_be_followed = false;
#ifndef FOLLOWS_BOTH
    reads[the_other].is_followed = false;
#endif
    reads[me].request = orphan;
#ifndef LEFT_NOT_WOKEN
    signal[me] = true
#endif
  }
}

inline client_goes() {
  d_step {
    misses = false;
    has_answer[me] = true;
    reads[me].is_used = false;
    free_if_last(me)
  }
}

/* cold_reader::leave(): shared_reads::drop_followers(), and then the end of the queued read. */
inline leave() {
  d_step {
    if
    :: reads[me].request == follows || reads[me].request == orphan ->
#ifndef STAYS_A_FOLLOWER
       reads[the_other].is_followed = false;
#endif
       reads[me].request = at_rest;
       reads[me].is_awaited = false;
       free_if_last(me)
    :: else
    fi
  }
#ifndef QUEUED_IS_FORGOTTEN
  d_step {
    if
    :: reads[me].request == queued -> end_unstarted(cancelled, reads[me].is_followed)
    :: else
    fi
  }
#endif
}

/* shared_reads::cancel_all() in ~cold_reader(): the memory that the disk writes to stays. */
inline cancel_all() {
#ifndef UNDER_WAY_IS_FORGOTTEN
  d_step {
    if
    :: reads[me].is_in_table && reads[me].request != queued ->
       end(cancelled, reads[me].is_followed);
       free_if_last(me)
    :: else
    fi
  };
#endif
#ifdef ANSWER_TAKEN_LATE
  take_answer()
#else
  skip
#endif
}

proctype loop(bit me) {
  bool misses = true;
  bool goes, leaves, looks, is_woken, is_found;
#ifdef TOLD_UNLOCKED
  bool seen;
#endif
  if
#ifdef SMALL
  :: me == 0 -> goes = true
  :: me == 0 -> leaves = true
#else
  :: goes = true
  :: leaves = true
#endif
  :: true
  fi;
  if
  :: looks = true
  :: true
  fi;
end_waits:
  do
  :: misses -> ask()
  :: reads[me].request == queued -> start_waiting()
  :: signal[me] -> take_ended()
  :: leave_busy_leader()
  :: (goes || leaves) && !has_answer[me] -> client_goes()
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
  cancel_all();
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
       fi;
       assert(!reads[r].is_freed);
       if
       :: reads[r].has_bytes = true
       :: reads[r].disk_failed = true
       fi;
       reads[r].request = answered;
       signal[r] = true;
       r = 0
     }
  od
}

/* When nothing can happen any more: all have an answer, and all memory and extents are free, but
 * for what a reader that has gone may have left to the disk.
 */
#define is_over(r) \
  (reads[r].is_freed || reads[r].request == none || (reads[r].request == answered && has_gone[r]))
#define is_done(loop) (has_gone[loop] || (has_answer[loop] && mail[loop] == 0))
inline check_the_end() {
  assert(is_done(0) && is_done(1));
  assert(!reads[0].is_in_table && !reads[1].is_in_table);
  assert(is_over(0) && is_over(1))
}

init {
  atomic {
    run loop(0);
    run loop(1);
    run disk()
  };
  timeout -> check_the_end()
}
