// SPDX-License-Identifier: Apache-2.0
// Counts brackets and dots outside of strings and comments.
#include "base/nesting_scan.hpp"

#include <algorithm>

namespace nacre {

bool nesting_scan::next() noexcept {
  if (at_ == text_.size()) return false;
  switch (text_[at_]) {
    case '#':
      skip_comment();
      return true;
    case '"':
    case '\'':
      skip_string();
      return true;
    case '\n':
      ++line_;
      dots_ = 0;
      break;
    case '=':
    case ',':
      dots_ = 0;
      break;
    case '[':
    case '{':
      ++brackets_;
      break;
    case ']':
    case '}':
      if (brackets_ > 0) --brackets_;
      break;
    case '.':
      ++dots_;
      break;
    default:
      break;
  }
  ++at_;
  return true;
}

void nesting_scan::skip_comment() noexcept { at_ = std::min(text_.find('\n', at_), text_.size()); }

void nesting_scan::skip_string() noexcept {
  const char quote = text_[at_];
  const bool of_lines = text_.substr(at_, 3) == (quote == '"' ? R"(""")" : "'''");
  const std::string_view end = text_.substr(at_, of_lines ? 3 : 1);
  at_ += end.size();
  for (; at_ < text_.size() && text_.substr(at_, end.size()) != end; ++at_) {
    if (text_[at_] == '\n' && !of_lines) return;  // a string without an end, which the parser refuses
    if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    if (text_[at_] == '\n') ++line_;
  }
  at_ = std::min(at_ + end.size(), text_.size());
}

}  // namespace nacre
