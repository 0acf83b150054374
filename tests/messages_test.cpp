// SPDX-License-Identifier: Apache-2.0
// Edges of messages: views that outlive them, payloads that are too long, reports of those that nobody gets.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"

namespace {

using nacre::rank_id;

nacre::config settings(const std::string& transport, int workers = 1) {
  nacre::config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", "2");
  configuration.set("workers", std::to_string(workers));
  return configuration;
}

std::atomic<int> taken{0};

struct holder {
  holder() = default;
  explicit holder(std::span<const std::byte>) {}
  void take(std::span<const std::byte>) { ++taken; }
  void take_one(int) { ++taken; }
  void look() const { ++taken; }  // shared, so that it waits for none
  template <class Archive>
  void serialize(Archive&) {}
};

// ---- coroutines with views

int echo(int n) { return n; }

/// Between the two looks at its numbers other messages come and go.
nacre::task<long> sum_later(nacre::context& ctx, std::span<const int> numbers, std::string_view word) {
  for (int n = 0; n < 3; ++n) static_cast<void>(co_await ctx.call<echo>(rank_id{0}, n));
  co_return std::accumulate(numbers.begin(), numbers.end(), 0L) + static_cast<long>(word.find('!'));
}
/// As sum_later; its arguments stay live values where ranks share their memory.
nacre::task<long> count_later(nacre::context& ctx, std::string_view word, std::vector<std::string> words) {
  for (int n = 0; n < 3; ++n) static_cast<void>(co_await ctx.call<echo>(rank_id{0}, n));
  co_return std::count(words.begin(), words.end(), word);
}

TEST(coroutines, whose_parameters_are_views_see_their_arguments_until_they_end) {
  for (const char* const transport : {"inproc", "sim"}) {
    int wrong = 0;
    EXPECT_EQ(nacre::run(settings(transport),
                         [&](nacre::runtime& rt) {
                           if (rt.rank() != rank_id{0}) return;
                           std::vector<nacre::future<long>> sums, counts;
                           for (int n = 0; n < 400; ++n) {
                             const rank_id target(static_cast<std::uint32_t>(n) % 2);
                             const std::string word(static_cast<std::size_t>(20 + n % 50), 'x');
                             sums.push_back(rt.call<sum_later>(target, std::vector<int>(10 + n % 20, n), word + '!'));
                             counts.push_back(rt.call<count_later>(target, word, std::vector<std::string>(3, word)));
                           }
                           for (int n = 0; n < 400; ++n) {
                             const auto index = static_cast<std::size_t>(n);
                             if (sums[index].get() != long{n} * (10 + n % 20) + 20 + n % 50) ++wrong;
                             if (counts[index].get() != 3) ++wrong;
                           }
                         }),
              0);
    EXPECT_EQ(wrong, 0) << transport;
  }
}

std::uint64_t held_here(nacre::context& ctx, std::uint32_t source) {
  return ctx.core().link().held_bytes(rank_id{source}, nacre::channel::application);
}

constexpr int many = 64;
int begun = 0;
std::uint64_t held = 0;  // of rank 0's credit, when the last has begun

/// Waits until all of them have begun, however long that takes.
nacre::task<int> meet(nacre::context& ctx, std::span<const std::byte> ballast) {
  if (++begun == many) held = ctx.core().link().held_bytes(rank_id{0}, nacre::channel::application);
  for (int looks = 0; looks < 10'000 && begun < many; ++looks)
    static_cast<void>(co_await ctx.call<echo>(rank_id{0}, 1));
  co_return static_cast<int>(ballast.size());
}

TEST(coroutines, that_keep_their_messages_keep_no_credit_of_the_sender) {
  nacre::config small = settings("sim");
  small.set("receive_memory", "1MiB");  // of which all messages of this test take four times as much
  begun = 0;
  EXPECT_EQ(nacre::run(small,
                       [&](nacre::runtime& rt) {
                         if (rt.rank() != rank_id{0}) return;
                         const std::vector<std::byte> ballast(64 * 1024);
                         std::vector<nacre::future<int>> all;
                         for (int n = 0; n < many; ++n) all.push_back(rt.call<meet>(rank_id{1}, ballast));
                         for (auto& each : all) EXPECT_EQ(each.get(), 64 * 1024);
                       }),
            0);
  EXPECT_EQ(begun, many);
  EXPECT_LT(held, 2U * 64 * 1024) << "more than the message that has just come";
}

// ---- messages that main asks for

struct keeper {
  nacre::awaited<std::size_t> take(std::span<const std::byte> ballast) { return ballast.size(); }
};

TEST(messages_that_main_asks_for, keep_no_credit_of_their_sender_until_then) {
  nacre::config small = settings("sim");
  small.set("receive_memory", "1MiB");  // of which all messages of this test take four times as much
  std::uint64_t left = 1;
  EXPECT_EQ(nacre::run(small,
                       [&](nacre::runtime& rt) {
                         const auto g = rt.create_group<keeper>();
                         const std::vector<std::byte> ballast(64 * 1024);
                         if (rt.rank() == rank_id{0}) {
                           for (int n = 0; n < many; ++n) rt.send<&keeper::take>(g[rank_id{1}], ballast);
                         }
                         rt.wait_quiescence();
                         if (rt.rank() != rank_id{1}) return;
                         left = rt.call<held_here>(rt.rank(), 0U).get();
                         for (int n = 0; n < many; ++n) EXPECT_EQ(rt.next<&keeper::take>(g).get(), ballast.size());
                       }),
            0);
  EXPECT_EQ(left, 0U);
}

// ---- bundles

void work_a_little(nacre::context& ctx, int) { ctx.charge(2e-6); }
/// A bundle for workers alone, of which idle ones take a part; one that is taken apart; and one for objects: its parts
/// run in it or become messages: what they cost their sender is given back to the last byte.
TEST(bundles, give_all_their_credit_back_however_they_are_shared) {
  enum class parts { to_workers, to_both, to_objects };
  for (const parts item : {parts::to_workers, parts::to_both, parts::to_objects}) {
    nacre::config configuration = settings("sim", 4);
    configuration.set("aggregate", "on");
    std::uint64_t left = 1;
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           const auto p = rt.broadcast(rt.create<holder>(), rank_id{1});
                           if (rt.rank() == rank_id{0}) {
                             for (int n = 0; n < 2000; ++n) {
                               if (item != parts::to_objects) rt.send<work_a_little>(rank_id{1}, n);
                               if (item != parts::to_workers) rt.send<&holder::take_one>(p, n);
                               if (item == parts::to_objects && n % 7 == 0) rt.send<&holder::look>(p);
                             }
                           }
                           rt.wait_quiescence();
                           if (rt.rank() == rank_id{1}) left = rt.call<held_here>(rt.rank(), 0U).get();
                         }),
              0);
    EXPECT_EQ(left, 0U) << "bundles of the kind " << static_cast<int>(item);
  }
}

// ---- messages that are too long

constexpr std::size_t too_many = nacre::payload_bytes_max + 1;

/// So many zeros, of which none takes memory before somebody writes to it.
class zeros {
 public:
  zeros() : memory_(::mmap(nullptr, too_many, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  zeros(const zeros&) = delete;
  zeros& operator=(const zeros&) = delete;
  ~zeros() { ::munmap(memory_, too_many); }
  [[nodiscard]] std::span<const std::byte> all() const { return {static_cast<const std::byte*>(memory_), too_many}; }

 private:
  void* memory_;
};
const zeros& plenty() {
  static const zeros one;
  return one;
}

/// A value that packs to more than a message takes.
struct long_value {
  std::string word;
  template <class Archive>
  void save(Archive& ar) const {
    ar(word, plenty().all());
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(word);
  }
};

void take_span(std::span<const std::byte>) { ++taken; }
void take_value(const long_value&) { ++taken; }
void take_buffer(const nacre::buffer&) { ++taken; }
void take_number(int) { ++taken; }
long_value give_value() { return {}; }

void merge(holder&, holder&, std::span<const std::byte>) {}

template <class Call>
std::string refused(Call&& call) {
  try {
    std::forward<Call>(call)();
    return "";
  } catch (const nacre::usage_error& error) {
    return error.what();
  }
}

/// One error for all ways into a message; the next message goes the same way as if nothing had been.
void send_too_much(nacre::runtime& rt) {
  const auto p = rt.create<holder>(), q = rt.create<holder>();
  const auto all = rt.all_gather(p);
  const auto array = rt.create_array<holder>(nacre::extents{4});
  if (rt.rank() == rank_id{0}) {
    const std::span<const std::byte> much = plenty().all();
    const rank_id other{1};
    const std::vector<std::string> errors{
        refused([&] { rt.send<take_span>(other, much); }),
        refused([&] { rt.send<take_span>(rt.rank(), much); }),
        refused([&] { rt.send<take_span>(nacre::to_all, much); }),
        refused([&] { static_cast<void>(rt.call<take_span>(other, much)); }),
        refused([&] { rt.send<&holder::take>(all[1], much); }),
        refused([&] { static_cast<void>(rt.call<&holder::take>(all[1], much)); }),
        refused([&] { rt.send<&holder::take>(array, much); }),
        refused([&] { static_cast<void>(rt.create_on<holder>(other, much)); }),
        refused([&] { rt.colocate<merge>(p, q, much); }),
        refused([&] { static_cast<void>(nacre::buffer(too_many)); }),
    };
    for (std::size_t way = 0; way < errors.size(); ++way) {
      EXPECT_NE(errors[way].find("send it in parts"), std::string::npos) << "way " << way << ": " << errors[way];
    }
    rt.send<take_number>(other, 1);
    rt.send<&holder::take_one>(all[1], 1);
    rt.send<&holder::take_one>(array, 1);
  }
  rt.wait_quiescence();
}

TEST(long_messages, are_one_error_for_their_sender_whatever_way_they_go) {
  for (const char* const transport : {"inproc", "sim"}) {
    taken = 0;
    EXPECT_EQ(nacre::run(settings(transport), &send_too_much), 0) << transport;
    EXPECT_EQ(taken, 6) << transport;
  }
}

TEST(long_messages, of_values_are_refused_where_they_are_packed) {
  taken = 0;
  EXPECT_EQ(nacre::run(settings("sim"),
                       [](nacre::runtime& rt) {
                         if (rt.rank() != rank_id{0}) return;
                         EXPECT_NE(refused([&] { rt.send<take_value>(rank_id{1}, long_value{}); }), "");
                         EXPECT_NE(refused([&] { rt.send<take_buffer>(rank_id{1}, nacre::buffer(too_many - 1)); }), "");
                         EXPECT_THROW(rt.call<give_value>(rank_id{1}).get(), nacre::call_error);
                         rt.call<take_number>(rank_id{1}, 1).get();
                       }),
            0);
  EXPECT_EQ(taken, 1);
}

// ---- calls that nobody can answer

struct quarrel {
  int ask(int n) {
    if (n < 0) throw std::out_of_range("below zero");
    return n;
  }
  static nacre::task<int> ask_another(nacre::context& ctx, nacre::mobile_ptr<quarrel> other) {
    co_return co_await ctx.call<&quarrel::ask>(other, 1);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// "absent", "failed" or "there".
template <class T>
std::string fate_of(nacre::future<T> called) {
  try {
    static_cast<void>(called.get());
    return "there";
  } catch (const nacre::absent_error& error) {
    EXPECT_EQ(error.type(), "") << "nothing has been thrown";
    return "absent";
  } catch (const nacre::call_error&) {
    return "failed";
  }
}

TEST(calls, tell_a_target_that_is_not_there_from_a_handler_that_throws) {
  for (const char* const transport : {"inproc", "sim", "shm", "tcp"}) {
    EXPECT_EQ(nacre::run(settings(transport),
                         [](nacre::runtime& rt) {
                           const auto all = rt.create_array<quarrel>(nacre::extents{4}, nacre::sparse);
                           const auto keys = rt.create_array<quarrel>(nacre::keyed_by<std::string>{}, nacre::sparse);
                           const auto theirs = rt.broadcast(
                               rt.rank() == rank_id{1} ? rt.create<quarrel>() : nacre::mobile_ptr<quarrel>{},
                               rank_id{1});
                           const auto ours = rt.create<quarrel>();
                           if (rt.rank() == rank_id{0}) {
                             for (const auto each : {ours, theirs}) {
                               EXPECT_EQ(fate_of(rt.call<&quarrel::ask>(each, 1)), "there");
                               EXPECT_EQ(fate_of(rt.call<&quarrel::ask>(each, -1)), "failed");
                               rt.destroy(each);
                               EXPECT_EQ(fate_of(rt.call<&quarrel::ask>(each, 1)), "absent");
                             }
                             EXPECT_EQ(fate_of(rt.call<&quarrel::ask_another>(rank_id{1}, theirs)), "failed")
                                 << "the one that was called is there";
                             for (std::uint64_t place = 0; place < 4; ++place) {
                               EXPECT_EQ(fate_of(rt.call<&quarrel::ask>(all[place], 1)), "absent");
                               EXPECT_EQ(fate_of(rt.erase(all, place)), "absent");
                               EXPECT_EQ(fate_of(rt.insert(all, place)), "there");
                               EXPECT_EQ(fate_of(rt.insert(all, place)), "failed");
                             }
                             for (const char* const key : {"a", "b", "c"}) {
                               EXPECT_EQ(fate_of(rt.call<&quarrel::ask>(keys[key], 1)), "absent");
                               EXPECT_EQ(fate_of(rt.erase(keys, key)), "absent");
                               EXPECT_EQ(fate_of(rt.insert(keys, key)), "there");
                               EXPECT_EQ(fate_of(rt.call<&quarrel::ask>(keys[key], 1)), "there");
                               EXPECT_EQ(fate_of(rt.erase(keys, key)), "there");
                               EXPECT_EQ(fate_of(rt.call<&quarrel::ask>(keys[key], 1)), "absent");
                             }
                           }
                           rt.destroy(all);
                           rt.destroy(keys);
                         }),
              0)
        << transport;
  }
}

// ---- results that are there

nacre::task<int> take_what_is_there(nacre::context& ctx) {
  nacre::future<int> called = ctx.call<echo>(rank_id{0}, 4);
  while (!called.ready()) co_await ctx.sleep(1e-4);
  EXPECT_THROW(called.wait(), nacre::usage_error) << "as it would be refused where it is not there yet";
  co_return called.take();
}

TEST(results, that_are_there_are_taken_in_handlers_too) {
  for (const char* const transport : {"inproc", "sim"}) {
    EXPECT_EQ(nacre::run(settings(transport),
                         [](nacre::runtime& rt) { EXPECT_EQ(rt.call<take_what_is_there>(rank_id{1}).get(), 4); }),
              0)
        << transport;
  }
}

/// Cannot be copied or moved while `throws`.
struct fragile {
  static inline std::atomic<bool> throws{false};
  int n = 0;
  fragile() = default;
  explicit fragile(int number) : n(number) {}
  fragile(const fragile& other) : n(other.n) {
    if (throws) throw std::runtime_error("a copy that throws");
  }
  fragile& operator=(const fragile&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(n);
  }
};
fragile make_fragile(int n) { return fragile(n); }

TEST(results, that_cannot_be_moved_fail_what_waits_for_them_and_no_more) {
  EXPECT_EQ(nacre::run(settings("inproc"),
                       [](nacre::runtime& rt) {
                         if (rt.rank() != rank_id{0}) return;
                         for (const std::uint32_t target : {0U, 1U}) {
                           std::vector<nacre::future<fragile>> parts;
                           for (int n = 0; n < 3; ++n) parts.push_back(rt.call<make_fragile>(rank_id{target}, n));
                           for (auto& part : parts) part.wait();
                           fragile::throws = true;
                           auto all = nacre::when_all(std::move(parts));
                           EXPECT_THROW(static_cast<void>(all.get()), nacre::call_error);
                           fragile::throws = false;
                           EXPECT_EQ(rt.call<make_fragile>(rank_id{target}, 4).get().n, 4);
                         }
                       }),
            0);
}

// ---- coroutines that await others

nacre::task<int> give(nacre::context&, int n) { co_return n; }
nacre::task<long> sum_of_many(nacre::context& ctx, int count) {
  long sum = 0;
  for (int n = 0; n < count; ++n) sum += co_await give(ctx, n);
  co_return sum;
}
nacre::task<int> descend(nacre::context& ctx, int levels) {
  if (levels == 0) co_return 0;
  co_return 1 + co_await descend(ctx, levels - 1);
}

/// Also where the compiler makes no tail calls, as in a build without optimisation.
TEST(coroutines, await_any_number_of_others_in_a_row_or_in_each_other) {
  for (const char* const transport : {"inproc", "sim"}) {
    EXPECT_EQ(nacre::run(settings(transport),
                         [](nacre::runtime& rt) {
                           constexpr int count = 300'000, levels = 50'000;
                           EXPECT_EQ(rt.call<sum_of_many>(rank_id{0}, count).get(), count * (count - 1L) / 2);
                           EXPECT_EQ(rt.call<descend>(rank_id{1}, levels).get(), levels);
                         }),
              0)
        << transport;
  }
}

// ---- reports of messages that nobody gets

void send_late(nacre::context& ctx, nacre::mobile_ptr<holder> p) { ctx.send<&holder::take_one>(p, 1); }

nacre::task<int> pass_on(nacre::context& ctx, int levels) {
  if (levels == 0) throw std::runtime_error("the cause");
  co_return co_await ctx.call<pass_on>(ctx.rank(), levels - 1);
}

TEST(call_errors, of_thousands_of_handlers_name_the_outermost_and_the_cause) {
  EXPECT_EQ(nacre::run(settings("sim"),
                       [](nacre::runtime& rt) {
                         if (rt.rank() != rank_id{0}) return;
                         try {
                           static_cast<void>(rt.call<pass_on>(rank_id{1}, 3000).get());
                           ADD_FAILURE() << "nothing is thrown";
                         } catch (const nacre::call_error& error) {
                           const std::string text = error.what();
                           EXPECT_LT(text.size(), 5000u);
                           EXPECT_TRUE(text.starts_with("the handler ")) << text;
                           EXPECT_TRUE(text.ends_with("the cause")) << text;
                         }
                       }),
            0);
}

TEST(delivery_errors, are_told_to_one_handler_each_while_main_puts_others_in_its_place) {
  constexpr int late = 20'000;
  std::atomic<int> told{0}, spoiled{0};
  EXPECT_EQ(nacre::run(settings("inproc", 2),
                       [&](nacre::runtime& rt) {
                         if (rt.rank() != rank_id{0}) return;
                         const auto listen = [&](int number) {
                           rt.on_delivery_error([&, counter = std::make_shared<int>(number), number](const auto&) {
                             if (*counter != number) ++spoiled;
                             ++told;
                           });
                         };
                         listen(0);
                         const auto p = rt.create<holder>();
                         rt.destroy(p);
                         for (int n = 0; n < late; ++n) {
                           rt.send<send_late>(rt.rank(), p);
                           listen(n);
                         }
                         rt.wait_quiescence();
                       }),
            0);
  EXPECT_EQ(told, late);
  EXPECT_EQ(spoiled, 0);
}

}  // namespace
