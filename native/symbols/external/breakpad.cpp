// Breakpad's symbol files, as dump_syms writes them.
//
//   MODULE Linux x86_64 4C4C44F055553144A1A0B9F7B3C5D5E10 prog
//   FILE 0 /src/prog.c
//   INLINE_ORIGIN 0 small
//   FUNC [m] 1136 22 0 main          address, size, size of the parameters
//   INLINE 0 12 0 0 1140 8           depth, line and file of the call, origin, then ranges
//   1136 4 10 0                      address, size, line, file
//   PUBLIC [m] 1020 0 _start
//
// All numbers are hexadecimal but lines and the numbers of files and origins. Source: "Breakpad
// Symbol File Format" (docs/symbol_files.md of the project).
#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/text_lines.h"
#include "symbols/external/list_formats.h"

namespace whocall {
namespace {

constexpr std::uint32_t kDeepest = 256;  // inlined calls in each other

struct LineRow {
  AddressRange range;
  std::uint32_t line;
  std::uint32_t file;
};

struct InlinedCall {
  AddressRange range;
  std::uint32_t depth;  // 0 for a call in the function itself
  std::uint32_t line;   // of the call
  std::uint32_t file;
  std::uint32_t origin;
};

struct BreakpadFunction {
  AddressRange range;
  std::string_view name;
  std::size_t first_call;  // among `calls`, up to those of the next function
  std::size_t end_of_calls;
};

// All views point into the text, which the list keeps alive.
struct Records {
  std::unordered_map<std::uint32_t, std::string_view> files;
  std::unordered_map<std::uint32_t, std::string_view> origins;
  std::vector<BreakpadFunction> functions;
  std::vector<LineRow> rows;
  std::vector<InlinedCall> calls;
};

template <typename Record>
void sort_by_start(std::vector<Record>& records) {
  std::stable_sort(records.begin(), records.end(), [](const Record& left, const Record& right) {
    return left.range.begin < right.range.begin;
  });
}

// The last that starts at or below `address`, if it covers it.
template <typename Record>
const Record* covering(const std::vector<Record>& records, Address address) {
  const auto next = std::upper_bound(
      records.begin(), records.end(), address,
      [](Address wanted, const Record& record) { return wanted < record.range.begin; });
  return next != records.begin() && std::prev(next)->range.contains(address) ? &*std::prev(next)
                                                                             : nullptr;
}

class BreakpadLines final : public LineTable {
 public:
  explicit BreakpadLines(Records records) : records_(std::move(records)) {
    for (const BreakpadFunction& function : records_.functions) {
      std::ranges::stable_sort(
          std::span(records_.calls)
              .subspan(function.first_call, function.end_of_calls - function.first_call),
          {}, [](const InlinedCall& call) { return std::pair(call.depth, call.range.begin); });
    }
    sort_by_start(records_.rows);
    sort_by_start(records_.functions);
  }

  [[nodiscard]] std::vector<SourceLine> lines_at(Address address) const override {
    const LineRow* row = covering(records_.rows, address);
    const BreakpadFunction* function = covering(records_.functions, address);
    if (row == nullptr || function == nullptr) {
      return {};
    }
    std::vector<SourceLine> lines;
    std::uint32_t line = row->line;
    std::uint32_t file = row->file;
    for (const InlinedCall* call : calls_at(*function, address)) {
      lines.push_back(
          {text_of(records_.origins, call->origin), text_of(records_.files, file), line});
      line = call->line;
      file = call->file;
    }
    lines.push_back({std::string(function->name), text_of(records_.files, file), line});
    return lines;
  }

 private:
  static Address begin_of(const InlinedCall& call) { return call.range.begin; }

  using Texts = std::unordered_map<std::uint32_t, std::string_view>;
  static std::string text_of(const Texts& texts, std::uint32_t number) {
    const auto found = texts.find(number);
    return found == texts.end() ? std::string() : std::string(found->second);
  }

  // Innermost first; one for each depth. At one depth calls do not overlap: of those that do, the
  // one that begins last counts.
  [[nodiscard]] std::vector<const InlinedCall*> calls_at(const BreakpadFunction& function,
                                                         Address address) const {
    std::vector<const InlinedCall*> found;
    auto next = std::span(records_.calls)
                    .subspan(function.first_call, function.end_of_calls - function.first_call);
    while (!next.empty() && next.front().depth < kDeepest) {
      const auto deeper =
          std::ranges::upper_bound(next, next.front().depth, {}, &InlinedCall::depth);
      const auto same = next.first(static_cast<std::size_t>(deeper - next.begin()));
      const auto behind = std::ranges::upper_bound(same, address, {}, begin_of);
      if (behind != same.begin() && std::prev(behind)->range.contains(address)) {
        found.push_back(&*std::prev(behind));
      }
      next = next.subspan(same.size());
    }
    std::ranges::reverse(found);
    return found;
  }

  Records records_;
};

class Reader {
 public:
  explicit Reader(ListedNames& list) : list_(list) {}

  void add(std::string_view line) {
    std::string_view rest = line;
    const std::string_view kind = take_word(rest);
    if (kind == "MODULE") {
      take_word(rest);  // operating system
      take_word(rest);  // instruction set
      list_.debug_id = take_word(rest);
      list_.module_name = trimmed(rest);
    } else if (kind == "FILE" || kind == "INLINE_ORIGIN") {
      if (const auto number = decimal(take_word(rest))) {
        (kind == "FILE" ? records_.files : records_.origins)[*number] = trimmed(rest);
      }
    } else if (kind == "FUNC" || kind == "PUBLIC") {
      add_function(rest, kind == "FUNC");
    } else if (kind == "INLINE") {
      add_calls(rest);
    } else if (in_function_) {
      add_row(line);
    }
  }

  void finish() {
    if (!records_.rows.empty()) {
      list_.lines = std::make_shared<const BreakpadLines>(std::move(records_));
    }
  }

 private:
  static std::optional<std::uint32_t> decimal(std::string_view word) {
    const auto value = number(word, 10);
    return value && *value <= ~std::uint32_t{0} ? std::optional(static_cast<std::uint32_t>(*value))
                                                : std::nullopt;
  }

  void add_function(std::string_view rest, bool sized) {
    std::string_view word = take_word(rest);
    if (word == "m") {  // of several names at one address, this is one
      word = take_word(rest);
    }
    const auto address = number(word, 16);
    const auto size = sized ? number(take_word(rest), 16) : std::optional<std::uint64_t>(0);
    take_word(rest);  // size of the parameters
    const std::string_view name = trimmed(rest);
    in_function_ = sized && address && size;
    if (!address || !size || name.empty()) {
      return;
    }
    list_.names.push_back(
        {.address = *address, .size = *size, .name = name, .limit = ~Address{0}, .global = !sized});
    if (sized) {
      const std::size_t calls = records_.calls.size();
      records_.functions.push_back({{*address, *address + *size}, name, calls, calls});
    }
  }

  void add_calls(std::string_view rest) {
    const auto depth = decimal(take_word(rest));
    const auto line = decimal(take_word(rest));
    const auto file = decimal(take_word(rest));
    const auto origin = decimal(take_word(rest));
    if (!in_function_ || records_.functions.empty() || !depth || !line || !file || !origin) {
      return;
    }
    while (true) {
      const auto address = number(take_word(rest), 16);
      const auto size = number(take_word(rest), 16);
      if (!address || !size) {
        break;
      }
      records_.calls.push_back({{*address, *address + *size}, *depth, *line, *file, *origin});
    }
    records_.functions.back().end_of_calls = records_.calls.size();
  }

  void add_row(std::string_view line) {
    const auto address = number(take_word(line), 16);
    const auto size = number(take_word(line), 16);
    const auto position = decimal(take_word(line));
    const auto file = decimal(take_word(line));
    if (address && size && position && file) {
      records_.rows.push_back({{*address, *address + *size}, *position, *file});
    }
  }

  ListedNames& list_;
  Records records_;
  bool in_function_ = false;
};

}  // namespace

void read_breakpad(std::string_view text, ListedNames& list) {
  list.format = "a Breakpad symbol file";
  list.relative = true;
  Reader reader(list);
  while (!text.empty()) {
    reader.add(take_line(text));
  }
  reader.finish();
}

}  // namespace whocall
