// SPDX-License-Identifier: Apache-2.0
// The mobile objects of one rank: sending to them wherever they are, running arriving messages, moving and ending them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "mobile/array/array_space.hpp"
#include "mobile/backlog/source_queues.hpp"
#include "mobile/colocate/coordinator.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/location/awaited_news.hpp"
#include "mobile/location/bulk_news.hpp"
#include "mobile/location/forwarding_list.hpp"
#include "mobile/location/rule.hpp"
#include "mobile/migration/arrival.hpp"
#include "mobile/object/load_index.hpp"
#include "mobile/object/object_functions.hpp"

namespace nacre {

/// The function of a colocation, on its way to the rank where the objects are.
struct colocate_call {
  std::uint64_t number = 0;
  std::uint32_t handler = 0;
  std::uint64_t reply = 0;
  std::vector<object_id> objects;
  std::vector<std::byte> arguments;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, handler, reply, objects, arguments);
  }
};

/// An object as a balancer sees it: an estimate of a moment ago.
struct object_estimate {
  object_id id;
  double declared;         ///< load; 0 if its class declares none
  double message_seconds;  ///< time that one message to it takes; 0 while none has been measured
  std::uint32_t messages;  ///< that wait; those that have just arrived count as one
  bool running;            ///< a handler runs on it
};

/// The mobile object layer (Clam section 3.1, PREMA sections 3 and 4.1.2).
///
/// Invariant: all events of an object on a rank pass through the inbox of its entry (messages to run, requests to
/// migrate or to end, arrivals), and the entry's activation processes them one at a time. So no two threads ever
/// disagree about the object, and the entry of an object elsewhere simply forwards.
///
/// Order: every rank numbers its messages to an object (streams.hpp). Location: a rank knows locations with epochs
/// (location.hpp), which a policy keeps fresh. A message that has been forwarded `hops_max` times goes to the object's
/// home; every rank where the object arrives tells the home.
class object_space final : public object_sink {
 public:
  struct options {
    std::uint32_t hops_max = 8;
    bool check_serialization = false;  ///< pack and unpack every object when an exclusive access to it has ended
    location_policy location = location_policy::jump_update;  ///< of objects that name none
    std::size_t forwarding_max = 65536;                       ///< entries that the rank keeps only to forward by
  };
  /// Returns the object space of the rank that owns this thread context.
  [[nodiscard]] static object_space& on_thread(thread_context& on) noexcept {
    return static_cast<object_space&>(on.messages().objects());
  }

  object_space(am_engine& messages, const options& limits);
  ~object_space();

  /// Makes this rank the home of an object. Takes ownership, even when a function of the object's class throws.
  /// `wanted`: the location policy of the object; of_program stands for the policy of its type or of the program.
  [[nodiscard]] object_id adopt(thread_context& on, const detail::object_type& type, void* object,
                                location_policy wanted = location_policy::of_program);
  /// Makes this rank the home and owner of an array element, before other ranks know the array.
  void adopt_element(thread_context& on, std::uint64_t number, void* object);
  void post_insert(thread_context& on, object_id element, const detail::object_type& type, void* object,
                   detail::future_state& done);
  void post_erase(thread_context& on, object_id element, detail::future_state& done);
  /// Posts a message for all elements to one place, from the place's home.
  void post_to_place(thread_context& on, object_entry& at, message_ptr m);
  /// Runs a message for all elements on an idle place, on this thread, now. False: the element is elsewhere, or its
  /// place is busy, and nothing has happened. `plain`: the handler if it is plain, see array_space.
  [[nodiscard]] bool run_on_idle_place(thread_context& on, object_entry& at, message_ptr& m,
                                       const detail::handler_info* plain);
  /// Whether each step of an object must be timed, even where many short ones run one after the other.
  [[nodiscard]] bool times_each_step() const noexcept { return messages_.deferred() || observe_step_ != nullptr; }
  /// Forgets all places of an array and its layout on this rank. All elements have ended on all ranks.
  void forget_array(thread_context& on, std::uint64_t first);
  [[nodiscard]] array_space& arrays() noexcept { return arrays_; }
  /// Reports a message of this rank that had no receiver.
  void report_lost(thread_context& on, object_id object, std::uint32_t handler);
  /// Posts a message of kind object, migrate or destroy to an object: stamps source and sequence, counts it. `result`,
  /// if not null, gets the reply. Any thread. When it throws, nothing has happened.
  void post(thread_context& on, object_id to, message_ptr m, detail::future_state* result = nullptr);
  void post_migrate(thread_context& on, object_id object, rank_id to, detail::future_state& done);
  void post_destroy(thread_context& on, object_id object);
  /// Brings objects to one rank and runs a function on them: see docs/protocols/colocate.md. Throws usage_error when an
  /// object is named twice, or a pointer names none. Any thread.
  void post_colocate(thread_context& on, std::span<const object_id> objects, message_ptr function,
                     detail::future_state* result);
  /// Requests access for this rank's main, which waits for nothing else. `granted` becomes ready when main has access,
  /// or fails. Main ends the access by `unlock`.
  void post_lock(thread_context& on, object_id object, detail::object_access how, detail::future_state& granted);
  /// The object that main has access to.
  struct held_object {
    void* object;
    const detail::object_type& type;
  };
  [[nodiscard]] held_object locked(thread_context& on, object_id object);
  void unlock(thread_context& on, object_id object, detail::object_access how);
  [[nodiscard]] bool is_local(thread_context& on, object_id object) noexcept;

  /// Moves an object away ahead of the messages that wait for it, at once if no handler runs on it, else as soon as the
  /// handler has ended. For balancers, inside the poll loop.
  void move_out(thread_context& on, object_id object, rank_id to);
  /// The runner of an object's activation; see scheduler_site::readable.
  [[nodiscard]] static work::runner activation() noexcept { return &activate_work; }
  /// Classifies an item that a scheduler has shown: `object` is an object that could leave, described in `into`;
  /// `stale` is an item that will do nothing when it runs; `none` is any other item. Readers of the directory.
  enum class shown : std::uint8_t { none, object, stale };
  [[nodiscard]] shown look_at(const work& item, object_estimate& into) const;
  /// Describes an object by its name in `into`. False: the object is not here, or could not leave.
  [[nodiscard]] bool look_at(object_id object, object_estimate& into) const;
  /// Ends an item that look_at has found stale and that no thread will run. Poll loop.
  void end_stale(thread_context& on, work& item);
  /// How many items in the scheduler are stale because a balancer has sent their objects away. An estimate.
  [[nodiscard]] std::size_t stale_items() const noexcept {
    return static_cast<std::size_t>(std::max<std::int64_t>(stale_.load(std::memory_order_relaxed), 0));
  }
  /// Calls visit(object_estimate) for the objects in the next `words` words of the directory, from `cursor` on, that
  /// run, have messages waiting or declare a load, that may leave, and that no balancer has sent away. True: these were
  /// all words.
  bool visit_loads(std::size_t& cursor, std::size_t words,
                   const std::function<void(const object_estimate&)>& visit) const;
  /// How many objects here declare a load.
  [[nodiscard]] std::size_t declaring() const noexcept { return declared_.size(); }
  /// The sum of their loads as last noted: within an eighth of their present loads.
  [[nodiscard]] double declared_sum() { return declared_.sum(); }
  /// Calls visit(object_estimate, bucket, how many are in the bucket) for at most `most` objects here that declare a
  /// load and could leave, the heavy buckets first; see load_index.
  void visit_declared(std::size_t most,
                      const std::function<bool(const object_estimate&, std::size_t, std::size_t)>& visit);

  /// Is called after every step of an object that has run messages, with the number of messages, the seconds they took,
  /// and the packed size of the object (0 while other threads may use it). An observer costs each step a look at the
  /// clock and at the object. Set before start.
  using step_observer = std::function<void(object_id, double seconds, std::uint32_t messages, std::uint64_t bytes)>;
  void observe_steps(step_observer observer) { observe_step_ = std::move(observer); }

  /// Counts from now on the messages that handlers of objects send to other objects. Before start.
  void count_traffic() noexcept { counts_traffic_ = true; }
  /// Messages counted from now on belong to this epoch; see traffic_sketch. Poll loop.
  void begin_traffic_epoch(std::uint32_t number) noexcept { traffic_epoch_.store(number, std::memory_order_relaxed); }
  /// Counts `m` for the object that sends it, before `m` is posted: the object with a handler on this thread, or none.
  /// Without count_traffic it costs one branch.
  void note_traffic(thread_context& on, const detail::object_pair& ends, const message& m) {
    if (counts_traffic_) [[unlikely]] {
      if (ends.from.valid() && ends.to.valid() && ends.from != ends.to) count_message(on, ends, m);
    }
  }
  /// Calls visit(partner, its believed location) for the objects to which an object of this rank has sent most lately,
  /// in the order of ids. Leaves out objects known to be gone. Poll loop.
  void visit_traffic(object_id of, const std::function<void(const traffic_partner&, rank_id)>& visit) const;

  /// The least time that packing and sending an object has taken this rank, as other threads may have interrupted it; 0
  /// while it has been done only a few times. Poll loop.
  [[nodiscard]] double migration_seconds() const noexcept;

  /// The priority of an item, as scheduler_site defines it; `here` is this rank. An item of an object that is elsewhere
  /// ranks highest: it is short, and other ranks wait for it.
  [[nodiscard]] static double priority_of(const work& item, rank_id here) noexcept;

  /// Adds to `found`, up to a little more than `count_max` lines in all, a line for each object here that cannot go on
  /// by itself: where it is, which access holds it, how many messages wait. While nothing runs.
  void name_waiting(std::size_t count_max, std::vector<std::string>& found) const;
  /// Adds a line for each object to which messages of this rank wait here, at their source, until the object clears
  /// them.
  void name_kept_at_source(std::size_t count_max, std::vector<std::string>& found) const;
  struct waiting_messages {
    std::size_t messages = 0;  ///< that wait here for the object
    bool has_call = false;     ///< the call in question is among the first of them
  };
  /// The messages that wait for an object with a handler suspended here, and whether the call of that number is among
  /// them. While nothing runs. Readers of the directory.
  [[nodiscard]] waiting_messages waiting_at(object_id object, std::uint64_t call) const;
  /// Whether messages wait here for a location update of their objects, which is certain to come. Any thread.
  [[nodiscard]] bool awaits_news() { return !news_.empty(); }
  /// Whether location news waits here to be sent to homes in bulk. Any thread.
  [[nodiscard]] bool has_news_to_tell() const noexcept { return !told_in_bulk_.empty(); }
  /// Sends news that has waited long enough, or all news if a worker is idle. Returns the number of ticks until the
  /// next call is needed; 0: no news waits. Poll loop.
  std::uint64_t flush_news(thread_context& by);
  /// Objects that this rank knows of, here or elsewhere.
  [[nodiscard]] std::size_t known() const noexcept { return entries_.size(); }

  /// Sets the handler of delivery errors. Any thread, also while threads call the previous handler, which lives until
  /// no thread can call it.
  void on_delivery_error(thread_context& on, std::function<void(const delivery_error&)> handler);

  void accept(thread_context& by, message_ptr m) override;
  void coroutine_ended(thread_context& on, const message_header& request, const detail::handler_info& handler) override;

  // Handlers that other ranks' object spaces call.
  void on_location(context& ctx, std::uint64_t object, std::uint32_t rank, std::uint32_t epoch, std::uint8_t policy);
  void on_leave_asked(context& ctx, std::uint64_t object, std::uint32_t epoch);
  void on_leave_answered(context& ctx, std::uint64_t object, std::uint32_t epoch, bool known);
  void on_gone(context& ctx, std::uint64_t object);
  void on_news(context& ctx, const std::vector<object_news>& all);
  void on_clear_to_send(context& ctx, std::uint64_t object, std::uint32_t limit, std::uint32_t epoch,
                        std::uint8_t policy);
  void on_undeliverable(context& ctx, std::uint64_t object, std::uint32_t handler);
  void on_colocate_news(context& ctx, const colocate_news& news);
  void on_colocate_order(context& ctx, std::uint64_t number, object_id object, std::uint32_t to);
  void on_colocate_function(context& ctx, colocate_call call);

 private:
  // Internal kinds of message in an inbox. No clash: all others there are messages to objects.
  static constexpr message_kind news_of_end = message_kind::module;
  static constexpr message_kind leave_to_collect = message_kind::rank;

  /// `spent`: a handler spent simulated time; the step goes on afterwards. `spent_all`: the time of the whole step is
  /// spent; the activation is given up afterwards.
  enum class drained : std::uint8_t { empty, yielded, spent, spent_all, blocked, left_to_reader };

  /// One step of an entry's activation. The thread that has it holds the activation.
  struct activation_step {
    object_entry& at;
    thread_context& on;
    message_list pending;   ///< in sequence, not run yet
    std::uint32_t ran = 0;  ///< messages that this step has begun to run
    /// Takes the messages that wait in the entry.
    void take_up() noexcept;
    /// Puts the waiting messages back for the next step; before the activation is given back with messages left.
    void put_back();
  };

  static void activate_work(work& item, thread_context& on);
  static void end_shared_work(work& item, thread_context& on);
  static void end_exclusive_work(work& item, thread_context& on);
  static void go_on_work(work& item, thread_context& on);
  void run_claimed(object_entry& at, thread_context& on, message_list& taken, bool may_run);
  void give_back(object_entry& at, thread_context& on, bool may_run);
  void admit(activation_step& now, message_list& taken);
  void put_into_sequence(activation_step& now, message_ptr m);
  [[nodiscard]] static streams& all_streams(object_entry& at);
  [[nodiscard]] bool alone(activation_step& now);
  drained drain(activation_step& now, bool may_run);
  drained run_front(activation_step& now);
  drained run_shared(activation_step& now, const detail::handler_info& row);
  drained run_exclusive(activation_step& now, const detail::handler_info& row);
  void end_access(object_entry& at, thread_context& on, work::runner end, bool shared);
  void later(object_entry& at, thread_context& on, work::runner what);
  [[nodiscard]] bool could_leave(const object_entry& at, object_estimate& into) const;
  static void release_later(object_entry& at, thread_context& on);
  [[nodiscard]] static work& work_for(const object_entry& at, work::runner what);
  [[nodiscard]] object_entry& held_entry(work& item);
  struct step_time {
    bool exact, sampled, measured;
    std::uint32_t handler;  ///< of the first message of the step
    std::uint64_t begin;    ///< in ticks of the worker pool
  };
  [[nodiscard]] step_time begin_step(thread_context& on, const message* first) const;
  void end_step(object_entry& at, thread_context& on, const step_time& time, int run, bool ours);
  void publish_load(activation_step& now);
  void check_serialization(object_entry& at);
  void check_object(const detail::object_type& type, object_id id, void*& object);
  void publish(object_entry& at, const object_declaration& said);
  void let_go_on(object_entry& at, thread_context& on);

  [[nodiscard]] object_entry* place_at_home(object_id id);
  [[nodiscard]] bool begin_place(object_entry& at);
  [[nodiscard]] static bool is_empty_place(const object_entry& at) noexcept;
  drained run_on_place(activation_step& now);
  void address_to_place(thread_context& on, object_entry& at, message& m);
  [[nodiscard]] bool run_plainly(thread_context& on, object_entry& at, message_ptr& m,
                                 const detail::handler_info& handler);
  [[nodiscard]] const char* put_element(object_entry& at, message& m);
  void insert_here(activation_step& now, message_ptr m);
  void end_element(activation_step& now);
  void end_place(activation_step& now);

  drained lock_front(activation_step& now);
  [[nodiscard]] bool stays(const object_entry& at) const;
  [[nodiscard]] bool too_long(const activation_step& now, std::size_t bytes) const;
  [[nodiscard]] const char* leave_for(activation_step& now, rank_id to, const migration_request& asked);
  void migrate_front(activation_step& now);
  void depart(activation_step& now, rank_id to, const migration_request& asked);
  void install(activation_step& now, message_ptr arrival);
  void give_up_extra(object_entry& at, thread_context& on);
  void end_object(activation_step& now);
  void end_entry(activation_step& now, object_state& state);
  void forget(object_entry& at, thread_context& on);
  void forward(object_entry& at, thread_context& on, message_ptr m);
  void learn_of_end(activation_step& now, const message& news);

  [[nodiscard]] bool keep_at_source(thread_context& on, object_entry& at, message_ptr& m, bool begin, bool held);
  [[nodiscard]] bool goes_back(const known_location& location, const message_header& header) const noexcept;
  void send_back(thread_context& on, message_ptr m);
  void take_back(thread_context& by, message_ptr m);
  void go_on_at_source(thread_context& on, object_entry& at, source_queues::outcome& next);
  void request_to_send(thread_context& on, const object_entry& at, std::uint32_t end);
  void send_cleared(thread_context& on, const object_entry& at, message_ptr m);
  void refuse_request(thread_context& on, const message_header& header);
  void drop_waiting(thread_context& on, object_id id);
  void take_request(activation_step& now, const message_header& header);
  void clear_senders(activation_step& now);
  [[nodiscard]] message_list leave_behind(activation_step& now, object_state& state);

  void answer_late(activation_step& now, rank_id source, std::span<const rank_id> path);
  void tell_of_arrival(object_entry& at, rank_id from, thread_context& on);
  void tell_in_bulk(thread_context& on, rank_id to, const object_news& news);
  void send_news(thread_context& on, rank_id to, bulk_news::batch all);
  [[nodiscard]] bulk_news::sender news_by(thread_context& on);
  void learn_location(thread_context& by, rank_id from, const object_news& news);
  void tell_location(thread_context& on, rank_id to, const object_entry& at);
  [[nodiscard]] rank_id next_rank(const object_entry& at, const known_location& location,
                                  message_header& header) const noexcept;
  void go_on_by_news(object_id id, thread_context& on);
  void refer_to_home(object_id id, thread_context& on, message_ptr m);
  [[nodiscard]] bool only_forwards(const object_entry& at) const noexcept;
  void list_for_review(object_entry& at, thread_context& on);
  void review(thread_context& on, object_id id);
  void collect(activation_step& now, const message& leave);
  void undeliverable(thread_context& on, message_ptr m);
  void push_under_backpressure(object_entry& at, thread_context& on, message_ptr m);
  [[nodiscard]] bool push_behind_backpressure(const object_entry& at, message_ptr& m);
  static void run_backpressure_queue(work& item, thread_context& on);
  void accept_when_spent(thread_context& on, message_ptr m);
  static void accept_made(work& item, thread_context& on);
  void accept(thread_context& by, message_ptr m, bool by_handler);
  bool end_idle(object_entry& at, thread_context& on, message_ptr& m);
  [[nodiscard]] static bool is_to_end(const object_entry& at);
  object_entry& install_new(thread_context& on, object_id id, object_state state);
  void push(object_entry& at, thread_context& on, message_ptr m, bool by_handler = false);
  void count_message(thread_context& on, const detail::object_pair& ends, const message& m);
  void push_end(object_entry& at, rank_id source, thread_context& by);
  void end_at_once(object_entry& at, rank_id source, thread_context& by);
  [[nodiscard]] static message_ptr news_of(rank_id source, thread_context& by);
  void learn_of_late_end(context& ctx, object_id id);
  [[nodiscard]] object_entry* entry_to_send_by(thread_context& on, object_id id);

  struct ready_colocation;
  static void order_work(work& item, thread_context& on);
  static void run_colocation(work& item, thread_context& on);
  drained join_front(activation_step& now);
  drained claim_front(activation_step& now);
  [[nodiscard]] static bool acquired(const object_entry& at) noexcept;
  void arrive_acquired(activation_step& now);
  void end_participation(activation_step& now, const colocation_name& name);
  void release_acquired(object_entry& at, thread_context& on, const colocation_name& name);
  void note_acquired(object_id object, const colocation_name& by);
  [[nodiscard]] bool take_acquired(object_id object, const colocation_name& by);
  void tell_initiator(thread_context& on, const colocation_name& name, const colocate_news& news);
  void take_news(thread_context& on, rank_id from, const colocate_news& news);
  void act(thread_context& on, const colocate_action& what, const message_header& failed);
  void send_claim(thread_context& on, const colocate_action& what);
  void send_function(thread_context& on, std::uint64_t number, rank_id to);
  void report_failure(thread_context& on, const colocate_action& what, message_header header);
  void report(thread_context& on, const delivery_error& what);

  am_engine& messages_;
  options limits_;
  location_rules rules_;
  forwarding_list forwarding_;
  awaited_news news_;
  bulk_news told_in_bulk_;
  source_queues waiting_;
  directory entries_;
  array_space arrays_;
  std::atomic<std::uint64_t> last_index_{0};                                        // of objects with their home here
  std::atomic<double> migration_seconds_{std::numeric_limits<double>::infinity()};  // least; of two concurrent writes
                                                                                    // one may be lost
  std::atomic<std::uint64_t> lock_asked_{0};  // number of main's latest lock request
  using error_handler = std::function<void(const delivery_error&)>;
  std::atomic<const error_handler*> report_;  // owned; read under the directory's guard, see epoch_guard.hpp
  step_observer observe_step_;                // empty unless asked for
  load_index declared_;
  std::atomic<std::int64_t> stale_{0};           // an estimate: items made stale by move_out
  bool counts_traffic_ = false;                  // set before anything runs
  std::atomic<std::uint32_t> traffic_epoch_{0};  // a number alone
  std::atomic<std::uint32_t> backpressured_{0};  // objects with own messages under backpressure

  /// The function that a colocation of this rank will run.
  struct colocation_function {
    std::vector<object_id> objects;  ///< in the order of its parameters
    message_ptr call;
  };
  struct {
    std::mutex asking;  ///< held while a colocation is requested: one at a time
    std::mutex guard;   ///< guards the members below; held for moments, and no other lock is taken meanwhile
    coordinator asked;
    std::unordered_map<std::uint64_t, colocation_function> functions;  ///< by number; colocations requested here
    std::unordered_map<std::uint64_t, colocation_name> acquired;       ///< objects held here for a colocation, by
                                                                       ///< object id
  } colocations_;
};

}  // namespace nacre
