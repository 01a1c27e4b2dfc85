// SPDX-License-Identifier: Apache-2.0
#include "document/json_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "document/printable.h"

namespace topoguard::json {
namespace {

std::string line_and_column(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(1 + columns(before.substr(start)));
}

// Builds the value and knows at every moment where it is, so that a syntax error has a pointer as well. nlohmann's own
// builder does not tell, and recurses nowhere either: depth is bounded for the sake of those who walk the value.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return add(value) != nullptr; }
  bool string(string_t& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    levels_.back().key = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
    // position counts the byte that did not fit as read; after the last one it is size + 1
    const std::size_t at = position == 0 ? 0 : std::min(position - 1, text_.size());
    const std::string place = line_and_column(text_, at);
    if (error.id == 406) throw Malformed(pointer(), "a number that a double can hold", "a larger one", place);
    if (at >= text_.size() || only_blanks_after(at))
      throw Malformed(pointer(), "the rest of the document", text_.empty() ? "an empty file" : "the end of the file",
                      place);
    if (bad_utf8_near(at)) throw Malformed(pointer(), "UTF-8 text", "other bytes", place);
    throw Malformed(pointer(), "JSON", "\"" + printable(text_.substr(at, 24), 24) + "\"", place);
  }

 private:
  struct Level {
    Json* value;
    std::string key;
  };

  std::string pointer() const {
    std::string out;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const Level& level = levels_[i];
      // the level below is itself the last element of its list already
      if (level.value->is_array())
        out += "/" + std::to_string(level.value->size() - (i + 1 < levels_.size() ? 1 : 0));
      else if (!level.key.empty())
        out += pointer_token(level.key);
    }
    return out;
  }

  bool only_blanks_after(std::size_t at) const {
    return text_.find_first_not_of(" \t\r\n", at) == std::string_view::npos;
  }

  // The parser stops at the byte that breaks a character, which may itself be plain ASCII.
  bool bad_utf8_near(std::size_t at) const {
    const auto covered = [&](std::size_t byte) {
      for (std::size_t back = 0; back < 4 && back <= byte; ++back)
        if (utf8_length(text_, byte - back) > back) return true;
      return false;
    };
    for (std::size_t back = 0; back < 4 && back <= at; ++back)
      if (!covered(at - back)) return true;
    return false;
  }

  template <typename T>
  Json* add(T&& value) {
    if (++values_ > limits_.values)
      throw Malformed(pointer(), "at most " + std::to_string(limits_.values) + " values in one document", "more");
    if (levels_.empty()) {
      root_ = Json(std::forward<T>(value));
      return &root_;
    }
    Level& level = levels_.back();
    if (level.value->is_array()) {
      level.value->push_back(Json(std::forward<T>(value)));
      return &level.value->back();
    }
    Json& slot = (*level.value)[level.key];
    slot = Json(std::forward<T>(value));
    // what comes next in this object has no name yet
    if (slot.is_primitive()) level.key.clear();
    return &slot;
  }

  bool open(Json&& empty) {
    if (levels_.size() >= limits_.depth)
      throw Malformed(pointer(), "at most " + std::to_string(limits_.depth) + " levels of nesting", "more");
    // Stays valid while the children are filled: nothing is added to a parent meanwhile.
    Json* value = add(std::move(empty));
    levels_.push_back({value, {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    if (!levels_.empty()) levels_.back().key.clear();
    return true;
  }

  std::string_view text_;
  const Limits& limits_;
  Json root_;
  std::vector<Level> levels_;
  std::size_t values_ = 0;
};

}  // namespace

std::string Malformed::line(std::string_view file) const {
  std::string out = printable(file, 400) + ": ";
  // A depth bomb has a pointer of its own length; the first part says enough.
  out += pointer_.empty() ? "(top level)" : printable(pointer_, 200);
  if (!place_.empty()) out += " (" + place_ + ")";
  out += ": expected " + printable(expected_, 300);
  if (!found_.empty()) out += ", found " + printable(found_, 120);
  return out;
}

Json parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes)
    throw Malformed("", "at most " + std::to_string(limits.bytes >> 20) + " MiB of JSON",
                    std::to_string(text.size() >> 20) + " MiB");
  Builder builder(text, limits);
  if (!Json::sax_parse(text, &builder)) throw Malformed("", "JSON", "something else");
  return builder.take();
}

std::string pointer_token(std::string_view key) {
  std::string out = "/";
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string brief(const Json& value) {
  if (value.is_object()) return value.empty() ? "an empty object" : "an object";
  if (value.is_array()) return value.empty() ? "an empty list" : "a list";
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

}  // namespace topoguard::json
