// SPDX-License-Identifier: Apache-2.0
// How do look-ups in the directory scale with threads beside a writer, against other hash tables?
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#ifdef NACRE_HAVE_TBB
#include <tbb/concurrent_hash_map.h>
#endif

#include "base/epoch.hpp"
#include "figures_file.hpp"
#include "mobile/directory/name_table.hpp"

namespace {

using nacre::object_id;
using nacre::rank_id;

struct alignas(64) item {
  explicit item(object_id object) : id(object) {}
  object_id id;
};

object_id name(std::uint64_t index) { return {rank_id(0), index + 1}; }

/// A reader's or a writer's place in a table, and what it does there.
class nacre_directory {
 public:
  static constexpr const char* title = "directory";
  class user {
   public:
    explicit user(nacre_directory& nacre_directory) : table_(nacre_directory), self_(nacre_directory.readers_) {}
    bool find(object_id id) {
      const bool is_found = table_.table_.find(id) != nullptr;
      if (++looks_ % 64 == 0) self_.quiescent();  // as a worker does between two items
      return is_found;
    }
    void add(object_id id) { static_cast<void>(table_.table_.add(*new item(id))); }
    void remove(object_id id) {
      item* const gone = table_.table_.find(id);
      static_cast<void>(table_.table_.remove(*gone));
      self_.retire(gone, [](void* retired) { delete static_cast<item*>(retired); });
      self_.quiescent();
    }

   private:
    nacre_directory& table_;
    nacre::epoch_domain::participant self_;
    std::uint64_t looks_ = 0;
  };
  ~nacre_directory() {
    table_.for_each([](item& left) { delete &left; });
  }

 private:
  nacre::epoch_domain readers_;
  nacre::name_table<item> table_{readers_};
};

class locked_map {
 public:
  static constexpr const char* title = "unordered_map, shared_mutex";
  class user {
   public:
    explicit user(locked_map& map) : table_(map) {}
    bool find(object_id id) {
      const std::shared_lock lock(table_.mutex_);
      return table_.map_.find(id) != table_.map_.end();
    }
    void add(object_id id) {
      auto result = std::make_unique<item>(id);
      const std::unique_lock lock(table_.mutex_);
      table_.map_.emplace(id, std::move(result));
    }
    void remove(object_id id) {
      const std::unique_lock lock(table_.mutex_);
      table_.map_.erase(id);
    }

   private:
    locked_map& table_;
  };

 private:
  std::shared_mutex mutex_;
  std::unordered_map<object_id, std::unique_ptr<item>> map_;
};

#ifdef NACRE_HAVE_TBB
struct hashing {
  static std::size_t hash(object_id id) { return std::hash<object_id>{}(id); }
  static bool equal(object_id one, object_id other) { return one == other; }
};
class tbb_map {
 public:
  static constexpr const char* title = "tbb::concurrent_hash_map";
  using map = tbb::concurrent_hash_map<object_id, std::shared_ptr<item>, hashing>;
  class user {
   public:
    explicit user(tbb_map& map) : table_(map) {}
    bool find(object_id id) {
      map::const_accessor const_accessor;
      return table_.map_.find(const_accessor, id);
    }
    void add(object_id id) { table_.map_.emplace(id, std::make_shared<item>(id)); }
    void remove(object_id id) { table_.map_.erase(id); }

   private:
    tbb_map& table_;
  };

 private:
  map map_;
};
#endif

struct plan {
  int runs = 3;
  std::uint64_t names = 10'000;
  double seconds = 0.1;
  std::string json{};
};

struct result {
  std::string table;
  int readers, writers;
  std::vector<double> look_up_ns{}, million_a_second{};
};

/// Look-ups of names that stay, in random order, by so many threads, while writers add names and remove them again.
template <class Table>
void measure(const plan& plan, int readers, int writers, std::vector<result>& all) {
  Table table;
  {
    typename Table::user setup(table);
    for (std::uint64_t index = 0; index < plan.names; ++index) setup.add(name(index));
  }
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> looks{0};
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int reader = 0; reader < readers; ++reader) {
    threads.emplace_back([&, reader] {
      typename Table::user user(table);
      std::uint64_t own_looks = 0, position = static_cast<std::uint64_t>(reader) * 7919;
      while (!is_over.load(std::memory_order_relaxed)) {
        for (int index = 0; index < 256; ++index, ++own_looks) {
          position = position * 6364136223846793005U + 1442695040888963407U;
          if (!user.find(name(((position >> 32) * plan.names) >> 32))) wrong = true;
        }
      }
      looks += own_looks;
    });
  }
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      typename Table::user user(table);
      const std::uint64_t first = plan.names * static_cast<std::uint64_t>(writer + 2);
      for (std::uint64_t index = 0; !is_over.load(std::memory_order_relaxed); index = (index + 1) % plan.names) {
        user.add(name(first + index));
        user.remove(name(first + index));
      }
    });
  }
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(plan.seconds));
  is_over = true;
  for (std::thread& each : threads) each.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (wrong) throw std::runtime_error(std::string(Table::title) + ": a name that stays was not found");
  const auto known = std::find_if(all.begin(), all.end(), [&](const result& each) {
    return each.table == Table::title && each.readers == readers && each.writers == writers;
  });
  result& target = known != all.end() ? *known : all.emplace_back(result{Table::title, readers, writers});
  const auto found_value = static_cast<double>(looks.load());
  target.look_up_ns.push_back(seconds * readers / found_value * 1e9);
  target.million_a_second.push_back(found_value / seconds * 1e-6);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void report(const std::vector<result>& all, const plan& plan) {
  fmt::print("Medians of {} runs; {} names, looked up at random; a writer adds and removes others all the time.\n",
             plan.runs, plan.names);
  fmt::print("{:<30} {:>8} {:>8} {:>14} {:>16}\n", "table", "readers", "writers", "ns a look-up", "million/s in all");
  auto rows = nlohmann::json::array();
  for (const result& each : all) {
    fmt::print("{:<30} {:>8} {:>8} {:>14.1f} {:>16.1f}\n", each.table, each.readers, each.writers,
               median(each.look_up_ns), median(each.million_a_second));
    rows.push_back({{"table", each.table},
                    {"readers", each.readers},
                    {"writers", each.writers},
                    {"look_up_ns", each.look_up_ns},
                    {"million_a_second", each.million_a_second}});
  }
  bench::write_json(plan.json, rows);
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "directory",
      "How look-ups in the directory scale with threads, alone and beside a writer, against other hash tables.");
  options.add("--runs", plan.runs, "Runs of every row").between(1, 100);
  options.add("--names", plan.names, "Names that stay").between(1000, 1'000'000'000);
  options.add("--seconds", plan.seconds, "Seconds for each").between(0.001, 100.0);
  options.add("--json", plan.json, "Also write all figures of all runs to this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  return nacre::run_program("directory", [&] {
    std::vector<result> all;
    for (int run = 0; run < plan.runs; ++run) {
      for (const int writers : {0, 1}) {
        for (const int readers : {1, 2, 4}) {
          measure<nacre_directory>(plan, readers, writers, all);
          measure<locked_map>(plan, readers, writers, all);
#ifdef NACRE_HAVE_TBB
          measure<tbb_map>(plan, readers, writers, all);
#endif
        }
      }
    }
    report(all, plan);
    return 0;
  });
}
