#include "symbols/inferred_names.h"

#include <array>
#include <utility>

#include "base/interrupt.h"
#include "symbols/array_names.h"
#include "symbols/entry_names.h"
#include "symbols/message_names.h"
#include "symbols/vtable_names.h"

namespace whocall {
namespace {

// Best first: of several names for one function the first stays. A new source has its row here.
constexpr std::array<InferNames, 4> kSources = {infer_entry_names, infer_vtable_names,
                                                infer_message_names, infer_array_names};

}  // namespace

InferredNames::InferredNames(const NameEvidence& evidence) {
  for (const InferNames infer : kSources) {
    check_interrupt();
    std::vector<InferredName> found;
    infer(evidence, found);
    for (InferredName& each : found) {
      const Address function = each.function;
      names_.try_emplace(function, std::move(each));
    }
  }
}

const InferredName* InferredNames::at(Address link) const {
  const auto found = names_.find(link);
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace whocall
