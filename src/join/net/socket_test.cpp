// SPDX-License-Identifier: Apache-2.0
// Whether both ends of a connection are on one host.
#include "join/net/socket.hpp"

#include <sys/socket.h>

#include <array>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace nacre::net
