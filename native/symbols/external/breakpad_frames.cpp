#include "symbols/external/breakpad_frames.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "base/text_lines.h"
#include "symbols/external/frame_bytes.h"

namespace whocall {
namespace {

namespace cfa {
constexpr unsigned kAdvance4 = 0x04;
constexpr unsigned kUndefined = 0x07;
constexpr unsigned kSameValue = 0x08;
constexpr unsigned kRegister = 0x09;
constexpr unsigned kDefCfaExpression = 0x0f;
constexpr unsigned kExpression = 0x10;
constexpr unsigned kOffsetExtendedSf = 0x11;
constexpr unsigned kDefCfaSf = 0x12;
constexpr unsigned kValOffsetSf = 0x15;
constexpr unsigned kValExpression = 0x16;
}  // namespace cfa

namespace op {
constexpr unsigned kDeref = 0x06;
constexpr unsigned kConsts = 0x11;
constexpr unsigned kAnd = 0x1a;
constexpr unsigned kDiv = 0x1b;
constexpr unsigned kMinus = 0x1c;
constexpr unsigned kMod = 0x1d;
constexpr unsigned kMul = 0x1e;
constexpr unsigned kNeg = 0x1f;
constexpr unsigned kPlus = 0x22;
constexpr unsigned kBregx = 0x92;
}  // namespace op

constexpr std::string_view kCfaWord = ".cfa";
constexpr std::string_view kReturnWord = ".ra";
constexpr std::size_t kLongestRule = 64;  // words; compilers' have a dozen

std::optional<std::int64_t> signed_number(std::string_view word) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && stop == word.data() + word.size() ? std::optional(value)
                                                                   : std::nullopt;
}

class FrameRows {
 public:
  FrameRows(const Architecture& arch, Address base)
      : arch_(arch), base_(base), out_(arch.abi.endian), rows_(arch.abi.endian) {}

  // `rest` is what stands behind "STACK CFI".
  void add(std::string_view rest) {
    std::string_view word = take_word(rest);
    const bool begins = word == "INIT";
    if (begins) {
      end_function();
      word = take_word(rest);
    }
    const auto address = number(word, 16);
    const auto size = begins ? number(take_word(rest), 16) : std::optional<std::uint64_t>(0);
    if (begins && address && size) {
      function_ = {*address, *address + *size};
      at_ = *address;
    } else if (!address || !function_ || *address < at_ || *address >= function_->end) {
      return;
    }
    FrameBytes row(arch_.abi.endian);
    constexpr std::uint64_t kFarthest = 0xffffffff;  // that one step reaches
    if (!function_ || *address - at_ > kFarthest || !write_rules(rest, row)) {
      cut(begins ? function_ ? function_->begin : 0 : *address);
      return;
    }
    if (*address != at_) {
      rows_.byte(cfa::kAdvance4);
      rows_.fixed(*address - at_, 4);
      at_ = *address;
    }
    rows_.append(row);
  }

  std::vector<std::byte> finish() {
    end_function();
    return out_.take();
  }

 private:
  using Words = std::vector<std::string_view>;

  // What is not understood ends the function: nothing is known of what follows.
  void cut(Address at) {
    if (function_) {
      function_->end = at;
      end_function();
    }
  }

  void end_function() {
    if (function_ && !function_->empty()) {
      if (out_.size() == 0) {
        write_common();
      }
      FrameBytes entry(arch_.abi.endian);
      entry.fixed(0, 4);
      entry.fixed(function_->begin + base_, arch_.abi.pointer_size);
      entry.fixed(function_->size(), arch_.abi.pointer_size);
      entry.append(rows_);
      put(entry);
    }
    function_.reset();
    rows_ = FrameBytes(arch_.abi.endian);
  }

  // The one CIE: code and data are counted in bytes.
  void write_common() {
    FrameBytes entry(arch_.abi.endian);
    entry.fixed(0xffffffff, 4);
    entry.byte(3);  // version
    entry.byte(0);  // augmentation
    entry.uleb(1);
    entry.sleb(1);
    entry.uleb(arch_.registers.return_address);
    put(entry);
  }

  void put(FrameBytes& entry) {
    entry.align(arch_.abi.pointer_size);
    out_.fixed(entry.size(), 4);
    out_.append(entry);
  }

  // "$rbp: .cfa -16 + ^ ..."
  bool write_rules(std::string_view rest, FrameBytes& row) const {
    std::string_view label;
    Words words;
    bool good = true;
    const auto end_rule = [&] {
      good = good && (label.empty() ? words.empty() : write_rule(label, words, row));
      words.clear();
    };
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
      if (word.ends_with(':')) {
        end_rule();
        label = word.substr(0, word.size() - 1);
      } else if (words.size() < kLongestRule) {
        words.push_back(word);
      } else {
        return false;
      }
    }
    end_rule();
    return good;
  }

  [[nodiscard]] std::optional<Register> register_of(std::string_view word) const {
    if (word == kReturnWord) {
      return arch_.registers.return_address;
    }
    word.remove_prefix(word.starts_with('$') ? 1 : 0);
    return arch_.register_named(word);
  }

  // False where the CFA or the return address is not understood, without which a row is nothing.
  bool write_rule(std::string_view label, const Words& words, FrameBytes& row) const {
    if (label == kCfaWord) {
      return write_cfa(words, row);
    }
    const auto number = register_of(label);
    if (!number) {
      return label != kReturnWord;  // of a coprocessor
    }
    if (!write_simple(*number, words, row) && !write_expression(*number, words, row)) {
      row.byte(cfa::kUndefined);
      row.uleb(*number);
      return label != kReturnWord;
    }
    return true;
  }

  bool write_cfa(const Words& words, FrameBytes& row) const {
    const auto base = words.empty() ? std::nullopt : register_of(words[0]);
    const auto offset = offset_in(words, 1);
    if (base && offset && words.size() <= 3) {
      row.byte(cfa::kDefCfaSf);
      row.uleb(*base);
      row.sleb(*offset);
      return true;
    }
    FrameBytes expression(arch_.abi.endian);
    if (!write_words(words, 0, words.size(), expression)) {
      return false;
    }
    row.byte(cfa::kDefCfaExpression);
    row.block(expression);
    return true;
  }

  // Of "8 +" or "8 -" from the word `at` on; 0 where nothing stands there.
  static std::optional<std::int64_t> offset_in(const Words& words, std::size_t at) {
    if (words.size() == at) {
      return 0;
    }
    const auto value = words.size() >= at + 2 ? signed_number(words[at]) : std::nullopt;
    const bool known =
        value && *value != INT64_MIN && (words[at + 1] == "+" || words[at + 1] == "-");
    return known ? std::optional(words[at + 1] == "+" ? *value : -*value) : std::nullopt;
  }

  // ".cfa -16 + ^", ".cfa 8 +" or another register.
  bool write_simple(Register number, const Words& words, FrameBytes& row) const {
    if (words.size() == 1 && words[0] != kCfaWord) {
      const auto other = words[0] == kReturnWord ? std::nullopt : register_of(words[0]);
      if (!other) {
        return false;
      }
      row.byte(*other == number ? cfa::kSameValue : cfa::kRegister);
      row.uleb(number);
      if (*other != number) {
        row.uleb(*other);
      }
      return true;
    }
    const bool stored = words.size() > 1 && words.back() == "^";
    const Words place(words.begin(), words.end() - (stored ? 1 : 0));
    const auto offset = place.empty() || place[0] != kCfaWord || place.size() > 3
                            ? std::nullopt
                            : offset_in(place, 1);
    if (!offset) {
      return false;
    }
    row.byte(stored ? cfa::kOffsetExtendedSf : cfa::kValOffsetSf);
    row.uleb(number);
    row.sleb(*offset);
    return true;
  }

  // DWARF's expressions begin with the CFA on their stack.
  bool write_expression(Register number, const Words& words, FrameBytes& row) const {
    const bool stored = words.size() > 1 && words.back() == "^";
    const std::size_t first = !words.empty() && words[0] == kCfaWord ? 1 : 0;
    FrameBytes expression(arch_.abi.endian);
    if (words.empty() || !write_words(words, first, words.size() - (stored ? 1 : 0), expression)) {
      return false;
    }
    row.byte(stored ? cfa::kExpression : cfa::kValExpression);
    row.uleb(number);
    row.block(expression);
    return true;
  }

  bool write_words(const Words& words, std::size_t first, std::size_t end, FrameBytes& out) const {
    std::size_t depth = first;
    for (std::size_t i = first; i < end; ++i) {
      const std::string_view word = words[i];
      const auto value = signed_number(word);
      const auto number = value ? std::nullopt : register_of(word);
      if (value) {
        out.byte(op::kConsts);
        out.sleb(*value);
      } else if (number) {
        out.byte(op::kBregx);
        out.uleb(*number);
        out.sleb(0);
      } else if (!write_operator(word, depth, out)) {
        return false;
      }
      depth += value || number ? 1 : 0;
    }
    return depth == 1;
  }

  static bool write_operator(std::string_view word, std::size_t& depth, FrameBytes& out) {
    if (word == "^") {
      out.byte(op::kDeref);
      return depth >= 1;
    }
    const std::size_t which = std::string_view("+-*/%").find(word);
    constexpr unsigned kOperations[] = {op::kPlus, op::kMinus, op::kMul, op::kDiv, op::kMod};
    if (depth < 2 || word.size() != 1 || (which == std::string_view::npos && word != "@")) {
      return false;
    }
    --depth;
    if (word == "@") {  // of a power of two
      out.byte(op::kNeg);
      out.byte(op::kAnd);
    } else {
      out.byte(kOperations[which]);
    }
    return true;
  }

  const Architecture& arch_;
  Address base_;
  FrameBytes out_;
  FrameBytes rows_;
  std::optional<AddressRange> function_;
  Address at_ = 0;
};

}  // namespace

std::vector<std::byte> debug_frame_of_breakpad(std::string_view text, Address base,
                                               const Architecture& arch) {
  FrameRows rows(arch, base);
  for (std::size_t number = 0; !text.empty(); ++number) {
    check_interrupt_at(number, kManyEntries);
    std::string_view line = take_line(text);
    if (take_word(line) == "STACK" && take_word(line) == "CFI") {
      rows.add(line);
    }
  }
  return rows.finish();
}

}  // namespace whocall
