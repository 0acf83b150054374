// SPDX-License-Identifier: Apache-2.0
// The transitions of the wave detector; states, invariants and proofs stand in the header.
#include "quiescence/wave_detector.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <nacre/assert.hpp>

namespace nacre::quiescence {
namespace {

constexpr std::uint32_t waves_max = std::numeric_limits<std::uint32_t>::max();  // wave numbers wrap around behind it

enum kind : std::uint16_t {
  probe,    // parent to child: wave `wave` has begun
  answer,   // child to parent: the sums of the subtree for `wave`
  kick,     // child to parent: a request is open, and the latest wave here, `wave`, has been answered
  declared  // parent to child: the system was found quiet by `wave`
};

enum flag : std::uint16_t {
  flag_asked = 1,  // an answer: a request of the subtree is open
  flag_again = 2   // an answer: a request of the subtree came too late for this wave
};

}  // namespace

wave_detector::wave_detector(const options& tree)
    : self_(tree.self), size_(tree.size), arity_(tree.arity), wave_(tree.previous_number) {
  NACRE_EXPECT(tree.self.value() < tree.size, "a rank's number is below the number of ranks");
  NACRE_EXPECT(tree.arity >= 1 && tree.arity <= arity_max, "the arity of the tree is 1 to arity_max");
  const std::uint64_t first = std::uint64_t{self_.value()} * arity_ + 1;
  const std::uint64_t count = first < size_ ? std::min<std::uint64_t>(size_ - first, arity_) : 0;
  children_ = (child_set{1} << count) - 1;
}

wave_detector::child_set wave_detector::bit_of(rank_id source) const noexcept {
  const std::uint64_t first = std::uint64_t{self_.value()} * arity_ + 1;
  if (source.value() < first || source.value() - first >= arity_) return 0;
  return (child_set{1} << (source.value() - first)) & children_;
}

std::uint64_t wave_detector::request(detector_host& host) {
  ++issued_;
  if (!collecting_) {
    send_kick(host);
  } else if (counted_) {
    again_ = true;
  }
  return issued_;
}

bool wave_detector::on_message(detector_host& host, rank_id source, const detector_message& m) {
  switch (m.kind) {
    case probe:
      return on_probe(host, source, m.wave);
    case answer:
      return on_answer(host, bit_of(source), m);
    case kick:
      return on_kick(host, bit_of(source), m.wave);
    case declared:
      return on_declared(host, source, m.wave);
    default:
      return false;
  }
}

bool wave_detector::on_probe(detector_host& host, rank_id source, std::uint32_t wave) {
  if (is_root() || source != parent() || collecting_ || wave != wave_ + 1) return false;
  start_wave(host, wave);
  return true;
}

bool wave_detector::on_answer(detector_host& host, child_set set, const detector_message& m) {
  if (!collecting_ || m.wave != wave_ || (missing_ & set) == 0) return false;
  missing_ &= ~set;
  sums_ += m.sums;
  if ((m.flags & flag_asked) != 0) asked_ |= set;
  if ((m.flags & flag_again) != 0) again_ = true;
  finish_if_complete(host);
  return true;
}

bool wave_detector::on_kick(detector_host& host, child_set set, std::uint32_t wave) {
  const std::uint32_t age = wave_ - wave;
  if (set == 0 || age > waves_max / 2) return false;
  if (age != 0) return true;  // a later wave will reach the asking rank, or has already found its request
  if (collecting_) {
    again_ = true;
  } else {
    send_kick(host);
  }
  return true;
}

bool wave_detector::on_declared(detector_host& host, rank_id source, std::uint32_t wave) {
  const bool expected = asked_ != 0 || covered_ > declared_;
  if (is_root() || source != parent() || collecting_ || wave != wave_ || !expected) return false;
  spread_declaration(host);
  return true;
}

void wave_detector::on_idle(detector_host& host, const unit_counters& now) {
  if (!wants_counters()) return;
  counted_ = true;
  covered_ = issued_;
  sums_ += now;
  finish_if_complete(host);
}

void wave_detector::start_wave(detector_host& host, std::uint32_t wave) {
  wave_ = wave;
  collecting_ = true;
  counted_ = again_ = kicked_ = false;
  missing_ = children_;
  asked_ = 0;
  sums_ = {};
  send_to(host, children_, probe);
}

void wave_detector::send_kick(detector_host& host) {
  if (is_root()) {
    start_wave(host, wave_ + 1);
  } else if (!kicked_) {
    kicked_ = true;
    host.send(parent(), {.wave = wave_, .kind = kick});
  }
}

void wave_detector::finish_if_complete(detector_host& host) {
  if (!counted_ || missing_ != 0) return;
  collecting_ = false;
  if (is_root()) {
    judge(host);
    return;
  }
  const bool asked = asked_ != 0 || covered_ > declared_;
  const int flags = (asked ? flag_asked : 0) | (again_ ? flag_again : 0);
  host.send(parent(), {.sums = sums_, .wave = wave_, .kind = answer, .flags = static_cast<std::uint16_t>(flags)});
}

void wave_detector::judge(detector_host& host) {
  const std::uint64_t done_earlier = size_ == 1 ? sums_.done : sums_before_.done;
  const bool unchanged = sums_ == sums_before_;
  const bool only_lying = unchanged && sums_.lying != 0 && sums_.created - sums_.done == sums_.lying;
  const bool quiet = done_earlier == sums_.created || only_lying;
  still_ = !quiet && unchanged;
  sums_before_ = sums_;
  if (quiet) {
    const bool again = again_;
    spread_declaration(host);
    if (again && !collecting_) start_wave(host, wave_ + 1);
  } else {
    start_wave(host, wave_ + 1);
  }
}

void wave_detector::spread_declaration(detector_host& host) {
  send_to(host, asked_, declared);
  asked_ = 0;
  if (covered_ > declared_) {
    declared_ = covered_;
    host.declare(covered_);
  }
}

void wave_detector::send_to(detector_host& host, child_set children, std::uint16_t kind) {
  for (child_set rest = children; rest != 0; rest &= rest - 1) {
    host.send(child(static_cast<std::uint32_t>(std::countr_zero(rest))), {.wave = wave_, .kind = kind});
  }
}

}  // namespace nacre::quiescence
