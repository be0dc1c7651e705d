#include "symbols/file_symbols.h"

#include <utility>

#include "symbols/table/demangler.h"
#include "symbols/table/function_label.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {

FileSymbols::FileSymbols(std::shared_ptr<const ElfFile> file, const FileSearch& search)
    : file_(std::move(file)), search_(search) {}

FileSymbols::~FileSymbols() {
  if (sources_ != nullptr) {
    sources_->keep_answers();
  }
}

SymbolSources& FileSymbols::sources() {
  if (sources_ == nullptr) {
    sources_ = symbol_sources_of(file_, search_);
  }
  return *sources_;
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
    place.refused = nearest_symbol(*file_, *table(), starts(), link);
    // An inferred name without a size is a symbol's, too.
    if (place.refused && place.function && place.refused->start == place.function->start) {
      place.refused.reset();
    }
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
  } else if (symbol.source == NameSource::signature) {
    match.proof = sources().proof_at(symbol.range.begin);
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
         known->evidence_at(range->begin).is_function();
}

// Folklore. Situation: nothing tells of the code behind what a symbol's size or an unwind table
// delimits. Example: call_weak_fn of AArch64's crti.o, which only .init calls, right behind _start.
// Remedy: a function that somebody delimited ends there, also where its name is inferred.
bool FileSymbols::ends_before(Address function, Address link) {
  const std::uint32_t index = table()->find(function);
  if (index == SymbolTable::kNone) {
    return false;
  }
  const Symbol symbol = table()->symbols()[index];
  return symbol.exact_end && symbol.range.end <= link;
}

// A function that no symbol and no table knows, but that the code shows.
std::optional<FunctionMatch> FileSymbols::unnamed_function_at(Address link) {
  const FunctionStarts* known = starts();
  const auto range = known != nullptr ? known->function_at(link) : std::nullopt;
  if (!range || !known->evidence_at(range->begin).is_function() ||
      ends_before(range->begin, link)) {
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
  if (const auto found = sources().inferred_name(match.start)) {
    match.name = found->name;
    match.raw_name = found->name;
    match.source = found->source;
    match.proof = found->proof;
  }
}

std::vector<SourceLine> FileSymbols::lines_at(Address link, bool demangled) {
  auto found = sources().lines_at(link);
  if (demangled) {
    for (SourceLine& line : found) {
      line.function = demangle(line.function);
    }
  }
  return found;
}

}  // namespace whocall
