// Reports of checked builds: a dereference outside of every scope (pitfall 9), and a guide of
// memory that is no object. A program of its own: death tests fork, which ThreadSanitizer and
// jemalloc's fork handlers do not do together.
#include <gtest/gtest.h>

#include <coroutine>
#include <new>
#include <utility>

#include "guide/fetcher.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "guide/marked.hpp"

namespace isotherm {
namespace {

TEST(GuideDeathTest, DereferencingOutsideOfEveryScopeIsReportedWhereChecksAreOn) {
  const auto g = make_guide<int>(1);
  alignas(scope) std::byte memory[sizeof(scope)];
  const auto* closed = ::new (memory) scope;
  closed->~scope();
#if !defined(NDEBUG) || defined(ISOTHERM_SANITIZED)
  EXPECT_DEATH(g.get(*closed), "outside of every scope");
  EXPECT_DEATH(static_cast<void>(*g), "outside of every scope");
  EXPECT_DEATH(g.operator->(), "outside of every scope");
#else
  EXPECT_EQ(*g.get(*closed), 1) << "release builds do not pay for the check";
#endif
}

// A neighbour's page that leaves meanwhile could be read before the object is whole.
TEST(GuideDeathTest, ObjectsAreNotMadeInCold) {
  EXPECT_DEATH(make_bytes_in(heap::kind::cold, "value"), "the collector alone");
  EXPECT_DEATH(make_bytes_in(heap::kind::cold, 100), "the collector alone");
  EXPECT_DEATH(make_object_in<int>(heap::kind::cold, 1), "the collector alone");
  EXPECT_DEATH(make_object_in<int[]>(heap::kind::cold, 3), "the collector alone");
}

TEST(GuideDeathTest, ACoroutineThatWaitsInAScopeIsReportedWhereChecksAreOn) {
  fetcher by = std::move(*fetcher::make());
  const owned<bytes> object = testing_help::bytes_in_cold("value");
  auto arrival = by.fetch(heap::miss(object.get()));
  const scope inside;
#if !defined(NDEBUG) || defined(ISOTHERM_SANITIZED)
  EXPECT_DEATH(arrival.await_suspend(std::noop_coroutine()), "outside of every scope");
#else
  EXPECT_FALSE(arrival.await_ready()) << "release builds do not pay for the check";
#endif
}

TEST(GuideDeathTest, AMarkedFieldOutsideOfEveryScopeIsReportedWhereChecksAreOn) {
  int* const made = make<int>(1);
  marked<int> field = made;
#if !defined(NDEBUG) || defined(ISOTHERM_SANITIZED)
  EXPECT_DEATH(static_cast<void>(*field), "outside of every scope");
#else
  EXPECT_EQ(*field, 1) << "release builds do not pay for the check";
#endif
  discard(field);
}

TEST(GuideDeathTest, AWordOfANodeIsReportedWhereChecksAreOn) {
#if !defined(NDEBUG) || defined(ISOTHERM_SANITIZED)
  EXPECT_DEATH(guides::make_word(0x1000, heap::kind::node, 16), "a guide holds no node");
#else
  EXPECT_NE(guides::make_word(0x1000, heap::kind::node, 16), 0u)
      << "release builds do not check it";
#endif
}

}  // namespace
}  // namespace isotherm
