// SPDX-License-Identifier: Apache-2.0
// Images of jobs: what cannot be saved, or does not fit, is refused with a line that names it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "image_jobs.hpp"

namespace nacre::tests {
namespace {

struct counter {
  std::uint64_t count = 0;
  void add(std::uint64_t amount) { count += amount; }
  std::uint64_t value() const { return count; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(count);
  }
};
struct kept {
  mobile_ptr<counter> one;
  int step = 0;
};

/// Runs main on all ranks, and returns what is said on standard error.
std::string said_by(const config& configuration, const std::function<void(runtime&)>& main) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(configuration, main), 0);
  return testing::internal::GetCapturedStderr();
}
constexpr int refused_on_this_number = 78;
/// The job ends with an error that has this text.
void expect_refusal(const config& configuration, const char* text, const std::function<void(runtime&)>& main,
                    int code = 1) {
  EXPECT_EXIT(std::_Exit(run(configuration, main)), testing::ExitedWithCode(code), text);
}

struct an_image_death : images_of {};

TEST_F(an_image_death, is_not_taken_without_a_folder_and_main_is_told_so) {
  const std::string said = said_by(options("inproc", 2), [](runtime& rt) { EXPECT_FALSE(rt.checkpoint(kept{})); });
  EXPECT_NE(said.find("--nacre.checkpoint.folder=DIR"), std::string::npos) << said;
}

TEST_F(an_image_death, is_lost_and_not_the_job_when_the_folder_cannot_be_written) {
  config configuration = options("inproc", 2);
  configuration.set("checkpoint.folder", "/dev/null/images");
  const std::string said = said_by(configuration, [](runtime& rt) { EXPECT_FALSE(rt.checkpoint(kept{})); });
  EXPECT_NE(said.find("/dev/null/images"), std::string::npos) << said;
  EXPECT_NE(said.find("the job goes on"), std::string::npos) << said;
}

TEST_F(an_image_death, that_nothing_in_the_program_takes_is_missed_in_a_line) {
  const config configuration = writing(options("inproc", 2));
  std::string said = said_by(configuration, [](runtime& rt) { rt.wait_quiescence(); });
  EXPECT_NE(said.find("never waited with a value that is kept"), std::string::npos) << said;
  config only_last = configuration;
  only_last.set("checkpoint.every", "0s");
  said = said_by(only_last, [](runtime& rt) { static_cast<void>(rt.wait_quiescence(kept{})); });
  EXPECT_EQ(said, "") << "a signal might have asked for one";
  said = said_by(configuration, [](runtime& rt) { EXPECT_TRUE(rt.checkpoint(kept{})); });
  EXPECT_EQ(said, "");
}

TEST_F(an_image_death, is_asked_for_before_main_waits_or_the_job_ends_there) {
  const config configuration = options("inproc", 1);
  ASSERT_EQ(run(writing(configuration), [](runtime& rt) { EXPECT_TRUE(rt.checkpoint(kept{})); }), 0);
  expect_refusal(restoring(configuration), "main has never called rt.restored", [](runtime& rt) {
    static_cast<void>(rt.wait_quiescence(kept{}));
    std::exit(0);  // not reached: the work has not been done anew
  });
}

TEST_F(an_image_death, keeps_the_time_that_the_job_has_run) {
  const config configuration = options("sim", 2);
  double previous = 0, next = 0;
  ASSERT_EQ(run(writing(configuration),
                [&](runtime& rt) {
                  rt.sleep(5.0).get();
                  static_cast<void>(rt.checkpoint(kept{}));
                  previous = rt.now();
                }),
            0);
  ASSERT_EQ(run(restoring(configuration),
                [&](runtime& rt) {
                  static_cast<void>(rt.restored<kept>());
                  next = rt.now();
                }),
            0);
  EXPECT_GE(previous, 5.0);
  EXPECT_NEAR(next, previous, 0.1);
}

/// An object that must stay where it is, and says nothing of images.
struct rooted {
  int value = 0;
  bool may_migrate() const { return false; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};
/// One that may be saved all the same.
struct rooted_but_saved : rooted {
  bool may_save() const { return true; }
};
/// A class of groups that no image can hold.
struct unsaved {
  int* address = nullptr;
};

TEST_F(an_image_death, is_refused_for_what_it_cannot_hold_and_names_it) {
  const config configuration = writing(options("inproc", 2));
  std::string said = said_by(configuration, [](runtime& rt) {
    static_cast<void>(rt.create<rooted>());
    EXPECT_FALSE(rt.checkpoint(kept{}));
  });
  EXPECT_NE(said.find("rooted"), std::string::npos) << said;
  EXPECT_NE(said.find("may_migrate() says false"), std::string::npos) << said;
  said = said_by(configuration, [](runtime& rt) {
    static_cast<void>(rt.create_group<unsaved>());
    EXPECT_FALSE(rt.checkpoint(kept{}));
  });
  EXPECT_NE(said.find("unsaved"), std::string::npos) << said;
}

TEST_F(an_image_death, holds_what_stays_where_it_is_if_the_class_says_so) {
  ASSERT_EQ(run(writing(options("inproc", 2)),
                [](runtime& rt) {
                  static_cast<void>(rt.create<rooted_but_saved>());
                  EXPECT_TRUE(rt.checkpoint(kept{}));
                }),
            0);
}

/// Groups that are made before `restored` are made in every start, and may hold anything.
TEST_F(an_image_death, does_not_need_groups_that_were_made_before_restored) {
  const config configuration = options("inproc", 2);
  const auto main = [&](runtime& rt) {
    const auto previous = rt.create_group<unsaved>();
    const auto state = rt.restored<kept>();
    const auto rest = state ? group_ptr<mayor>() : rt.create_group<mayor>();
    if (!state) {
      EXPECT_EQ(rest.number(), previous.number() + 1);
      EXPECT_TRUE(rt.checkpoint(kept{}));
    }
    EXPECT_EQ(rt.create_group<mayor>().number(), previous.number() + 2) << "no number is given twice";
  };
  ASSERT_EQ(run(writing(configuration), main), 0);
  ASSERT_EQ(run(restoring(configuration), main), 0);
  expect_refusal(restoring(configuration), "1 groups before rt.restored",
                 [](runtime& rt) { static_cast<void>(rt.restored<kept>()); });
}

struct votes {
  int count = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(count);
  }
};

TEST_F(an_image_death, needs_a_merge_of_groups_on_fewer_ranks) {
  ASSERT_EQ(run(writing(options("inproc", 3)),
                [](runtime& rt) {
                  static_cast<void>(rt.create_group<votes>());
                  EXPECT_TRUE(rt.checkpoint(kept{}));
                }),
            0);
  const auto restore = [](runtime& rt) { static_cast<void>(rt.restored<kept>()); };
  expect_refusal(restoring(options("inproc", 2)), "void merge", restore, refused_on_this_number);
  ASSERT_EQ(run(restoring(options("inproc", 4)), restore), 0);
}

TEST_F(an_image_death, is_refused_by_another_kept_class) {
  ASSERT_EQ(run(writing(options("inproc", 2)), [](runtime& rt) { EXPECT_TRUE(rt.checkpoint(kept{})); }), 0);
  expect_refusal(restoring(options("inproc", 2)), "of another class than int",
                 [](runtime& rt) { static_cast<void>(rt.restored<int>()); });
}

TEST_F(an_image_death, is_asked_for_before_anything_is_made) {
  expect_refusal(options("inproc", 2), "rt.restored comes before", [](runtime& rt) {
    static_cast<void>(rt.create<counter>());
    static_cast<void>(rt.restored<kept>());
  });
  expect_refusal(options("inproc", 2), "called twice", [](runtime& rt) {
    static_cast<void>(rt.restored<kept>());
    static_cast<void>(rt.restored<kept>());
  });
  expect_refusal(restoring(options("inproc", 2)), "never called rt.restored", [](runtime&) {});
}

TEST_F(an_image_death, is_not_taken_of_ranks_that_keep_different_things) {
  const config configuration = writing(options("inproc", 2));
  expect_refusal(configuration, "keep different values",
                 [](runtime& rt) { static_cast<void>(rt.checkpoint(rt.rank().value())); });
  expect_refusal(configuration, "different classes", [](runtime& rt) {
    if (rt.rank().value() == 0) static_cast<void>(rt.checkpoint(1));
    if (rt.rank().value() == 1) static_cast<void>(rt.checkpoint(kept{}));
  });
}

/// Objects that are made behind the restore get no name that another one has.
TEST_F(an_image_death, gives_no_numbers_twice) {
  ASSERT_EQ(run(writing(options("inproc", 2)),
                [](runtime& rt) {
                  kept own_kept;
                  own_kept.one = rt.broadcast(rt.create<counter>(), rank_id(0));
                  rt.send<&counter::add>(own_kept.one, std::uint64_t{1});
                  EXPECT_TRUE(rt.checkpoint(own_kept));
                }),
            0);
  ASSERT_EQ(run(restoring(options("inproc", 2)),
                [](runtime& rt) {
                  const auto state = rt.restored<kept>();
                  const auto fresh = rt.create<counter>();
                  EXPECT_NE(fresh, state->one);
                  EXPECT_EQ(rt.call<&counter::value>(fresh).get(), 0U);
                  EXPECT_EQ(rt.call<&counter::value>(state->one).get(), 2U);
                  EXPECT_EQ(rt.create_array<counter>(extents{2}).first() > 0, true);
                }),
            0);
}

std::uint64_t ran = 0;
/// Runs when the job is quiet, and asks for the next time.
void again(context& ctx, mobile_ptr<counter> one, int left) {
  ++ran;
  ctx.send<&counter::add>(one, std::uint64_t{1});
  if (left > 0) ctx.on_quiescence<&again>(one, left - 1);
}

/// Work that runs while the ranks are packed makes the image void. The handler runs behind each of the first four
/// waits: the one of the checkpoint, and the three of the first try.
TEST_F(an_image_death, is_taken_again_when_something_ran_meanwhile) {
  ran = 0;
  std::uint64_t found_count = 0;
  ASSERT_EQ(run(writing(options("sim", 3)),
                [&](runtime& rt) {
                  kept own_kept;
                  own_kept.one = rt.broadcast(rt.create<counter>(), rank_id(0));
                  if (rt.rank().value() == 1) rt.on_quiescence<&again>(own_kept.one, 3);
                  EXPECT_TRUE(rt.checkpoint(own_kept));
                }),
            0);
  EXPECT_EQ(ran, 4U);
  ASSERT_EQ(run(restoring(options("sim", 3)),
                [&](runtime& rt) {
                  const auto state = rt.restored<kept>();
                  if (rt.rank().value() == 0) found_count = rt.call<&counter::value>(state->one).get();
                }),
            0);
  EXPECT_EQ(found_count, ran);
}

/// Cannot be packed at times.
struct touchy_word {
  static inline bool refuses = false;
  std::uint64_t value = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    if (refuses) throw std::runtime_error("not now");
    ar(value);
  }
};
struct listener {
  std::uint64_t sum = 0;
  awaited<std::uint64_t> hear(std::uint64_t, const touchy_word& word) { return word.value; }
  task<void> listen(context& ctx) { sum += co_await ctx.next<&listener::hear>(1); }
  std::uint64_t result() const { return sum; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum);
  }
};

TEST_F(an_image_death, leaves_kept_messages_where_they_are_when_they_cannot_be_packed) {
  std::uint64_t sum = 0;
  const std::string said = said_by(writing(options("inproc", 1)), [&](runtime& rt) {
    const auto one = rt.create<listener>();
    rt.send<&listener::hear>(one, std::uint64_t{1}, touchy_word{7});
    rt.wait_quiescence();
    touchy_word::refuses = true;
    EXPECT_FALSE(rt.checkpoint(kept{}));
    touchy_word::refuses = false;
    EXPECT_TRUE(rt.checkpoint(kept{}));
    rt.send<&listener::listen>(one);
    rt.wait_quiescence();
    sum = rt.call<&listener::result>(one).get();
  });
  EXPECT_EQ(sum, 7U);
  EXPECT_NE(said.find("not now"), std::string::npos) << said;
}

/// Bytes of memory that this process has had at most since the last call.
std::size_t peak_memory() {
  std::ifstream file("/proc/self/status");
  std::size_t kib = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) kib = std::stoul(line.substr(6));
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  return kib << 10;
}

/// The elements, their packed form, and that form once more, at half the length, while it grows.
TEST_F(an_image_death, has_a_container_in_memory_once_beside_its_elements) {
  if (sanitized) GTEST_SKIP() << "sanitizers keep memory that has been given back";
  constexpr std::size_t elements = 2000, bytes = 50'000, all = elements * bytes;
  std::size_t before = 0, peak = 0;
  ASSERT_EQ(run(writing(options("inproc", 1)),
                [&](runtime& rt) {
                  map<std::uint64_t, std::string> words(rt);
                  for (std::uint64_t each = 0; each < elements; ++each) {
                    words.insert(each, std::string(bytes, 'x'));
                    if (each % 100 == 0) rt.wait_quiescence();  // so that none of them are many under way
                  }
                  rt.wait_quiescence();
                  static_cast<void>(peak_memory());
                  before = peak_memory();
                  EXPECT_TRUE(rt.checkpoint(kept{}));
                  peak = peak_memory();
                }),
            0);
  if (before < all) GTEST_SKIP() << "the system does not tell the most memory of a process";
  EXPECT_LT(peak - before, all * 23 / 10);
  EXPECT_GT(peak - before, all) << "it was packed";
}

}  // namespace
}  // namespace nacre::tests
