// SPDX-License-Identifier: Apache-2.0
// Taking steps.
#include "model/job.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace model {
namespace {

/// What the objects are. It takes along how many messages it has run.
struct cell {
  std::uint64_t home_job = 0;
  std::uint32_t name = 0;
  std::uint32_t runs = 0;

  void take(nacre::context& ctx, std::uint64_t number) { in().ran(ctx, number, name, runs++); }
  void relay(nacre::context& ctx, std::uint64_t number) {
    in().ran(ctx, number, name, runs++);
    in().send(ctx, 1 - name, false);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(home_job, name, runs);
  }

 private:
  [[nodiscard]] job& in() const noexcept { return *reinterpret_cast<job*>(home_job); }
};

nacre::mobile_ptr<cell> pointer(nacre::object_id id) { return nacre::mobile_ptr<cell>(id); }

}  // namespace

job::job(const program& program, const circumstances& circumstances, const nacre::config& configuration)
    : program_(program), conditions_(circumstances), network_(ranks) {
  const auto fail = [this](nacre::rank_id rank, const std::string& reason) {
    failure_ += "rank " + std::to_string(rank.value()) + ": " + reason + "\n";
  };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    machines_.push_back(std::make_unique<nacre::machine::simulation>(nacre::machine::simulation_options{}));
    const nacre::own_thread mark = thread_of(rank);
    engines_.push_back(std::make_unique<nacre::engine>(
        network_.open(nacre::rank_id(rank)),
        nacre::engine_surroundings{
            .configuration = configuration, .time = time_, .simulation = machines_.back().get(), .fail = fail}));
    nacre::runtime(*engines_[rank], engines_[rank]->pool().application())
        .on_delivery_error([this, rank](const nacre::delivery_error& error) {
          for (sent_message& each : sent_) {  // any of them will do: only how many are reported is known
            if (each.rank != rank || objects_[each.object] != error.object || each.ran + each.reported != 0) continue;
            each.reported = 1;
            return;
          }
          // What is left is a second destroy, which no program here has, or a message that has run.
          failure_ += "rank " + std::to_string(rank) + " was told of a message that has run\n";
        });
  }
  for (std::uint32_t object = 0; object < objects_.size(); ++object) {
    const nacre::own_thread mark = thread_of(program.homes[object]);
    nacre::engine& home = *engines_[program.homes[object]];
    objects_[object] = nacre::runtime(home, home.pool().application())
                           .create<cell>(reinterpret_cast<std::uintptr_t>(this), object, 0u)
                           .id();
  }
  for (const action& each : program.actions) scripts_[each.rank].push_back(each);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run(rank);
}

job::~job() = default;

std::vector<choice> job::choices() const {
  std::vector<choice> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (acted_[rank] < scripts_[rank].size()) all.push_back({choice::kind::act, rank});
  }
  for (const wire_end& end : network_.loaded()) all.push_back({choice::kind::deliver, end.target, end});
  return all;
}

nacre::own_thread job::thread_of(std::uint32_t rank) const { return nacre::own_thread(machines_[rank].get()); }

void job::take(const choice& next) {
  switch (next.event) {
    case choice::kind::act:
      note(next.rank, 1);
      act(next.rank);
      break;
    case choice::kind::deliver:
      note(next.rank, 2 + 16 * next.wire.source + static_cast<std::uint64_t>(next.wire.message_channel));
      network_.deliver(next.wire);
      engines_[next.rank]->on_arrival();
      break;
  }
  run(next.rank);
  deliver_replies();
}

/// The end of a migration is told to a rank that has not kept the future. Nothing depends on when that comes, so it is
/// no choice.
void job::deliver_replies() {
  for (const wire_end& each : network_.loaded()) {
    if (network_.oldest(each).header.kind != nacre::message_kind::reply) continue;
    network_.deliver(each);
    engines_[each.target]->on_arrival();
    run(each.target);
    return deliver_replies();
  }
}

void job::note(std::uint32_t rank, std::uint64_t number) {
  std::uint64_t& hash = history_[rank];
  hash = (hash ^ number) * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 29;
}

void job::run(std::uint32_t rank) {
  const nacre::own_thread mark = thread_of(rank);
  while (machines_[rank]->step()) continue;
}

void job::act(std::uint32_t rank) {
  const action& next = scripts_[rank][acted_[rank]++];
  const nacre::own_thread mark = thread_of(rank);
  nacre::engine& core = *engines_[rank];
  nacre::thread_context& thread = core.pool().application();
  nacre::runtime rt(core, thread);
  const auto object = pointer(objects_[next.object]);
  switch (next.operation) {
    case action::kind::send:
      send(rt, next.object, false);
      break;
    case action::kind::relay:
      send(rt, next.object, true);
      break;
    case action::kind::migrate:
      static_cast<void>(rt.migrate(object, nacre::rank_id(next.target)));
      break;
    case action::kind::move_out:
      thread.reader().online();
      core.objects().requests().request(core.pool().progress_thread(), object.id(), nacre::rank_id(next.target),
                                        nacre::wish_kind::always);
      thread.reader().offline();
      break;
    case action::kind::destroy:
      rt.destroy(object);
      break;
  }
  core.on_arrival();  // a worker looks what there is to do
}

void job::send(nacre::operations& operations, std::uint32_t object, bool relayed) {
  std::uint32_t position = 0;
  for (const sent_message& each : sent_)
    position += each.rank == operations.rank().value() && each.object == object ? 1 : 0;
  sent_.push_back({operations.rank().value(), object, relayed, position});
  const std::uint64_t number = sent_.size() - 1;
  if (relayed) return operations.send<&cell::relay>(pointer(objects_[object]), number);
  operations.send<&cell::take>(pointer(objects_[object]), number);
}

void job::ran(nacre::context&, std::uint64_t number, std::uint32_t object, std::uint32_t runs_before) {
  if (number >= sent_.size() || sent_[number].object != object) {
    failure_ += "a message has run that nobody sent\n";
    return;
  }
  ++sent_[number].ran;
  if (runs_before != runs_[object]++) failure_ += "an object is not what it was\n";
  order_.push_back(number);
}

std::uint64_t job::forwards() const {
  std::uint64_t sum = 0;
  for (const auto& each : engines_) sum += each->counters().forwards;
  return sum;
}

}  // namespace model
