/* Three addresses at which objects live, and what a correct program may do with them. An object has
 * an identity and one bit of content; `written` is the content that its last writer gave it, wherever
 * the object lies now. Using memory that is free, or that holds another content, is the defect that
 * the protocols must exclude.
 *
 * retire() is its contract (src/sync/retire.hpp), which retire.pml proves: a retired object is freed
 * when every scope that was open at the call has closed.
 */
#define kAddresses 4 /* 0 is null */

mtype = { nothing, live, retired };
mtype memory[kAddresses] = nothing;
byte identity[kAddresses];
bit content[kAddresses];
bit written[2];
byte waits_for[kAddresses]; /* retired: bit mask of the scopes that must close first */
byte open_scopes;           /* bit mask */

inline allocate(result) {
  d_step {
    if
    :: memory[1] == nothing -> result = 1
    :: else ->
       if
       :: memory[2] == nothing -> result = 2
       :: else ->
          if
          :: memory[3] == nothing -> result = 3
          :: else -> result = 0 /* full */
          fi
       fi
    fi;
    memory[result] = (result != 0 -> live : nothing)
  }
}

inline deallocate(where) {
  d_step {
    assert(memory[where] != nothing); /* freed twice */
    memory[where] = nothing;
    content[where] = 0;
    identity[where] = 0;
    where = 0
  }
}

inline retire(where) {
  d_step {
    if
    :: where != 0 ->
       assert(memory[where] == live);
       memory[where] = retired;
       waits_for[where] = open_scopes
    :: else
    fi;
    where = 0
  }
}

inline scope_opened(mask) { open_scopes = open_scopes | (mask) }

#define close_one(where)                                          \
  if                                                              \
  :: memory[where] == retired ->                                  \
     waits_for[where] = waits_for[where] & open_scopes;           \
     if                                                           \
     :: waits_for[where] == 0 ->                                  \
        memory[where] = nothing;                                  \
        content[where] = 0;                                       \
        identity[where] = 0                                       \
     :: else                                                      \
     fi                                                           \
  :: else                                                         \
  fi

inline scope_closed(mask) {
  d_step {
    open_scopes = open_scopes & (255 - (mask));
    close_one(1);
    close_one(2);
    close_one(3)
  }
}

inline read_object(where) {
  d_step {
    assert(memory[where] != nothing);                      /* use after free */
    assert(content[where] == written[identity[where]])     /* a lost write */
  }
}

inline write_object(where) {
  d_step {
    assert(memory[where] != nothing);
    content[where] = 1 - content[where];
    written[identity[where]] = content[where]
  }
}
