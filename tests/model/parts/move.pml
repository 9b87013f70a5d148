/* copy_and_commit() of src/collector/protocol/protocol.cpp: moves the object of `word`; `ok` tells whether it
 * moved. The copy is one step here: what matters is what happens between it and the commit.
 */
inline copy_and_commit() {
  allocate(to);
  if
  :: to == 0 -> ok = false /* full */
  :: else ->
     d_step {
       from = address_of(word);
       assert(memory[from] != nothing);
       identity[to] = identity[from];
       content[to] = content[from]
     }
#ifdef FREE_BEFORE_COMMIT
     deallocate(from);
#endif
     d_step {
#ifdef COMMIT_WITHOUT_COMPARE
       ok = true;
#else
       ok = (slot == word);
#endif
       slot = (ok -> moved_to(word, to) : slot)
     }
     if
#ifndef FREE_BEFORE_COMMIT
     :: ok -> deallocate(from)
#else
     :: ok -> skip
#endif
     :: else -> deallocate(to)
     fi;
     d_step { from = 0; to = 0 }
  fi
}
