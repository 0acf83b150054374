// SPDX-License-Identifier: Apache-2.0
// Evaluates an expression on many threads. A parser serves one thread at a time, so a field has a pool of them.
#include "size/expression_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include <nacre/error.hpp>

#ifdef MESH2D_HAS_MUPARSER
#include <muParser.h>
#endif

namespace mesh2d {

#ifdef MESH2D_HAS_MUPARSER
namespace {

constexpr const char* known =
    "write it with x, y, pi, numbers, + - * / ^, comparisons, && and ||, c ? a : b, sqrt, abs, min, max, exp, log, sin "
    "and the like";

/// `index` counts characters from 0.
[[noreturn]] void refuse(const std::string& text, std::size_t index, const std::string& reason) {
  constexpr std::size_t shown = 60;  // characters on either side
  index = std::min(index, text.size());
  const std::size_t begin = index > shown ? index - shown : 0;
  const std::string previous = (begin > 0 ? "..." : "") + text.substr(begin, index - begin);
  const std::string rest = text.substr(index, shown) + (text.size() - index > shown ? "..." : "");
  const std::string whole = text.substr(0, 2 * shown) + (text.size() > 2 * shown ? "..." : "");
  throw nacre::setup_error({fmt::format("--size has no value '{}'", whole),
                            fmt::format("{} at character {}: {} ^ {}", reason, index + 1, previous, rest), known});
}

/// muParser would assign to x, where a comparison is meant.
void refuse_assignment(const std::string& text) {
  for (std::size_t index = text.find('='); index != std::string::npos; index = text.find('=', index + 1)) {
    if (index + 1 < text.size() && text[index + 1] == '=') {
      ++index;
    } else if (index == 0 || std::string("<>!").find(text[index - 1]) == std::string::npos) {
      refuse(text, index, "'=' sets a value; '==' compares,");
    }
  }
}

/// muParser tells the place of some faulty words by their first character, and of others by their end.
std::size_t position_of(const mu::ParserError& error, const std::string& text) {
  const auto index = static_cast<std::size_t>(std::max<long>(0, static_cast<long>(error.GetPos())));
  const std::string word = error.GetToken();
  if (word.empty() || text.compare(std::min(index, text.size()), word.size(), word) == 0) return index;
  return index >= word.size() && text.compare(index - word.size(), word.size(), word) == 0 ? index - word.size()
                                                                                           : index;
}

std::string reason_of(const mu::ParserError& error) {
  std::string reason = error.GetMsg();
  reason = reason.substr(0, reason.find(" found at position"));
  reason = reason.substr(0, reason.find(" at position"));
  while (!reason.empty() && (reason.back() == '.' || reason.back() == ' ')) reason.pop_back();
  return reason;
}

struct alignas(64) pooled_parser {
  explicit pooled_parser(const std::string& text) {
    parser.DefineVar("x", &x);
    parser.DefineVar("y", &y);
    parser.DefineConst("pi", std::numbers::pi);
    parser.SetExpr(text);
    parser.Eval();  // translates the text
  }
  std::atomic_flag busy;
  double x = 1, y = 1;
  mu::Parser parser{};
};

class expression_field final : public size_field {
 public:
  explicit expression_field(const std::string& text) {
    refuse_assignment(text);
    try {
      const std::size_t count = std::clamp(std::thread::hardware_concurrency(), 1u, 64u) + 1;
      while (pool_.size() < count) pool_.push_back(std::make_unique<pooled_parser>(text));
    } catch (const mu::ParserError& error) {
      refuse(text, position_of(error, text), reason_of(error));
    }
    if (const int values = pool_.front()->parser.GetNumResults(); values != 1) {
      refuse(text, text.find(','), fmt::format("there are {} values, the second one begins", values));
    }
  }

  [[nodiscard]] double length(const point& point) const noexcept override {
    pooled_parser& taken = take();
    taken.x = point.x;
    taken.y = point.y;
    double value = std::numeric_limits<double>::quiet_NaN();
    try {
      value = taken.parser.Eval();
    } catch (const mu::ParserError&) {  // a function that refuses its arguments
    }
    taken.busy.clear(std::memory_order_release);  // pairs with take
    if (value > 0 && std::isfinite(value)) return value;
    count_bad(point, value);
    return std::numeric_limits<double>::infinity();
  }

  [[nodiscard]] field_faults faults() const override {
    if (bad_count_.load(std::memory_order_relaxed) == 0) return {};
    const std::lock_guard lock(bad_lock_);
    field_faults copy = bad_;
    copy.count = bad_count_.load(std::memory_order_relaxed);
    return copy;
  }

 private:
  /// Threads begin at different parsers, so they seldom meet. An evaluation takes far less than a microsecond.
  pooled_parser& take() const noexcept {
    for (std::size_t k = std::hash<std::thread::id>{}(std::this_thread::get_id());; ++k) {
      pooled_parser& each = *pool_[k % pool_.size()];
      if (!each.busy.test_and_set(std::memory_order_acquire)) return each;  // pairs with the end of length
    }
  }

  void count_bad(const point& point, double value) const noexcept {
    const std::lock_guard lock(bad_lock_);
    if (bad_count_.fetch_add(1, std::memory_order_relaxed) == 0) bad_ = {.count = 1, .first = point, .value = value};
  }

  std::vector<std::unique_ptr<pooled_parser>> pool_{};
  mutable std::mutex bad_lock_{};
  mutable field_faults bad_{};
  mutable std::atomic<std::uint64_t> bad_count_{0};
};

}  // namespace

bool has_expressions() noexcept { return true; }

std::unique_ptr<const size_field> make_expression_field(const std::string& text) {
  return std::make_unique<expression_field>(text);
}

#else

bool has_expressions() noexcept { return false; }

std::unique_ptr<const size_field> make_expression_field(const std::string& text) {
  throw nacre::setup_error({fmt::format("--size '{}' is not possible", text),
                            "this mesh2d was built without muParser, which reads expressions",
                            "install libmuparser-dev and build again, or name a raster file (.asc, .nc)"});
}

#endif

}  // namespace mesh2d
