// A line of a `.pat` file tells of one module:
//   first bytes, "..": any   size of the check sum's part   check sum   size
//   :offset name   of each name in it; "@" behind the offset: a local one
//   ^offset name   of each reference
//   the bytes behind the check sum's part, likewise
// All numbers are hexadecimal; "---" ends the file.
#include <algorithm>
#include <optional>

#include "base/text_lines.h"
#include "symbols/flirt/flirt_file.h"

namespace whocall {
namespace {

constexpr std::size_t kLargestModule = std::size_t{1} << 24U;  // bytes

std::optional<std::uint32_t> hex_number(std::string_view word, std::uint64_t most) {
  const auto value = number(word, 16);
  return value && *value <= most ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

int hex_digit(char each) {
  if (each >= '0' && each <= '9') {
    return each - '0';
  }
  const char lower = static_cast<char>(each | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::byte byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::byte>(hex_digit(text[at]) * 16 + hex_digit(text[at + 1]));
}

// Whether the word is pairs of hexadecimal digits and pairs of dots.
bool is_byte_text(std::string_view word) {
  if (word.size() % 2 != 0 || word.empty()) {
    return false;
  }
  for (std::size_t i = 0; i < word.size(); i += 2) {
    const bool varies = word.substr(i, 2) == "..";
    if (!varies && (hex_digit(word[i]) < 0 || hex_digit(word[i + 1]) < 0)) {
      return false;
    }
  }
  return true;
}

class LineReader {
 public:
  explicit LineReader(FlirtSet& set) : set_(set) {}

  // Adds nothing where the line tells of no module.
  void read(std::string_view line) {
    const std::string_view pattern = take_word(line);
    const auto sum_size = hex_number(take_word(line), 0xff);
    const auto sum = hex_number(take_word(line), 0xffff);
    const auto size = hex_number(take_word(line), kLargestModule);
    const std::size_t bytes = pattern.size() / 2;
    if (!is_byte_text(pattern) || bytes > kLongestFlirtPattern || !sum_size || !sum || !size) {
      return;
    }
    add_pattern(pattern);
    FlirtModule module;
    module.size = *size;
    module.checked = static_cast<std::uint32_t>(bytes);
    module.sum_size = static_cast<std::uint8_t>(*sum_size);
    module.sum = static_cast<std::uint16_t>(*sum);
    module.first_name = static_cast<std::uint32_t>(set_.names.size());
    module.first_run = static_cast<std::uint32_t>(set_.runs.size());
    module.first_reference = static_cast<std::uint32_t>(set_.references.size());
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (word.front() == ':' || word.front() == '^') {
        add_name(word, take_word(line));
      } else if (is_byte_text(word)) {
        add_runs(word, module.checked + module.sum_size);
      }
    }
    std::stable_sort(set_.names.begin() + module.first_name, set_.names.end(),
                     [](const FlirtName& a, const FlirtName& b) { return a.offset < b.offset; });
    module.names = static_cast<std::uint32_t>(set_.names.size()) - module.first_name;
    module.runs = static_cast<std::uint32_t>(set_.runs.size()) - module.first_run;
    module.references = static_cast<std::uint32_t>(set_.references.size()) - module.first_reference;
    set_.modules.push_back(module);
  }

 private:
  void add_pattern(std::string_view text) {
    FlirtPattern pattern;
    pattern.bytes = static_cast<std::uint32_t>(set_.bytes.size());
    pattern.size = static_cast<std::uint8_t>(text.size() / 2);
    pattern.first_module = static_cast<std::uint32_t>(set_.modules.size());
    pattern.modules = 1;
    for (std::size_t i = 0; i < pattern.size; ++i) {
      const bool varies = text[2 * i] == '.';
      pattern.varies |= std::uint64_t{varies} << i;
      set_.bytes.push_back(varies ? std::byte{} : byte_at(text, 2 * i));
    }
    set_.patterns.push_back(pattern);
  }

  // `word` is ":0010" or "^0010", ":0010@" for a local name; a name that does not lie in the
  // module, as ":-0010", says nothing about it; "?" says that a function begins there.
  void add_name(std::string_view word, std::string_view name) {
    const bool is_reference = word.front() == '^';
    word.remove_prefix(1);
    const bool is_local = word.ends_with('@');
    if (is_local) {
      word.remove_suffix(1);
    }
    const auto offset = hex_number(word, kLargestModule);
    const bool is_told = !name.empty() && name != "?" && name.size() <= kLongestFlirtName;
    if (!offset) {
      return;
    }
    if (!is_reference) {
      set_.names.push_back({is_told ? set_.add_text(name) : 0, *offset, is_local || !is_told});
    } else if (is_told) {
      set_.references.push_back({set_.add_text(name), *offset});
    }
  }

  void add_runs(std::string_view text, std::uint32_t offset) {
    bool goes_on = false;
    for (std::size_t i = 0; i < text.size(); i += 2) {
      if (text[i] == '.') {
        goes_on = false;
        continue;
      }
      if (!goes_on) {
        set_.runs.push_back({offset + static_cast<std::uint32_t>(i / 2),
                             static_cast<std::uint32_t>(set_.bytes.size()), 0});
      }
      set_.bytes.push_back(byte_at(text, i));
      ++set_.runs.back().size;
      goes_on = true;
    }
  }

  FlirtSet& set_;
};

// The first line that is neither empty nor a remark.
std::string_view first_line(std::string_view text) {
  std::string_view line;
  while (!text.empty() && (line.empty() || line.front() == ';')) {
    line = trimmed(take_line(text));
  }
  return line;
}

}  // namespace

bool is_flirt_text(std::span<const std::byte> bytes) {
  constexpr std::size_t kHead = 1 << 24;  // remarks may stand before the first module
  std::string_view line = first_line(as_text(bytes.first(std::min(bytes.size(), kHead))));
  const std::string_view pattern = take_word(line);
  return pattern.size() >= 8 && pattern.size() <= 2 * kLongestFlirtPattern &&
         is_byte_text(pattern) && hex_number(take_word(line), 0xff) &&
         hex_number(take_word(line), 0xffff) && hex_number(take_word(line), kLargestModule) &&
         line.find(':') != std::string_view::npos;
}

FlirtSet read_flirt_text(std::string_view text, const std::string& path) {
  FlirtSet set;
  LineReader reader(set);
  while (!text.empty()) {
    const std::string_view line = trimmed(take_line(text));
    if (line.starts_with("---")) {
      break;
    }
    reader.read(line);
    if (!set.has_room()) {
      throw too_large_flirt_file(path);
    }
  }
  return set;
}

}  // namespace whocall
