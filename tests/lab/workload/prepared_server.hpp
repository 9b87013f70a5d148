// A server of a few lines that answers with prepared bytes.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "lab/workload/target.hpp"

namespace isotherm::workload {

/// Listens on a Unix socket and takes one client: reads whatever comes and sends an answer, as
/// often as there is one, then closes.
class prepared_server {
 public:
  prepared_server(std::initializer_list<std::string> answers)
      : directory_(std::filesystem::temp_directory_path() / "isotherm-prepared-XXXXXX") {
    std::string name = directory_.string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    where.path = (directory_ / "socket").string();
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
    where.path.copy(at.sun_path, sizeof at.sun_path - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    thread_ = std::jthread([this, answers = std::vector<std::string>(answers)] {
      const int client = accept(listener_, nullptr, nullptr);
      char buffer[65536];
      for (const std::string& answer : answers) {
        if (read(client, buffer, sizeof buffer) <= 0) break;
        EXPECT_EQ(write(client, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
      }
      shutdown(client, SHUT_WR);
      while (read(client, buffer, sizeof buffer) > 0) {
      }
      close(client);
    });
  }
  ~prepared_server() {
    thread_.join();
    close(listener_);
    std::filesystem::remove_all(directory_);
  }

  address where;

 private:
  std::filesystem::path directory_;
  int listener_ = -1;
  std::jthread thread_;
};

}  // namespace isotherm::workload
