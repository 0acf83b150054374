// SPDX-License-Identifier: Apache-2.0
// Builds a rank, runs its main and ends it.
#include "runtime/engine.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "balance/scheduler/registry.hpp"
#include "base/exception_text.hpp"
#include "machine/node_options.hpp"
#include "mobile/directory/scrambled_homes.hpp"
#include "quiescence/wave_detector.hpp"
#include "runtime/engine_extensions.hpp"
#include "runtime/last_image.hpp"
#include "runtime/options.hpp"
#include "transport/sim/sim_fabric.hpp"

namespace nacre {
namespace {

constexpr std::chrono::seconds shutdown_max{2};

/// The node that a simulated rank lives on.
machine::node_options node_of(const engine_surroundings& engine_surroundings) {
  if (engine_surroundings.simulation == nullptr) return {};
  return machine::read_node_options(engine_surroundings.configuration);
}

/// A simulated rank has one worker unless told otherwise, by its machine file or an option, so that a run does not
/// depend on the host's cores.
worker_pool::settings worker_pool_settings(const engine_surroundings& engine_surroundings) {
  const auto asked = static_cast<std::uint32_t>(engine_surroundings.configuration.get_int("workers"));
  const std::uint32_t by_default =
      engine_surroundings.simulation != nullptr
          ? 1
          : workers_by_default(engine_surroundings.cores, engine_surroundings.ranks_sharing_cores);
  return {.workers = asked != 0 ? asked : by_default,
          .seed = static_cast<std::uint64_t>(engine_surroundings.configuration.get_int("seed")),
          .backlog_bytes = static_cast<std::uint64_t>(engine_surroundings.configuration.get_int("receive_memory")),
          .communication_threads = node_of(engine_surroundings).communication_threads,
          .selective = is_registered_scheduler(engine_surroundings.configuration.get_string("scheduler"))};
}

/// Communication threads take one message at a time, each.
backplane::settings link_settings(const engine_surroundings& engine_surroundings) {
  const config& configuration = engine_surroundings.configuration;
  backplane::settings bounds{.receive_bytes = static_cast<std::uint64_t>(configuration.get_int("receive_memory")),
                             .send_bytes = static_cast<std::uint64_t>(configuration.get_int("send_memory"))};
  if (node_of(engine_surroundings).communication_threads != 0) bounds.messages_a_poll = 1;
  return bounds;
}

void aggregate(am_engine& messages, object_space& objects, const transport::capabilities& link,
               const config& configuration) {
  const std::string& wish = configuration.get_string("aggregate");
  // A simulation shows single messages, unless bundles are asked for.
  if (wish == "off" || (wish == "auto" && link.virtual_time)) return;
  const double bound = std::chrono::duration<double>(configuration.get_duration("aggregate_bound")).count();
  const aggregator::settings settings{
      .bytes_max = static_cast<std::size_t>(configuration.get_int("aggregate_bytes")),
      .bound_ticks = static_cast<std::uint64_t>(bound / messages.pool().seconds_a_tick())};
  objects.local().bundle_by(messages.aggregate_own(settings, [&bundles = objects.bundles()](message_ptr bundle) {
    return bundles.enqueue_main_bundle(std::move(bundle));
  }));
  if (!link.by_pointer) messages.aggregate(settings);  // what goes to others by pointer is passed on at once
}

}  // namespace

engine::engine(std::unique_ptr<transport::endpoint> link, const engine_surroundings& surroundings)
    : configuration_(surroundings.configuration),
      send_bytes_(static_cast<std::uint64_t>(surroundings.configuration.get_int("send_memory"))),
      time_(surroundings.time),
      job_time_(surroundings.time),
      fail_(surroundings.fail),
      order_(make_scheduler(
          surroundings.configuration.get_string("scheduler"), surroundings.configuration,
          {.rank = link->rank(),
           .workers = worker_pool_settings(surroundings).workers,
           .seed = link->rank().value() + std::uint64_t{1},
           .simulated = surroundings.simulation != nullptr,
           .priority_of = [rank =
                               link->rank()](const work& item) { return object_activation::priority_of(item, rank); },
           .readable = object_space::activator()})),
      link_(std::move(link), surroundings.time, link_settings(surroundings)),
      output_(*this, surroundings.configuration, *order_, surroundings.simulation != nullptr,
              surroundings.place.text()),
      pool_(make_worker_pool(surroundings)),
      own_threads_(surroundings.simulation != nullptr ? static_cast<const void*>(surroundings.simulation)
                                                      : pool_.get()),
      workers_(surroundings.workers),
      messages_(*this, link_, *pool_,
                surroundings.configuration.get_bool("check_serialization") ? am_engine::packing::always
                                                                           : am_engine::packing::where_needed,
                [this](const std::string& reason) { fail_(rank(), reason); }),
      objects_(messages_,
               {.hops_max = static_cast<std::uint32_t>(surroundings.configuration.get_int("hops_max")),
                .check_serialization = surroundings.configuration.get_bool("check_serialization"),
                .location = location_policy_of(surroundings.configuration.get_string("location")).value(),
                .forwarding_max = static_cast<std::size_t>(surroundings.configuration.get_int("location_cache")),
                .homes = scrambled_homes::by_option(surroundings.configuration, link_.size())}),
      collectives_(messages_),
      memory_(messages_,
              {.seed = static_cast<std::uint64_t>(surroundings.configuration.get_int("seed")),
               .direct_bytes_min = static_cast<std::uint64_t>(surroundings.configuration.get_int("direct_min"))}),
      containers_(messages_, link_),
      extensions_(messages_, time_,
                  {.seed = static_cast<std::uint64_t>(surroundings.configuration.get_int("seed")),
                   .limits = extension_limits_of(surroundings.configuration, surroundings.simulation != nullptr),
                   .configuration = &surroundings.configuration,
                   .datagrams = link_.datagrams()}),
      flow_(messages_, link_, time_, flow_settings_of(surroundings.configuration, surroundings.simulation != nullptr),
            surroundings.simulation == nullptr && surroundings.ranks_on_host == link_.size()
                ? flow_module::surroundings::alone
                : flow_module::surroundings::links),
      unreliable_(messages_, link_,
                  {.waiting_bytes = std::min(send_bytes_, unreliable_module::waiting_bytes_max),
                   .arrived_bytes = unreliable_module::arrived_bytes_max}),
      quiet_(messages_, time_, surroundings.configuration.get_duration("quiescence_calm"),
             std::make_unique<quiescence::wave_detector>(
                 quiescence::wave_detector::options{.self = link_.rank(), .size = link_.size()})),
      balance_(messages_,
               {.entries = objects_.entries(),
                .view = objects_.view(),
                .requests = objects_.requests(),
                .traffic = objects_.traffic(),
                .steps = objects_.clock().record(),
                .costs = objects_.departing().costs()},
               link_, surroundings.time, surroundings.configuration,
               {.seed = static_cast<std::uint64_t>(surroundings.configuration.get_int("seed")),
                .ranks_on_host = surroundings.ranks_on_host}),
      progress_(messages_, time_, surroundings.configuration.get_duration("progress_line"),
                [this] { return so_far(); }),
      deadlock_(messages_,
                {.names = objects_.arrays(),
                 .waits = objects_.waits(),
                 .activation = objects_.activation(),
                 .contributed = objects_.contributed(),
                 .waiting = objects_.waiting()},
                link_, time_, surroundings.configuration.get_duration("deadlock_patience"),
                {.look = [this] { return look_for_deadlock(); },
                 .main = [this]() -> std::optional<quiescence::main_wait> {  // for a message only
                   if (waits_for_window_.load(std::memory_order_relaxed)) return quiescence::main_wait::room_to_send;
                   if (main_active_) return std::nullopt;
                   return main_wait_.load(std::memory_order_relaxed);
                 },
                 .name_waiting =
                     [this](report_lines& report) {
                       groups_.requests().name_waiting(messages_.handlers(), rank(), report);
                       extensions_.name_deferred(report);
                     }}),
      outside_{{*this, messages_, link_, time_, send_bytes_}, stop_requests(messages_)},
      images_(*this, configuration_) {
  if (workers_ != nullptr) workers_->add(*pool_);
  if (surroundings.configuration.was_set("record_load")) output_.record_load();
  if (surroundings.simulation == nullptr) {  // under simulation, messages to the own rank need credit instead
    const auto bytes_max = static_cast<std::uint64_t>(surroundings.configuration.get_int("receive_memory"));
    const std::uint64_t window = std::min(bytes_max / (link_.declared().by_pointer ? link_.size() : 1),
                                          main_send_window::worker_bytes * pool_->workers());
    messages_.bound_main(window);
    outside_.submissions.bound(window);
  }
  aggregate(messages_, objects_, link_.declared(), configuration_);
  if (surroundings.trace != nullptr) output_.record_trace(*surroundings.trace, surroundings.trace_thread_bytes);
  output_.count_phases(surroundings.trace);
  pool_->application().counters().created.add(1);  // main is a unit of work from before the first wave
  attach_extensions(extensions_);
  if (transport::datagram_service* const datagrams = link_.datagrams(); datagrams != nullptr) {
    // They lie where the transport has put them, until the next poll.
    link_.duties().add_taker([this, datagrams](thread_context& thread) {
      while (const auto next = datagrams->take()) {
        if (next->label == unreliable_module::label) {
          unreliable_.take(thread, *next);
        } else {
          extensions_.take(thread, *next);
        }
      }
    });
  }
  link_.duties().add_hook([this](thread_context& thread) { return poll(thread); });
}

engine::~engine() {
  if (workers_ != nullptr) workers_->remove(*pool_);
}

std::unique_ptr<worker_pool> engine::make_worker_pool(const engine_surroundings& engine_surroundings) {
  const worker_pool::settings settings = worker_pool_settings(engine_surroundings);
  if (engine_surroundings.simulation != nullptr) {
    machine::runtime_costs costs = machine::read_runtime_costs(engine_surroundings.configuration);
    const auto handler_ns = static_cast<std::uint64_t>(node_of(engine_surroundings).handler.count());
    costs.set_picoseconds(own_work::handler, handler_ns * 1000);
    auto product = std::make_unique<sim_pool>(settings, costs, link_, *order_, *engine_surroundings.simulation);
    sim_pool_ = product.get();
    return product;
  }
  const std::uint64_t threads = std::uint64_t{engine_surroundings.ranks_sharing_cores} * settings.workers;
  thread_pool::options tuning;
  const bool alone = polls_alone(engine_surroundings.configuration, engine_surroundings.cores,
                                 engine_surroundings.ranks_sharing_cores, settings.workers);
  tuning.progress = alone ? progress_mode::dedicated : progress_mode::shared;
  tuning.spin = engine_surroundings.configuration.get_duration("spin");
  tuning.crowded = threads > engine_surroundings.cores;
  tuning.place = engine_surroundings.place;
  tuning.patience = engine_surroundings.configuration.get_duration("progress_patience");
  auto result = std::make_unique<thread_pool>(settings, tuning, link_, *order_);
  thread_pool_ = result.get();
  return result;
}

void engine::wait_for_window(thread_context& thread) {
  if (thread.role() != thread_role::application) return;
  thread.flush_operations();                                 // what it throws comes to main, which does not wait then
  waits_for_window_.store(true, std::memory_order_relaxed);  // a hint: the poll loop looks at every pass
  main_send_window* const window = messages_.window();
  if (window != nullptr) {
    window->set_waiting(true);
    link_.wake();  // from now on the poll loop checks whether main may go on
  }
  pool_->wait_until([this] { return !overrun(); });
  if (window != nullptr) window->set_waiting(false);
  waits_for_window_.store(false, std::memory_order_relaxed);
}

/// Lets main go on if there is room again. Called while main waits in throttle; returns the latest time of the next
/// call.
std::chrono::nanoseconds engine::check_send_window(thread_context& thread) {
  const auto now = time_.now();
  main_send_window* const window = messages_.window();
  if (window != nullptr) {
    window->check(now, [this] {
      return workers_->all_idle() ? main_send_window::workers::idle : main_send_window::workers::busy;
    });
  }
  if (!overrun()) {
    pool_->wake_application(thread);
    return std::chrono::nanoseconds::max();
  }
  return window != nullptr && window->over() ? now + main_send_window::patience : std::chrono::nanoseconds::max();
}

std::chrono::nanoseconds engine::poll(thread_context& thread) {
  if (objects_.waits().gives_up()) [[unlikely]] {
    objects_.activation().end_waits(thread);
  }
  memory_.poll(thread);
  objects_.all_elements().receipts().poll(thread);
  outside_.stops.poll(thread);
  std::chrono::nanoseconds due = std::min({progress_.poll(thread), extensions_.poll(thread), flow_.poll(thread),
                                           unreliable_.poll(thread), outside_.submissions.poll(thread)});
  if (waits_for_window_.load(std::memory_order_relaxed)) due = std::min(due, check_send_window(thread));
  const bool backpressure = link_.backpressure();
  if (backpressure_ && !backpressure) pool_->wake_workers();
  backpressure_ = backpressure;
  const std::uint64_t flush_in[] = {messages_.flush_overdue(thread), containers_.flush_overdue(thread),
                                    objects_.updates().flush_news(thread)};
  for (const std::uint64_t ticks : flush_in) {
    if (ticks == 0) continue;
    const double wait_ns = static_cast<double>(ticks) * pool_->seconds_a_tick() * 1e9;
    due = std::min(due, time_.now() + std::chrono::nanoseconds(1 + static_cast<std::int64_t>(wait_ns)));
  }
  const bool workers_rest = pool_->idle_workers() == pool_->workers() && !backpressure_;
  const bool main_waits =
      !main_active_.load(std::memory_order_acquire);  // pairs with the stores in wait_as_application
  // A pending timer and an open door are units that this rank knows of, so it keeps the wave, which would find no
  // quiescence.
  // While objects are held, waves go on to find out that such a unit is in the way.
  const bool has_known_units =
      (link_.duties().timers().pending() || outside_.submissions.open_doors() != 0) && !messages_.held.on();
  due = std::min(due, quiet_.poll(thread, main_waits && workers_rest && !has_known_units));
  if (images_.waits_long()) due = std::min(due, images_.poll(thread, time_.now()));
  if (images_.alarm().is_set()) due = std::min(due, images_.alarm().poll(thread, time_.now(), quiet_));
  return std::min(due, deadlock_.poll(thread));
}

/// The rank is not at rest if ready work, or a message that is certain to come, will make an idle worker or main go on.
/// Ready work may wait for a worker that runs something.
quiescence::deadlock_detector::snapshot engine::look_for_deadlock() {
  quiescence::deadlock_detector::snapshot now;
  const bool under_way = link_.under_way() || link_.duties().timers().pending() || memory_.copies() ||
                         objects_.forwarding().awaits_news() || flow_.waiting_bytes() != 0 || unreliable_.waits() ||
                         outside_.submissions.open_doors() != 0 || messages_.held.on();
  const bool main_computes = main_active_ && !waits_for_window_.load(std::memory_order_relaxed);  // compared later
  now.running = pool_->workers() - std::min(pool_->idle_workers(), pool_->workers()) + (main_computes ? 1 : 0);
  now.waiting = main_computes ? 0 : 1;
  now.at_rest = !under_way && (now.running != 0 || pool_->ready_items() == 0);
  now.units = quiet_.counters();
  now.held_up = objects_.waits().held_up();
  now.asked = groups_.requests().waiting();
  for (const auto& each : pool_->thread_contexts()) {
    const thread_counters& thread_counters = each->counters();
    now.begun += thread_counters.readied.read() + thread_counters.taken.read();  // the looks themselves are handlers
  }
  return now;
}

void engine::run(const std::function<void(runtime&)>& main) {
  const own_thread mark(own_threads_);
  const signal_stack stack;
  const acting_scope actor(pool_->application());
  thread_pool_->start();
  main_of_rank(main);
  thread_pool_->stop();
  output_.finish();
  link_.close(shutdown_max);
}

void engine::start_simulated(const std::function<void(runtime&)>& main) {
  sim_pool_->start([this, main] {
    main_of_rank(main);
    ended_ = true;
  });
}

void engine::main_of_rank(const std::function<void(runtime&)>& main) {
  thread_context& thread = pool_->application();
  output_.begin(thread);
  try {
    runtime rt(*this, thread);
    main(rt);
    if (is_forked_child()) end_forked_child(0);
    images_.main_returned();
  } catch (const end_behind_image&) {
  } catch (const restore_refused& refused) {
    images_.refuse(refused.what());
  } catch (const std::bad_alloc& error) {
    if (sim_pool_ != nullptr) throw;  // the ranks of a simulation share their memory; see job.cpp
    fail_(rank(), std::string("main threw: ") + error.what());
  } catch (const fiber::unwind&) {
    throw;
  } catch (...) {
    fail_(rank(), "main threw: " + text_of_thrown());
  }
  wait_for_end(thread);
  end_extensions(*this, thread);
  progress_.end();
  output_.end(thread);
  containers_.end_job();
  messages_.calls().life().end();
}

/// Quiescence alone does not end a rank: another rank's main may have waited for it and go on, and quiescence may start
/// handlers; so may an unreliable message, which nobody has counted. So after its main each rank joins a collective,
/// again and again while any rank tells that a declaration of quiescence has started something. Where unreliable
/// messages are used a second collective follows: before it each rank stops to take them, and it tells of those that
/// have come since it began to wait for quiescence.
void engine::wait_for_end(thread_context& thread) {
  constexpr unsigned has_started = 1, may_have_lost = 2;
  const auto either = [](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    if (contribution.size() != 1) throw std::runtime_error("a rank says neither yes nor no at its end");
    accumulated.front() |= contribution.front();
  };
  const auto of_all = [&](unsigned own) {
    const auto own_byte = static_cast<std::byte>(own);
    const auto any = detail::run_collective(*this, thread, {collective_kind::end_of_main, {}, {own_byte}, either});
    if (any.size() != 1) fail_(rank(), "rank 0 has told no result of the end");
    return any.size() != 1 ? 0U : std::to_integer<unsigned>(any.front());
  };
  bool roused = true;
  while (roused) {
    unreliable_.open();
    wait_as_application(thread, quiescence::main_wait::end_of_job, [&](std::function<void(thread_context&)> end) {
      // Behind a last image objects are still held.
      quiet_.request(thread, std::move(end), quiescence_module::answer_by::hold);
    });
    const unsigned own = roused_.exchange(false) ? has_started : 0U;
    const unsigned all = of_all(own | (unreliable_.is_used() ? may_have_lost : 0U));
    roused = (all & has_started) != 0;
    if (!roused && (all & may_have_lost) != 0) roused = of_all(unreliable_.close() ? has_started : 0U) != 0;
  }
}

void engine::post_on_quiescence(thread_context& thread, message_ptr m) {
  if (messages_.deferred() || !messages_.by_pointer())
    m = packed_by_sender(std::move(m));  // the caller can catch errors
  // std::function must be copyable, but the message is not: copies share the message, and one takes it, once.
  quiet_.request(thread, [this, waiting = std::make_shared<message_ptr>(std::move(m))](thread_context& caller) {
    roused_ = true;
    messages_.post(caller, rank(), std::move(*waiting));
  });
}

}  // namespace nacre
