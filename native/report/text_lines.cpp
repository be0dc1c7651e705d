#include "report/text_lines.h"

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "report/utf8.h"

namespace whocall {
namespace {

constexpr std::size_t kWidestAligned = 92;  // longer lines do not push the words of others right
constexpr std::size_t kBlock = 1024;        // lines that are laid out together

void append_painted(std::string& text, std::string_view code, std::string_view words) {
  if (code.empty() || words.empty()) {
    text += words;
    return;
  }
  ((((text += "\x1b[") += code) += 'm') += words) += "\x1b[0m";
}

// "0x0000000000401136"
std::string padded_hex(Address value, std::size_t digits) {
  std::string text = hex(value);
  if (text.size() < digits + 2) {
    text.insert(2, digits + 2 - text.size(), '0');
  }
  return text;
}

}  // namespace

TextLines::TextLines(const NamedWalk& walk, FrameRange range, TextForm form)
    : walk_(walk), range_(range), form_(std::move(form)) {
  if (form_.fold) {
    gaps_ = find_gaps(walk_, range_);
  }
}

bool TextLines::append_block(std::string& text) {
  const std::vector<Line> lines = next_lines();
  for (const Line& line : lines) {
    if (line.gap == nullptr && line.width <= kWidestAligned) {
      column_ = std::max(column_, line.width);
    }
  }
  for (const Line& line : lines) {
    finish(text, line);
  }
  return !lines.empty();
}

std::vector<TextLines::Line> TextLines::next_lines() {
  std::vector<Line> lines;
  while (lines.size() < kBlock && next_ < range_.count) {
    if (next_gap_ < gaps_.size() && next_ == gaps_[next_gap_].begin) {
      const Gap& gap = gaps_[next_gap_++];
      lines.push_back({.at = gap.end - 1, .gap = &gap});
      next_ = gap.end;
    } else {
      lines.push_back(line_of(next_++));
    }
  }
  return lines;
}

TextLines::Line TextLines::line_of(std::size_t at) const {
  const FrameFacts facts = frame(at);
  const NamedFrame& named = facts.named();
  Line line{.at = at};
  const auto put = [&](std::string_view words, std::string_view code = {}) {
    append_painted(line.text, code, words);
    line.width += utf8_length(words);
  };
  std::string level = "#" + std::to_string(named.level);
  level.resize(std::max<std::size_t>(level.size(), 3), ' ');
  put(level += ' ');
  if (facts.frame().signal_trampoline) {
    put("<signal handler called>");
    return line;
  }
  if (!named.inlined) {
    put(padded_hex(facts.frame().pc, form_.pointer_digits), form_.address);
    put(" in ");
  }
  const bool is_named = !named.function.empty();
  std::string name(is_named ? named.function : "??");
  put(name += is_named && facts.inferred() ? "?" : "", form_.function);
  const std::optional<Address> offset = facts.offset();
  put(named.inlined || !is_named || !offset ? " ()" : " (+" + std::to_string(*offset) + ")");
  if (!named.file.empty()) {
    put(" at ");
    put(named.file, form_.filename);
    put(named.line != 0 ? ":" + std::to_string(named.line) : "");
  } else if (!facts.module().empty()) {
    put(" from ");
    put(facts.module(), form_.filename);
  }
  return line;
}

void TextLines::finish(std::string& text, const Line& line) {
  const FrameFacts facts = frame(line.at);
  const unsigned level = facts.named().level;
  if (line.gap != nullptr) {
    append_painted(text, form_.metadata, gap_line(*line.gap));
  } else {
    if (below_ && level != *below_ + 1) {
      text += "...\n";
    }
    append_searched(text, line.at);
    text += line.text;
    text.append(column_ - std::min(column_, line.width) + 2, ' ');
    append_painted(text, form_.metadata,
                   "[" + std::string(to_string(facts.frame().trust)) +
                       (facts.named().inlined ? ", inlined]" : "]"));
  }
  text += '\n';
  below_ = level;
}

void TextLines::append_searched(std::string& text, std::size_t at) const {
  const std::optional<Address> bytes = bytes_searched(at);
  if (bytes && below_) {
    append_painted(text, form_.metadata,
                   "(no rule leads on from #" + std::to_string(*below_) + ": whocall searched " +
                       std::to_string(*bytes) + " bytes of stack)");
    text += '\n';
  }
}

// They begin at the stack pointer of the frame below and end at its CFA.
std::optional<Address> TextLines::bytes_searched(std::size_t at) const {
  if (at == 0 || frame(at).frame().trust != Trust::scan || frame(at - 1).named().inlined) {
    return std::nullopt;
  }
  std::size_t outside = at - 1;  // behind the frame below that one
  while (outside > 0 && frame(outside - 1).named().inlined) {
    --outside;
  }
  const auto begin = outside == 0 ? std::optional(form_.sp) : frame(outside - 1).cfa();
  const auto end = frame(at - 1).cfa();
  return begin && end && *end >= *begin ? std::optional(*end - *begin) : std::nullopt;
}

}  // namespace whocall
