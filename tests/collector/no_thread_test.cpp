// A system that gives no thread. A program of its own, since it stands in for the C library.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cerrno>
#include <string>

#include "collector/collector.hpp"

static int threads_left = 1000;
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  if (threads_left-- <= 0) return EAGAIN;
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, run, argument);
}

namespace isotherm::collector {
namespace {

TEST(CollectorWithoutThreads, StartFailsAndALaterOneSucceeds) {
  object_collector collector({});
  for (const int given : {0, 1}) {
    threads_left = given;
    const auto refused = collector.start();
    threads_left = 1000;
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("no thread"), std::string::npos);
    EXPECT_FALSE(collector.is_running());
  }
  EXPECT_TRUE(collector.start());
  EXPECT_TRUE(collector.is_running());
}

}  // namespace
}  // namespace isotherm::collector
