// SPDX-License-Identifier: Apache-2.0
// Which library makes the tags of datagrams.
#include "transport/udp/gmac.hpp"

namespace nacre::transport::udp {

std::unique_ptr<gmac> gmac::make(key key) {
  if (auto fastest = by_ipsec_mb(key)) return fastest;
  return by_libcrypto(key);
}

}  // namespace nacre::transport::udp
