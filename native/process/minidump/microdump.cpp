// Between two marks stand, behind whatever the log puts in front of each line: `O` the system and
// the processor, `R` the signal, `S` the stack, `C` the registers, `M` the modules; numbers have
// the base 16 and no 0x. What else there is (`V`, `P`, `G`, `H`) tells nothing of the stack.
#include "process/minidump/microdump.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "base/text_lines.h"
#include "process/input/input_kind.h"

namespace whocall {
namespace {

constexpr std::string_view kEndMark = "-----END BREAKPAD MICRODUMP-----";
constexpr std::size_t kMostDumpedStack = std::size_t{1} << 24U;  // bytes
constexpr std::size_t kLongestLine = std::size_t{1} << 16U;      // bytes
constexpr std::size_t kLongestPrefix = 256;  // bytes in front of a line's letter

struct MicrodumpLine {
  char letter = 0;
  std::string_view contents;
};

// Behind the log's own words, or at the beginning.
std::optional<MicrodumpLine> microdump_line(std::string_view line) {
  constexpr std::string_view kLetters = "ORSCM";
  const auto letter_at = [&](std::size_t at) {
    return at + 1 < line.size() && kLetters.find(line[at]) != std::string_view::npos &&
           line[at + 1] == ' ';
  };
  if (line.size() > kLongestLine) {
    return std::nullopt;
  }
  std::size_t at = 0;
  while (!letter_at(at)) {
    const std::size_t colon = line.substr(0, kLongestPrefix).find(": ", at);
    if (colon == std::string_view::npos) {
      return std::nullopt;
    }
    at = colon + 2;
  }
  return MicrodumpLine{line[at], trimmed(line.substr(at + 2))};
}

// Of hexadecimal digits; 0 for what is none.
std::uint64_t microdump_number(std::string_view word) { return number(word, 16).value_or(0); }

// Of hexadecimal digits, of which a log may have cut off the last; none where others are among
// them.
std::vector<std::byte> microdump_bytes(std::string_view word) {
  std::vector<std::byte> bytes;
  bytes.reserve(word.size() / 2);
  for (std::size_t at = 0; at + 2 <= word.size(); at += 2) {
    const auto value = number(word.substr(at, 2), 16);
    if (!value) {
      return {};
    }
    bytes.push_back(static_cast<std::byte>(*value));
  }
  return bytes;
}

// The first 16 bytes, of which Breakpad prints three as numbers, and an age behind them.
std::string microdump_identity(std::string_view word) {
  constexpr std::size_t kDigits = 32;
  auto raw = microdump_bytes(word.substr(0, kDigits));
  if (word.size() <= kDigits || raw.empty() || std::ranges::count(raw, std::byte{0}) == 16) {
    return {};
  }
  std::ranges::reverse(raw.begin(), raw.begin() + 4);
  std::swap(raw[4], raw[5]);
  std::swap(raw[6], raw[7]);
  return hex_digits(raw);
}

std::uint32_t log_number(std::string_view digits) {
  constexpr std::size_t kMostDigits = 9;
  return digits.size() > kMostDigits ? 0
                                     : static_cast<std::uint32_t>(number(digits, 10).value_or(0));
}

// Takes the last word off `text`.
std::string_view take_last_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t blank = text.find_last_of(kBlanks);
  const std::string_view word = blank == std::string_view::npos ? text : text.substr(blank + 1);
  text.remove_suffix(word.size());
  return word;
}

// `F/google-breakpad(25655):` or, with the thread behind the process, `174  175 F google-breakpad:`
std::uint32_t process_in(std::string_view line) {
  const std::size_t tag = line.find(kMicrodumpTag);
  if (tag == std::string_view::npos) {
    return 0;
  }
  std::string_view behind = line.substr(tag + kMicrodumpTag.size());
  if (behind.starts_with('(')) {
    behind = behind.substr(1, behind.find(')') - 1);
    return log_number(trimmed(behind));
  }
  std::string_view before = line.substr(0, tag);
  take_last_word(before);  // the severity
  const bool has_thread = log_number(take_last_word(before)) != 0;
  return has_thread ? log_number(take_last_word(before)) : 0;
}

class MicrodumpReader {
 public:
  MicrodumpReader(const std::string& name, Budget& budget) : name_(name), budget_(budget) {
    result_.dump.writer = "Breakpad";
  }

  Minidump& dump() { return result_.dump; }

  void take(const MicrodumpLine& line) {
    std::string_view words = line.contents;
    switch (line.letter) {
      case 'O':
        take_system(words);
        break;
      case 'R':
        signal_ = microdump_number(take_word(words));
        take_word(words);  // its name
        address_ = microdump_number(take_word(words));
        break;
      case 'S':
        take_stack(words);
        break;
      case 'C':
        context_ = microdump_bytes(take_word(words));
        break;
      default:
        take_module(words);
        break;
    }
  }

  Microdump finish(std::uint32_t pid) && {
    Minidump& dump = result_.dump;
    if (dump.arch == nullptr) {
      throw Error(name_, "is a microdump of a processor that is not supported (" +
                             (processor_.empty() ? "it tells none" : processor_) +
                             "): " + kReadableDumps);
    }
    auto registers = registers_of_context(ByteView(context_, dump.arch->abi.endian), *dump.arch);
    if (!registers) {
      throw Error(name_, "cannot be used as a microdump: its registers (the line `C`) are cut off",
                  "Logs cut long lines: take it where it was written");
    }
    dump.pid = pid;
    dump.threads.push_back({pid, {}, std::move(*registers)});
    if (signal_ > 0 && signal_ < 128) {
      dump.signal = told_signal(static_cast<int>(signal_), 0, address_, 0, pid);
    }
    return std::move(result_);
  }

 private:
  void take_system(std::string_view words) {
    const std::string_view system = take_word(words);
    const std::string_view processor = take_word(words);
    if (processor.empty()) {
      return;
    }
    processor_ = processor;
    result_.dump.system = system == "A" ? "Android" : system == "L" ? "Linux" : "";
    const auto known = std::ranges::find_if(architectures(), [&](const Architecture* each) {
      return each->minidump.microdump_processor == processor;
    });
    result_.dump.arch = known == architectures().end() ? nullptr : *known;
  }

  void take_stack(std::string_view words) {
    constexpr Address kLast = std::numeric_limits<Address>::max();
    const Address address = microdump_number(take_word(words));
    const auto part = microdump_bytes(take_word(words));
    if (!trimmed(words).empty() || part.empty() || part.size() > kLast - address ||
        part.size() > kMostDumpedStack - result_.memory.size() || !budget_.draw(Cost::pieces, 1)) {
      return;
    }
    result_.dump.memory.push_back({address, part.size(), result_.memory.size()});
    result_.memory.insert(result_.memory.end(), part.begin(), part.end());
  }

  void take_module(std::string_view words) {
    constexpr Address kLast = std::numeric_limits<Address>::max();
    const Address begin = microdump_number(take_word(words));
    take_word(words);  // where in the file it begins
    const std::uint64_t size = microdump_number(take_word(words));
    const std::string_view identity = take_word(words);
    const std::string_view path = trimmed(words);
    if (path.empty() || size == 0 || size > kLast - begin || !budget_.draw(Cost::modules, 1)) {
      return;
    }
    ToldModule module;
    module.range = {begin, begin + size};
    module.is_executable = result_.dump.modules.empty();
    module.build_id = microdump_identity(identity);
    module.path = path;
    result_.dump.modules.push_back(std::move(module));
  }

  const std::string& name_;
  Budget& budget_;
  std::string processor_;
  std::uint64_t signal_ = 0;
  Address address_ = 0;
  std::vector<std::byte> context_;
  Microdump result_;
};

std::size_t count_of_marks(std::string_view text, std::string_view mark) {
  std::size_t count = 0;
  for (std::size_t at = text.find(mark); at != std::string_view::npos;
       at = text.find(mark, at + mark.size())) {
    ++count;
  }
  return count;
}

}  // namespace

Microdump read_microdump(std::string_view text, const std::string& name, Budget& budget) {
  text = text.substr(0, kLongestLog);
  const std::size_t begin = text.find(kMicrodumpMark);
  if (begin == std::string_view::npos) {
    throw Error(name, "holds lines of a microdump, but not its beginning; take the whole log");
  }
  const std::size_t end = text.find(kEndMark, begin);
  MicrodumpReader reader(name, budget);
  if (end == std::string_view::npos) {
    reader.dump().remark("the microdump is cut off");
  }
  const std::size_t line = text.substr(0, begin).rfind('\n') + 1;
  const std::uint32_t pid = process_in(text.substr(line, begin - line));
  std::string_view lines = text.substr(begin, end == std::string_view::npos ? end : end - begin);
  take_line(lines);
  while (!lines.empty()) {
    if (const auto found = microdump_line(take_line(lines)); found) {
      reader.take(*found);
    }
  }
  if (const std::size_t others = count_of_marks(text, kMicrodumpMark) - 1; others != 0) {
    reader.dump().remark("it holds " + std::to_string(others) +
                         " more, which are not read; the first is");
  }
  return std::move(reader).finish(pid == 0 ? 1 : pid);
}

}  // namespace whocall
