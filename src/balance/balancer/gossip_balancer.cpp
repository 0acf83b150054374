// SPDX-License-Identifier: Apache-2.0
// Spreading news and acting on it; the header has the rules and invariants.
#include "balance/balancer/gossip_balancer.hpp"

#include <algorithm>

#include <nacre/archive.hpp>

#include "balance/balancer/offers.hpp"
#include "balance/balancer/random_rank.hpp"

namespace nacre::balance {
namespace {

constexpr std::uint32_t rounds_max = 32;  // as in the range of balance.gossip.rounds

/// Versions wrap around.
bool newer(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b) > 0; }

}  // namespace

void gossip_balancer::on_tick(balancer_host& host) {
  if (host.size() < 2) return;
  surplus_.look(host);
  needy_ = surplus_.needy();
  if (!needy_) {
    gossip_interval_.succeed();
    speak_at_ = std::min(speak_at_, host.now() + gossip_interval_.min());
  } else if (host.now() >= speak_at_) {
    speak(host);
  }
  pass_on(host);
  forget(host.now());
  if (surplus_.spare_at_most() != 0 && knows_needy()) transfer(host);
}

bool gossip_balancer::wanted() const { return !needy_ && knows_needy(); }

bool gossip_balancer::knows_needy() const {
  return std::any_of(known_.begin(), known_.end(), [](const auto& each) { return each.second.open; });
}

void gossip_balancer::speak(balancer_host& host) {
  speak_at_ = host.now() + gossip_interval_.fail(host.rng());
  fresh_.push_back({host.rank(), ++version_, sane(host.total_load()), parameters_.rounds});
}

void gossip_balancer::pass_on(balancer_host& host) {
  if (fresh_.empty() || host.now() < pass_at_) return;
  pass_at_ = host.now() + gossip_interval_.min();
  const std::vector<std::byte> bytes = pack(fresh_);
  fresh_.clear();
  for (std::uint32_t each = 0; each < std::min(parameters_.fanout, host.size() - 1); ++each) {
    host.send(random_other_rank(host), bytes);
  }
}

void gossip_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  const expected<std::vector<news>, wire_error> heard = unpack<std::vector<news>>(bytes);
  if (!heard || source == host.rank() || source.value() >= host.size()) return;
  for (const news& each : *heard) {
    if (each.rank != host.rank() && each.rank.value() < host.size()) hear(each, host.now());
  }
}

void gossip_balancer::hear(const news& item, double now) {
  const auto match = known_.find(item.rank);
  if (match == known_.end() && known_.size() >= parameters_.known_max) return;
  if (match != known_.end() && !newer(item.version, match->second.version)) return;
  known_[item.rank] = {item.version, sane(item.load), now, true};
  if (item.rounds == 0) return;
  std::erase_if(fresh_, [&](const news& each) { return each.rank == item.rank; });
  fresh_.push_back({item.rank, item.version, item.load, std::min(item.rounds, rounds_max) - 1});
}

void gossip_balancer::forget(double now) {
  std::erase_if(known_, [&](const auto& each) { return now - each.second.heard_at > 2 * gossip_interval_.max(); });
}

void gossip_balancer::transfer(balancer_host& host) {
  constexpr std::size_t choice = 8;  // objects to choose from, for each object given
  double own_load = sane(host.total_load());
  std::vector<rank_id> receivers;
  const std::size_t most = surplus_.at_a_time(host, parameters_.objects_max);
  const std::span<const object_load> spare = surplus_.heaviest(host, parameters_.communication ? choice * most : most);
  offers movable(host, spare, parameters_.communication);
  for (std::size_t left = std::min(most, spare.size()); left > 0; --left) {
    rank_id chosen;
    knowledge* const knowledge = draw(host, own_load, chosen);
    if (knowledge == nullptr) break;
    const object_load each = movable.take(chosen);
    if (!(knowledge->load + each.load < own_load)) continue;
    if (!host.migrate_if_worth(each.object, chosen)) continue;
    movable.note_move(each.object, chosen);
    knowledge->load += each.load;
    own_load -= each.load;
    receivers.push_back(chosen);
  }
  for (const rank_id each : receivers) known_[each].open = false;
}

/// Draws one of the ranks known to have less load, with a probability proportional to the difference. Null: none.
gossip_balancer::knowledge* gossip_balancer::draw(balancer_host& host, double own_load, rank_id& drawn) {
  double sum = 0;
  const auto lack = [own_load](const knowledge& subject) {
    return subject.open ? std::max(own_load - subject.load, 0.0) : 0;
  };
  for (const auto& [rank, each] : known_) sum += lack(each);
  double left = sum * host.rng().uniform();
  knowledge* last = nullptr;
  for (auto& [rank, each] : known_) {
    if (lack(each) <= 0) continue;
    last = &each;
    drawn = rank;
    left -= lack(each);
    if (left < 0) break;
  }
  return last;
}

std::unique_ptr<balancer> make_gossip_balancer(const config& configuration) {
  return std::make_unique<gossip_balancer>(gossip_balancer::options{
      .fanout = static_cast<std::uint32_t>(configuration.get_int("balance.gossip.fanout")),
      .rounds = static_cast<std::uint32_t>(configuration.get_int("balance.gossip.rounds")),
      .gossip_interval = read_backoff(configuration, "balance.gossip.interval", "balance.gossip.interval_max"),
      .known_max = static_cast<std::uint32_t>(configuration.get_int("balance.gossip.known_max")),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.gossip.objects_max")),
      .communication = configuration.get_bool("balance.gossip.communication"),
  });
}

}  // namespace nacre::balance
