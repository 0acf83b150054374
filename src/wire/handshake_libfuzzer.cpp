// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: strangers and misbehaving members send any bytes to either side of a handshake.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wire/handshake_test_kit.hpp"

namespace {

using namespace nacre;
using namespace nacre::test;

using bytes_view = std::span<const std::byte>;

void require(bool condition, const char* claim) {
  if (condition) return;
  std::fprintf(stderr, "handshake_libfuzzer: %s\n", claim);
  std::abort();
}

/// A stranger that sends the bytes `said`, in pieces of `piece` bytes.
void stranger(handshake_role victim_role, bytes_view said, std::size_t piece) {
  handshake victim(victim_role, secret_one(), identity_of(0));
  while (!said.empty()) {
    const bytes_view now = said.first(std::min(piece, said.size()));
    feed(victim, now);
    said = said.subspan(now.size());
  }
  require(victim.status() != handshake_status::accepted, "a stranger was accepted");
  victim.on_closed();
  require(!victim.why().log_line("host:1").empty(), "a refusal has no words");
}

/// A member that sends any identity with a valid proof.
void liar(handshake_role victim_role, bytes_view identity) {
  handshake victim(victim_role, secret_one(), identity_of(0));
  const std::size_t longest = handshake_message_bytes_max - handshake_head::size_bytes - sizeof(job_secret::proof);
  if (identity.empty() || identity.size() > longest) return;
  forger(victim, victim_role).prove_identity({identity.begin(), identity.end()});
  const auto read = unpack<peer_identity>(identity);
  const bool fits = read && !judge(identity_of(0), *read, std::nullopt);
  require((victim.status() == handshake_status::refused) != fits, "an identity was judged wrongly");
}

/// Two honest members on a wire that alters bytes. Each pair of bytes in `edits` is a distance and a mask.
void altering_wire(bytes_view edits) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  bool altered = false;
  std::size_t until = 0;
  const auto next_edit = [&] { until = edits.size() < 2 ? SIZE_MAX : std::to_integer<std::size_t>(edits[0]); };
  next_edit();
  for (int turn = 0; turn < 5; ++turn) {
    handshake& speaker = turn % 2 == 0 ? acceptor : initiator;
    handshake& listener = turn % 2 == 0 ? initiator : acceptor;
    std::vector<std::byte> message = take_all(speaker);
    for (std::byte& b : message) {
      if (until-- != 0) continue;
      altered = altered || edits[1] != std::byte{0};
      b ^= edits[1];
      edits = edits.subspan(2);
      next_edit();
    }
    feed(listener, message);
    const bool accepted = listener.status() == handshake_status::accepted;
    require(!(altered && accepted), "an altered conversation was accepted");
    require(altered || listener.status() != handshake_status::refused, "an honest conversation was refused");
  }
  require(altered || initiator.status() == handshake_status::accepted, "an honest conversation did not end");
}

/// With NACRE_SEED_CORPUS=FOLDER, writes one input of each kind there and exits.
void write_seeds() {
  const char* folder = std::getenv("NACRE_SEED_CORPUS");
  if (folder == nullptr) return;
  const auto write = [&](const char* name, unsigned char kind, bytes_view content) {
    std::ofstream file(std::filesystem::path(folder) / name, std::ios::binary);
    file.put(static_cast<char>(kind)).put('\x20');
    file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  };
  const std::vector<std::byte> identity = pack(identity_of(1));
  write("response", 0, message_of(handshake_step::response, std::vector<std::byte>(64)));
  write("challenge", 1, message_of(handshake_step::challenge, std::vector<std::byte>(32)));
  write("initiator", 2, identity);
  write("acceptor", 3, identity);
  write("wire", 4, std::as_bytes(std::span("\x30\x01\x70\x80")));
  std::exit(0);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  write_seeds();
  return 0;
}

/// The first byte selects the scenario, the second the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bytes_view rest(reinterpret_cast<const std::byte*>(data) + 2, size - 2);
  switch (data[0] % 5) {
    case 0:
      stranger(handshake_role::acceptor, rest, 1 + data[1]);
      break;
    case 1:
      stranger(handshake_role::initiator, rest, 1 + data[1]);
      break;
    case 2:
      liar(handshake_role::acceptor, rest);
      break;
    case 3:
      liar(handshake_role::initiator, rest);
      break;
    default:
      altering_wire(rest);
  }
  return 0;
}
