/* The write of an extent of a logged COLD (src/heap/packed/log_writer.cpp, cold_extents.cpp,
 * extent.hpp) beside readers. The collector fills the extent, closes it, pins it, writes it, notes
 * that it is written, and retires its memory, whose end unpins it. Two readers look in a scope at
 * whether an object is out: they read it in memory, or in the file, at once or in another scope with
 * the extent pinned meanwhile. A thread unlinks objects and frees them, which may empty the extent;
 * its addresses then mean other objects.
 *
 * That scopes which open after a retirement are visible is what scope_entry.pml and retire.pml
 * prove. That a copy takes the place of its own object: fetch.pml.
 *
 * Mutations (-D):
 *   ENDS_AT_ONCE         memory ends when the extent is noted as written
 *   RETIRES_EARLY        memory is retired before the extent is noted as written
 *   NOTES_EARLY          the extent is noted as written before it is
 *   IGNORES_FAILURE      a write that fails is noted like another one
 *   NOT_PINNED           the write does not pin the extent
 *   UNPINS_AFTER_WRITE   the write pins it, and the end of its memory is not waited for
 *   READ_NOT_PINNED      a read past the scope does not pin it
 *   LOOKS_AFTERWARDS     who unpins the extent looks in a step of its own whether it is empty
 *   LOOKS_OUTSIDE        a reader looks whether objects are out before its scope opens
 *   FREES_AT_ONCE        an object is freed when it is unlinked
 *   WRITES_OPEN          an extent is written that still takes objects
 *   STORES_IN_PLACE      a thread stores to an object in COLD
 *   MARK_STAYS           the extent is opened anew and stays noted as written
 */
#define kReaders 2
#define kAddresses 2
#define kOpenings 2 /* of the extent */
#define kWrites 3   /* that are begun */
#define kLast 3     /* the number of the last object */
#define kStored 8   /* in the content of an object: it was stored to */

/* The extent. */
bool taken, closed, written, in_memory;
byte live, pins;
byte memory[kAddresses]; /* the object whose bytes are there; 0: none */
byte file[kAddresses];
byte openings, made;

/* What slots of guides hold: the object at that address. */
byte slots[kAddresses];
byte stored_to; /* the object that was, plus 1 */

/* Retired: which scopes are to close first, as bit masks. */
byte open_scopes;
bool is_ending;
byte end_waits;
byte free_waits[kAddresses];

#define content_of(object) (stored_to == (object) + 1 -> (object) + kStored : (object))

/* cold_extents::give_back(), and extent_table's. */
inline give_back() {
  assert(taken);
  assert(live == 0);
  taken = false;
  in_memory = false;
  memory[0] = 0;
  memory[1] = 0;
  file[0] = 0;
  file[1] = 0
}

inline give_back_if_empty() {
  if
  :: taken && closed && live == 0 && pins == 0 -> give_back()
  :: else
  fi
}

/* cold_extents::unpin(). */
inline unpin() {
#ifdef LOOKS_AFTERWARDS
  d_step { pins--; left = live };
  d_step {
    if
    :: closed && left == 0 && pins == 0 -> give_back()
    :: else
    fi;
    left = 0
  }
#else
  d_step {
    pins--;
    give_back_if_empty()
  }
#endif
}

inline open_scope() { open_scopes = open_scopes | (1 << id) }
inline close_scope() {
  d_step {
    open_scopes = open_scopes & (255 - (1 << id));
    end_waits = end_waits & open_scopes;
    free_waits[0] = free_waits[0] & open_scopes;
    free_waits[1] = free_waits[1] & open_scopes;
    found = 0;
    out = false
  }
}

/* reach_in_cold() of an object that is not out: it may be read until the scope closes. */
inline read_in_memory() {
  d_step { assert(in_memory); assert(memory[at] == content_of(found)) };
  d_step { assert(in_memory); assert(memory[at] == content_of(found)) }
}

/* object_copy::read(). */
inline read_at_once() {
  d_step { assert(file[at] == content_of(found)) }
}

/* heap::miss, cold_reader, and the use of the copy in another scope. */
inline read_later() {
#ifndef READ_NOT_PINNED
  d_step { assert(taken && live > 0); pins++ };
#endif
  close_scope();
  copy = file[at];
  open_scope();
  d_step {
    found = slots[at];
    if /* the guide holds the object at that address, whichever it is */
    :: found != 0 -> assert(copy == content_of(found))
    :: else
    fi;
    found = 0;
    copy = 0
  };
#ifndef READ_NOT_PINNED
  unpin()
#else
  skip
#endif
}

proctype reader(byte id) {
  byte at, found, copy, left;
  bool out;
  if
  :: at = 0
  :: at = 1
  fi;
#ifdef LOOKS_OUTSIDE
  out = written;
#endif
  open_scope();
  found = slots[at];
  if
  :: found != 0 ->
#ifndef LOOKS_OUTSIDE
     out = written; /* heap::is_out() */
#endif
     if
     :: !out -> read_in_memory()
     :: out -> read_at_once()
     :: out -> read_later()
     fi
  :: else
  fi;
  close_scope()
}

/* guide::clear(), and the free that its retirement leads to: guides are emptied in any order. */
inline unlink_one(which) {
  d_step {
    slots[which] != 0 ->
    slots[which] = 0;
    free_waits[which] = open_scopes;
#ifdef FREES_AT_ONCE
    free_waits[which] = 0
#endif
  }
  /* heap::deallocate(). */
  d_step {
    free_waits[which] == 0 ->
    live--;
    give_back_if_empty()
  }
}

proctype unlinker(byte which) {
end:
  do
  :: unlink_one(which)
  od
}

#ifdef STORES_IN_PLACE
proctype storer() {
end:
  d_step {
    slots[0] != 0 && in_memory && !written ->
    stored_to = slots[0] + 1;
    memory[0] = slots[0] + kStored
  }
}
#endif

/* packed_heap::open_another(): the first object takes the first address that no object has. */
inline reopen() {
  d_step {
    !taken && openings < kOpenings ->
    openings++;
    taken = true;
    closed = false;
    in_memory = true;
#ifndef MARK_STAYS
    written = false
#endif
  }
}

/* A demotion: allocation, copy, and commit to the slot. */
inline demote_to(which) {
  d_step {
    taken && !closed && memory[which] == 0 && slots[which] == 0 && free_waits[which] == 0 &&
        made < kLast ->
    live++;
    made++
  }
  d_step { assert(in_memory); memory[which] = made };
  slots[which] = made
}

inline close() {
  d_step {
    taken && !closed && live > 0 ->
    closed = true;
    give_back_if_empty()
  }
}

#ifdef WRITES_OPEN
#define may_be_written (taken && live > 0 && !written)
#else
#define may_be_written (taken && closed && live > 0 && !written)
#endif

inline note_written() { written = true }
inline retire_memory() {
  d_step {
    is_ending = true;
    end_waits = open_scopes
  }
}

/* log_writer::write_all(): a write that fails changes nothing. */
inline page_out() {
  d_step {
    may_be_written && !is_ending && tries < kWrites -> /* pin_closed() */
    tries++;
#ifndef NOT_PINNED
    pins++
#endif
  }
#ifdef NOTES_EARLY
  note_written();
#endif
  d_step { assert(in_memory); file[0] = memory[0] };
  if
  :: d_step { assert(in_memory); file[1] = memory[1] }
#ifndef NOTES_EARLY
  :: fails = true /* the disk has taken a part of it */
#endif
  fi;
#ifdef IGNORES_FAILURE
  fails = false;
#endif
  if
  :: !fails ->
#ifdef RETIRES_EARLY
     retire_memory();
#endif
#ifndef NOTES_EARLY
     note_written();
#endif
#ifdef ENDS_AT_ONCE
     in_memory = false;
#endif
#ifndef RETIRES_EARLY
     retire_memory();
#endif
#ifdef UNPINS_AFTER_WRITE
     unpin()
#endif
  :: else ->
     fails = false;
#ifndef NOT_PINNED
     unpin()
#endif
  fi
}

/* The collector's thread alone puts objects into COLD and writes it. */
proctype collector() {
  byte left, tries;
  bool fails;
end:
  do
  :: reopen()
  :: demote_to(0)
  :: demote_to(1)
  :: close()
  :: page_out()
  od
}

/* log_writer::end_memory(), on the thread that reclaims. */
proctype reclaimer() {
  byte left;
end:
  do
  :: d_step {
       is_ending && end_waits == 0 ->
       is_ending = false;
       in_memory = false
     }
#if !defined(NOT_PINNED) && !defined(UNPINS_AFTER_WRITE)
     unpin()
#endif
  od
}

init {
  atomic {
    run reader(0);
    run reader(1);
    run unlinker(0);
    run unlinker(1);
#ifdef STORES_IN_PLACE
    run storer();
#endif
    run collector();
    run reclaimer()
  }
}
