#include "report/told_arguments.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "symfile/elf_writer.h"

namespace whocall {
namespace {

constexpr Address kLowestPointer = 0x10000;  // no program's memory lies below

// As the names of the symbol files are: what was concluded is marked.
std::string written_name(const FunctionMatch& function) {
  std::string name = function.raw_name.empty() ? function.name : function.raw_name;
  const bool marked = is_inferred(function.source) && function.source != NameSource::entry;
  return marked && !name.ends_with('?') ? name + "?" : name;
}

// The code of the frame's function, runtime addresses; empty where it is not known.
AddressRange code_of(const FrameFacts& facts, CodeMap& code) {
  const auto offset = facts.offset();
  const Module* owner = facts.owner();
  if (!offset || owner == nullptr || owner->file == nullptr) {
    return {};
  }
  const Address begin = facts.frame().pc - *offset;
  const Address size = facts.named().place->function->size;
  if (size > 0) {
    return {.begin = begin, .end = begin + size};
  }
  const auto range = code.function_at(facts.frame().lookup_pc());
  return range && range->begin == begin ? *range : AddressRange{};
}

// As wide as debuggers print numbers; narrower ones they print as characters.
std::uint64_t widened(std::uint64_t value, const Argument& argument, std::uint8_t size) {
  if (argument.size == 0 || argument.size >= size) {
    return value;
  }
  const unsigned unused = 64 - 8 * argument.size;
  const auto at_top = value << unused;
  return argument.is_signed
             ? static_cast<std::uint64_t>(static_cast<std::int64_t>(at_top) >> unused)
             : at_top >> unused;
}

}  // namespace

void ToldArguments::add(const Thread& thread, const NamedWalk& walk) {
  const FrameRange innermost{.count = std::min(walk.size(), kMostFrames)};
  const ThreadTrace trace{.thread = &thread, .walk = &walk, .shown = innermost};
  for (std::size_t i = 0; i < innermost.count && frames_ < kMostOfProcess; ++i, ++frames_) {
    const FrameFacts facts = trace.frame(i);
    // Of what debug info tells, debuggers have the parameters.
    if (facts.named().inlined() || !facts.named().place->lines.empty()) {
      continue;
    }
    if (const FrameArguments* found = texts_.find(trace, facts)) {
      add_frame(facts, *found);
    }
  }
}

void ToldArguments::add_frame(const FrameFacts& facts, const FrameArguments& arguments) {
  const AddressRange range = code_of(facts, code_.walker().code());
  if (range.empty() || (arguments.list.empty() && !arguments.more)) {
    return;
  }
  WrittenFunction& function = functions_[facts.owner()][range.begin];
  if (function.range.empty()) {
    function.range = range;
    function.name = written_name(*facts.named().place->function);
    function.file = facts.module().substr(facts.module().rfind('/') + 1);
  }
  function.more |= arguments.more;
  add_values(function, facts, arguments);
}

void ToldArguments::add_values(WrittenFunction& function, const FrameFacts& facts,
                               const FrameArguments& arguments) const {
  using Kind = WrittenParameter::Kind;
  const std::uint8_t pointer = code_.arch().abi.pointer_size;
  for (std::size_t i = 0; i < arguments.list.size(); ++i) {
    const Argument& argument = arguments.list[i];
    const bool whole = argument.size == 0 || argument.size >= pointer;
    const std::uint8_t size = whole ? pointer : 4;
    if (i == function.parameters.size()) {
      const Kind kind = argument.is_signed ? Kind::signed_number : Kind::unsigned_number;
      function.parameters.push_back({.kind = kind, .size = size});
    }
    WrittenParameter& told = function.parameters[i];
    if (!argument.value || argument.value->trust == ArgumentTrust::now) {
      continue;
    }
    const std::uint64_t value = argument.value->value;
    if (size == pointer && value >= kLowestPointer && code_.process().mapping_at(value)) {
      const bool is_text = told.kind == Kind::text || !texts_.pointed(arguments, i).text.empty();
      told.kind = is_text ? Kind::text : Kind::pointer;
    }
    told.values.push_back({.sp = facts.frame().sp, .value = widened(value, argument, told.size)});
  }
}

ArgumentFile ToldArguments::file_of(const std::vector<const Module*>& modules) const {
  std::vector<WrittenFunction> told;
  const ElfFile* any = nullptr;
  for (const Module* module : modules) {
    const auto found = functions_.find(module);
    if (found == functions_.end() || module->file->section(".debug_info") != nullptr) {
      continue;
    }
    any = module->file.get();
    for (const auto& [start, function] : found->second) {
      told.push_back(function);
    }
  }
  if (told.empty()) {
    return {};
  }
  const ArgumentInfo info = write_argument_info(told, code_.arch());
  return {write_debug_file(*any, {}, {.info = info.info, .abbrev = info.abbreviations},
                           SymbolFilePlace::of_process),
          told.size()};
}

}  // namespace whocall
