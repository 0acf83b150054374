// SPDX-License-Identifier: Apache-2.0
// Collects reports, decides on moves and carries them out; the header has the states and invariants.
#include "balance/balancer/greedy_refine_balancer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nacre/archive.hpp>

#include "balance/balancer/offers.hpp"
#include "balance/balancer/refine_wire.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {
namespace {

enum class refine_kind : std::uint8_t { look, report, moves };
[[nodiscard]] constexpr bool wire_valid(refine_kind kind) noexcept { return kind <= refine_kind::moves; }

}  // namespace

struct greedy_refine_balancer::message {
  refine_kind kind = refine_kind::look;
  std::uint32_t number = 0;
  double load = 0;  // report: load; look: seconds per message to an object without measurement, or 0
  std::vector<wire_object> objects;
  std::vector<wire_talk> talks;                        // report
  double measured_seconds = 0, measured_messages = 0;  // report

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, load, objects, talks, measured_seconds, measured_messages);
  }
};

refine_report greedy_refine_balancer::own_report(balancer_host& host) const {
  refine_report report;
  report.load = sane(host.total_load());
  for (const object_load& each : host.candidates(parameters_.objects_max, candidate_kind::any)) {
    if (each.seconds > 0) {
      report.measured_seconds += sane(each.seconds);
      report.measured_messages += each.messages;
    }
    if (!(each.load > 0) || !worth_moving(each)) continue;
    report.movable.push_back(each);
    report.movable.back().load = sane(each.load);
  }
  for (std::size_t index = 0; parameters_.communication && index < report.movable.size(); ++index) {
    append_talks(host, report.movable[index].object, report.talks);
  }
  return report;
}

void greedy_refine_balancer::on_tick(balancer_host& host) {
  if (host.rank() != rank_id{0} || host.size() < 2 || collecting_ || host.now() < look_at_) return;
  collecting_ = true;
  ++number_;
  reports_.assign(host.size(), {});
  reported_.assign(host.size(), false);
  missing_ = host.size() - 1;
  const std::vector<std::byte> look = pack(message{refine_kind::look, number_, assumed_seconds_, {}, {}});
  for (std::uint32_t rank = 1; rank < host.size(); ++rank) host.send(rank_id{rank}, look);
}

void greedy_refine_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  const expected<message, wire_error> m = unpack<message>(bytes);
  if (!m || source == host.rank() || source.value() >= host.size()) return;
  if (m->kind == refine_kind::report) return note(host, source, *m);
  if (source != rank_id{0}) return;
  if (m->kind == refine_kind::moves) return apply_moves(host, m->objects);
  host.assume_message_seconds(sane(m->load));
  const refine_report report = own_report(host);
  message answer{refine_kind::report,     m->number, report.load, {}, {}, report.measured_seconds,
                 report.measured_messages};
  write_report(report, answer.objects, answer.talks);
  host.send(source, pack(answer));
}

void greedy_refine_balancer::note(balancer_host& host, rank_id source, const message& m) {
  if (!collecting_ || m.number != number_ || reported_[source.value()]) return;
  reported_[source.value()] = true;
  refine_report& report = reports_[source.value()];
  report.load = sane(m.load);
  report.measured_seconds = sane(m.measured_seconds);
  report.measured_messages = sane(m.measured_messages);
  read_report(report, m.objects, m.talks);
  if (--missing_ == 0) decide(host);
}

void greedy_refine_balancer::decide(balancer_host& host) {
  collecting_ = false;
  host.assume_message_seconds(assumed_seconds_);
  reports_[0] = own_report(host);
  if (!learn_message_seconds()) return;  // and look again at the next tick
  const std::vector<refine_move> moves = refine(reports_, parameters_.tolerance);
  const std::vector<std::vector<wire_object>> orders = moves_by_rank(moves, host.size());
  apply_moves(host, orders[0]);
  for (std::uint32_t rank = 1; rank < host.size(); ++rank) {
    if (orders[rank].empty()) continue;
    host.send(rank_id{rank}, pack(message{refine_kind::moves, number_, 0, orders[rank], {}}));
  }
  if (!moves.empty()) look_interval_.succeed();
  look_at_ = host.now() + look_interval_.fail(host.rng());
}

/// Computes the average time of a message over all ranks. False: this is the first such average, so the ranks have
/// estimated unmeasured objects each in its own way, and their loads cannot be compared.
bool greedy_refine_balancer::learn_message_seconds() {
  double seconds = 0, messages = 0;
  for (const refine_report& each : reports_) {
    seconds += each.measured_seconds;
    messages += each.measured_messages;
  }
  if (!(seconds > 0) || !(messages > 0)) return true;
  const bool first = !(assumed_seconds_ > 0);
  assumed_seconds_ = seconds / messages;
  return !first;
}

/// Carries out the moves of a decision. Objects that have begun to run or have left since the report stay where they
/// are.
void greedy_refine_balancer::apply_moves(balancer_host& host, const std::vector<wire_object>& moves) const {
  for (const wire_object& each : moves) {
    const object_id object = object_id::from_value(each.object);
    if (each.target >= host.size() || each.target == host.rank().value()) continue;
    const std::optional<object_load> known = host.load_of(object);
    if (known && !known->running) host.migrate_if_worth(object, rank_id{each.target});
  }
}

std::unique_ptr<balancer> make_greedy_refine_balancer(const config& configuration) {
  return std::make_unique<greedy_refine_balancer>(greedy_refine_balancer::options{
      .look_interval =
          read_backoff(configuration, "balance.greedy_refine.interval", "balance.greedy_refine.interval_max"),
      .tolerance = configuration.get_double("balance.greedy_refine.tolerance"),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.greedy_refine.objects_max")),
      .communication = configuration.get_bool("balance.greedy_refine.communication"),
  });
}

}  // namespace nacre::balance
