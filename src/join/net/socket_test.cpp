// SPDX-License-Identifier: Apache-2.0
// Whether both ends of a connection are on one host, and how many sockets there may be.
#include "join/net/socket.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <list>

#include <gtest/gtest.h>

#include <nacre/error.hpp>

#include "join/net/descriptors.hpp"

namespace nacre::net {
namespace {

TEST(joins_one_host, is_told_by_the_addresses_of_both_ends) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const unique_fd one(pair[0]), other(pair[1]);
  EXPECT_TRUE(joins_one_host(one.get()));

  const unique_fd listening_socket = listen_at(address::any_port_of_loopback());
  const address remote = address::of_own_end(listening_socket.get());
  for (const char* const source : {"127.0.0.1:0", "127.0.0.2:0"}) {
    const unique_fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const address peer_address = *address::parse(source);
    ASSERT_EQ(::bind(caller.get(), peer_address.data(), peer_address.bytes()), 0);
    ASSERT_EQ(::connect(caller.get(), remote.data(), remote.bytes()), 0);
    const bool same = peer_address.text().starts_with("127.0.0.1");
    EXPECT_EQ(joins_one_host(caller.get()), same) << source;
    EXPECT_EQ(joins_one_host(accept_from(listening_socket.get()).get()), same) << source;
  }
}

TEST(stream_options, ask_only_other_hosts_for_a_sign_of_life) {
  const auto asks = [](int socket) {
    int value = 0;
    socklen_t bytes = sizeof value;
    EXPECT_EQ(::getsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &value, &bytes), 0);
    return value != 0;
  };
  const unique_fd listening_socket = listen_at(address::any_port_of_loopback());
  const address near = address::of_own_end(listening_socket.get());
  const unique_fd caller = start_connect(near);
  ASSERT_TRUE(caller);
  EXPECT_FALSE(asks(caller.get()));
  EXPECT_FALSE(asks(accept_from(listening_socket.get()).get()));
  const unique_fd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const address source = *address::parse("127.0.0.2:0");
  ASSERT_EQ(::bind(other.get(), source.data(), source.bytes()), 0);
  ASSERT_EQ(::connect(other.get(), near.data(), near.bytes()), 0);
  EXPECT_TRUE(asks(accept_from(listening_socket.get()).get())) << "127.0.0.2 stands for another host";
}

/// The limit of open files of this process, which is put back at the end.
class limit_of_files {
 public:
  limit_of_files() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~limit_of_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  [[nodiscard]] rlim_t most() const noexcept { return before_.rlim_max; }
  [[nodiscard]] static bool set(rlim_t files, rlim_t most) {
    const rlimit wanted{.rlim_cur = files, .rlim_max = most};
    return ::setrlimit(RLIMIT_NOFILE, &wanted) == 0;
  }

 private:
  rlimit before_{};
};

TEST(allow_descriptors, leaves_the_program_the_files_that_it_might_open_before) {
  constexpr std::size_t soft = 1024, connections = 900, own_files = 900;
  const limit_of_files limit;
  if (limit.most() < soft + connections) GTEST_SKIP() << "the hard limit of open files is " << limit.most();
  ASSERT_TRUE(limit_of_files::set(soft, limit.most()));
  std::list<unique_fd> open;
  const auto open_more = [&](std::size_t count) {
    for (; count > 0; --count) {
      open.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!open.back()) return false;
    }
    return true;
  };
  ASSERT_TRUE(open_more(own_files / 2));
  allow_descriptors(connections, "start fewer ranks");
  EXPECT_TRUE(open_more(connections));
  EXPECT_TRUE(open_more(own_files / 2)) << "the program's own ones";
}

TEST(allow_descriptors, is_content_with_less_than_it_would_like_and_refuses_less_than_it_needs) {
  const limit_of_files limit;
  allow_descriptors(limit.most() - 300, "start fewer ranks");
  allow_descriptors(limit.most() - 300, "start fewer ranks");
  EXPECT_THROW(allow_descriptors(limit.most(), "start fewer ranks"), setup_error);
}

}  // namespace
}  // namespace nacre::net
