// The target of a build without libmemcached.
#include <gtest/gtest.h>

#include "lab/workload/servers/memcached_target.hpp"

namespace isotherm::workload {
namespace {

TEST(AbsentMemcached, SaysThatTheBuildHasNoClient) {
  memcached_target target(*address::parse("memcached:unix:/nowhere"), record_format{}, 1);
  const auto session = target.connect();
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("libmemcached-dev"), std::string::npos)
      << session.error().message;
}

}  // namespace
}  // namespace isotherm::workload
