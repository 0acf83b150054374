// SPDX-License-Identifier: Apache-2.0
// The list of a table's rows, made while static objects of the program and of its libraries are initialised.
#pragma once

#include <algorithm>
#include <vector>

namespace nacre {

/// Rows with a member `next`. The caller takes care of threads.
template <class Row>
class row_list {
 public:
  constexpr row_list() noexcept = default;

  void add(Row& row) noexcept {
    row.next = newest_;
    newest_ = &row;
  }
  /// Objects end in the reverse of the order in which they began, so that the row is usually the first.
  void remove(const Row& row) noexcept {
    Row** link = &newest_;
    while (*link != nullptr && *link != &row) link = &(*link)->next;
    if (*link != nullptr) *link = row.next;
  }
  /// In the order in which they were added.
  [[nodiscard]] std::vector<Row*> rows() const {
    std::vector<Row*> all;
    for (Row* row = newest_; row != nullptr; row = row->next) all.push_back(row);
    std::reverse(all.begin(), all.end());
    return all;
  }
  /// The newest row of which matches(row) is true; null when there is none.
  template <class Matches>
  [[nodiscard]] const Row* find(Matches matches) const {
    const Row* row = newest_;
    while (row != nullptr && !matches(*row)) row = row->next;
    return row;
  }

 private:
  Row* newest_ = nullptr;
};

}  // namespace nacre
