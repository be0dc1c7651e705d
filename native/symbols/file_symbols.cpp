#include "symbols/file_symbols.h"

#include <elf.h>

#include <utility>

#include "base/error.h"
#include "symbols/companions.h"
#include "symbols/table/demangler.h"
#include "symbols/table/function_label.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {
namespace {

bool has_lines(const ElfFile& file) { return file.section(".debug_info") != nullptr; }

std::string lines_path_of(const ElfFile& file, const Companions& companions) {
  if (has_lines(file)) {
    return file.path();
  }
  for (const Companion& companion : companions.files) {
    if (companion.source == NameSource::debug_file && has_lines(*companion.file)) {
      return companion.file->path();
    }
  }
  return {};
}

const Architecture* architecture_of(const ElfFile& file) {
  return file.type() == ET_REL
             ? nullptr
             : find_architecture(file.machine(), file.pointer_size(), file.endian());
}

}  // namespace

FileSymbols::FileSymbols(std::shared_ptr<const ElfFile> file, const FileSearch& search)
    : file_(std::move(file)), search_(search), arch_(architecture_of(*file_)) {}

void FileSymbols::open() {
  if (table_ != nullptr) {
    return;
  }
  Companions companions = companions_of(*file_, search_);
  remark_ = std::move(companions.remark);
  debug_file_ = companions.debug_file();
  lines_path_ = lines_path_of(*file_, companions);
  for (const NameList& list : companions.lists) {
    if (list.lines != nullptr) {
      lines_.push_back(list.lines);
    }
  }
  table_ = SymbolTable::from_elf(file_, companions);
}

const std::string& FileSymbols::remark() {
  open();
  return remark_;
}

const std::string& FileSymbols::debug_file() {
  open();
  return debug_file_;
}

std::shared_ptr<const SymbolTable> FileSymbols::table() {
  open();
  return table_;
}

// PLT slots have no symbols of their own; libbfd puts them together from the relocations.
std::shared_ptr<const SymbolTable> FileSymbols::table_with_plt() {
  if (table_with_plt_ == nullptr) {
    table_with_plt_ = with_plt_names(table(), *file_);
  }
  return table_with_plt_;
}

const FunctionStarts* FileSymbols::starts() {
  if (starts_ == nullptr && arch_ != nullptr) {
    starts_ = std::make_unique<FunctionStarts>(*file_, *arch_, *table());
  }
  return starts_.get();
}

std::shared_ptr<const InferredNames> FileSymbols::inferred() {
  if (inferred_ == nullptr && arch_ != nullptr) {
    inferred_ = std::make_shared<const InferredNames>(
        NameEvidence{*file_, *arch_, *table(), search_,
                     [this]() -> const FunctionStarts& { return *starts(); }});
  }
  return inferred_;
}

FilePlace FileSymbols::describe(Address link, NamingOptions options) {
  FilePlace place;
  place.link_address = link;
  const ElfSection* section = file_->section_at(link);
  place.section = section != nullptr ? section->name : std::string_view();
  place.function = function_at(link, options.demangle);
  const bool by_symbol =
      place.function && !place.function->raw_name.empty() && !is_inferred(place.function->source);
  if (options.refused && !by_symbol) {
    place.refused = refused_symbol(*file_, *table(), starts(), link);
  }
  if (options.lines) {
    place.lines = lines_at(link, options.demangle);
  }
  return place;
}

std::optional<FunctionMatch> FileSymbols::function_at(Address link, bool demangled) {
  const std::shared_ptr<const SymbolTable> table =
      is_in_plt(*file_, link) ? table_with_plt() : this->table();
  const std::uint32_t index = table->find(link);
  if (index == SymbolTable::kNone) {
    return unnamed_function_at(link);
  }
  const Symbol symbol = table->symbols()[index];
  if (!symbol.exact_end && another_begins_in(symbol, link)) {
    return unnamed_function_at(link);
  }
  FunctionMatch match{
      .source = symbol.source, .start = symbol.range.begin, .size = symbol.range.size()};
  match.raw_name = symbol.name;
  match.name = symbol.name.empty() ? unnamed_function(symbol.range.begin)
               : demangled         ? demangle(symbol.name)
                                   : match.raw_name;
  if (symbol.name.empty()) {
    infer_name(match);
  }
  for (const Symbol& alias : table->aliases(index)) {
    if (alias.name != symbol.name && !alias.name.empty()) {
      match.aliases.emplace_back(alias.name);
    }
  }
  return match;
}

// Folklore. Situation: a symbol has no size, and what it reaches up to by the tables holds
// functions that only the code shows. Example: an exported assembler function without .size, and a
// static function without unwind tables behind it. Remedy: the name ends where the code shows a
// start.
bool FileSymbols::another_begins_in(const Symbol& symbol, Address link) {
  const FunctionStarts* known = starts();
  const auto range = known != nullptr ? known->function_at(link) : std::nullopt;
  return range && range->begin > symbol.range.begin &&
         known->witnesses_at(range->begin).is_function();
}

// A function that no symbol and no table knows, but that the code shows.
std::optional<FunctionMatch> FileSymbols::unnamed_function_at(Address link) {
  const FunctionStarts* known = starts();
  const auto range = known != nullptr ? known->function_at(link) : std::nullopt;
  if (!range || !known->witnesses_at(range->begin).is_function()) {
    return std::nullopt;
  }
  FunctionMatch match{.name = unnamed_function(range->begin),
                      .source = NameSource::call_target,
                      .start = range->begin,
                      .size = range->size()};
  infer_name(match);
  return match;
}

void FileSymbols::infer_name(FunctionMatch& match) {
  const auto names = inferred();
  if (const InferredName* found = names != nullptr ? names->at(match.start) : nullptr) {
    match.name = found->name;
    match.raw_name = found->name;
    match.source = found->source;
    match.proof = found->proof;
  }
}

// Debug info goes first: it alone tells of inlined calls.
std::vector<SourceLine> FileSymbols::lines_at(Address link, bool demangled) {
  open();
  if (!lines_path_.empty() && !std::exchange(bfd_tried_, true)) {
    if (BfdLibrary* library = BfdLibrary::get()) {
      try {
        bfd_ = library->open(lines_path_);
      } catch (const Error&) {
        // Lines are an extra: a file that libbfd does not take still has its names.
      }
    }
  }
  auto found = bfd_ != nullptr ? bfd_->lines_at(link) : std::vector<SourceLine>();
  for (auto each = lines_.begin(); found.empty() && each != lines_.end(); ++each) {
    found = (*each)->lines_at(link);
  }
  if (demangled) {
    for (SourceLine& line : found) {
      line.function = demangle(line.function);
    }
  }
  return found;
}

}  // namespace whocall
