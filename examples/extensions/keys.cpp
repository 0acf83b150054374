// SPDX-License-Identifier: Apache-2.0
// A module that only those may command who have its key, see docs/extensions.md.
// run: --nacre.ranks=2
// run: --nacre.transport=sim --nacre.ranks=3
// nacre run -n 2 --transport tcp: --nacre.workers=1
// prints: the key opens the gauge
// prints: the withdrawn key: refused
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>

#include "gauge.hpp"

int main(int argc, char** argv) {
  nacre::register_extension(
      "gauge", [](const nacre::config&) { return std::make_unique<gauge>(); }, nacre::extension_access::key);
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::rank_id owner{rt.size() - 1};
    nacre::extension_key key = rt.key_of_extension("gauge");  // on the owner: 128 random bits, of this instance
    key = rt.broadcast(key, owner);                           // sent to all that may use it, like a number

    const std::int64_t value = 7;
    const auto bytes = std::as_bytes(std::span(&value, 1));
    if (rt.rank().value() == 0) {
      rt.extension("gauge", key).command(owner, gauge::set, bytes).get();
      std::puts("the key opens the gauge");
    }
    rt.barrier();
    if (rt.rank() == owner) rt.withdraw_extension_key("gauge");  // old keys open nothing any more
    rt.barrier();
    if (rt.rank().value() != 0) return;
    try {
      rt.extension("gauge", key).command(owner, gauge::set, bytes).get();
    } catch (const nacre::call_error&) {
      std::puts("the withdrawn key: refused");
    }
  });
}
