// SPDX-License-Identifier: Apache-2.0
// Values that cannot be packed are refused at their sender, who may catch that and go on, with class and handler.
//
// The executable is its own rank program: `unpackable_mp_test --as-rank`.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "transports.hpp"

namespace {

/// A chain of owners.
struct link_of_chain {
  std::unique_ptr<link_of_chain> next;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next);
  }
};

link_of_chain chain_of(int length) {
  link_of_chain first;
  link_of_chain* last = &first;
  for (int count = 1; count < length; ++count) last = (last->next = std::make_unique<link_of_chain>()).get();
  return first;
}

int length_of(link_of_chain first) {
  int count = 0;
  for (const link_of_chain* each = &first; each != nullptr; each = each->next.get()) ++count;
  return count;
}
link_of_chain make_chain(int length) { return chain_of(length); }

/// Reading and copying it leaves a variant without a value.
struct thrower {
  thrower() = default;
  thrower(const thrower&) { throw std::runtime_error("copied"); }
  thrower& operator=(const thrower&) = default;
  template <class Archive>
  void serialize(Archive&) {}
};
using choice = std::variant<int, std::string, thrower>;

struct box {
  choice value;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};
void take_box(const box&) {}

box valueless() {
  box result;
  try {
    const thrower copied;
    result.value.emplace<thrower>(copied);
  } catch (const std::runtime_error&) {
  }
  return result;
}

/// A mobile object that may not be able to leave.
struct holder {
  link_of_chain first;
  void fill(int length) { first = chain_of(length); }
  int length() const {
    int count = 0;
    for (const link_of_chain* each = &first; each != nullptr; each = each->next.get()) ++count;
    return count;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first);
  }
};

constexpr int fits = 100;
constexpr int too_long = 1000;

void attempt(const char* name, const std::function<void()>& action) {
  try {
    action();
    std::printf("%s: done\n", name);
  } catch (const nacre::usage_error& error) {
    std::printf("%s: usage_error: %s\n", name, error.what());
  } catch (const nacre::call_error& error) {
    std::printf("%s: call_error: %s\n", name, error.what());
  }
}

int act_as_rank(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::rank_id last(rt.size() - 1);
    if (rt.rank().value() != 0) return;
    attempt("call", [&] { static_cast<void>(rt.call<length_of>(last, chain_of(too_long)).get()); });
    attempt("send", [&] { rt.send<take_box>(last, valueless()); });
    attempt("result", [&] { static_cast<void>(rt.call<make_chain>(last, too_long).get()); });
    const auto object = rt.create<holder>();
    rt.call<&holder::fill>(object, too_long).get();
    attempt("migrate", [&] { rt.migrate(object, last).get(); });
    const bool whole = rt.call<length_of>(last, chain_of(fits)).get() == fits;
    std::printf("%s\n", whole && rt.call<&holder::length>(object).get() == too_long ? "goes on" : "is damaged");
  });
}

}  // namespace

namespace nacre::tests {
namespace {

class unpackable : public testing::TestWithParam<const char*> {};

TEST_P(unpackable, values_are_refused_at_their_sender_with_class_and_handler_and_the_job_goes_on) {
  const std::string transport = GetParam();
  std::vector<std::string> words;
  if (transport == "shm" || transport == "tcp") {
    words = start_of(transport, 2).words;
    words.insert(words.end(), {own_path(), "--as-rank"});
  } else {
    words = {own_path(), "--as-rank", "--nacre.ranks=2", "--nacre.transport=" + transport};
  }
  const outcome got = launched(words).end();
  EXPECT_EQ(code_of(got), 0) << got.status << got.errors;
  for (const std::string_view part :
       {"call: usage_error: packing the arguments of ", "length_of: a value of the class ", "link_of_chain nests more ",
        "send: usage_error: packing the arguments of ", "take_box: a value of the class std::variant<",
        "result: call_error: the handler ", "make_chain threw: packing the result of a call: a value of the class ",
        "migrate: call_error: the object cannot move: serialize of the class ", "holder (object 0:1): a value of the ",
        "goes on"}) {
    EXPECT_NE(got.output.find(part), std::string::npos) << part << "\nis not in\n" << got.output;
  }
}

INSTANTIATE_TEST_SUITE_P(over, unpackable, testing::Values("sim", "shm", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

TEST(unpackable_values, that_stay_in_one_process_are_no_trouble) {
  const outcome got = launched({own_path(), "--as-rank", "--nacre.ranks=2", "--nacre.transport=inproc"}).end();
  EXPECT_EQ(code_of(got), 0) << got.status << got.errors;
  EXPECT_NE(got.output.find("goes on"), std::string::npos) << got.output;
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--as-rank") return act_as_rank(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
