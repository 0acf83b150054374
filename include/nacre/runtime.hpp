// SPDX-License-Identifier: Apache-2.0
// The interface of a rank for its main (`runtime`) and for its handlers (`context`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/collectives.hpp>
#include <nacre/contribute.hpp>
#include <nacre/ids.hpp>
#include <nacre/image_rows.hpp>
#include <nacre/images.hpp>
#include <nacre/library_mode.hpp>
#include <nacre/mobile_ptr.hpp>
#include <nacre/operations.hpp>

namespace nacre {

class phase;
class submitter;

/// The interface of one rank for its main. Belongs to the application thread of the rank.
class runtime : public operations {
 public:
  runtime(engine& core, thread_context& thread) noexcept : operations(core, thread) {}
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // Collectives. The mains of all ranks call the same collectives in the same order, with values of one type; else the
  // job ends with a line that names the ranks and their calls. The values may be of any type that messages may carry.
  // `op` takes two values and returns one; it must be associative. It need not be commutative: values are combined in
  // the order of the ranks, always in the same grouping, so sums of floating-point numbers are the same in every run.
  // The number of steps grows with the logarithm of the number of ranks. A collective returns on no rank before all
  // ranks have called it; meanwhile the waiting rank runs handlers.

  /// Waits until every rank has called it.
  void barrier() { static_cast<void>(detail::run_collective(*core_, *thread_, {})); }
  /// The root's value, on every rank.
  template <class T>
  [[nodiscard]] T broadcast(const T& value, rank_id root) {
    return detail::broadcast_value(*core_, *thread_, value, root);
  }
  using operations::reduce;  // over the elements of an array
  /// Returns op(op(v0, v1), ...) over the values of all ranks, at the root; nothing on other ranks.
  template <class T, class Op>
  std::optional<T> reduce(const T& value, Op op, rank_id root) {
    const auto bytes = detail::combine_values(*core_, *thread_, collective_kind::reduce, root, value, std::move(op));
    if (rank() != root) return std::nullopt;
    return detail::unpack_own<T>(bytes);
  }
  /// Returns op(op(v0, v1), ...) over the values of all ranks, on every rank.
  template <class T, class Op>
  [[nodiscard]] T all_reduce(const T& value, Op op) {
    return detail::unpack_own<T>(
        detail::combine_values(*core_, *thread_, collective_kind::all_reduce, {}, value, std::move(op)));
  }
  /// The values of all ranks, by rank, at the root; an empty vector on other ranks.
  template <class T>
  std::vector<T> gather(const T& value, rank_id root) {
    return detail::gather_values(*core_, *thread_, collective_kind::gather, root, value);
  }
  /// The values of all ranks, by rank, on every rank.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& value) {
    return detail::gather_values(*core_, *thread_, collective_kind::all_gather, {}, value);
  }
  /// Returns op(op(v0, v1), ...) over the values of the ranks up to this one, including its own.
  template <class T, class Op>
  [[nodiscard]] T scan(const T& value, Op op) {
    return detail::unpack_own<T>(
        detail::combine_values(*core_, *thread_, collective_kind::scan, {}, value, std::move(op)));
  }
  /// Returns op(op(init, v0), ...) over the values of the ranks before this one; `init` itself on rank 0.
  template <class T, class Op>
  [[nodiscard]] T exclusive_scan(const T& value, T init, Op op) {
    const auto previous = detail::combine_values(*core_, *thread_, collective_kind::exclusive_scan, {}, value, op);
    if (rank().value() == 0) return init;
    return static_cast<T>(op(std::move(init), detail::unpack_own<T>(previous)));
  }

  /// Collective: makes an array of mobile objects. Each rank calls `make` with each place that it is the home of, and
  /// `make` returns the element; the ranks do so at the same time. When create_array returns, every rank may send to
  /// every element. All ranks give the same options, shape and placement, and make their arrays in one order; else the
  /// job ends with a line that names the ranks and their calls. When `make`, the placement or a function of T throws on
  /// one rank, create_array throws a std::runtime_error on every rank, with the text of that exception, the place and
  /// the rank, and there is no array; the program may go on. Each rank's work is in proportion to its own elements, if
  /// the placement lists them (lists_places, as by_block does); else the ranks ask it for all places, each for its
  /// share.
  template <class T, class Make, array_placement P = by_block>
  requires std::is_invocable_r_v<T, Make&, const nacre::index&>
  [[nodiscard]] array_ptr<T, P> create_array(const array_options& options, const extents& shape, Make&& make, P = {}) {
    const array_ptr<T, P> array = open_array<T, P>(options, shape, true, detail::births_of(*core_));
    detail::fill_array(*core_, *thread_, array.first(), detail::type_mark<array_ptr<T, P>>(),
                       [&](const nacre::index& index) -> void* { return new T(make(index)); });
    return array;
  }
  /// Collective: makes an array, each element by its default constructor.
  template <class T, array_placement P = by_block>
  [[nodiscard]] array_ptr<T, P> create_array(const array_options& options, const extents& shape, P placement = {}) {
    return create_array<T>(
        options, shape, [](const nacre::index&) { return T(); }, placement);
  }
  /// Collective: makes an array without elements; insert makes them later.
  template <class T, array_placement P = by_block>
  [[nodiscard]] array_ptr<T, P> create_array(const array_options& options, const extents& shape, sparse_t, P = {}) {
    const array_ptr<T, P> array = open_array<T, P>(options, shape, false, detail::births_of(*core_));
    detail::fill_array(*core_, *thread_, array.first(), detail::type_mark<array_ptr<T, P>>(), nullptr);
    return array;
  }
  /// Collective: makes an array with default options. The arguments after the shape are those of the functions above.
  template <class T, class... Args>
  [[nodiscard]] auto create_array(const extents& shape, Args&&... args) {
    return create_array<T>(array_options{}, shape, std::forward<Args>(args)...);
  }
  /// Collective: makes an array whose places are keys of type K, such as std::string. The element of a key is made on
  /// the key's home, the rank that its hash or keyed_by::home chooses, when a message is sent to the key for the first
  /// time: by T(key) if T is no aggregate and has such a constructor, else by T(). All ranks give the same options. See
  /// keyed_array_ptr and message_operations.
  ///
  ///     auto words = rt.create_array<word>(nacre::keyed_by<std::string>{});
  ///     rt.send<&word::seen>(words["nacre"], 1);
  template <class T, class K>
  [[nodiscard]] keyed_array_ptr<T, K> create_array(const keyed_by<K>& keyed_by) {
    return create_keyed<T, K>(keyed_by, true);
  }
  /// Collective: makes such an array whose elements are made by insert only.
  template <class T, class K>
  [[nodiscard]] keyed_array_ptr<T, K> create_array(const keyed_by<K>& keyed_by, sparse_t) {
    return create_keyed<T, K>(keyed_by, false);
  }
  /// Collective: makes a group, one T on every rank, each from its own rank's arguments. T need be neither movable nor
  /// serializable. When create_group returns, every rank may send to every object. All ranks make their groups in one
  /// order; else the job ends with a line that names two different calls. When a constructor throws on one rank, its
  /// create_group throws that exception, and on the other ranks create_group throws a std::runtime_error with its text;
  /// there is no group then. See message_operations for messages, local() and what handlers may do at the same time.
  template <class T, class... Args>
  [[nodiscard]] group_ptr<T> create_group(Args&&... args) {
    const auto make = [&]() -> void* {
      return new T(detail::make_aggregate_or_object<T>(std::forward<Args>(args)...));
    };
    static_cast<void>(&detail::group_enlisted<T>);
    return group_ptr<T>(detail::make_group(*core_, *thread_, detail::group_type_of<T>, make));
  }
  /// Main's request for the next message to F of its own rank's object with the first argument `step`. F is a member
  /// function that returns nacre::awaited: messages to it are kept, any number of them, until main asks, and each is
  /// given once, in the order in which they came, to main's requests in their order. F runs on a worker when both have
  /// come; its result is that of the future, which fails with call_error when F throws or when the group ends first. A
  /// future that is dropped, or cancelled, gives the request up. Without a step: a message to an F of which the first
  /// parameter is no integer. Throws usage_error when the group has ended.
  ///
  ///     nacre::future<row> above = rt.next<&tile::halo>(group, step);     // as MPI_Irecv
  ///     use(above.get());                                                 // as MPI_Wait
  template <auto F, class T>
  [[nodiscard]] future<detail::result_of<F>> next(group_ptr<T> group, std::uint64_t step);
  template <auto F, class T>
  [[nodiscard]] future<detail::result_of<F>> next(group_ptr<T> group);
  using operations::destroy;
  /// Collective: waits for quiescence, and ends the objects of a group on all ranks. Later uses throw usage_error. A
  /// handler that on_quiescence runs must not use the group meanwhile.
  template <class T>
  void destroy(group_ptr<T> group) {
    detail::destroy_group(*core_, *thread_, group.number(), detail::group_type_of<T>);
  }
  /// Collective: ends all elements, after the requests that have been sent to all of them before, and releases the
  /// array's memory on every rank. Later messages to an element are reported to their sender's error handler.
  template <class T, class P>
  void destroy(const array_ptr<T, P>& array) {
    detail::destroy_array(*core_, *thread_, array.first());
  }
  /// Collective: ends a keyed array, as any array, with what the ranks know of its keys.
  template <class T, class K>
  void destroy(const keyed_array_ptr<T, K>& array) {
    detail::destroy_array(*core_, *thread_, array.first());
    destroy(array.table());
  }

  /// Waits until no handler runs, no message is under way, and every main waits, for whatever, or has ended. No
  /// collective: a main that has returned need not take part, and mains may call it different numbers of times, which
  /// nothing compares. Where all mains are to go on from the same moment, all call it.
  void wait_quiescence() { detail::wait_quiescence(*core_, *thread_); }

  // Images: docs/checkpoints.md. `kept` is what main needs to go on behind the call: pointers, arrays, groups, handles
  // of containers, a step. Any class that messages may carry; one class a program, equal on all ranks, and that of
  // rank 0 is stored. What differs between ranks belongs in a group.

  /// Collective: waits for quiescence as above; at its end an image of the job is taken if one is due
  /// (checkpoint.every). Every main calls it, whether or not images are taken.
  template <class T>
  void wait_quiescence(const T& kept) {
    static_cast<void>(detail::wait_with_kept(*core_, *thread_, detail::keep(kept), detail::image_wish::if_due));
  }
  /// Collective: waits for quiescence and takes an image of the job into checkpoint.folder. Returns, on every rank,
  /// whether it is durable. False, with a line that says what is in the way: the job goes on without it.
  template <class T>
  bool checkpoint(const T& kept) {
    return detail::wait_with_kept(*core_, *thread_, detail::keep(kept), detail::image_wish::now);
  }
  /// Collective, before anything is sent or made but groups: the kept value of the image that the option `restore`
  /// names, whose objects, arrays, groups and containers are there again, on any number of ranks; nothing in a first
  /// start. Throws setup_error when the image is damaged or does not fit the program, and usage_error when something
  /// has been made before.
  template <class T>
  [[nodiscard]] std::optional<T> restored() {
    return detail::restored_value<T>(*core_, *thread_);
  }
  /// Collective: `body(kept)` for each step up to `count`, from kept.step on; then ++kept.step, then
  /// wait_quiescence(kept). So an image never has a step half done, and a restored job repeats none.
  template <class T, class Body>
  void steps(T& kept, std::int64_t count, Body&& body) {
    while (static_cast<std::int64_t>(kept.step) < count) {
      body(kept);
      ++kept.step;
      wait_quiescence(kept);
    }
  }

  /// Loads an extension module from a shared object, attaches it to this rank, and returns its name. On the other ranks
  /// it is attached when their mains do so, too. A path with a '/' means that file; a bare name is looked for beside
  /// the executable, on its run path and in Nacre's folders of plugins, never in the current one. Version, build and
  /// symbols are checked before any of its code runs. Throws setup_error when the file does not pass, and usage_error
  /// when the module cannot be attached or its init fails. Waits as for a future.
  std::string load_extension(const std::string& file, extension_access access = extension_access::program) {
    return detail::load_extension(*core_, *thread_, file, access);
  }
  /// Detaches a module from this rank, loaded or linked in. Waits until it has answered the commands that it has
  /// deferred, then deactivates it; later commands fail at their callers. Throws usage_error when this rank has no such
  /// module.
  void unload_extension(std::string_view name) { detail::unload_extension(*core_, *thread_, name); }

  /// From now on SIGTERM and SIGINT ask the program to stop, in place of ending this process: stop_requested() becomes
  /// true on every rank that has called this, and one line says so. The second signal of a kind ends the process as
  /// ever, and a launcher kills ranks that take long. A signal that the process ignores stays ignored.
  void handle_signals() { detail::handle_signals(*core_); }

  /// A door for threads of the program that are not this rank's: see submitter, in <nacre/submitter.hpp>. The job stays
  /// open until all copies of it are closed. Throws usage_error under simulation.
  [[nodiscard]] nacre::submitter submitter();

  /// The counters of this rank since its start.
  [[nodiscard]] rank_counters counters() const noexcept { return detail::counters_of(*core_); }

  /// Sets the error handler, which is called for each message from this rank to an object that has been destroyed. The
  /// default prints one line to stderr. Any thread of the rank may call the handler, several at a time, and for a
  /// moment after it has been replaced. An exception from it ends the job.
  void on_delivery_error(std::function<void(const delivery_error&)> handler) {
    detail::set_error_handler(*core_, *thread_, std::move(handler));
  }

 private:
  friend class phase;

  template <class T, class P>
  array_ptr<T, P> open_array(const array_options& options, const extents& shape, bool dense, std::uint32_t ranks) {
    static_cast<void>(&detail::array_enlisted<T, P>);
    const std::uint64_t first = detail::open_array(
        *core_,
        {.shape = shape,
         .type = &detail::type_of<T>(),
         .home = &detail::home_of_number<P>,
         .list = detail::lister_of<P>(),
         .ranks = ranks,
         .dense = dense,
         .location = options.location == location_policy::of_program ? detail::location_of<T>() : options.location});
    return array_ptr<T, P>(first, shape, ranks);
  }
  /// No other rank has the handle before fill_array returns, so none uses a table that has no array yet.
  template <class T, class K>
  keyed_array_ptr<T, K> create_keyed(const keyed_by<K>& keyed_by, bool on_first_use) {
    static_cast<void>(detail::check_key<K>());
    const auto places = open_array<T, by_block>(array_options{.location = keyed_by.location},
                                                extents(keyed_by.keys_max), false, size());
    const auto table = create_group<detail::key_table<T, K>>();
    auto& self = local(table);
    self.begin(table, places, rank(), size(), on_first_use, keyed_by.home);
    detail::name_keys(*core_, places.first(), [&self](object_id element) { return self.text_of(element); });
    const std::uint32_t mark =
        detail::type_mark<keyed_array_ptr<T, K>>() + (on_first_use ? 1 : 0) + 2 * keyed_by.home.mark();
    detail::fill_array(*core_, *thread_, places.first(), mark, nullptr);
    return {places, table};
  }
};

/// The interface of a rank for a running handler. Valid during the handler; in a coroutine, until it ends.
class context : public element_operations {
 public:
  context(engine& core, thread_context& thread, const message_header& cause) noexcept
      : element_operations(core, thread, object_id::from_value(cause.object)), cause_(&cause) {}

  /// The rank that sent the message.
  [[nodiscard]] rank_id source() const noexcept { return rank_id(cause_->source); }
  /// The worker that runs the handler.
  [[nodiscard]] worker_id worker() const noexcept;
  /// The mobile object that the handler runs on.
  template <class T>
  [[nodiscard]] mobile_ptr<T> self() const noexcept {
    return mobile_ptr<T>(acting_);
  }
  /// The place of that object in its array. Throws usage_error when it is not an element of an array.
  [[nodiscard]] nacre::index index() const { return detail::index_of_element(*core_, *thread_, acting_); }
  /// Declares a cost of the handler, in seconds: it advances virtual time under simulation, and adds to the load
  /// otherwise. Less than 0, and NaN, count as 0.
  void charge(double seconds) noexcept;
  /// True when idle workers or ranks ask for work: split if you can. Cheap enough to ask every few microseconds.
  [[nodiscard]] bool wanted_elsewhere() const noexcept;

  /// Whether the caller of this handler has given up its call: by future::cancel, because its deadline is over, or
  /// because the caller's rank is gone. Then the result will be dropped, and the handler may return at once with any
  /// value. It stays true. False for a message without a result, for one to all elements of an array or all objects of
  /// a group, and where the caller has only dropped its future. Takes a look at a table; when the caller is on another
  /// rank the first look asks that rank, returns false, and costs some messages, so that later ones know after the time
  /// of a message or two. A handler that does not ask pays nothing. Under simulation a handler that is no coroutine is
  /// one event, in which no news of another rank can come.
  [[nodiscard]] bool cancelled() const;

  /// For the runtime: sets the thread context on which a suspended coroutine continues.
  void move_to(thread_context& thread) noexcept { thread_ = &thread; }
  [[nodiscard]] engine& core() const noexcept { return *core_; }
  [[nodiscard]] thread_context& current_thread() const noexcept { return *thread_; }
  /// For the runtime: the header of the message has moved.
  void set_cause(const message_header& cause) noexcept { cause_ = &cause; }

 private:
  const message_header* cause_;  // lives as long as the context
};

namespace detail {
template <class T, class... Args>
mobile_ptr<T> create_remotely(context& ctx, Args... args) {
  return ctx.create<T>(std::move(args)...);
}
}  // namespace detail
}  // namespace nacre
