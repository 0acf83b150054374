// SPDX-License-Identifier: Apache-2.0
// Every call that docs/for_ygm_users.md names.
// run: --nacre.ranks=2
// run: --nacre.transport=sim --nacre.ranks=3
// prints: text
// prints: all right
#include <nacre/containers/bag.hpp>
#include <nacre/containers/counting_set.hpp>
#include <nacre/containers/disjoint_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/containers/multimap.hpp>
#include <nacre/nacre.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using K = std::string;
using V = long;
using T = int;

bool send_and_collect(nacre::runtime& rt) {
  rt.send(
      nacre::rank_id{1}, [](int n) { static_cast<void>(n); }, 5);
  rt.send(
      nacre::rank_id{1}, [](nacre::context& ctx, int n) { ctx.charge(n * 1e-6); }, 5);
  const auto f = [](nacre::context& ctx, int n) { ctx.charge(n * 1e-6); };
  rt.send(nacre::to_all, f, 5);
  rt.wait_quiescence();
  rt.barrier();
  unsigned x = 1;
  const bool right = rt.all_reduce(x, std::plus<>{}) == rt.size();
  x = rt.broadcast(x, nacre::rank_id{0});
  if (rt.rank().value() == 0) std::puts("text");
  return right && x == 1;
}

void visit_by_handle(nacre::context& ctx, const nacre::map_handle<K, V>& h, const K& k) {
  const auto f = [](const K&, V& value, V more) { value += more; };
  h.visit(ctx, k, f, V{1});
}

bool use_maps(nacre::runtime& rt) {
  nacre::map<K, V> m(rt);
  nacre::multimap<K, V> many(rt);
  const K key = "key" + std::to_string(rt.rank().value()), k = key;
  const V v = 2;
  const auto f = [](const K&, V& value, V more) { value += more; };
  m.insert(k, v);
  m.erase(k);
  m.insert_or_assign(k, v);
  m.visit(k, f, V{1});
  m.visit_if_present(k, f, V{1});
  rt.send<visit_by_handle>(rt.rank(), m.handle(), k);
  many.insert(k, v);
  many.insert(k, v);
  rt.wait_quiescence();
  const nacre::rank_id rank{0};
  const bool all_there = m.gather(rank).size() == (rt.rank() == rank ? rt.size() : 0);
  return all_there && m.find(key) == 5 && many.size() == 2 * rt.size();
}

bool count(nacre::runtime& rt) {
  const K k = "key";
  const std::size_t n = 1;
  nacre::counting_set<K> c(rt);
  c.insert(k);
  const T x = 1;
  nacre::bag<T> b(rt);
  b.insert(x);
  rt.wait_quiescence();
  const auto op = std::plus<>{};
  const bool right =
      c.top(n).front().first == k && c.count_all() == rt.size() && b.reduce(op) == static_cast<T>(rt.size());
  const std::size_t local_count = b.gather(nacre::rank_id{0}).size();
  return right && local_count == (rt.rank().value() == 0 ? rt.size() : 0);
}

bool unite(nacre::runtime& rt) {
  const T a = 1, b = 2;
  nacre::disjoint_set<T> d(rt);
  d.union_(a, b);
  d.async_union(a, b);
  rt.wait_quiescence();
  d.compress();
  return d.num_sets() == 1;
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const bool mine[] = {send_and_collect(rt), use_maps(rt), count(rt), unite(rt)};
    const bool right = rt.all_reduce(mine[0] && mine[1] && mine[2] && mine[3], std::logical_and<>{});
    if (rt.rank().value() == 0) std::puts(right ? "all right" : "WRONG");
  });
}
