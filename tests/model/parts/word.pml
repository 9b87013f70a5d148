/* The guide word of src/guide/word.hpp, with the fields that the protocols' safety rests on:
 *
 *   bits 0-1 address (0: none)   2-3 count   4 accessed   5 locked
 *
 * Two fields are left out: the heap, which decides where an object goes and not whether it may go,
 * and the inactive windows, whose changes can only make an exact compare-and-swap fail more often.
 */
#define kCountOne 4
#define kCountMask 12
#define kAccessed 16
#define kLocked 32

/* Threads that count one object are at most two here, so the ceiling is two. */
#define kCountCeiling 2

#define address_of(w) ((w) & 3)
#define is_null(w) (((w) & 3) == 0)
#define count_of(w) (((w) & kCountMask) >> 2)
#define is_accessed(w) (((w) & kAccessed) != 0)
#define is_locked(w) (((w) & kLocked) != 0)

#define needs_no_mark(w) (((w) & (kAccessed | kLocked)) == kAccessed)
#define without_counts(w) ((w) & (kAccessed | kLocked | 3))
#define locked(w) ((w) | kLocked)
#define unlocked(w) ((w) & (kAccessed | kCountMask | 3))
#define rested(w) ((w) & (kLocked | kCountMask | 3))
#define moved_to(w, address) ((address) | ((w) & kAccessed))

#ifdef COUNT_KEEPS_LOCK /* mutation: pitfall 2 */
#define marked(w) ((w) | kAccessed)
#else
#define marked(w) (((w) | kAccessed) & (kAccessed | kCountMask | 3))
#endif

#ifdef COUNT_WRAPS /* mutation: pitfall 3 */
#define counted(w) \
  (count_of(w) == kCountCeiling -> without_counts(marked(w)) : marked(w) + kCountOne)
#else
#define counted(w) (count_of(w) == kCountCeiling -> marked(w) : marked(w) + kCountOne)
#endif
#define uncounted(w) \
  ((count_of(w) == 0 || count_of(w) == kCountCeiling) -> (w) : (w) - kCountOne)

#ifdef EXCHANGE_DROPS_COUNTS /* mutation: what counts the old object does not pin the new one */
#define succeeded_by(old, fresh) (fresh)
#else
#define succeeded_by(old, fresh) ((fresh) | ((old) & kCountMask))
#endif
