// Tables with a heading: RFC 4180, also with tabs or semicolons instead of commas.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text_lines.h"
#include "symbols/external/list_formats.h"
#include "symbols/external/name_rows.h"

namespace whocall {
namespace {

constexpr std::size_t kMostColumns = 256;
constexpr std::array kSeparators = {',', '\t', ';'};

// Takes fields off a text; quoted ones may hold separators and line feeds.
class Fields {
 public:
  Fields(std::string_view text, char separator, std::deque<std::string>& strings)
      : text_(text), separator_(separator), strings_(strings) {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }

  // The fields of one record.
  void take_record(std::vector<std::string_view>& fields) {
    fields.clear();
    bool more = true;
    while (more) {
      const std::string_view field = text_.starts_with('"') ? take_quoted() : take_plain();
      if (fields.size() < kMostColumns) {
        fields.push_back(field);
      }
      more = text_.starts_with(separator_);
      if (!text_.empty()) {
        text_.remove_prefix(1);
      }
    }
  }

 private:
  std::string_view take_plain() {
    const std::array<char, 2> ends = {separator_, '\n'};
    const auto end = text_.find_first_of(std::string_view(ends.data(), ends.size()));
    std::string_view field = text_.substr(0, end);
    text_.remove_prefix(field.size());
    if (field.ends_with('\r')) {
      field.remove_suffix(1);
    }
    return trimmed(field);
  }

  // "a ""word""" is: a "word". What stands between the quote and the separator is dropped.
  std::string_view take_quoted() {
    const std::size_t begin = 1;
    std::size_t end = begin;
    bool doubled = false;
    while (true) {
      end = text_.find('"', end);
      if (end == std::string_view::npos) {
        end = text_.size();
        break;
      }
      if (end + 1 >= text_.size() || text_[end + 1] != '"') {
        break;
      }
      doubled = true;
      end += 2;
    }
    std::string_view field = text_.substr(begin, end - begin);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    take_plain();
    if (doubled) {
      std::string& copy = strings_.emplace_back();
      for (std::size_t at = 0; at < field.size(); ++at) {
        copy += field[at];
        at += field[at] == '"' ? 1 : 0;
      }
      field = copy;
    }
    return trimmed(field);
  }

  std::string_view text_;
  char separator_;
  std::deque<std::string>& strings_;
};

// Where each kind stands; -1 for nowhere.
struct Columns {
  explicit Columns(const std::vector<std::string_view>& headings) {
    std::array<unsigned, 6> ranks{};
    ranks.fill(~0U);
    at.fill(-1);
    for (std::size_t i = 0; i < headings.size(); ++i) {
      const NameColumn column = name_column(headings[i]);
      const auto kind = static_cast<std::size_t>(column.kind);
      if (column.kind != NameColumn::Kind::none && column.rank < ranks[kind]) {
        ranks[kind] = column.rank;
        at[kind] = static_cast<int>(i);
      }
    }
  }
  [[nodiscard]] bool has(NameColumn::Kind kind) const {
    return at[static_cast<std::size_t>(kind)] >= 0;
  }
  [[nodiscard]] std::string_view of(const std::vector<std::string_view>& fields,
                                    NameColumn::Kind kind) const {
    const int index = at[static_cast<std::size_t>(kind)];
    return index >= 0 && static_cast<std::size_t>(index) < fields.size()
               ? fields[static_cast<std::size_t>(index)]
               : std::string_view();
  }
  [[nodiscard]] bool complete() const {
    return has(NameColumn::Kind::name) && has(NameColumn::Kind::address);
  }
  std::array<int, 6> at{};
};

// The separator that cuts the heading into columns that we know.
std::optional<char> separator_of(std::string_view heading) {
  for (const char separator : kSeparators) {
    std::deque<std::string> strings;
    std::vector<std::string_view> fields;
    Fields(heading, separator, strings).take_record(fields);
    if (Columns(fields).complete()) {
      return separator;
    }
  }
  return std::nullopt;
}

// Folklore. Situation: tools write sizes without saying in which base. Example: IDA writes
// "00000026" for 38 bytes, Ghidra "38". Remedy: a column in which a number has a letter or a zero
// before it is hexadecimal as a whole.
bool is_surely_hexadecimal(std::string_view text) {
  return (text.size() > 1 && text.front() == '0') || std::ranges::any_of(text, [](char c) {
           return std::isalpha(static_cast<unsigned char>(c));
         });
}

void resolve_sizes(const std::vector<std::string_view>& sizes, std::size_t first,
                   ListedNames& list) {
  const bool hexadecimals = std::ranges::any_of(sizes, is_surely_hexadecimal);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = hexadecimals ? exported_address(sizes[i]) : number(sizes[i], 10);
    list.names[first + i].size = size.value_or(0);
  }
}

}  // namespace

bool is_csv_heading(std::string_view line) { return separator_of(line).has_value(); }

void read_name_csv(std::string_view text, ListedNames& list) {
  using Kind = NameColumn::Kind;
  list.format = "a table of names";
  list.exact_sizes = false;
  const auto separator = separator_of(text.substr(0, text.find('\n')));
  Fields records(text, separator.value_or(','), list.strings);
  std::vector<std::string_view> fields;
  records.take_record(fields);
  const Columns columns(fields);
  const std::size_t first = list.names.size();
  std::vector<std::string_view> sizes;
  while (!records.at_end()) {
    records.take_record(fields);
    const auto address = exported_address(columns.of(fields, Kind::address));
    const std::string_view name = columns.of(fields, Kind::name);
    if (!address || name.empty() ||
        !is_named_function(columns.of(fields, Kind::type), columns.of(fields, Kind::origin))) {
      continue;
    }
    list.names.push_back({.address = *address, .name = name});
    sizes.push_back(columns.of(fields, Kind::size));
    if (!columns.has(Kind::size)) {
      const auto end = exported_address(columns.of(fields, Kind::end));
      list.names.back().limit = end && *end > *address ? *end : ~Address{0};
    }
  }
  if (columns.has(Kind::size)) {
    resolve_sizes(sizes, first, list);
  }
}

}  // namespace whocall
