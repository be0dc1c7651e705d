#include "report/frame_lines.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/printable_text.h"
#include "report/form/sentence_lines.h"
#include "report/form/source_hints.h"
#include "report/frame_where.h"

namespace whocall {
namespace {

constexpr std::size_t kWidestAligned = 92;  // longer lines do not push the words of others right
constexpr std::size_t kFurthest = 120;      // columns, where a screen has more
constexpr std::size_t kBlock = 1024;        // lines that are laid out together
constexpr std::size_t kGap = 2;             // columns before trust words
constexpr std::size_t kShortWords = 24;     // columns of arguments that no line is broken for
constexpr std::string_view kNewLine = "\n   ";

std::size_t less(std::size_t from, std::size_t what) { return from - std::min(from, what); }

// "(+14)"; nothing of what is inlined, which has no start.
std::vector<std::string> offset_words(const FrameFacts& facts) {
  const std::optional<Address> offset = facts.offset();
  const NamedFrame& named = facts.named();
  if (named.inlined()) {
    return {};
  }
  return {named.function().empty() || !offset ? "()" : "(+" + std::to_string(*offset) + ")"};
}

// Where the stack of a frame begins: at the CFA of what it called, and that of the first one shown
// at its stack pointer.
Address stack_begin(const ThreadTrace& trace, std::size_t at) {
  while (at != 0) {
    const FrameFacts below = trace.frame(--at);
    if (below.cfa() && !below.named().inlined()) {
      return *below.cfa();
    }
  }
  return trace.shown.count != 0 ? trace.frame(0).frame().sp : 0;
}

}  // namespace

std::string trust_words(const FrameFacts& facts) {
  const Trust trust = facts.frame().trust;
  std::string words = "[";
  words += to_string(trust);
  words += trust == Trust::scan ? "?" : "";
  words += facts.named().inlined() ? ", inlined]" : "]";
  return words;
}

TextLines::TextLines(const ThreadTrace& trace, const Architecture& arch, const LinesForm& form,
                     LineNames& names)
    : trace_(trace),
      arch_(arch),
      form_(form),
      paint_(form.paint),
      names_(names),
      sp_(stack_begin(trace, 0)) {
  if (form.fold) {
    gaps_ = find_gaps(*trace.walk, trace.shown);
  }
  if (form.stack != nullptr) {
    words_.emplace(arch, *form.stack, paint_.address, form.columns);
  }
}

bool TextLines::append_block(std::string& text) {
  draft_lines();
  align();
  std::size_t begin = 0;
  for (const Line& line : lines_) {
    finish(text, line, std::string_view(drafts_).substr(begin, line.end - begin));
    begin = line.end;
  }
  return !lines_.empty();
}

// Trust words begin in one column. On a screen they end in one, at its right edge or, where that is
// far away, behind the longest line: then any that fits is in its place.
void TextLines::align() {
  for (const Line& line : lines_) {
    if (line.gap != nullptr) {
      continue;
    }
    const std::size_t end = line.width + words_beside(line.at);
    if (end <= (form_.columns != 0 ? std::min(room(), kFurthest) : kWidestAligned)) {
      column_ = std::max(column_, end);
    }
  }
}

// How many columns the trust words of a frame take that count for where they stand.
std::size_t TextLines::words_beside(std::size_t at) const {
  return form_.columns != 0 ? kGap + trust_words(trace_.frame(at)).size() : 0;
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

// What was handed over, where that is known, and how far from its start the function stands.
std::vector<std::string> TextLines::words_behind_name(const FrameFacts& facts) {
  const FrameArguments* const found =
      form_.arguments != nullptr ? form_.arguments->find(trace_, facts) : nullptr;
  if (found == nullptr || facts.named().function().empty()) {
    return offset_words(facts);
  }
  std::vector<std::string> words = form_.arguments->list(*found);
  if (const auto offset = facts.offset()) {
    words.push_back("+" + std::to_string(*offset));
  }
  return words;
}

// Where they do not fit the screen, lines break between them.
void TextLines::put_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (form_.columns != 0 && lines_.back().width + 1 + character_count(word) > room() &&
        lines_.back().width > kNewLine.size()) {
      drafts_ += kNewLine;
      lines_.back().width = kNewLine.size() - 1;
    }
    put(" ");
    put(word);
  }
}

// Its line, without the trust word. What does not fit the screen breaks before the file, as gdb's
// lines do: trust words never stand alone.
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
  if (!named.inlined() && form_.addresses) {
    put_pc(facts.frame().pc);
  }
  const std::vector<std::string> words = words_behind_name(facts);
  Where where = form_.places ? where_of(facts, names_.files, near_place(named)) : Where();
  std::size_t behind = 0;
  if (form_.columns != 0) {
    behind = where.width() + words_beside(at);
  }
  std::size_t whole = 0;
  for (const std::string& word : words) {
    whole += 1 + character_count(word);
  }
  const bool is_short = whole <= kShortWords;  // then they stay on one line with the name and file
  draft_function(facts, is_short ? whole : 1 + words.front().size(), is_short ? behind : 0);
  put_words(words);
  if (form_.columns != 0 && !where.file.empty() && lines_.back().width + behind > room()) {
    drafts_ += kNewLine;
    lines_.back().width = kNewLine.size() - 1;
    where.file =
        lines_.back().width + behind > room() ? names_.files.narrow(where.file) : where.file;
  }
  put(where.before);
  put_name(where.file, paint_.filename);
  put(where.line);
}

const NearPlace& TextLines::near_place(const NamedFrame& frame) const {
  static const NearPlace kNone;
  if (!stands_at_its_place(frame)) {
    return kNone;
  }
  const auto [known, is_new] = names_.near.try_emplace(frame.place);
  if (is_new) {
    known->second = near_place_of(*frame.place);
  }
  return known->second;
}

// Its function; `beside` columns are needed right behind it, and `behind` more on the same line or
// the next one.
void TextLines::draft_function(const FrameFacts& facts, std::size_t beside, std::size_t behind) {
  std::string_view name = facts.named().function();
  if (name.empty()) {
    put("??", paint_.function);
    return;
  }
  const std::string_view mark = facts.inferred() ? "?" : "";
  std::string form;
  if (form_.columns != 0 && name.find_first_of("<(") != std::string_view::npos) {
    const std::size_t room_here = less(room(), lines_.back().width + mark.size() + beside);
    form = names_.functions.fit(name, less(room_here, behind));
    if (printable_width(form) > less(room_here, behind)) {
      form = names_.functions.fit(name, room_here);
    }
    name = form;
  }
  if (mark.empty()) {
    put_name(name, paint_.function);
  } else {
    put_name(std::string(name).append(mark), paint_.function);
  }
}

void TextLines::finish(std::string& text, const Line& line, std::string_view draft) {
  if (line.gap != nullptr) {
    append_painted(text, paint_.metadata, gap_line(*line.gap));
    text += '\n';
    sp_ = stack_begin(trace_, line.gap->end);
  } else {
    finish_frame(text, line, draft);
  }
  below_ = trace_.frame(line.at).named().level;
}

void TextLines::finish_frame(std::string& text, const Line& line, std::string_view draft) {
  const FrameFacts facts = trace_.frame(line.at);
  if (below_ && facts.named().level != *below_ + 1) {
    text += "...\n";
  }
  append_searched(text, line.at);
  text += draft;
  const std::size_t beside = words_beside(line.at);
  text.append(less(column_, line.width + beside) + kGap, ' ');
  const bool was_searched = facts.frame().trust == Trust::scan;
  append_painted(text, was_searched ? paint_.highlight : paint_.metadata, trust_words(facts));
  text += '\n';
  append_details(text, facts);
}

// What belongs under its line.
void TextLines::append_details(std::string& text, const FrameFacts& facts) {
  if (form_.explain) {
    append_sentence(text, facts.explanation(), form_.columns);
    const FrameArguments* const found =
        form_.arguments != nullptr ? form_.arguments->find(trace_, facts) : nullptr;
    if (found != nullptr) {
      append_sentence(text, ArgumentText::explanation(*found), form_.columns);
    }
  }
  if (facts.named().inlined()) {
    return;
  }
  if (words_) {
    words_->append(text, facts, sp_);
  }
  sp_ = facts.cfa().value_or(sp_);
}

void TextLines::append_searched(std::string& text, std::size_t at) const {
  const std::optional<Address> bytes = trace_.frame(at).searched();
  if (!bytes || !below_) {
    return;
  }
  const std::string below = "#" + std::to_string(*below_);
  std::string told;
  if (trace_.frame(at).frame().evidence.has(Evidence::damaged_return)) {
    told = "(the return address of " + below +
           " was overwritten in part: one call near it may have led there)";
  } else {
    const bool replaced = trace_.frame(at - 1).frame().evidence.has(Evidence::return_replaced);
    told = (replaced ? "(a return address was replaced by that of " : "(no rule leads on from ") +
           below + ": whocall searched " + std::to_string(*bytes) + " bytes of stack)";
  }
  append_broken(text, told, 0, form_.columns, paint_.metadata);
}

}  // namespace whocall
