#include "report/told_arguments.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable_text.h"
#include "symbols/table/demangler.h"
#include "symfile/elf_writer.h"

namespace whocall {
namespace {

// Rust's names in its older scheme are C++'s, but for a hash at the end: "...17h0123456789abcdefE".
bool is_of_rust(std::string_view mangled) {
  constexpr std::size_t kEnd = 20;
  if (mangled.size() <= kEnd || !mangled.ends_with('E')) {
    return false;
  }
  const std::string_view end = mangled.substr(mangled.size() - kEnd);
  return end.starts_with("17h") && end.find_first_not_of("0123456789abcdef", 3) == end.size() - 1;
}

// Of several names in a file that it reads itself gdb takes the last one by the alphabet.
const std::string& gdbs_name(const FunctionMatch& function) {
  if (function.raw_name.empty()) {
    return function.name;
  }
  const auto last = std::ranges::max_element(function.aliases);
  const bool is_read =
      function.source == NameSource::symtab || function.source == NameSource::dynsym;
  return is_read && last != function.aliases.end() && *last > function.raw_name ? *last
                                                                                : function.raw_name;
}

// As gdb prints the names of the symbol files, where what was concluded is marked.
void set_name(const FunctionMatch& function, WrittenFunction& written) {
  const std::string& raw = gdbs_name(function);
  const bool marked = is_inferred(function.source) && function.source != NameSource::entry;
  if (marked) {
    written.name = made_printable(raw.ends_with('?') ? raw : raw + "?");
  } else if (raw.starts_with("_Z") && !is_of_rust(raw) && made_printable(raw) == raw) {
    written.name = written.linkage_name = raw;
  } else {
    written.name = made_printable(demangle(raw));
  }
}

// The code of the frame's function, runtime addresses; empty where it is not known.
AddressRange code_of(const FrameFacts& facts, CodeMap& code) {
  const auto offset = facts.offset();
  const Module* owner = facts.owner();
  if (!offset || owner == nullptr || owner->file == nullptr) {
    return {};
  }
  const Address begin = facts.frame().pc - *offset;
  const Address lookup = facts.frame().lookup_pc();
  // What a file says of its functions' sizes may be wrong, and a debugger gives a function's name
  // to all of its code: what follows from tables and code goes first.
  const auto range = code.function_at(lookup);
  if (range && range->begin == begin) {
    return *range;
  }
  const Address room = owner->range.contains(begin) ? owner->range.end - begin : 0;
  const Address size = std::min<Address>(facts.named().place->function->size, room);
  const AddressRange told{.begin = begin, .end = begin + size};
  return told.contains(lookup) ? told : AddressRange{};
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

// What a parameter is that is a pointer once more. A text it is only where it is one in each call
// that hands over anything but null: debuggers print what lies there.
WrittenParameter::Kind with_pointer(const WrittenParameter& told, bool to_text) {
  using Kind = WrittenParameter::Kind;
  if (!to_text || told.kind == Kind::pointer) {
    return Kind::pointer;
  }
  const auto is_null = [](const HandedValue& each) { return each.value == 0; };
  return told.kind == Kind::text || std::ranges::all_of(told.values, is_null) ? Kind::text
                                                                              : Kind::pointer;
}

}  // namespace

void ToldArguments::add(const Thread& thread, const NamedWalk& walk) {
  const FrameRange innermost{.count = std::min(walk.size(), kMostFrames)};
  const ThreadTrace trace{.thread = &thread, .walk = &walk, .shown = innermost};
  for (std::size_t i = 0; i < innermost.count && frames_ < kMostOfProcess; ++i, ++frames_) {
    const FrameFacts facts = trace.frame(i);
    if (facts.named().inlined() || is_told_by_debug_info(facts)) {
      continue;
    }
    if (const FrameArguments* found = texts_.find(trace, facts)) {
      add_frame(facts, *found);
    }
  }
}

// Of what debug info tells, debuggers have the parameters. A file may have it of a part of its code
// alone, as Rust's programs have it of their standard library.
bool ToldArguments::is_told_by_debug_info(const FrameFacts& facts) {
  const Module* owner = facts.owner();
  const bool has_any =
      owner != nullptr && owner->file != nullptr && owner->file->section(".debug_info") != nullptr;
  return has_any && !symbolizer_.describe(facts.frame().lookup_pc(), {}).lines.empty();
}

void ToldArguments::add_frame(const FrameFacts& facts, const FrameArguments& arguments) {
  const AddressRange range = code_of(facts, code_.walker().code());
  if (range.empty() || (arguments.list.empty() && !arguments.more)) {
    return;
  }
  WrittenFunction& function = functions_[facts.owner()][range.begin];
  if (function.range.empty()) {
    function.range = range;
    set_name(*facts.named().place->function, function);
    function.file = made_printable(facts.module().substr(facts.module().rfind('/') + 1));
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
    if (size == pointer && texts_.may_be_pointer(argument)) {
      told.kind = with_pointer(told, !texts_.pointed(arguments, i).text.empty());
    } else if (told.kind == Kind::text && value != 0) {
      told.kind = Kind::pointer;
    }
    told.values.push_back({.sp = facts.frame().sp, .value = widened(value, argument, told.size)});
  }
}

ArgumentFile ToldArguments::file_of(const std::vector<const Module*>& modules) const {
  std::vector<WrittenFunction> told;
  const ElfFile* any = nullptr;
  for (const Module* module : modules) {
    const auto found = functions_.find(module);
    if (found == functions_.end()) {
      continue;
    }
    any = module->file.get();
    for (const auto& [start, function] : found->second) {
      if (!told.empty() && told.back().range.contains(function.range.begin)) {
        told.back().range.end = function.range.begin;
      }
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
