// SPDX-License-Identifier: Apache-2.0
// An sshd of a test's own, on addresses of the loopback interface, with keys made for it.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "launched.hpp"

namespace nacre::tests {

/// A folder that vanishes.
class scratch_folder {
 public:
  scratch_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nacre_test.XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  void write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path_ + "/" + name) << text;
    ::chmod((path_ + "/" + name).c_str(), mode);
  }

 private:
  std::string path_;
};

/// Runs while it exists. Needs the packages openssh-server and openssh-client and changes nothing of theirs.
class ssh_server {
 public:
  ssh_server() {
    if (!missing_.empty()) return;
    make_keys();
    // sshd insists on this folder of its package when root runs it. It stays, because another test may have its own
    // sshd.
    if (::geteuid() == 0) ::mkdir("/run/sshd", 0755);
    for (int attempt = 0; missing_.empty() && !start(); ++attempt) {
      if (attempt == 9) missing_ = "sshd does not start: " + text_of(folder_ / "log");
      stop();
    }
  }
  ssh_server(const ssh_server&) = delete;
  ssh_server& operator=(const ssh_server&) = delete;
  ~ssh_server() { stop(); }

  /// What keeps it from running, or nothing.
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }
  /// For --ssh; without the key that the server knows, another one.
  [[nodiscard]] std::string shell(const std::string& key = "user") const {
    return "ssh -p " + std::to_string(port_) + " -i " + (folder_ / key) +
           " -F none -T -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR "
           "-o UserKnownHostsFile=" +
           (folder_ / "known_hosts");
  }

 private:
  static std::string find_missing() {
    if (::access("/usr/sbin/sshd", X_OK) != 0) return "there is no sshd: apt-get install openssh-server";
    if (std::system("command -v ssh ssh-keygen >/dev/null") != 0) {
      return "there is no ssh: apt-get install openssh-client";
    }
    return "";
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  static int free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    ::bind(probe, reinterpret_cast<sockaddr*>(&address), bytes);
    ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &bytes);
    ::close(probe);
    return ntohs(address.sin_port);
  }

  void make_keys() {
    for (const char* name : {"host", "user", "stranger"}) {
      const std::string command = "ssh-keygen -q -t ed25519 -N '' -f '" + (folder_ / name) + "'";
      if (std::system(command.c_str()) != 0) missing_ = "ssh-keygen failed";
    }
    folder_.write("authorized_keys", text_of(folder_ / "user.pub"));
  }

  /// False when anything else has taken the port at one of the addresses meanwhile: sshd goes on with the other one.
  bool start() {
    port_ = free_port();
    folder_.write("sshd_config", "Port " + std::to_string(port_) +
                                     "\nListenAddress 127.0.0.1\nListenAddress 127.0.0.2\nHostKey " +
                                     (folder_ / "host") + "\nAuthorizedKeysFile " + (folder_ / "authorized_keys") +
                                     "\nPidFile " + (folder_ / "pid") +
                                     "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                                     "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
                                     "MaxStartups 200\nPrintMotd no\n");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // a test that is killed leaves no server behind
      const std::string config = folder_ / "sshd_config", log = folder_ / "log";
      ::execl("/usr/sbin/sshd", "/usr/sbin/sshd", "-D", "-f", config.c_str(), "-E", log.c_str(), nullptr);
      ::_exit(127);
    }
    return greets(INADDR_LOOPBACK) && greets(INADDR_LOOPBACK + 1);
  }

  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  /// True once a server of ssh, and none of another kind, answers at this address.
  bool greets(in_addr_t address) {
    const auto deadline = steady_clock::now() + seconds(10);
    while (steady_clock::now() < deadline) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        pid_ = -1;
        return false;
      }
      const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const timeval five_seconds{5, 0};
      ::setsockopt(probe, SOL_SOCKET, SO_RCVTIMEO, &five_seconds, sizeof five_seconds);
      sockaddr_in socket_address{};
      socket_address.sin_family = AF_INET;
      socket_address.sin_port = htons(static_cast<std::uint16_t>(port_));
      socket_address.sin_addr.s_addr = htonl(address);
      const bool listens = ::connect(probe, reinterpret_cast<sockaddr*>(&socket_address), sizeof socket_address) == 0;
      char banner[4]{};
      const bool ssh = listens && ::recv(probe, banner, sizeof banner, MSG_WAITALL) == sizeof banner &&
                       std::string_view(banner, sizeof banner) == "SSH-";
      ::close(probe);
      if (listens) return ssh;
      ::poll(nullptr, 0, 20);
    }
    return false;
  }

  scratch_folder folder_;
  std::string missing_ = find_missing();
  int port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace nacre::tests
