#include "report/json_frames.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json_text.h"
#include "report/text_block.h"

namespace whocall {
namespace {

constexpr std::string_view kNull = "null";

void append_number(std::string& text, std::uint64_t value, int base) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  text.append(digits.data(), end);
}

// The members of a frame's object, in the order in which they are written.
class Members {
 public:
  Members(std::string& text, std::size_t margin) : text_(text), line_("\n") {
    line_.append(margin + 1, ' ');
    text_ += '{';
  }

  void name(std::string_view key) {
    text_ += first_ ? "" : ",";
    first_ = false;
    ((text_ += line_) += '"').append(key) += "\": ";
  }
  void number(std::string_view key, std::optional<std::uint64_t> value) {
    name(key);
    if (value) {
      append_number(text_, *value, 10);
    } else {
      text_ += kNull;
    }
  }
  void address(std::string_view key, std::optional<Address> value) {
    name(key);
    if (value) {
      text_ += "\"0x";
      append_number(text_, *value, 16);
      text_ += '"';
    } else {
      text_ += kNull;
    }
  }
  void string(std::string_view key, std::string_view value) {
    name(key);
    if (value.empty()) {
      text_ += kNull;
    } else {
      append_json_string(text_, value);
    }
  }
  void truth(std::string_view key, bool value) {
    name(key);
    text_ += value ? "true" : "false";
  }
  template <typename Items, typename Word>
  void list(std::string_view key, const Items& items, Word word) {
    name(key);
    text_ += '[';
    bool first = true;
    for (const auto& item : items) {
      text_ += first ? "" : ",";
      first = false;
      (text_ += line_) += ' ';
      append_json_string(text_, word(item));
    }
    if (!first) {
      text_ += line_;
    }
    text_ += ']';
  }
  void source(std::string_view file, unsigned line) {
    if (file.empty()) {
      string("source", {});
      return;
    }
    name("source");
    Members inner(text_, line_.size() - 1);
    inner.string("file", file);
    inner.number("line", line != 0 ? std::optional<std::uint64_t>(line) : std::nullopt);
    inner.close();
  }
  void close() { text_.append(line_, 0, line_.size() - 1) += '}'; }

 private:
  std::string& text_;
  std::string line_;  // a new line and its margin
  bool first_ = true;
};

void append_frame(std::string& text, const FrameFacts& facts, std::size_t margin) {
  const NamedFrame& named = facts.named();
  const Frame& frame = facts.frame();
  Members members(text, margin);
  members.number("level", named.level);
  members.address("pc", frame.pc);
  members.address("cfa", facts.cfa());
  members.string("function", named.function);
  members.number("offset", facts.offset());
  members.string("name_source", facts.name_source());
  members.truth("inferred", facts.inferred());
  members.list("aliases", facts.aliases(), [](std::string_view name) { return name; });
  members.string("module", facts.module());
  members.string("build_id", facts.build_id());
  members.address("rva", facts.rva());
  members.string("trust", to_string(frame.trust));
  members.number("rests_on", facts.rests_on());
  members.list("evidence", frame.evidence.list(), [](Evidence item) { return to_string(item); });
  members.truth("inlined", named.inlined);
  members.truth("signal_trampoline", frame.signal_trampoline);
  members.source(named.file, named.line);
  members.close();
}

}  // namespace

std::size_t append_json_frames(std::string& block, const NamedWalk& walk, const FrameRange& range,
                               std::size_t from, std::size_t margin) {
  while (from < range.count && block.size() < kTextBlock) {
    (block += from == 0 ? "\n" : ",\n").append(margin, ' ');
    append_frame(block, FrameFacts(walk, range.at(from)), margin);
    ++from;
  }
  return from;
}

}  // namespace whocall
