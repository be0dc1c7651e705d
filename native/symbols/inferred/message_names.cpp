#include "symbols/inferred/message_names.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "symbols/inferred/bounded_reachability.h"
#include "symbols/inferred/message_calls.h"
#include "symbols/inferred/message_text.h"
#include "symbols/table/demangler.h"

namespace whocall {
namespace {

// What one function, its parts included, says.
struct Claim {
  std::set<std::string_view> texts;
  std::unordered_set<Address> sites;
  std::set<Address> parts;  // that say it
  std::string callee;
  bool in_header = false;
};

class MessageJudge {
 public:
  MessageJudge(const NameEvidence& evidence, std::vector<MessageCall> calls)
      : evidence_(evidence), calls_(std::move(calls)), early_(evidence.file, evidence.arch) {}

  void run(std::vector<InferredName>& names) {
    collect();
    read_symbols();
    // Compilers make as many starts of parts as there are failures.
    const std::size_t all = evidence_.starts().all().size() - parts_.size();
    limits_ = 10 * claims_.size() >= 4 * all ? kWhereMostReport : kElsewhere;
    for (const auto& [function, claim] : claims_) {
      if (claim.texts.size() == 1 && !claim.in_header) {
        judge(function, claim, names);
      }
    }
  }

 private:
  void collect() {
    for (const MessageCall& call : calls_) {
      const PartOwner& owner = call.owner;
      Claim& claim = claims_[owner.function];
      claim.texts.insert(call.text);
      claim.sites.insert(call.site);
      claim.callee = call.callee;
      claim.in_header = claim.in_header || call.in_header;
      if (owner.kind == PartKind::part && owner.whole) {
        claim.parts.insert(call.start);
        parts_.insert(call.start);
      } else if (owner.kind == PartKind::unclear) {
        unclear_.insert(owner.function);
      }
      functions_[call.text].insert(owner.function);
    }
  }

  void read_symbols() {
    for (const Symbol& symbol : evidence_.table.symbols()) {
      if (!symbol.name.empty()) {
        symbols_.try_emplace(symbol.range.begin, symbol.name);
        known_.insert(function_in_demangled(demangle(symbol.name)));
      }
    }
  }

  void judge(Address function, const Claim& claim, std::vector<InferredName>& names) {
    const std::string_view text = *claim.texts.begin();
    const auto name = function_in_message(text);
    if (!name || functions_.at(text).size() != 1 || unclear_.contains(function)) {
      return;
    }
    const auto symbol = symbols_.find(function);
    if (symbol != symbols_.end()) {
      if (symbol->second == *name) {
        add_parts(claim, *name, names);
      }
      return;
    }
    if (known_.contains(*name) || !early_.reaches(function, claim.sites, limits_)) {
      return;
    }
    names.push_back({function, *name, NameSource::message, proof_of(claim)});
    add_parts(claim, *name, names);
  }

  // gcc calls the part of f that it put elsewhere f.cold.
  void add_parts(const Claim& claim, const std::string& name, std::vector<InferredName>& names) {
    if (!is_identifier(name)) {
      return;
    }
    for (const Address part : claim.parts) {
      if (!symbols_.contains(part)) {
        names.push_back({part, name + ".cold", NameSource::message, proof_of(claim)});
      }
    }
  }

  static std::string proof_of(const Claim& claim) {
    return "the name that it passes to " + claim.callee;
  }

  static constexpr ReachabilityLimits kWhereMostReport{
      .branches = 2, .calls = 1, .instructions = 256};
  static constexpr ReachabilityLimits kElsewhere{.branches = 1, .calls = 0, .instructions = 24};

  const NameEvidence& evidence_;
  ReachabilityLimits limits_ = kElsewhere;
  std::vector<MessageCall> calls_;
  BoundedReachability early_;
  std::map<Address, Claim> claims_;
  std::set<Address> parts_;                                  // of all claims
  std::map<std::string_view, std::set<Address>> functions_;  // by text
  std::set<Address> unclear_;
  std::unordered_map<Address, std::string_view> symbols_;
  std::unordered_set<std::string> known_;
};

}  // namespace

void infer_message_names(const NameEvidence& evidence, std::vector<InferredName>& names) {
  const Architecture& arch = evidence.arch;
  if (arch.code.append_constant_addresses == nullptr || arch.code.make_decoder == nullptr) {
    return;
  }
  if (std::vector<MessageCall> calls = message_calls(evidence); !calls.empty()) {
    MessageJudge(evidence, std::move(calls)).run(names);
  }
}

}  // namespace whocall
