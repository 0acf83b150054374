// SPDX-License-Identifier: Apache-2.0
// The sender and the receiver of the star.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include <nacre/rng.hpp>

#include "star_rank.hpp"

namespace incast {
namespace {

using nacre::flow_policy;
using nacre::rank_id;

constexpr rank_id receiver_rank(0);
constexpr std::uint64_t pause_every_bytes = 8192;
constexpr nanoseconds look_again = std::chrono::microseconds(10);
constexpr nanoseconds round_patience = std::chrono::milliseconds(50);

class star_sender final : public star_rank {
 public:
  star_sender(const plan& plan, std::uint32_t self)
      : star_rank(plan, self),
        policy_(policy_of(plan.scheme)),
        payload_(plan.bytes),
        pauses_(!plan.rounds && flow_.choose(policy_).policy == flow_policy::none),
        random_(plan.seed * star_senders_max + self) {}

  sender_result run(nanoseconds begin, nanoseconds end) {
    while (star_now() < begin) work(begin);
    while (star_now() < end) {
      flush();
      if (pauses_) send_with_pauses();
      if (!pauses_ && !plan_.rounds) fill();
      work(pauses_ && leaving_.empty() ? std::min(end, resumes_at_) : end);
    }
    sender_result done{.token_us = 0, .retries = flow_.retries()};
    const nacre::flow::token_link* const token = flow_.token_of(receiver_rank);
    if (token != nullptr) done.token_us = static_cast<double>(token->latency().count()) / 1e3;
    return done;
  }

 private:
  struct leaving {
    packet_head next;  // of the next packet to leave
  };

  void fill() {
    while (offered_ + leaving_.size() < offered_ahead) offer();
  }
  /// Equal senders that never pause fall into step, and by luck one of them then loses nothing. So a sender that nobody
  /// coordinates pauses for a random time when some messages have left its host.
  void send_with_pauses() {
    const nanoseconds now = star_now();
    if (!leaving_.empty() || now < resumes_at_) return;
    if (sent_since_pause_ < pause_every_bytes) {
      sent_since_pause_ += plan_.bytes;
      offer();
    } else if (data_.holds_some()) {
      resumes_at_ = now + look_again;
    } else {
      const auto message_ns = static_cast<std::uint64_t>(wire_time(plan_).count());
      resumes_at_ = now + nanoseconds(random_.below(message_ns * sent_since_pause_ / plan_.bytes / 4));
      sent_since_pause_ = 0;
    }
  }
  void offer() {
    offered_ += 1;
    flow_.offer(receiver_rank, policy_, plan_.bytes, star_now());
  }
  void transmit(rank_id, flow_policy policy, const nacre::flow::token_stamp& stamp) override {
    offered_ -= 1;
    packet_head first{.pass = stamp.pass,
                      .message = number_++,
                      .epoch = stamp.epoch,
                      .packet = 0,
                      .packets = 0,
                      .policy = static_cast<std::uint8_t>(policy),
                      .reserved = {}};
    first.packets = static_cast<std::uint16_t>((plan_.bytes + packet_payload - 1) / packet_payload);
    leaving_.push_back({first});  // sent by the loop: the grant that follows must not wait for system calls
  }
  [[nodiscard]] bool waits_for_room() const override { return !leaving_.empty(); }
  void flush() {
    while (!leaving_.empty()) {
      packet_head& head = leaving_.front().next;
      const std::size_t index = head.packet * packet_payload;
      const std::size_t bytes = std::min(packet_payload, payload_.size() - index);
      if (!data_.send(0, std::as_bytes(std::span(&head, 1)),
                      std::span<const std::byte>(payload_).subspan(index, bytes))) {
        return;
      }
      if (++head.packet == head.packets) leaving_.pop_front();
    }
  }
  /// A go for a round that has begun here says that its message was lost.
  void on_go(std::uint32_t) override {
    if (offered_ + leaving_.size() == 0) offer();
  }

  flow_policy policy_;
  std::vector<std::byte> payload_;
  const bool pauses_;
  std::uint64_t sent_since_pause_ = 0;
  nanoseconds resumes_at_{0};
  nacre::rng random_;
  std::size_t offered_ = 0;  // and not transmitted
  std::uint32_t number_ = 0;
  std::deque<leaving> leaving_;
};

class star_receiver final : public star_rank {
 public:
  star_receiver(const plan& plan, receiver_result& result)
      : star_rank(plan, 0), result_(result), partial_(plan.senders + 1), round_of_(plan.senders + 1, 0) {}

  void run(nanoseconds begin, nanoseconds end) {
    begin_ = begin;
    end_ = end;
    while (star_now() < begin) work(begin);
    while (star_now() < end) {
      if (plan_.rounds) play_round();
      if (!plan_.rounds) work(end);
    }
    take_data();  // what had come by then
  }

 private:
  struct partial {
    std::uint32_t message = ~0U;
    std::uint32_t packets = 0;
  };

  void on_packet(std::uint32_t source, std::span<const std::byte> bytes) override {
    packet_head head;
    if (source == 0 || source > plan_.senders || bytes.size() < sizeof head) return;
    std::memcpy(&head, bytes.data(), sizeof head);
    partial& partial = partial_[source];
    if (partial.message != head.message) partial = {head.message, 0};
    partial.packets += 1;
    // Credit comes back when the last packet has come, whether or not the others have.
    const nanoseconds now = star_now();
    if (head.packet + 1 == head.packets) {
      flow_.arrived(rank_id(source), static_cast<flow_policy>(head.policy), {head.epoch, head.pass}, now);
    }
    if (partial.packets != head.packets) return;
    if (now >= begin_) result_.complete[source - 1] += 1;
    round_of_[source] = round_;
  }
  void transmit(rank_id, flow_policy, const nacre::flow::token_stamp&) override {}  // it sends nothing

  [[nodiscard]] bool round_over() const {
    return std::all_of(round_of_.begin() + 1, round_of_.end(), [this](std::uint32_t each) { return each == round_; });
  }
  void play_round() {
    ++round_;
    const nanoseconds began = star_now();
    nanoseconds again = began;
    while (!round_over() && star_now() < end_) {
      if (star_now() >= again) {
        for (std::uint32_t sender = 1; sender <= plan_.senders; ++sender) {
          if (round_of_[sender] != round_) say_go(sender, round_);
        }
        again = star_now() + round_patience;
      }
      work(std::min(again, end_));
    }
    if (!round_over() || result_.rounds == rounds_max) return;
    result_.round_seconds[result_.rounds++] = std::chrono::duration<double>(star_now() - began).count();
  }

  receiver_result& result_;
  std::vector<partial> partial_;
  std::vector<std::uint32_t> round_of_;  // the last round that each has ended
  std::uint32_t round_ = 0;
  nanoseconds begin_{0}, end_{0};
};

}  // namespace

sender_result run_sender(const plan& plan, std::uint32_t self, nanoseconds begin, nanoseconds end) {
  return star_sender(plan, self).run(begin, end);
}

void run_receiver(const plan& plan, nanoseconds begin, nanoseconds end, receiver_result& result) {
  star_receiver(plan, result).run(begin, end);
}

}  // namespace incast
