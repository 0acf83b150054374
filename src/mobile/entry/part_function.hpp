// SPDX-License-Identifier: Apache-2.0
// A member function of a part, together with the part.
#pragma once

#include <utility>

namespace nacre {

/// A lower part calls it in a higher one, which it does not know: the higher part gives it when it is made. Two
/// words, one indirect call, no memory; empty until it is set. Copied before threads run; called by any thread.
template <class Signature>
class part_function;

template <class Result, class... Arguments>
class part_function<Result(Arguments...)> {
 public:
  constexpr part_function() noexcept = default;

  template <auto Member, class Part>
  [[nodiscard]] static constexpr part_function of(Part& part) noexcept {
    return part_function(&part, [](void* receiver, Arguments... arguments) -> Result {
      return (static_cast<Part*>(receiver)->*Member)(std::forward<Arguments>(arguments)...);
    });
  }

  [[nodiscard]] explicit operator bool() const noexcept { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const { return call_(part_, std::forward<Arguments>(arguments)...); }

 private:
  using call = Result (*)(void*, Arguments...);
  constexpr part_function(void* part, call function) noexcept : part_(part), call_(function) {}

  void* part_ = nullptr;
  call call_ = nullptr;
};

}  // namespace nacre
