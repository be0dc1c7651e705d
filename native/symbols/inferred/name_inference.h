// The inferred names of one file, each source asked as late as possible.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "symbols/inferred/function_clues.h"
#include "symbols/inferred/inferred_names.h"

namespace whocall {

// Where the names that a source found in the whole file are kept for other processes.
struct KeptNames {
  std::function<std::optional<std::vector<InferredName>>(const std::string& kind)> find;
  std::function<void(const std::string& kind, std::span<const InferredName> names)> keep;
};

// One thread at a time.
class NameInference {
 public:
  NameInference(NameEvidence evidence, KeptNames kept);
  NameInference(const NameInference&) = delete;
  NameInference& operator=(const NameInference&) = delete;
  ~NameInference() = default;

  // Of the function that starts at `function` (link address); null when it has none. The same as
  // all()->at(function), but a source looks through the file only when it may have a name for this
  // very function.
  const InferredName* at(Address function);

  std::shared_ptr<const InferredNames> all();

 private:
  static constexpr std::size_t kSources = 6;
  struct Source;
  static const std::array<Source, kSources>& sources();
  const std::vector<InferredName>& names_of(std::size_t source);
  const InferredName* spelled(const InferredName& name, std::size_t source);
  std::string spell_vtable(std::string_view name);
  std::string spell_part(std::string_view name);

  NameEvidence evidence_;
  KeptNames kept_;
  FunctionClues clues_;
  std::array<std::optional<std::vector<InferredName>>, kSources> found_;  // until all_ is made
  std::map<std::pair<std::size_t, Address>, InferredName> spelled_;       // by source; the same
  std::map<Address, std::string> names_of_parts_;                         // by their function
  std::shared_ptr<const InferredNames> all_;
};

}  // namespace whocall
