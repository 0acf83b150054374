// SPDX-License-Identifier: Apache-2.0
// Counts brackets and dots outside of strings and comments.
#include "base/nesting_scan.hpp"

#include <algorithm>

namespace nacre {

bool nesting_scan::next() noexcept {
  if (position_ == text_.size()) return false;
  switch (text_[position_]) {
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
  ++position_;
  return true;
}

void nesting_scan::skip_comment() noexcept { position_ = std::min(text_.find('\n', position_), text_.size()); }

void nesting_scan::skip_string() noexcept {
  const char quote = text_[position_];
  const bool of_lines = text_.substr(position_, 3) == (quote == '"' ? R"(""")" : "'''");
  const std::string_view end = text_.substr(position_, of_lines ? 3 : 1);
  position_ += end.size();
  for (; position_ < text_.size() && text_.substr(position_, end.size()) != end; ++position_) {
    if (text_[position_] == '\n' && !of_lines) return;  // a string without an end, which the parser refuses
    if (quote == '"' && text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
    if (text_[position_] == '\n') ++line_;
  }
  position_ = std::min(position_ + end.size(), text_.size());
}

}  // namespace nacre
