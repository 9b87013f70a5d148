// A server with one client's commands parked: most of its records have left DRAM, and a test holds
// the disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/parked/cold_server.hpp"

namespace isotherm::server {

inline std::string key(int i) { return "key:" + std::to_string(i); }
/// It lies in a page of its own.
inline std::string value(int i) { return std::to_string(i) + std::string(3000, 'v'); }
inline std::string get(int i) { return encode({"GET", key(i)}); }

class Parked : public ColdServer {
 protected:
  static constexpr int kKeys = 200;
  static constexpr std::uint64_t kLongTurn = std::uint64_t{1} << 40;  // microseconds

  void start(unsigned threads = 1, std::string_view index = "hash-pugh") {
    serving_ = std::make_unique<running>(index, index::management::on, threads);
    talker one(path());
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(one.run({"SET", key(i), value(i)}), "+OK\r\n");
    send_out();
    ASSERT_EQ(one.ask("SET in DRAM\r\nSET number 7\r\n"), "+OK\r\n+OK\r\n");
  }
  void start_with_a_slow_disk(unsigned threads = 1) {
    cold_disk::use_threads();
    start(threads);
    cold_disk::hold();
  }
  /// Waits until exactly `reads` reads of COLD are under way.
  static void until_under_way(std::uint64_t reads) {
    until([&] { return heap::cold_reads().under_way == reads; });
  }
  std::string number_of(talker& of) {
    std::string text = of.ask("CLIENT ID\r\n");
    return text.substr(1, text.size() - 3);
  }
  bool is_listed(const std::string& number) {
    const std::string all = "\n" + talker(path()).ask("CLIENT LIST\r\n");
    return all.find("\nid=" + number + " ") != std::string::npos;
  }
  const std::string& path() const { return serving_->path; }
  server& serving() { return *serving_->serving; }

  std::unique_ptr<running> serving_;
};

}  // namespace isotherm::server
