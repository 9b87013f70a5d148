// Runs commands against a database over the fake index and returns their raw replies.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/commands/table.hpp"
#include "store/fake_index.hpp"

namespace isotherm::store::testing {

class Commands : public ::testing::Test {
 public:
  std::string run(const std::vector<std::string_view>& arguments) {
    std::string output;
    reply out(output);
    out.set_protocol(protocol_);
    if (const command* found = table_.resolve(arguments, out)) {
      call c{db_, out, arguments, now_, bounds_};
      if (waits_) {
        execute(*found, c, maxmemory_);
      } else {
        access inside(access::when_cold::record);
        c.inside = &inside;
        execute(*found, c, maxmemory_);
      }
    }
    return output;
  }

 protected:
  fake_index index_;
  std::uint64_t used_ = 0;
  database db_{index_, [this] { return used_; }};
  command_table table_{{string_commands(), range_commands(), counter_commands(), key_commands(),
                        expiry_commands(), keyspace_commands(), object_commands()}};
  limits bounds_;
  std::int64_t now_ = 1'700'000'000'000;
  std::uint64_t maxmemory_ = 0;
  int protocol_ = 2;
  bool waits_ = true;  ///< commands wait for objects that are out
};

}  // namespace isotherm::store::testing
