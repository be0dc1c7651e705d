#include "symbols/companions.h"

#include <utility>

#include "object/mini_debug_info.h"
#include "symbols/external/symbol_files.h"
#include "symbols/languages/go_names.h"
#include "symbols/languages/objc_methods.h"
#include "symbols/languages/ocaml_names.h"
#include "symbols/signatures/signature_names.h"

namespace whocall {
Companions companions_of(const ElfFile& file, const FileSearch& search, DebugFile debug) {
  Companions companions;
  if (debug.file != nullptr) {
    companions.files.push_back({std::move(debug.file), NameSource::debug_file});
  }
  companions.remark = std::move(debug.remark);
  const MiniDebugInfo& packed = mini_debug_info_of(file);
  if (packed.file != nullptr) {
    companions.files.push_back({packed.file, NameSource::gnu_debugdata});
  }
  SymbolLists given = symbol_lists_of(file, search);
  companions.lists = std::move(given.lists);
  std::string damage;
  if (auto names = go_names(file, damage)) {
    companions.lists.push_back(std::move(*names));
  }
  for (auto* const names_of : {objc_methods, ocaml_names}) {
    if (auto names = names_of(file)) {
      companions.lists.push_back(std::move(*names));
    }
  }
  for (const std::string& sentence : {packed.remark, given.remark, damage}) {
    if (!sentence.empty()) {
      companions.remark += (companions.remark.empty() ? "" : " ") + sentence;
    }
  }
  if (auto list = signature_names(file, search, companions)) {
    companions.lists.push_back(std::move(*list));
  }
  return companions;
}

}  // namespace whocall
