// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: fragments that a peer sends by MPI: compact and whole ones, rendezvous requests, close messages and
// nonsense. Each record of the input is one fragment: a byte for its source and channel, a byte for its length, then
// its word and its bytes.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "transport/frame.hpp"
#include "transport/fuzz_input.hpp"
#include "transport/mpi/endpoint.hpp"

namespace {

using namespace nacre;
using namespace nacre::transport;
using namespace nacre::transport::mpi;

constexpr std::uint32_t ranks = 3;
/// Longer payloads fail to arrive: filling them would take all of the time.
constexpr std::size_t payload_bytes_max = 4096;

struct script {
  fuzz_input said;
  std::size_t payload_bytes = 0;  // of payloads that have arrived
};

class fuzzed_port final : public port {
 public:
  explicit fuzzed_port(script& port_script) : script_(port_script) {}
  outcome next(arrived_fragment& fragment, std::uint32_t channel_index) noexcept override {
    if (script_.said.empty() ||
        std::to_integer<std::uint32_t>(script_.said.front()) % channels_per_peer != channel_index)
      return outcome::nothing;
    const auto whence = cut_value<std::uint8_t>(script_.said);
    const auto bytes = cut_value<std::uint8_t>(script_.said);
    const auto word = cut_value<std::array<std::uint8_t, word_bits / 8>>(script_.said);
    bytes_ = cut(script_.said, bytes);
    fragment = {.channel_index = channel_index,
                .source = whence / channels_per_peer % (ranks + 1U),  // one of them does not exist
                .byte_count = static_cast<std::uint32_t>(bytes_.size()),
                .word = word[0] | word[1] << 8U | std::uint32_t{word[2]} << 16U};
    return outcome::done;
  }
  void take(const arrived_fragment&, std::byte* destination) noexcept override {
    if (!bytes_.empty()) std::memcpy(destination, bytes_.data(), bytes_.size());
  }
  bool carries_words() const noexcept override { return true; }
  outcome send(const transfer_request&, fuzz_input, completion) noexcept override { return outcome::done; }
  outcome send_payload(const transfer_request&, fuzz_input) noexcept override { return outcome::done; }
  outcome receive_payload(const transfer_request& request, std::span<std::byte> payload) noexcept override {
    (payload.size() <= payload_bytes_max ? come_ : failed_).push_back(request.request_id);
    if (payload.size() > payload_bytes_max) return outcome::pending;
    std::memset(payload.data(), 1, payload.size());
    script_.payload_bytes += payload.size();
    return outcome::pending;
  }
  completions completed(std::span<std::uint64_t> request_ids) noexcept override {
    completions result;
    for (std::deque<std::uint64_t>* queue : {&come_, &failed_}) {
      for (; result.count < request_ids.size() && !queue->empty(); queue->pop_front()) {
        request_ids[result.count++] = queue->front();
        if (queue == &failed_) ++result.failed;
      }
    }
    return result;
  }
  const char* error() const noexcept override { return "it is too long"; }

 private:
  script& script_;
  fuzz_input bytes_;
  std::deque<std::uint64_t> come_;
  std::deque<std::uint64_t> failed_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  script port_script{.said = fuzz_input(reinterpret_cast<const std::byte*>(data), size)};
  mpi_endpoint end(rank_id(0), ranks, std::make_unique<fuzzed_port>(port_script), std::make_shared<shared_state>(),
                   {.shape = {.slots = 4, .bytes = 256},
                    .tells_of_failure = false,
                    .patience_in_failure = std::chrono::nanoseconds::zero()});
  std::size_t bytes = 0;
  for (int quiet = 0; quiet < 4;) {
    message_list arrived;
    quiet = end.poll(arrived, 100) ? 0 : quiet + 1;
    while (const message_ptr m = arrived.pop_front()) {
      const frame_limits limits{
          .ranks = ranks, .payload_bytes_max = end.declared().payload_bytes_max, .peer = rank_id(m->header.source)};
      if (m->header.source >= ranks || check_header(m->header, limits)) std::abort();
      bytes += m->header.payload_bytes;
    }
  }
  if (bytes > size + port_script.payload_bytes) std::abort();  // nothing comes out that did not go in
  return 0;
}
