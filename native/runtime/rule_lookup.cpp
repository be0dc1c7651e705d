#include "runtime/rule_lookup.h"

#include "rules/cfi_rule.h"
#include "runtime/debug_files.h"
#include "runtime/machine.h"
#include "runtime/mapped_modules.h"

namespace whocall::runtime {
namespace {

using rules::FrameRule;

RuleCache cache;

FrameRule found_rule(std::uintptr_t lookup, bool thorough) {
  Module module;
  if (!find_file(lookup, thorough, module)) {
    return {};
  }
  // ARM's index is asked first, which is no table of rules.
  if (module.tables.entries != 0) {
    return {};
  }
  rules::WholeDescription description;
  const bool covered =
      module.tables.header != 0 && rules::find_description(module.tables, lookup, description);
  return covered ? rules::rule_at(description, kRegisters, lookup) : rule_ahead(module, lookup);
}

}  // namespace

RuleCache& known_rules() { return cache; }

bool find_file(std::uintptr_t address, bool thorough, Module& module) {
  return find_module(address, module) || (thorough && find_mapped_module(address, module));
}

FrameRule rule_ahead(const Module& module, std::uintptr_t lookup) {
  const KnownFile* const known = known_file(module);
  const std::uintptr_t place = lookup - module.bias;
  rules::WholeDescription description;
  if (known == nullptr) {
    return {};
  }
  const bool is_own = rules::find_description(known->loaded, place, description);
  if (!is_own && !rules::find_description(known->frames, place, description)) {
    return {};
  }
  FrameRule rule = rules::rule_at(description, kRegisters, place);
  rule.by_analysis = !is_own && known->analysed;
  rule.from_disk = true;
  return rule;
}

FrameRule rule_at(std::uintptr_t address, bool exact, bool thorough) {
  if (exact) {
    return found_rule(address, thorough);
  }
  // A cached rule is held against the code before its address, which has to be there: on a damaged
  // stack may stand an address in a library that was closed.
  Module module;
  if (thorough && !find_file(address - 1, thorough, module)) {
    return {};
  }
  rules::ShortRule kept;
  if (address > RuleCache::kWritten && cache.find(address, kept)) {
    return rules::lengthened(kept);
  }
  const FrameRule rule = found_rule(address - 1, thorough);
  if ((rule.cfa != FrameRule::Cfa::none || rule.signal_frame) && rules::shortened(rule, kept)) {
    cache.put(address, kept);
  }
  return rule;
}

void forget_rules() { cache.clear(); }

}  // namespace whocall::runtime
