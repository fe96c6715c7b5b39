// A value, or every problem found while making it. Bad input travels this way and no other:
// a negative answer ("does not fit") is an ordinary value, a bug is a CHECK.
#pragma once

#include <utility>
#include <variant>

#include "planner/base/check.h"
#include "planner/base/diagnostic.h"

namespace tidemark {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}                       // NOLINT: implicit by design
  Result(Diagnostics diagnostics) : state_(std::move(diagnostics)) {  // NOLINT: implicit by design
    check(has_errors(std::get<Diagnostics>(state_)), "a failed Result needs an error");
  }

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    check(ok(), "value() of a failed Result");
    return std::get<T>(state_);
  }
  T&& value() && {
    check(ok(), "value() of a failed Result");
    return std::get<T>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }

  // Empty when ok.
  const Diagnostics& diagnostics() const {
    static const Diagnostics none;
    return ok() ? none : std::get<Diagnostics>(state_);
  }

 private:
  std::variant<T, Diagnostics> state_;
};

}  // namespace tidemark
