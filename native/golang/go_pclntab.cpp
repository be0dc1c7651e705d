#include "golang/go_pclntab.h"

#include <algorithm>

namespace whocall {
namespace {

constexpr std::uint8_t kTopFrame = 1;  // of a function's flags
constexpr std::uint8_t kSpWrite = 2;
constexpr std::uint32_t kInlineIndex = 2;  // which of a function's tables of values by pc
constexpr std::uint32_t kInlineTree = 3;   // which of its other data

// A table of values by pc: pairs of numbers in base 128, the step of the value (its sign in the
// lowest bit) and that of the pc. A step of zero that is not the first ends it.
class PcValueReader {
 public:
  PcValueReader(ByteView bytes, Address start, unsigned quantum)
      : bytes_(bytes), range_{start, start}, quantum_(quantum) {}

  // False at the end of the table, and where it is damaged.
  bool next() {
    const auto value_step = number();
    if (!value_step || (*value_step == 0 && !first_)) {
      return false;
    }
    const auto pc_step = number();
    if (!pc_step || *pc_step == 0) {
      return false;
    }
    first_ = false;
    const std::uint32_t half = *value_step >> 1U;
    value_ += (*value_step & 1U) != 0 ? ~half : half;
    range_ = {range_.end, range_.end + std::uint64_t{*pc_step} * quantum_};
    return true;
  }
  [[nodiscard]] std::int32_t value() const { return static_cast<std::int32_t>(value_); }
  [[nodiscard]] const AddressRange& range() const { return range_; }

 private:
  std::optional<std::uint32_t> number() {
    std::uint32_t result = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const auto byte = bytes_.read<std::uint8_t>(at_++);
      if (!byte) {
        return std::nullopt;
      }
      result |= static_cast<std::uint32_t>(*byte & 0x7fU) << shift;
      if ((*byte & 0x80U) == 0) {
        return result;
      }
    }
    return std::nullopt;
  }

  ByteView bytes_;
  std::uint64_t at_ = 0;
  std::uint32_t value_ = ~std::uint32_t{0};  // -1
  AddressRange range_;
  std::uint64_t quantum_;
  bool first_ = true;
};

std::optional<GoFormat> format_of(std::uint32_t magic) {
  switch (magic) {
    case 0xfffffffb:
      return GoFormat::go12;
    case 0xfffffffa:
      return GoFormat::go116;
    case 0xfffffff0:
      return GoFormat::go118;
    case 0xfffffff1:
      return GoFormat::go120;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<GoPclntab> GoPclntab::parse(ByteView table, Address address, Address text) {
  GoPclntab result;
  result.table_ = table;
  result.address_ = address;
  result.text_ = text;
  const auto magic = table.read<std::uint32_t>(0);
  const auto format = magic ? format_of(*magic) : std::nullopt;
  const auto padding = table.read<std::uint16_t>(4);
  const auto quantum = table.read<std::uint8_t>(6);
  const auto pointer = table.read<std::uint8_t>(7);
  const bool sane = format && padding == 0 && (quantum == 1 || quantum == 2 || quantum == 4) &&
                    (pointer == 4 || pointer == 8);
  if (!sane) {
    return std::nullopt;
  }
  result.format_ = *format;
  result.quantum_ = *quantum;
  result.pointer_size_ = *pointer;
  const bool first = *format == GoFormat::go12;
  if (!(first ? result.read_first_header() : result.read_header())) {
    return std::nullopt;
  }
  // Entries of functions; the last one is the end of all.
  const std::uint64_t pair = std::uint64_t{2} * result.entry_size_;
  if (result.count_ == 0 || result.count_ >= result.functions_.size() / pair ||
      !result.function(0) || !result.function(result.count_ - 1)) {
    return std::nullopt;
  }
  return result;
}

// Words: count of functions, count of files, start of the code, then the offsets of the parts.
bool GoPclntab::read_header() {
  const auto word = [&](std::uint64_t index) {
    return table_.read_unsigned(8 + index * pointer_size_, pointer_size_);
  };
  const bool relative = format_ >= GoFormat::go118;
  const std::uint64_t first_part = relative ? 3 : 2;
  const auto part = [&](std::uint64_t index) {
    const auto offset = word(first_part + index);
    return offset ? table_.from(*offset) : ByteView();
  };
  if (!word(first_part + 4)) {
    return false;
  }
  count_ = *word(0);
  text_ = !relative ? 0 : text_ != 0 ? text_ : *word(2);
  entry_size_ = relative ? 4 : pointer_size_;
  names_ = part(0);
  units_ = part(1);
  paths_ = part(2);
  values_ = part(3);
  functions_ = part(4);
  return true;
}

// One count, the list of functions, behind it the offset of the list of files; all offsets count
// from the table's beginning.
bool GoPclntab::read_first_header() {
  const auto count = table_.read_unsigned(8, pointer_size_);
  if (!count || *count > table_.size()) {
    return false;
  }
  count_ = *count;
  text_ = 0;
  entry_size_ = pointer_size_;
  functions_ = table_;
  names_ = paths_ = values_ = table_;
  const std::uint64_t list = 8 + pointer_size_;
  const auto files =
      table_.read<std::uint32_t>(list + (2 * count_ + 1) * std::uint64_t{pointer_size_});
  units_ = files ? table_.from(*files) : ByteView();
  return files.has_value();
}

std::optional<Address> GoPclntab::entry(std::uint64_t index) const {
  if (index > count_) {
    return std::nullopt;
  }
  const std::uint64_t list = format_ == GoFormat::go12 ? 8 + pointer_size_ : 0;
  const auto at = functions_.read_unsigned(list + 2 * index * entry_size_, entry_size_);
  return at ? std::optional(text_ + *at) : std::nullopt;
}

std::optional<GoFunction> GoPclntab::function(std::uint64_t index) const {
  if (index >= count_) {
    return std::nullopt;
  }
  const std::uint64_t list = format_ == GoFormat::go12 ? 8 + pointer_size_ : 0;
  const auto start = entry(index);
  const auto next = entry(index + 1);
  const auto at = functions_.read_unsigned(list + (2 * index + 1) * entry_size_, entry_size_);
  const ByteView record = at ? functions_.from(*at) : ByteView();
  const auto own_start = record.read_unsigned(0, entry_size_);
  const auto name_offset = record.read<std::uint32_t>(entry_size_);
  const auto name = name_offset ? name_at(*name_offset) : std::nullopt;
  GoFunction result;
  // Each record repeats its entry: a check on the whole.
  if (!start || !next || *next < *start || !name || !own_start || text_ + *own_start != *start ||
      !read_tail(record, entry_size_ + 4U, result)) {
    return std::nullopt;
  }
  result.name = *name;
  result.range = {*start, end_of_code(result.sp_table, *start, *next)};
  return result;
}

// What follows the name: size of the arguments, a place for deferred calls, tables of frame depth,
// files and lines, and counts of further ones.
bool GoPclntab::read_tail(const ByteView& record, std::uint64_t at, GoFunction& out) const {
  const auto number = [&](std::uint64_t index) {
    return record.read<std::uint32_t>(at + 4 * index);
  };
  const auto tables = number(5);
  if (!tables) {
    return false;
  }
  out.sp_table = *number(2);
  out.file_table = *number(3);
  out.line_table = *number(4);
  if (format_ == GoFormat::go12) {
    return true;
  }
  const std::uint64_t kinds = at + (format_ == GoFormat::go120 ? 32 : 28);
  const auto unit = number(6);
  const auto flags = record.read<std::uint8_t>(kinds + 1);
  const auto data_count = record.read<std::uint8_t>(kinds + 3);
  if (!unit || !data_count) {
    return false;
  }
  out.files = *unit;
  out.top_frame = (*flags & kTopFrame) != 0;
  out.sp_write = (*flags & kSpWrite) != 0;
  if (format_ >= GoFormat::go118 && *tables > kInlineIndex && *data_count > kInlineTree) {
    const std::uint64_t lists = kinds + 4;
    const auto tree =
        record.read<std::uint32_t>(lists + 4 * (std::uint64_t{*tables} + kInlineTree));
    out.inline_index_table = record.read<std::uint32_t>(lists + 4 * kInlineIndex).value_or(0);
    out.inline_tree = tree.value_or(GoFunction::kNoData);
  }
  return true;
}

// The table of frame depths reaches from the first to the last byte of the code; padding follows.
Address GoPclntab::end_of_code(std::uint32_t table, Address start, Address limit) const {
  PcValueReader reader(table != 0 ? values_.from(table) : ByteView(), start, quantum_);
  Address end = start;
  while (end < limit && reader.next()) {
    end = reader.range().end;
  }
  return end > start && end <= limit ? end : limit;
}

std::optional<GoFunction> GoPclntab::find(Address link) const {
  std::uint64_t low = 0;  // the first entry above `link` lies in (low, high]
  std::uint64_t high = count_;
  const auto first = entry(0);
  if (!first || link < *first) {
    return std::nullopt;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto start = entry(middle);
    (start && *start <= link ? low : high) = middle;
  }
  auto found = function(low);
  return found && found->range.contains(link) ? found : std::nullopt;
}

std::optional<GoPclntab::Value> GoPclntab::step_at(std::uint32_t table, Address start,
                                                   Address link) const {
  if (table == 0 || link < start) {
    return std::nullopt;
  }
  PcValueReader reader(values_.from(table), start, quantum_);
  while (reader.next()) {
    if (link < reader.range().end) {
      return Value{reader.value(), reader.range()};
    }
  }
  return std::nullopt;
}

std::optional<std::int32_t> GoPclntab::value_at(std::uint32_t table, Address start,
                                                Address link) const {
  const auto step = step_at(table, start, link);
  return step ? std::optional(step->value) : std::nullopt;
}

std::optional<std::string_view> GoPclntab::name_at(std::uint64_t offset) const {
  const auto name = names_.c_string(offset);
  // In the first format names stand between records.
  const bool begins =
      offset == 0 || format_ == GoFormat::go12 || names_.read<std::uint8_t>(offset - 1) == 0;
  return name && !name->empty() && begins ? name : std::nullopt;
}

std::string_view GoPclntab::file_name(const GoFunction& function, std::int32_t number) const {
  if (number < 0 || (format_ == GoFormat::go12 && number == 0)) {
    return {};
  }
  const std::uint64_t index = std::uint64_t{function.files} + static_cast<std::uint32_t>(number);
  const auto offset = units_.read<std::uint32_t>(4 * index);
  if (!offset || *offset == GoFunction::kNoData) {
    return {};
  }
  return paths_.c_string(*offset).value_or(std::string_view());
}

}  // namespace whocall
