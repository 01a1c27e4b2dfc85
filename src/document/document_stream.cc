// SPDX-License-Identifier: Apache-2.0
#include "document/document_stream.h"

namespace topoguard {

int DocumentStream::peek() {
  if (at_ == buffer_.size()) {
    if (ended_) return -1;
    buffer_.resize(std::size_t{64} << 10);
    buffer_.resize(source_(buffer_.data(), buffer_.size()));
    at_ = 0;
    if (buffer_.empty()) {
      ended_ = true;
      return -1;
    }
  }
  return static_cast<unsigned char>(buffer_[at_]);
}

int DocumentStream::get() {
  const int c = peek();
  if (c >= 0) ++at_;
  return c;
}

std::optional<std::string> DocumentStream::next() {
  const auto blank = [](int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (blank(peek())) get();
  if (peek() < 0) return std::nullopt;
  std::string text;
  const bool object = peek() == '{';
  std::size_t depth = 0;
  bool in_string = false, escaped = false;
  for (int c = get(); c >= 0; c = get()) {
    text += static_cast<char>(c);
    if (text.size() > limit_) {
      ended_ = true;
      at_ = buffer_.size();
      return text;
    }
    if (!object) {
      if (peek() == '\n') return text;
    } else if (in_string) {
      if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return text;
    }
  }
  return text;
}

}  // namespace topoguard
