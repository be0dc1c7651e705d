#include "symbols/inferred/name_inference.h"

#include <utility>

#include "base/interrupt.h"
#include "base/long_work.h"
#include "symbols/inferred/array_names.h"
#include "symbols/inferred/entry_names.h"
#include "symbols/inferred/message_names.h"
#include "symbols/inferred/part_names.h"
#include "symbols/inferred/registration_names.h"
#include "symbols/inferred/vtable_names.h"

namespace whocall {

struct NameInference::Source {
  InferNames infer;
  // Without a "yes" it has no name for a function; null where asking costs as much as inferring.
  bool (FunctionClues::*clue)(Address function);
  const char* kept_as;  // null where inferring costs no more than reading what was kept
  // Makes of a name the one that is shown; empty: it is none. Null where it is as it is.
  std::string (NameInference::*spell)(std::string_view name);
};

// Best first: of several names for one function the first stays. A new source has its row here.
const std::array<NameInference::Source, NameInference::kSources>& NameInference::sources() {
  static constexpr std::array<Source, kSources> kAll = {{
      {infer_entry_names, nullptr, nullptr, nullptr},
      {infer_vtable_names, &FunctionClues::is_pointed_to, "vtable-slots",
       &NameInference::spell_vtable},
      {infer_message_names, &FunctionClues::takes_texts, "message-names", nullptr},
      {infer_registration_names, &FunctionClues::is_pointed_to, "registrations", nullptr},
      {infer_array_names, &FunctionClues::is_pointed_to, nullptr, nullptr},
      {infer_part_names, &FunctionClues::may_be_part, "part-owners", &NameInference::spell_part},
  }};
  return kAll;
}

NameInference::NameInference(NameEvidence evidence, KeptNames kept)
    : evidence_(std::move(evidence)), kept_(std::move(kept)), clues_(evidence_) {}

const InferredName* NameInference::at(Address function) {
  if (all_ != nullptr) {
    return all_->at(function);
  }
  for (std::size_t i = 0; i < kSources; ++i) {
    const auto clue = sources()[i].clue;
    if (clue == nullptr || (clues_.*clue)(function)) {
      const InferredName* name = find_name(names_of(i), function);
      if (name != nullptr && sources()[i].spell != nullptr) {
        name = spelled(*name, i);
      }
      if (name != nullptr) {
        return name;
      }
    }
  }
  return nullptr;
}

std::shared_ptr<const InferredNames> NameInference::all() {
  if (all_ == nullptr) {
    std::vector<InferredName> names;
    for (std::size_t i = 0; i < kSources; ++i) {
      for (const InferredName& found : names_of(i)) {
        const InferredName* const name = sources()[i].spell == nullptr ? &found : spelled(found, i);
        if (name != nullptr) {
          names.push_back(*name);
        }
      }
    }
    put_in_order(names);
    all_ = std::make_shared<const InferredNames>(std::move(names));
    found_ = {};
    spelled_.clear();
    names_of_parts_.clear();
  }
  return all_;
}

// Null where it is no name.
const InferredName* NameInference::spelled(const InferredName& name, std::size_t source) {
  const auto [place, is_new] = spelled_.try_emplace({source, name.function}, name);
  InferredName& shown = place->second;
  if (is_new) {
    shown.name = (this->*sources()[source].spell)(name.name);
  }
  return shown.name.empty() ? nullptr : &shown;
}

std::string NameInference::spell_vtable(std::string_view name) { return spell_vtable_name(name); }

std::string NameInference::spell_part(std::string_view name) {
  const Address function = function_of_part(name);
  const auto [known, is_new] = names_of_parts_.try_emplace(function);
  std::string& shown = known->second;
  if (is_new) {
    const std::uint32_t index = evidence_.table.find(function);
    const auto symbol = index != SymbolTable::kNone
                            ? std::optional(evidence_.table.symbols()[index])
                            : std::nullopt;
    if (symbol && !symbol->name.empty()) {
      shown = symbol->range.begin == function ? name_of_part(symbol->name) : std::string();
    } else if (const auto* const inferred = at(evidence_.arch.code_address(function))) {
      shown = name_of_part(inferred->name);
    }
  }
  return shown;
}

const std::vector<InferredName>& NameInference::names_of(std::size_t source) {
  auto& found = found_.at(source);
  const Source& asked = sources()[source];
  if (!found && asked.kept_as != nullptr) {
    found = kept_.find(asked.kept_as);
  }
  if (!found) {
    const LongWork work("Looking for names in", evidence_.file.path());
    check_interrupt();
    std::vector<InferredName> names;
    asked.infer(evidence_, names);
    for (InferredName& name : names) {
      name.function = evidence_.arch.code_address(name.function);  // as pointers have it
    }
    put_in_order(names);
    if (asked.kept_as != nullptr) {
      kept_.keep(asked.kept_as, names);
    }
    found = std::move(names);
  }
  return *found;
}

}  // namespace whocall
