// SPDX-License-Identifier: Apache-2.0
// The address of this host that other hosts can reach.
#include "tool/hosts/own_address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string_view>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

using net::address;
using net::unique_fd;

constexpr const char* why_reach = "the ranks on other hosts call the launcher";

using address_list = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

address_list look_up(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* match = nullptr;
  const std::string name = host.substr(host.rfind('@') + 1);  // npos + 1 is 0: the whole name
  if (::getaddrinfo(name.c_str(), "9", &wanted, &match) != 0) match = nullptr;
  return {match, [](addrinfo* list) {
            if (list != nullptr) ::freeaddrinfo(list);
          }};
}

bool is_loopback(const sockaddr* address) noexcept {
  if (address->sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr) != 0;
  }
  if (address->sa_family != AF_INET) return false;
  return (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24) == 127;
}

/// This host's address on the route to `target`. Connecting a datagram socket chooses the route and sends nothing.
address route_to(const addrinfo& target) {
  const unique_fd probe(::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe || ::connect(probe.get(), target.ai_addr, target.ai_addrlen) != 0) return {};
  return address::of_own_end(probe.get()).at_any_port();
}

address numeric(const std::string& text) {
  const bool six = text.find(':') != std::string::npos;
  const auto parsed = address::parse(six ? "[" + text + "]:0" : text + ":0");
  if (!parsed) {
    throw setup_error({.problem = "--address " + text + " is no numeric address",
                       .why = why_reach,
                       .remedy = "give one of this host, such as 10.0.0.7; ip addr shows them"});
  }
  return *parsed;
}

}  // namespace

bool is_this_host(const std::string& name) {
  std::array<char, 256> own_bytes{};
  if (::gethostname(own_bytes.data(), own_bytes.size() - 1) != 0) own_bytes[0] = '\0';
  const std::string_view full = own_bytes.data();
  return name == "localhost" || name == full || name == full.substr(0, full.find('.'));
}

net::address own_address(const std::vector<std::string>& hosts, const std::string& asked) {
  if (!asked.empty()) return numeric(asked);
  std::string unknown;
  for (const std::string& host : hosts) {
    if (is_this_host(host)) continue;
    const address_list list = look_up(host);
    if (list != nullptr && is_loopback(list->ai_addr)) continue;
    if (unknown.empty()) unknown = host;
    for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
      const address address = route_to(*each);
      if (address.family() != AF_UNSPEC && !is_loopback(address.data())) return address;
    }
  }
  if (unknown.empty()) return address::any_port_of_loopback();
  throw setup_error(
      {.problem = "host " + unknown + " has no address that this host knows, or no route leads to it",
       .why = why_reach,
       .remedy = "check the name, or name an address of this host that the hosts can reach with --address"});
}

}  // namespace nacre::tool
