#include "report/text_lines.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/printable_text.h"

namespace whocall {
namespace {

constexpr std::size_t kWidestAligned = 92;  // longer lines do not push the words of others right
constexpr std::size_t kBlock = 1024;        // lines that are laid out together

}  // namespace

void append_painted(std::string& text, std::string_view code, std::string_view words) {
  if (code.empty() || words.empty()) {
    text += words;
    return;
  }
  ((((text += "\x1b[") += code) += 'm') += words) += "\x1b[0m";
}

std::optional<Address> bytes_searched(const ThreadTrace& trace, std::size_t number,
                                      const Architecture& arch) {
  if (number == 0 || trace.frame(number).frame().trust != Trust::scan ||
      trace.frame(number).frame().evidence.has(Evidence::call_elsewhere) ||
      trace.frame(number - 1).named().inlined()) {
    return std::nullopt;
  }
  std::size_t outside = number - 1;  // behind the frame below that one
  while (outside > 0 && trace.frame(outside - 1).named().inlined()) {
    --outside;
  }
  const auto begin = outside == 0 ? std::optional(trace.sp(arch)) : trace.frame(outside - 1).cfa();
  const auto end = trace.frame(number - 1).cfa();
  return begin && end && *end >= *begin ? std::optional(*end - *begin) : std::nullopt;
}

TextLines::TextLines(const ThreadTrace& trace, const Architecture& arch, const Paint& paint,
                     bool fold)
    : trace_(trace), arch_(arch), paint_(paint) {
  if (fold) {
    gaps_ = find_gaps(*trace.walk, trace.shown);
  }
}

bool TextLines::append_block(std::string& text) {
  draft_lines();
  for (const Line& line : lines_) {
    if (line.gap == nullptr && line.width <= kWidestAligned) {
      column_ = std::max(column_, line.width);
    }
  }
  std::size_t begin = 0;
  for (const Line& line : lines_) {
    finish(text, line, std::string_view(drafts_).substr(begin, line.end - begin));
    begin = line.end;
  }
  return !lines_.empty();
}

void TextLines::draft_lines() {
  drafts_.clear();
  lines_.clear();
  while (lines_.size() < kBlock && next_ < trace_.shown.count) {
    if (next_gap_ < gaps_.size() && next_ == gaps_[next_gap_].begin) {
      const Gap& gap = gaps_[next_gap_++];
      lines_.push_back({.at = gap.end - 1, .gap = &gap, .end = drafts_.size()});
      next_ = gap.end;
    } else {
      lines_.push_back({.at = next_});
      draft(next_++);
      lines_.back().end = drafts_.size();
    }
  }
}

void TextLines::put(std::string_view words, std::string_view code) {
  append_painted(drafts_, code, words);
  lines_.back().width += character_count(words);
}

// What is not ours.
void TextLines::put_name(std::string_view name, std::string_view code) {
  if (find_unprintable(name) == name.size()) {
    put(name, code);
    return;
  }
  std::string told;
  append_printable(told, name);
  put(told, code);
}

void TextLines::put_number(std::uint64_t value) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  put({digits.data(), end});
}

// "0x0000000000401136 in "
void TextLines::put_pc(Address pc) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 18> text = {'0', 'x'};
  const std::size_t wanted = std::size_t{arch_.abi.pointer_size} * 2;
  for (std::size_t i = 0; i < wanted; ++i) {
    text[2 + i] = kDigits[pc >> (wanted - 1 - i) * 4 & 0xfU];
  }
  put({text.data(), wanted + 2}, paint_.address);
  put(" in ");
}

// Its line, without the trust word.
void TextLines::draft(std::size_t at) {
  const FrameFacts facts = trace_.frame(at);
  const NamedFrame& named = facts.named();
  put("#");
  put_number(named.level);
  put(named.level < 10 ? "  " : " ");
  if (facts.frame().signal_trampoline) {
    put("<signal handler called>");
    return;
  }
  if (!named.inlined()) {
    put_pc(facts.frame().pc);
  }
  const std::string_view name = named.function();
  if (!name.empty() && facts.inferred()) {
    put_name(std::string(name) + "?", paint_.function);
  } else {
    put_name(name.empty() ? "??" : name, paint_.function);
  }
  const std::optional<Address> offset = facts.offset();
  if (named.inlined() || name.empty() || !offset) {
    put(" ()");
  } else {
    put(" (+");
    put_number(*offset);
    put(")");
  }
  if (!named.file().empty()) {
    put(" at ");
    put_name(named.file(), paint_.filename);
    if (named.line() != 0) {
      put(":");
      put_number(named.line());
    }
  } else if (!facts.module().empty()) {
    put(" from ");
    put_name(facts.module(), paint_.filename);
  }
}

void TextLines::finish(std::string& text, const Line& line, std::string_view draft) {
  const FrameFacts facts = trace_.frame(line.at);
  const std::uint32_t level = facts.named().level;
  if (line.gap != nullptr) {
    append_painted(text, paint_.metadata, gap_line(*line.gap));
  } else {
    if (below_ && level != *below_ + 1) {
      text += "...\n";
    }
    append_searched(text, line.at);
    text += draft;
    text.append(column_ - std::min(column_, line.width) + 2, ' ');
    std::array<char, 32> words{};
    const std::string_view parts[] = {"[", to_string(facts.frame().trust),
                                      facts.named().inlined() ? ", inlined]" : "]"};
    std::size_t size = 0;
    for (const std::string_view part : parts) {
      size += part.copy(words.data() + size, words.size() - size);
    }
    append_painted(text, paint_.metadata, {words.data(), size});
  }
  text += '\n';
  below_ = level;
}

void TextLines::append_searched(std::string& text, std::size_t at) const {
  const std::optional<Address> bytes = bytes_searched(trace_, at, arch_);
  if (bytes && below_ && trace_.frame(at).frame().evidence.has(Evidence::damaged_return)) {
    append_painted(text, paint_.metadata,
                   "(the return address of #" + std::to_string(*below_) +
                       " was overwritten in part: one call near it may have led there)");
    text += '\n';
  } else if (bytes && below_) {
    const bool replaced = trace_.frame(at - 1).frame().evidence.has(Evidence::return_replaced);
    const std::string below = "#" + std::to_string(*below_);
    append_painted(text, paint_.metadata,
                   (replaced ? "(a return address was replaced by that of " + below
                             : "(no rule leads on from " + below) +
                       ": whocall searched " + std::to_string(*bytes) + " bytes of stack)");
    text += '\n';
  }
}

}  // namespace whocall
