#include "symbols/symbol_sources.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "object/open_files.h"
#include "symbols/fact_cache.h"
#include "symbols/symbol_facts.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {
namespace {

bool has_lines(const ElfFile& file) {
  return file.section(".debug_info") != nullptr || file.section(".zdebug_info") != nullptr;
}

// The program's file or its debug file; null without debug info.
std::shared_ptr<const ElfFile> file_with_lines(const std::shared_ptr<const ElfFile>& file,
                                               const Companions& companions) {
  if (has_lines(*file)) {
    return file;
  }
  for (const Companion& companion : companions.files) {
    if (companion.source == NameSource::debug_file && has_lines(*companion.file)) {
      return companion.file;
    }
  }
  return nullptr;
}

const Architecture* code_architecture_of(const ElfFile& file) {
  return file.type() == ET_REL ? nullptr : find_architecture(file.identity());
}

// Only of large files: others are looked through sooner than a file is found. What the user's own
// lists say is not kept.
std::optional<std::string> key_of(const ElfFile& file, const Companions& companions,
                                  const FileSearch& search) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 20U;  // bytes
  if (file.bytes().size() < kLarge || !search.symbol_files.empty() ||
      !search.signature_files.empty()) {
    return std::nullopt;
  }
  const auto debug =
      std::ranges::find(companions.files, NameSource::debug_file, &Companion::source);
  return facts_key(file, debug == companions.files.end() ? nullptr : debug->file.get());
}

// The sources of one file, by the debug file that they were made with.
class KnownSources {
 public:
  std::shared_ptr<SymbolSources> get(const std::shared_ptr<const ElfFile>& file,
                                     const FileSearch& search) {
    DebugFile debug = find_debug_file(*file, search);
    const std::scoped_lock lock(mutex_);
    for (const Known& each : known_) {
      if (each.debug.file == debug.file && each.debug.remark == debug.remark) {
        return each.sources;
      }
    }
    known_.push_back({debug, std::make_shared<SymbolSources>(file, search, debug)});
    return known_.back().sources;
  }

 private:
  struct Known {
    DebugFile debug;
    std::shared_ptr<SymbolSources> sources;
  };
  std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace

SymbolSources::SymbolSources(std::shared_ptr<const ElfFile> file, const FileSearch& search,
                             DebugFile debug)
    : file_(std::move(file)), arch_(code_architecture_of(*file_)) {
  Companions companions = companions_of(*file_, search, std::move(debug));
  remark_ = std::move(companions.remark);
  debug_file_ = companions.debug_file();
  debug_lines_ = DebugLines(*file_, file_with_lines(file_, companions), search);
  for (const NameList& list : companions.lists) {
    if (list.lines != nullptr) {
      lines_.push_back(list.lines);
    }
    if (list.proofs != nullptr) {
      proofs_.push_back(list.proofs);
    }
  }
  table_ = SymbolTable::from_elf(file_, companions);
  kept_as_ = key_of(*file_, companions, search);
}

// PLT slots have no symbols of their own; libbfd puts them together from the relocations.
std::shared_ptr<const SymbolTable> SymbolSources::table_with_plt() {
  const std::scoped_lock lock(mutex_);
  if (table_with_plt_ == nullptr) {
    table_with_plt_ = with_plt_names(table(), *file_);
  }
  return table_with_plt_;
}

const FunctionStarts* SymbolSources::starts() {
  const std::scoped_lock lock(mutex_);
  if (starts_ == nullptr && arch_ != nullptr) {
    starts_ = std::make_unique<FunctionStarts>(make_starts());
  }
  return starts_.get();
}

std::shared_ptr<const InferredNames> SymbolSources::inferred() {
  const std::scoped_lock lock(mutex_);
  return arch_ != nullptr ? inference().all() : nullptr;
}

std::optional<InferredName> SymbolSources::inferred_name(Address link) {
  const std::scoped_lock lock(mutex_);
  const InferredName* found = arch_ != nullptr ? inference().at(link) : nullptr;
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

NameInference& SymbolSources::inference() {
  if (inference_ == nullptr) {
    const NameEvidence evidence{*file_, *arch_, *table(),
                                [this]() -> const FunctionStarts& { return *starts(); },
                                [this] { return starts_ != nullptr; }};
    const KeptNames names{
        .find =
            [this](const std::string& kind) {
              const auto known = kept(kind);
              return known ? decode_names(*known) : std::nullopt;
            },
        .keep = [this](const std::string& kind,
                       std::span<const InferredName> found) { keep(kind, encode(found)); }};
    inference_ = std::make_unique<NameInference>(evidence, names);
  }
  return *inference_;
}

FunctionStarts SymbolSources::make_starts() {
  if (const auto known = kept("starts")) {
    if (auto starts = decode_starts(*known)) {
      return {*file_, std::move(*starts)};
    }
  }
  FunctionStarts starts(*file_, *arch_, *table());
  keep("starts", encode(starts.all()));
  return starts;
}

std::optional<std::vector<std::byte>> SymbolSources::kept(const std::string& kind) const {
  return kept_as_ ? find_facts(*kept_as_, kind) : std::nullopt;
}

void SymbolSources::keep(const std::string& kind, const std::vector<std::byte>& facts) const {
  if (kept_as_) {
    keep_facts(*kept_as_, kind, facts);
  }
}

std::string SymbolSources::proof_at(Address link) const {
  for (const auto& proofs : proofs_) {
    if (const auto found = proofs->find(link); found != proofs->end()) {
      return found->second;
    }
  }
  return {};
}

// Debug info goes first: it alone tells of inlined calls.
std::vector<SourceLine> SymbolSources::lines_at(Address link) {
  const std::scoped_lock lock(mutex_);
  auto found = debug_lines_.at(link);
  for (auto each = lines_.begin(); found.empty() && each != lines_.end(); ++each) {
    found = (*each)->lines_at(link);
  }
  return found;
}

void SymbolSources::keep_answers() noexcept {
  const std::scoped_lock lock(mutex_);
  debug_lines_.keep_answers();
}

std::shared_ptr<SymbolSources> symbol_sources_of(const std::shared_ptr<const ElfFile>& file,
                                                 const FileSearch& search) {
  const bool changes = !search.symbol_files.empty() || !search.signature_files.empty();
  const auto knowledge = changes ? nullptr : knowledge_of(*file);
  if (knowledge == nullptr) {
    return std::make_shared<SymbolSources>(file, search, find_debug_file(*file, search));
  }
  // The lock of each is held no longer than it takes to find the other.
  return knowledge
      ->get<std::shared_ptr<KnownSources>>([] { return std::make_shared<KnownSources>(); })
      ->get(file, search);
}

}  // namespace whocall
