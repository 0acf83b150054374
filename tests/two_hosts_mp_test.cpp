// SPDX-License-Identifier: Apache-2.0
// Jobs on two hosts that are made of namespaces (tools/hosts_here.sh), with a network between them and nothing else.
//
// The executable is its own rank program: `two_hosts_mp_test --as-rank NAME` runs one of the programs below. A test
// that cannot have such hosts is skipped, and says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "launched.hpp"
#include "transports.hpp"
#include "two_hosts.hpp"

namespace {

using namespace nacre::tests;

// ---- rank programs

constexpr std::size_t body_bytes = 65536;
constexpr std::uint32_t bodies = 100;  // from each rank to each other one

struct collector {
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
  void take(const std::vector<std::uint8_t>& body) {
    bytes += body.size();
    for (const std::uint8_t each : body) sum += each;
  }
  std::vector<std::uint64_t> all() const { return {bytes, sum}; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(bytes, sum);
  }
};

/// Every rank sends much to every other one, and then looks at what has come.
void exchange(nacre::runtime& rt) {
  const auto object = rt.create<collector>();
  const auto all = rt.all_gather(object);
  std::uint64_t sum = 0;
  for (std::uint32_t body = 0; body < bodies; ++body) {
    for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
      if (nacre::rank_id(rank) == rt.rank()) continue;
      rt.send<&collector::take>(all[rank], std::vector<std::uint8_t>(body_bytes, static_cast<std::uint8_t>(body)));
      sum += body_bytes * body;
    }
  }
  rt.wait_quiescence();
  const std::vector<std::uint64_t> expected{(rt.size() - 1) * bodies * body_bytes, sum};
  const bool right = rt.call<&collector::all>(object).get() == expected;
  std::printf("rank %u has received %s\n", rt.rank().value(), right ? "everything" : "something else");
}

/// The last rank is killed while the others wait for it.
void lose_one(nacre::runtime& rt) {
  rt.barrier();
  if (rt.rank().value() + 1 == rt.size()) std::raise(SIGKILL);
  rt.barrier();
}

using rank_program = void (*)(nacre::runtime&);
const std::map<std::string_view, rank_program>& rank_programs() {
  static const std::map<std::string_view, rank_program> all{{"exchange", exchange}, {"lose_one", lose_one}};
  return all;
}

// ---- tests

/// A transport, and what it uses between hosts if it is auto.
struct way {
  const char* title;
  std::vector<std::string> arguments;
  bool by_ucx;
  friend void PrintTo(const way& w, std::ostream* out) { *out << w.title; }
};

const std::vector<way>& ways() {
  static const std::vector<way> all{{"tcp", {"--nacre.transport=tcp"}, false},
                                    {"udp", {"--nacre.transport=udp"}, false},
                                    {"ucx", {"--nacre.transport=ucx"}, true},
                                    {"auto_over_tcp", {"--nacre.transport=auto", "--nacre.auto.between=tcp"}, false},
                                    {"auto_over_udp", {"--nacre.transport=auto", "--nacre.auto.between=udp"}, false},
                                    {"auto_over_ucx", {"--nacre.transport=auto", "--nacre.auto.between=ucx"}, true}};
  return all;
}

long count_of(const outcome& got, const std::string& line) {
  const std::vector<std::string> lines = lines_of(got.output);
  return std::count(lines.begin(), lines.end(), line);
}

/// UCX is there, and says by which transports of its own it reaches others.
bool speaks_of_ucx(const outcome& got) { return got.output.find("UCX  INFO") != std::string::npos; }

class two_hosts : public testing::TestWithParam<way> {
 protected:
  void SetUp() override {
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // what UCX never releases is not ours to find
    if (GetParam().by_ucx && !missing_for_ucx().empty()) GTEST_SKIP() << missing_for_ucx();
  }
};

TEST_P(two_hosts, talk_over_the_network_between_them_and_otherwise_within_a_host) {
  // The bytes that the network interfaces of the first host have received.
  const std::string script =
      "run \"$@\" || exit; while read name bytes rest; do case $name in cable: | lo:) echo $name $((bytes / 1000000)) "
      "MB; "
      "esac; done </proc/net/dev";
  const outcome got = on_two_hosts(script, own_program("exchange", GetParam().arguments));
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  ASSERT_EQ(code_of(got), 0) << got.output << got.errors;
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_EQ(count_of(got, std::string("rank ") + rank + " has received everything"), 1) << got.output;
  }
  EXPECT_EQ(speaks_of_ucx(got), GetParam().by_ucx) << got.output;
  const auto megabytes = [&](const std::string& name) {
    const std::size_t index = got.output.find("\n" + name + ": ");
    return index == std::string::npos ? -1 : std::stol(got.output.substr(index + name.size() + 3));
  };
  EXPECT_GE(megabytes("cable"), 26) << "two ranks here have received 100 bodies of 64 KiB each from two over there";
  EXPECT_LE(megabytes("cable"), 80) << "with what a busy host repeats: " << got.output;
  if (std::string_view(GetParam().title).starts_with("auto") || GetParam().by_ucx) {
    EXPECT_EQ(megabytes("lo"), 0) << "they share memory";
  }
}

TEST_P(two_hosts, end_with_one_line_when_a_rank_over_there_is_killed) {
  const outcome got = on_two_hosts("run \"$@\"", own_program("lose_one", GetParam().arguments));
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  EXPECT_EQ(lines_of(got.errors),
            std::vector<std::string>{"nacre run: rank 3 on b was killed by signal 9 (Killed); ending the job"});
  EXPECT_EQ(code_of(got), 128 + SIGKILL);
  EXPECT_LT(got.seconds, unhurried_end);
}

/// A queue that drops what does not fit, as the port of a switch does. A sender that does not slow down loses most of
/// its datagrams there.
TEST(two_hosts_with_a_short_queue_between_them, lose_datagrams_and_no_messages) {
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 0);  // a variable that is passed on must be there
  const std::string script =
      "tc qdisc add dev cable root tbf rate 500mbit burst 32k limit 64k || exit 77; run \"$@\" || exit; "
      "tc -s qdisc show dev cable";
  const outcome got = on_two_hosts(script, own_program("exchange", {"--nacre.transport=udp"}));
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  ASSERT_EQ(code_of(got), 0) << got.output << got.errors;
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_EQ(count_of(got, std::string("rank ") + rank + " has received everything"), 1) << got.output;
  }
  EXPECT_LT(got.seconds, unhurried_end);
  if (got.output.find("dropped 0,") != std::string::npos) GTEST_SKIP() << "this machine was too slow to fill the queue";
}

TEST(two_hosts_whose_launcher_is_killed, keep_no_rank_and_nothing_it_has_started) {
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 0);  // a variable that is passed on must be there
  const std::string script = R"sh(mark=600.$$; out=$(mktemp)
run sh -c "sleep $mark & echo up; wait" >$out &
tries=600; until [ "$(grep -c up $out)" = 4 ] || [ $tries = 0 ]; do tries=$((tries - 1)); sleep 0.05; done
alive() {
  count=0
  for each in /proc/[0-9]*/cmdline; do
    case $(tr '\0' ' ' <$each) in *"sleep $mark"*) count=$((count + 1)) ;; esac
  done 2>/dev/null
}
alive; echo at least eight before: $((count >= 8))
kill -9 $(cat /proc/$!/task/$!/children)
tries=200; alive; while [ $count != 0 ] && [ $tries != 0 ]; do tries=$((tries - 1)); sleep 0.05; alive; done
echo after: $count; rm $out)sh";
  const outcome got = on_two_hosts(script, {});
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  EXPECT_EQ(got.output, "at least eight before: 1\nafter: 0\n") << got.errors;
}

INSTANTIATE_TEST_SUITE_P(each, two_hosts, testing::ValuesIn(ways()),
                         [](const auto& each) { return std::string(each.param.title); });

/// Runs the program in a view of its host that has an RDMA device, as far as the kernel shows one, if it is on one of
/// `hosts`. The device cannot do anything, so that UCX uses the network.
outcome with_devices_on(const std::string& hosts, const std::vector<std::string>& arguments) {
  const std::string view =
      "view=$(mktemp -d) && mount -t tmpfs view $view && mkdir -p $view/dev/infiniband $view/class/net && "
      "mkdir -p $view/class/infiniband/mlx5_0/ports/1 $view/class/infiniband_verbs/uverbs0 && "
      "echo 4: ACTIVE >$view/class/infiniband/mlx5_0/ports/1/state && "
      "echo mlx5_0 >$view/class/infiniband_verbs/uverbs0/ibdev && touch $view/dev/infiniband/uverbs0 && "
      "for each in null zero full random urandom tty; do touch $view/dev/$each && "
      "mount --bind /dev/$each $view/dev/$each; done && mkdir -p $view/dev/shm && mount --bind /dev/shm $view/dev/shm "
      "&& "
      "mount --bind /sys/class/net $view/class/net && mount --rbind $view/class /sys/class && "
      "mount --rbind $view/dev /dev && umount -l $view && rmdir $view && ";
  const std::string program = "case \" " + hosts + " \" in *\" $(hostname) \"*) exec unshare --mount sh -c '" + view +
                              "exec \"$0\" \"$@\"' \"$@\";; esac; exec \"$@\"";
  std::vector<std::string> all{"sh", "-c", program, "sh"};
  const std::vector<std::string> words = own_program("exchange", arguments);
  all.insert(all.end(), words.begin(), words.end());
  return on_two_hosts("run \"$@\"", all);
}

TEST(two_hosts_with_rdma, talk_by_ucx_if_both_have_a_device_and_nobody_has_chosen) {
#if NACRE_UNDER_TSAN
  GTEST_SKIP() << missing_for_ucx();
#endif
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  struct expectation {
    const char* hosts;
    const char* argument;
    bool by_ucx;
  };
  const bool ucx_here = missing_for_ucx().empty();
  for (const auto& [hosts, argument, by_ucx] :
       {expectation{"a b", "--nacre.auto.between=auto", ucx_here}, expectation{"a", "--nacre.auto.between=auto", false},
        expectation{"a b", "--nacre.auto.between=tcp", false}}) {
    const outcome got = with_devices_on(hosts, {argument});
    if (code_of(got) == 77) GTEST_SKIP() << got.errors;
    EXPECT_EQ(code_of(got), 0) << hosts << argument << got.output << got.errors;
    EXPECT_EQ(count_of(got, "rank 3 has received everything"), 1) << got.output;
    EXPECT_EQ(speaks_of_ucx(got), by_ucx) << hosts << " " << argument << got.output;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return nacre::run(argc, argv, rank_programs().at(argv[2]));
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
