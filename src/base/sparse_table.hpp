// SPDX-License-Identifier: Apache-2.0
// A table of objects by number, when few of very many numbers are in use.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace nacre {

/// Objects by a number of 32 bits. Each is made at first use, and stays at its address until the sparse_table is
/// destroyed. Memory grows with the number of objects, not with their numbers. `T::key()` is the number, and constant.
/// Any thread; a look-up takes no lock. Open addressing with linear probing. A table that has become too small is kept
/// until the end, because a thread may still read it; so all tables together take at most 64 bytes an object.
template <class T>
class sparse_table {
 public:
  sparse_table() : newest_(table::make(bits_min)) {}
  ~sparse_table() {
    table* each = newest_.load();
    for (std::size_t i = 0; i < each->capacity(); ++i) delete each->at(i).load();
    while (each != nullptr) table::free(std::exchange(each, each->older));
  }
  sparse_table(const sparse_table&) = delete;
  sparse_table& operator=(const sparse_table&) = delete;

  /// Null when there is no such object, or when another thread is making it.
  [[nodiscard]] T* find(std::uint32_t key) const noexcept {
    return newest_.load(std::memory_order_acquire)->look(key).object;  // pairs with the release in grow
  }

  /// Returns the existing object, or a new one: `make()` returns a std::unique_ptr<T>.
  template <class Make>
  [[nodiscard]] T& of(std::uint32_t key, const Make& make) {
    T* const known = find(key);
    return known != nullptr ? *known : add(key, make);
  }

 private:
  static constexpr unsigned bits_min = 3;

  /// The places follow this head in memory.
  struct table {
    const unsigned bits;
    table* const older;

    static table* make(unsigned bits, table* older = nullptr) {
      const std::size_t places = std::size_t{1} << bits;
      auto* const result = new (::operator new(sizeof(table) + places * sizeof(std::atomic<T*>))) table{bits, older};
      for (std::size_t i = 0; i < places; ++i) new (&result->at(i)) std::atomic<T*>(nullptr);
      return result;
    }
    static void free(table* old) noexcept { ::operator delete(old); }

    [[nodiscard]] std::size_t capacity() const noexcept { return std::size_t{1} << bits; }
    [[nodiscard]] std::atomic<T*>& at(std::size_t index) noexcept {
      return reinterpret_cast<std::atomic<T*>*>(this + 1)[index];
    }
    struct found {
      std::atomic<T*>& place;
      T* object;
    };
    /// Returns the object and its place. When there is none, returns null and the empty place where it belongs, which
    /// another thread may fill meanwhile. Multiplicative hashing, after Knuth.
    [[nodiscard]] found look(std::uint32_t key) noexcept {
      std::size_t index = (key * 0x9e3779b9U) >> (32 - bits);
      for (;; index = (index + 1) & (capacity() - 1)) {
        T* const value = at(index).load(std::memory_order_acquire);  // pairs with the release in add
        if (value == nullptr || value->key() == key) return {at(index), value};
      }
    }
  };

  template <class Make>
  [[gnu::noinline]] T& add(std::uint32_t key, const Make& make) {
    const std::scoped_lock lock(mutex_);
    table* in = newest_.load(std::memory_order_relaxed);  // this and the places are written under the mutex only
    if (T* const known = in->look(key).object) return *known;
    std::unique_ptr<T> value = make();
    if ((count_ + 1) * 2 > in->capacity()) in = grow(*in);
    ++count_;
    in->look(key).place.store(value.get(), std::memory_order_release);  // pairs with the acquire in find
    return *value.release();
  }
  table* grow(table& full) {
    table* const larger = table::make(full.bits + 1, &full);
    for (std::size_t i = 0; i < full.capacity(); ++i) {
      T* const each = full.at(i).load(std::memory_order_relaxed);  // under the mutex
      if (each != nullptr) larger->look(each->key()).place.store(each, std::memory_order_relaxed);
    }
    newest_.store(larger, std::memory_order_release);  // pairs with the acquire in find
    return larger;
  }

  std::atomic<table*> newest_;
  std::mutex mutex_;
  std::size_t count_ = 0;  // under mutex_
};

}  // namespace nacre
