// SPDX-License-Identifier: Apache-2.0
// The network interfaces of this host.
#include "join/net/interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <optional>

#include <nacre/error.hpp>

namespace nacre::net {
namespace {

struct list_deleter {
  void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
};

std::string host_of(const address& one) {
  const std::string text = one.text();
  const std::string host = text.substr(0, text.rfind(':'));
  return host.front() == '[' ? host.substr(1, host.size() - 2) : host;
}

std::optional<address> address_of(const ifaddrs& one) {
  if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0) return std::nullopt;
  const int family = one.ifa_addr->sa_family;
  if (family == AF_INET6 &&
      IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(one.ifa_addr)->sin6_addr) != 0) {
    return std::nullopt;
  }
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  return address::of(*one.ifa_addr).at_any_port();
}

}  // namespace

address own_interface(const std::string& wanted) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) first = nullptr;
  const std::unique_ptr<ifaddrs, list_deleter> all(first);
  std::optional<address> best;
  std::string known;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    const auto address = address_of(*each);
    if (!address) continue;
    known += (known.empty() ? "" : ", ") + std::string(each->ifa_name) + " " + host_of(*address);
    const bool fits = wanted.empty() ? (each->ifa_flags & IFF_LOOPBACK) == 0
                                     : wanted == each->ifa_name || wanted == host_of(*address);
    if (fits && (!best || (best->family() == AF_INET6 && address->family() == AF_INET))) best = address;
  }
  if (best) return *best;
  throw setup_error({.problem = wanted.empty() ? "this host has no network" : "this host has no interface " + wanted,
                     .why = "ranks on other hosts call this one",
                     .remedy = "choose with --nacre.tcp.interface among " + (known.empty() ? "none" : known)});
}

}  // namespace nacre::net
