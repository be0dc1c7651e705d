#include "golang/go_inlining.h"

#include <optional>
#include <utility>

namespace whocall {
namespace {

constexpr std::size_t kDeepestInlining = 256;  // inlined calls at one place
constexpr std::uint64_t kSamples = 64;         // functions whose trees prove a base
constexpr std::uint64_t kLooked = 4096;        // functions looked at for that

// One inlined call.
struct InlinedGoCall {
  std::string_view name;  // of the function that was inlined
  Address call = 0;       // link address of the call in the code around it
  // Where the call stands in the source, in the format of Go 1.18 and 1.19; later it is what the
  // tables say of `call`.
  std::optional<std::pair<std::int32_t, std::int32_t>> file_and_line;
};

// struct inlinedCall: since Go 1.20 {id and padding, name, pc of the call, first line}, before
// {parent, id and padding, file, line, name, pc of the call}, numbers of 32 bits each.
std::optional<InlinedGoCall> read_call(const GoPclntab& table, const GoFunction& function,
                                       const ByteView& tree, std::int32_t index) {
  const bool old = table.format() == GoFormat::go118;
  const std::uint64_t size = old ? 20 : 16;
  const ByteView record =
      index < 0 ? ByteView() : tree.from(static_cast<std::uint64_t>(index) * size);
  const auto name = record.read<std::uint32_t>(old ? 12 : 4);
  const auto call = record.read<std::uint32_t>(old ? 16 : 8);
  const auto text = name ? table.name_at(*name) : std::nullopt;
  if (!call || !text || *call >= function.range.size()) {
    return std::nullopt;
  }
  InlinedGoCall result{*text, function.range.begin + *call, std::nullopt};
  if (old) {
    result.file_and_line = {static_cast<std::int32_t>(record.read<std::uint32_t>(4).value_or(0)),
                            static_cast<std::int32_t>(record.read<std::uint32_t>(8).value_or(0))};
  }
  return result;
}

bool proves(const GoPclntab& table, const ElfFile& file, Address base) {
  std::uint64_t samples = 0;
  for (std::uint64_t i = 0; i < table.count() && i < kLooked && samples < kSamples; ++i) {
    const auto function = table.function(i);
    if (!function || function->inline_tree == GoFunction::kNoData) {
      continue;
    }
    if (!read_call(table, *function, file.at(base + function->inline_tree), 0)) {
      return false;
    }
    ++samples;
  }
  return samples > 0;
}

}  // namespace

Address find_inline_base(const GoPclntab& table, const ElfFile& file,
                         std::span<const std::uint64_t> module) {
  for (const std::uint64_t word : module) {
    if (word != 0 && !file.at(word).empty() && proves(table, file, word)) {
      return word;
    }
  }
  return 0;
}

SourceLine GoLines::position(const GoFunction& function, Address link) const {
  const Address start = function.range.begin;
  const auto file = table_.value_at(function.file_table, start, link);
  const auto line = table_.value_at(function.line_table, start, link);
  SourceLine result;
  if (file && line && *line > 0) {
    result.file = table_.file_name(function, *file);
    result.line = result.file.empty() ? 0 : static_cast<unsigned>(*line);
  }
  return result;
}

std::vector<SourceLine> GoLines::lines_at(Address link) const {
  std::vector<SourceLine> lines;
  const auto function = table_.find(link);
  if (!function) {
    return lines;
  }
  const bool inlines = inline_base_ != 0 && function->inline_tree != GoFunction::kNoData;
  const ByteView tree = inlines ? file_.at(inline_base_ + function->inline_tree) : ByteView();
  SourceLine place = position(*function, link);
  while (lines.size() < kDeepestInlining) {
    const auto index = table_.value_at(function->inline_index_table, function->range.begin, link);
    const auto call = index ? read_call(table_, *function, tree, *index) : std::nullopt;
    if (!call) {
      break;
    }
    place.function = call->name;
    lines.push_back(std::move(place));
    link = call->call;
    place = position(*function, link);
    if (call->file_and_line && call->file_and_line->second > 0) {
      place.file = table_.file_name(*function, call->file_and_line->first);
      place.line = static_cast<unsigned>(call->file_and_line->second);
    }
  }
  place.function = function->name;
  if (place.file.empty() && lines.empty()) {
    return {};
  }
  lines.push_back(std::move(place));
  return lines;
}

}  // namespace whocall
