#include "symbols/inferred/inferred_names.h"

#include <algorithm>
#include <array>

#include "base/interrupt.h"
#include "symbols/inferred/array_names.h"
#include "symbols/inferred/entry_names.h"
#include "symbols/inferred/message_names.h"
#include "symbols/inferred/vtable_names.h"

namespace whocall {
namespace {

// Best first: of several names for one function the first stays. A new source has its row here.
constexpr std::array<InferNames, 4> kSources = {infer_entry_names, infer_vtable_names,
                                                infer_message_names, infer_array_names};

}  // namespace

InferredNames::InferredNames(const NameEvidence& evidence) {
  for (const InferNames infer : kSources) {
    check_interrupt();
    infer(evidence, names_);
  }
  std::ranges::stable_sort(names_, {}, &InferredName::function);
  const auto is_same = [](const InferredName& left, const InferredName& right) {
    return left.function == right.function;
  };
  names_.erase(std::unique(names_.begin(), names_.end(), is_same), names_.end());
}

const InferredName* InferredNames::at(Address link) const {
  const auto found = std::ranges::lower_bound(names_, link, {}, &InferredName::function);
  return found != names_.end() && found->function == link ? &*found : nullptr;
}

}  // namespace whocall
