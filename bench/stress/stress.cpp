// SPDX-License-Identifier: Apache-2.0
// Does the account of a long random program come out exactly? Objects send to, call, move, make and end each other,
// while every main sends them numbered messages.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

namespace {

struct plan {
  std::uint64_t messages = 1'000'000;  // of all ranks
  std::uint64_t migrations = 100'000;  // asked for, about
  std::uint32_t objects = 64;          // on each rank
  std::uint64_t seed = 1;
};

/// What a rank has seen.
enum item : std::size_t {
  sent,           // messages to objects that stay
  run,            //
  asked,          // calls
  answered,       //
  visits_sent,    // messages to objects that are ended soon
  visits_run,     //
  visits_missed,  // reported: the object was gone
  made,           // such objects
  wrong,          // promises broken
  items
};
using account = std::array<std::uint64_t, items>;

/// Several ranks may share this process.
std::atomic<std::uint64_t>& count(nacre::rank_id rank, item item) {
  static std::array<std::array<std::atomic<std::uint64_t>, items>, 64> all;
  return all[rank.value() % all.size()][item];
}
void note(const nacre::operations& operations, item item, std::uint64_t amount = 1) {
  count(operations.rank(), item).fetch_add(amount, std::memory_order_relaxed);  // read after quiescence
}

class cell;
using cells = std::vector<nacre::mobile_ptr<cell>>;

/// The objects that stay, by number; every process has the list.
cells& everybody() {
  static cells all;
  return all;
}

nacre::rank_id any_rank(nacre::rng& random, const nacre::operations& operations) {
  return nacre::rank_id(static_cast<std::uint32_t>(random.below(operations.size())));
}

/// An object that soon ends.
struct visitor {
  std::uint64_t visits = 0;
  void visit(nacre::context& ctx) {
    ++visits;
    note(ctx, visits_run);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(visits);
  }
};

/// An object that stays, but not in its place.
class cell {
 public:
  cell() = default;
  cell(std::uint32_t number, std::uint32_t ranks) : number_(number), next_(ranks) {}

  /// A link of a chain, which goes on to another object.
  void go_on(nacre::context& ctx, std::uint64_t left, std::uint64_t random_state, std::uint32_t migrate_millionths);
  /// The messages of a main come in order.
  void tell(nacre::context& ctx, std::uint32_t source, std::uint64_t number) {
    enter(ctx);
    if (next_[source]++ != number) note(ctx, wrong);
  }
  /// Asks an object of a larger number, so that no circle waits for itself; nobody else has this one meanwhile.
  nacre::task<void> ask(nacre::context& ctx, std::uint32_t whom);
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  void end(nacre::context& ctx, nacre::mobile_ptr<visitor> whom) {
    enter(ctx);
    ctx.destroy(whom);
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(number_, runs_, next_);
  }

 private:
  void enter(nacre::context& ctx) {
    if (busy_) note(ctx, wrong);
    ++runs_;
    note(ctx, run);
  }

  std::uint32_t number_ = 0;
  std::uint64_t runs_ = 0;
  std::vector<std::uint64_t> next_;  // by rank: the number that its main will send next
  bool busy_ = false;                // in a coroutine; an object does not move then
};

template <auto F, class... Args>
void send(nacre::operations& operations, std::uint64_t whom, Args... args) {
  note(operations, sent);
  operations.send<F>(everybody()[whom], args...);
}

nacre::task<void> cell::ask(nacre::context& ctx, std::uint32_t whom) {
  enter(ctx);
  busy_ = true;
  note(ctx, asked);
  const std::uint32_t answer = co_await ctx.call<&cell::number>(everybody()[whom]);
  note(ctx, answer == whom ? answered : wrong);
  busy_ = false;
}

/// Makes an object, visits it, moves it, lets another object end it, and visits it again, which may be too late.
void receive_visitor(nacre::context& ctx, nacre::rng& random) {
  const auto guest = ctx.create<visitor>();
  note(ctx, made);
  note(ctx, visits_sent, 3);
  ctx.send<&visitor::visit>(guest);
  static_cast<void>(ctx.migrate(guest, any_rank(random, ctx)));
  ctx.send<&visitor::visit>(guest);
  send<&cell::end>(ctx, random.below(everybody().size()), guest);
  ctx.send<&visitor::visit>(guest);
}

void cell::go_on(nacre::context& ctx, std::uint64_t left, std::uint64_t random_state,
                 std::uint32_t migrate_millionths) {
  enter(ctx);
  nacre::rng random(random_state);
  const std::size_t others = everybody().size();
  if (random.below(1'000'000) < migrate_millionths) {
    static_cast<void>(ctx.migrate(everybody()[random.below(others)], any_rank(random, ctx)));
  }
  if (random.below(64) == 0) receive_visitor(ctx, random);
  if (random.below(16) == 0 && number_ + 1 < others) {
    const auto later = static_cast<std::uint32_t>(number_ + 1 + random.below(others - number_ - 1));
    send<&cell::ask>(ctx, random.below(later), later);
  }
  if (left > 1) send<&cell::go_on>(ctx, random.below(others), left - 1, random.next(), migrate_millionths);
}

/// Starts chains and sends numbered messages to everybody while they run.
void begin(nacre::runtime& rt, const plan& plan) {
  constexpr std::uint64_t chains = 32;
  const std::uint64_t share = plan.messages / rt.size();
  const std::uint64_t told = share / 10;
  // One in rt.size() migrations leads to where the object is.
  const double chance = 1.1 * static_cast<double>(plan.migrations) /
                        static_cast<double>(plan.messages - told * rt.size()) * rt.size() / std::max(1u, rt.size() - 1);
  const auto millionths = static_cast<std::uint32_t>(std::min(1.0, chance) * 1e6);
  nacre::rng random = nacre::rng(plan.seed).fork(rt.rank().value());
  for (std::uint64_t chain = 0; chain < chains; ++chain) {
    send<&cell::go_on>(rt, random.below(everybody().size()), (share - told) / chains + 1, random.next(), millionths);
  }
  std::vector<std::uint64_t> numbers(everybody().size());
  for (std::uint64_t index = 0; index < told; ++index) {
    const std::uint64_t whom = random.below(numbers.size());
    send<&cell::tell>(rt, whom, rt.rank().value(), numbers[whom]++);
  }
}

/// Whether the sums over all ranks agree, on rank 0; prints them.
bool settle(nacre::runtime& rt, double seconds) {
  account own_account{};
  for (std::size_t index = 0; index < items; ++index)
    own_account[index] = count(rt.rank(), static_cast<item>(index)).load();
  const account sum = rt.all_reduce(own_account, [](account a, const account& b) {
    for (std::size_t index = 0; index < items; ++index) a[index] += b[index];
    return a;
  });
  const nacre::rank_counters counted = rt.counters();
  const std::uint64_t out = rt.all_reduce(counted.migrations_out, std::plus<>{});
  const std::uint64_t in = rt.all_reduce(counted.migrations_in, std::plus<>{});
  const std::uint64_t forwards = rt.all_reduce(counted.forwards, std::plus<>{});
  std::uint64_t residents = 0;
  for (const auto& each : everybody()) residents += rt.is_local(each) ? 1 : 0;
  residents = rt.all_reduce(residents, std::plus<>{});
  rt.wait_quiescence();
  if (rt.rank().value() != 0) return true;
  std::uint64_t runs = 0;
  for (const auto& each : everybody()) runs += rt.call<&cell::runs>(each).get();
  const std::uint64_t messages = sum[sent] + sum[asked] + sum[visits_sent];
  fmt::print("{} messages, {} of them calls, {} migrations, {} forwards, {} objects made and ended, in {:.1f} s\n",
             messages, sum[asked], out, forwards, sum[made], seconds);
  fmt::print("{} visits: {} run, {} too late\n", sum[visits_sent], sum[visits_run], sum[visits_missed]);
  const bool exact = sum[run] == sum[sent] && runs == sum[run] && sum[answered] == sum[asked] &&
                     sum[visits_run] + sum[visits_missed] == sum[visits_sent] && out == in && sum[wrong] == 0 &&
                     residents == everybody().size();
  if (!exact) {
    fmt::print(
        "WRONG: {} sent, {} run, {} by the objects' own count, {} answers, {} arrivals, {} objects, {} breaches\n",
        sum[sent], sum[run], runs, sum[answered], in, residents, sum[wrong]);
  }
  return exact;
}

bool stress(nacre::runtime& rt, const plan& plan) {
  rt.on_delivery_error([rank = rt.rank()](const nacre::delivery_error&) {
    count(rank, visits_missed).fetch_add(1, std::memory_order_relaxed);  // read after quiescence
  });
  cells mine;
  for (std::uint32_t index = 0; index < plan.objects; ++index) {
    mine.push_back(rt.create<cell>(rt.rank().value() * plan.objects + index, rt.size()));
  }
  cells all;
  for (const cells& part : rt.all_gather(mine)) all.insert(all.end(), part.begin(), part.end());
  static std::atomic_flag written;  // by the first rank of this process
  if (!written.test_and_set()) everybody() = std::move(all);
  rt.barrier();
  const double started = rt.now();
  begin(rt, plan);
  rt.wait_quiescence();
  const double seconds = rt.now() - started;
  return settle(rt, seconds);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    plan plan;
    nacre::program_options options("stress", "A long random program whose account must come out exactly.");
    options.add("--messages", plan.messages, "About how many messages all ranks send");
    options.add("--migrations", plan.migrations, "About how many objects move");
    options.add("--objects", plan.objects, "Objects of each rank").between(2u, 1u << 20);
    options.add("--seed", plan.seed, "Each seed gives another program");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    std::atomic<bool> well = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      if (!stress(rt, plan)) well = false;
    });
    return code != 0 ? code : (well ? 0 : 1);
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "stress: {}\n", error.what());
    return 2;
  }
}
