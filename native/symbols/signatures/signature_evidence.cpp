#include "symbols/signatures/signature_evidence.h"

#include <algorithm>
#include <set>

namespace whocall {

void SignatureEvidence::vote(SignatureText name, Address address, bool is_code) {
  auto& votes = votes_[name];
  auto found = std::ranges::find(votes, address, &Vote::address);
  if (found == votes.end()) {
    found = votes.insert(votes.end(), {.address = address});
  }
  ++found->voices;
  found->is_code = found->is_code || is_code;
}

// Calls of such a function go to a stub that the linker makes, not to the function that chooses.
bool SignatureEvidence::is_indirect(SignatureText name) const {
  return std::ranges::any_of(index_.definitions(name), [&](std::uint32_t symbol) {
    return index_.set().symbols[symbol].is_indirect;
  });
}

void SignatureEvidence::add(const std::vector<SignatureReference>& references) {
  std::set<std::pair<SignatureText, Address>> said;
  for (const SignatureReference& each : references) {
    const SignatureText name = index_.set().symbols[each.symbol].name;
    if (name != 0 && each.is_direct && !is_indirect(name)) {
      if (said.emplace(name, each.target).second) {
        vote(name, each.target, each.is_branch);
      } else if (each.is_branch) {
        std::ranges::find(votes_[name], each.target, &Vote::address)->is_code = true;
      }
    }
  }
}

const SignatureEvidence::Vote* SignatureEvidence::winner(const std::vector<Vote>& votes) const {
  std::uint32_t all = 0;
  const Vote* best = nullptr;
  for (const Vote& each : votes) {
    all += each.voices;
    best = best == nullptr || each.voices > best->voices ? &each : best;
  }
  return best != nullptr && 2 * best->voices > all ? best : nullptr;
}

void SignatureEvidence::define(const SignaturePlace& place) {
  sections_.emplace(place.address, place.section);
  for (const std::uint32_t symbol : index_.defined_by(place.section)) {
    const SignatureSymbol& defined = index_.set().symbols[symbol];
    if (!defined.is_indirect && !defined.is_weak) {
      defined_.emplace(defined.name, place.address + defined.offset);
    }
  }
}

// Whether a section stands at the target that has no such name there.
bool SignatureEvidence::is_another(const SignatureSymbol& symbol, Address target) const {
  const auto next = sections_.upper_bound(target);
  if (next == sections_.begin()) {
    return false;
  }
  const auto& [address, section] = *std::prev(next);
  const Address offset = target - address;
  if (offset >= index_.set().sections[section].size) {
    return false;
  }
  return std::ranges::none_of(index_.defined_by(section), [&](std::uint32_t each) {
    const SignatureSymbol& defined = index_.set().symbols[each];
    return defined.name == symbol.name && defined.offset == offset;
  });
}

bool SignatureEvidence::is_called(const SignaturePlace& place,
                                  const std::vector<SignatureReference>& references) const {
  return std::ranges::any_of(index_.defined_by(place.section), [&](std::uint32_t symbol) {
    const SignatureSymbol& defined = index_.set().symbols[symbol];
    const bool by_itself = std::ranges::any_of(references, [&](const SignatureReference& each) {
      return index_.set().symbols[each.symbol].name == defined.name;
    });
    const auto votes = votes_.find(defined.name);
    const Vote* best = by_itself || votes == votes_.end() ? nullptr : winner(votes->second);
    return best != nullptr && best->address == place.address + defined.offset;
  });
}

std::optional<Address> SignatureEvidence::address_of(SignatureText name) const {
  if (const auto defined = defined_.find(name); defined != defined_.end()) {
    return defined->second;
  }
  const auto found = votes_.find(name);
  const Vote* best = found == votes_.end() ? nullptr : winner(found->second);
  return best == nullptr ? std::nullopt : std::optional(best->address);
}

SignatureEvidence::Agreement SignatureEvidence::agreement(
    const SignaturePlace& place, const std::vector<SignatureReference>& references) const {
  Agreement found;
  std::set<SignatureText> said;
  for (const SignatureReference& each : references) {
    const SignatureSymbol& symbol = index_.set().symbols[each.symbol];
    if (symbol.name == 0 || symbol.is_indirect || !said.insert(symbol.name).second) {
      continue;
    }
    const auto known = address_of(symbol.name);
    if (known && *known == each.target) {
      ++found.same;
      found.hidden += symbol.is_hidden ? 1U : 0U;
    } else if ((known || is_another(symbol, each.target)) && each.is_direct) {
      ++found.other;
    }
  }
  for (const std::uint32_t symbol : index_.defined_by(place.section)) {
    const SignatureSymbol& defined = index_.set().symbols[symbol];
    const auto known =
        defined.is_indirect || defined.is_weak ? std::nullopt : address_of(defined.name);
    if (known && *known != place.address + defined.offset) {
      ++found.other;
    }
  }
  return found;
}

bool calls_are_proved(const SignatureProgram& program, const SignatureEvidence& evidence,
                      const std::vector<SignatureReference>& references) {
  bool calls = false;
  bool proved = false;
  for (const SignatureReference& each : references) {
    const SignatureSymbol& symbol = evidence.index().set().symbols[each.symbol];
    if (symbol.name == 0 || !each.is_direct || evidence.is_indirect(symbol.name)) {
      continue;
    }
    const bool known = evidence.address_of(symbol.name) == each.target;
    const bool has_code = !evidence.index().definitions(symbol.name).empty();
    if (!known && has_code && !program.leads_to_definition(each, 0)) {
      return false;
    }
    calls = calls || each.is_branch;
    proved = proved || ((known || has_code) && each.is_branch);
  }
  return proved || !calls;
}

std::vector<SignatureEvidence::NamedPlace> SignatureEvidence::named_places() const {
  std::vector<NamedPlace> places;
  for (const auto& [name, votes] : votes_) {
    if (const Vote* best = winner(votes)) {
      places.push_back({name, best->address, best->voices, best->is_code});
    }
  }
  std::ranges::sort(places, {}, &NamedPlace::name);
  return places;
}

}  // namespace whocall
