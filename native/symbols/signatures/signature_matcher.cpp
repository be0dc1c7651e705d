#include "symbols/signatures/signature_matcher.h"

#include <algorithm>
#include <map>
#include <set>

#include "symbols/signatures/signature_evidence.h"
#include "symbols/signatures/signature_gaps.h"
#include "symbols/signatures/signature_places.h"

namespace whocall {
namespace {

// Bytes that tell a section from others, when something else confirms it.
constexpr std::uint32_t kEnough = 48;
// Bytes that are proof by themselves.
// Folklore. Situation: functions of different programs are compiled to the same code. Example: a
// function with variable arguments that only passes them on is the same in syslog of musl,
// g_string_append_printf and forty others, up to 107 bytes but for what it calls. Remedy: far more
// bytes, or others that refer to it by name, or references to what only the library can use.
constexpr std::uint32_t kAlone = 256;
// Bytes by which a reference confirms where its name is defined.
constexpr std::uint32_t kConfirms = 16;
// What a reference is worth that leads where others say that its name lies, in bytes; more when
// only the library itself can use the name.
constexpr std::uint32_t kAgreement = 8;
constexpr std::uint32_t kHiddenAgreement = 16;
// A place that overlaps another and has this many times fewer bytes is a coincidence.
constexpr std::uint32_t kFarWeaker = 4;
constexpr unsigned kMostRounds = 64;

struct Candidate {
  SignaturePlace place;
  std::vector<SignatureReference> references;
  Address end = 0;
  bool open = true;
};

class Matcher {
 public:
  Matcher(const ElfFile& file, const SignatureIndex& index)
      : index_(index), set_(index.set()), program_(file, index), evidence_(index) {}

  std::vector<SignatureMatch> run() {
    gather();
    accept_strong();
    for (unsigned round = 0; round < kMostRounds; ++round) {
      const std::size_t before = accepted_.size();
      accept_named();
      accept_siblings();
      accept_corroborated();
      accept_between();
      if (accepted_.size() == before) {
        break;
      }
    }
    return names();
  }

 private:
  void gather() {
    for (const SignaturePlace& place : program_.find_places()) {
      const Address end = place.address + set_.sections[place.section].size;
      candidates_.push_back({place, program_.references(place.section, place.address), end});
      places_of_[place.section].push_back(static_cast<std::uint32_t>(candidates_.size() - 1));
      reach_.push_back(std::max(end, reach_.empty() ? 0 : reach_.back()));
    }
  }

  [[nodiscard]] bool same_names(std::uint32_t left, std::uint32_t right) const {
    const SignatureSection& one = set_.sections[left];
    const SignatureSection& other = set_.sections[right];
    if (one.size != other.size || one.functions != other.functions) {
      return false;
    }
    for (std::uint32_t i = 0; i < one.functions; ++i) {
      const SignatureFunction& a = set_.functions[one.first_function + i];
      const SignatureFunction& b = set_.functions[other.first_function + i];
      if (a.offset != b.offset || a.name != b.name) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool contradicted(const Candidate& candidate) const {
    return evidence_.agreement(candidate.place, candidate.references).other != 0;
  }

  // Whether the other one could as well be what stands there.
  [[nodiscard]] bool are_rivals(const Candidate& candidate, const Candidate& other) const {
    return other.end > candidate.place.address &&
           other.place.weight * kFarWeaker >= candidate.place.weight &&
           !(other.place.address == candidate.place.address &&
             same_names(other.place.section, candidate.place.section)) &&
           !contradicted(other);
  }

  [[nodiscard]] bool has_rival(std::size_t at) const {
    const Candidate& candidate = candidates_[at];
    for (std::size_t i = at; i > 0 && reach_[i - 1] > candidate.place.address; --i) {
      if (are_rivals(candidate, candidates_[i - 1])) {
        return true;
      }
    }
    for (std::size_t i = at + 1;
         i < candidates_.size() && candidates_[i].place.address < candidate.end; ++i) {
      if (are_rivals(candidate, candidates_[i])) {
        return true;
      }
    }
    return false;
  }

  // Whether the same section could as well stand elsewhere.
  [[nodiscard]] bool has_double(std::size_t at) const {
    const auto& others = places_of_.at(candidates_[at].place.section);
    return std::ranges::any_of(others, [&](std::uint32_t other) {
      return other != at && candidates_[other].open && !contradicted(candidates_[other]);
    });
  }

  void accept_strong() {
    std::vector<std::size_t> strong;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const SignaturePlace& place = candidates_[i].place;
      if (place.weight >= kEnough && !set_.sections[place.section].is_shared && !has_double(i) &&
          !has_rival(i)) {
        strong.push_back(i);
        evidence_.add(candidates_[i].references);
      }
    }
    std::ranges::stable_sort(strong, std::greater(),
                             [&](std::size_t i) { return candidates_[i].place.weight; });
    std::erase_if(strong, [&](std::size_t i) {
      return contradicted(candidates_[i]) || !is_confirmed(candidates_[i]);
    });
    evidence_.clear();
    for (const std::size_t i : strong) {
      accept(candidates_[i]);
    }
  }

  // Whether another one says so too, or a name leads where it should that only the library can use.
  [[nodiscard]] bool is_confirmed(const Candidate& candidate) const {
    return candidate.place.weight >= kAlone ||
           evidence_.is_called(candidate.place, candidate.references) ||
           std::ranges::any_of(candidate.references, [&](const SignatureReference& each) {
             return set_.symbols[each.symbol].is_hidden &&
                    program_.leads_to_definition(each, kConfirms);
           });
  }

  // Whether its library lies on both sides of it: the linker puts all that it takes from one
  // library together, so what the program has of its own is elsewhere.
  [[nodiscard]] bool is_enclosed(const Candidate& candidate) const {
    const auto behind = accepted_.lower_bound(candidate.place.address);
    if (behind == accepted_.end() || behind == accepted_.begin()) {
      return false;
    }
    const std::uint32_t section = candidate.place.section;
    return index_.stay_together(section, behind->second.section) &&
           index_.stay_together(section, std::prev(behind)->second.section);
  }

  bool is_free(Address begin, Address end) const {
    const auto next = accepted_.lower_bound(begin);
    return (next == accepted_.end() || next->first >= end) &&
           (next == accepted_.begin() || std::prev(next)->second.end <= begin);
  }

  void accept(Candidate& candidate) {
    const Address begin = candidate.place.address;
    candidate.open = false;
    if (is_linked_.contains(candidate.place.section) || !is_free(begin, candidate.end)) {
      return;
    }
    accepted_.emplace(begin, AcceptedSection{candidate.place.section, candidate.end});
    is_linked_.insert(candidate.place.section);
    evidence_.define(candidate.place);
    evidence_.add(candidate.references);
    for (const SignatureReference& each : candidate.references) {
      const SignatureSymbol& symbol = set_.symbols[each.symbol];
      if (symbol.name == 0 && symbol.section != kNoSignature && each.is_direct) {
        const Address said = each.target - symbol.offset;
        siblings_.emplace_back(symbol.section, said);
        said_.emplace(symbol.section, said);
      }
    }
  }

  // Accepts the section where it is said to stand, if it does.
  void accept_at(std::uint32_t section, Address address) {
    const Address end = address + set_.sections[section].size;
    if (is_linked_.contains(section) || !is_free(address, end) ||
        !tried_.emplace(section, address).second) {
      return;
    }
    if (const auto place = program_.place_at(section, address)) {
      Candidate candidate{*place, program_.references(section, address), end};
      if (contradicted(candidate)) {
        tried_.erase({section, address});
      } else {
        accept(candidate);
      }
    }
  }

  void accept_named() {
    for (const auto& named : evidence_.named_places()) {
      for (const std::uint32_t symbol : index_.definitions(named.name)) {
        const SignatureSymbol& definition = set_.symbols[symbol];
        if (!definition.is_indirect) {
          accept_at(definition.section, named.address - definition.offset);
        }
      }
    }
  }

  // Sections of one member refer to each other without names.
  void accept_siblings() {
    while (!siblings_.empty()) {
      const auto [section, address] = siblings_.back();
      siblings_.pop_back();
      accept_at(section, address);
    }
  }

  void accept_corroborated() {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& candidate = candidates_[i];
      const SignaturePlace& place = candidate.place;
      if (!candidate.open || is_linked_.contains(place.section) ||
          set_.sections[place.section].is_shared || !is_free(place.address, candidate.end)) {
        continue;
      }
      if (is_corroborated(candidate) && !has_double(i) && !has_rival(i)) {
        accept(candidate);
      }
    }
  }

  [[nodiscard]] bool is_corroborated(const Candidate& candidate) const {
    const auto agreement = evidence_.agreement(candidate.place, candidate.references);
    const std::uint32_t worth = candidate.place.weight + kAgreement * agreement.same +
                                (kHiddenAgreement - kAgreement) * agreement.hidden;
    return agreement.other == 0 && worth >= kEnough &&
           (candidate.place.weight >= kAlone ||
            evidence_.is_called(candidate.place, candidate.references) ||
            (calls_are_proved(program_, evidence_, candidate.references) &&
             (agreement.hidden != 0 || is_enclosed(candidate))));
  }

  void accept_between() {
    const SignatureGaps gaps(index_, program_, evidence_, is_linked_);
    for (const SignaturePlace& place : gaps.fill(accepted_)) {
      accept_at(place.section, place.address);
    }
  }

  // A weak name may lie elsewhere: somebody else may define it as well.
  [[nodiscard]] SignatureText name_of(const SignatureFunction& function, Address start) const {
    const bool certain = function.sure_name == 0 || evidence_.address_of(function.name) == start;
    return certain ? function.name : function.sure_name;
  }

  // Folklore. Situation: two members have a section with the same code. Example: the unlikely parts
  // of libstdc++'s two __verify_grouping, of which the one filled the gap that belongs to the
  // other, before the function that jumps to it was found. Remedy: what its own member says, though
  // later.
  [[nodiscard]] bool is_said_elsewhere(std::uint32_t section, Address address) const {
    const auto said = said_.lower_bound({section, 0});
    return said != said_.end() && said->first == section && !said_.contains({section, address});
  }

  std::vector<SignatureMatch> names() const {
    std::map<Address, SignatureMatch> found;
    for (const auto& [address, accepted] : accepted_) {
      if (is_said_elsewhere(accepted.section, address)) {
        continue;
      }
      const SignatureSection& section = set_.sections[accepted.section];
      for (std::uint32_t i = 0; i < section.functions; ++i) {
        const SignatureFunction& each = set_.functions[section.first_function + i];
        const Address start = address + each.offset;
        const SignatureText name = name_of(each, start);
        found.emplace(start, SignatureMatch{{start, start + each.size}, name, accepted.section});
      }
    }
    add_called(found);
    std::vector<SignatureMatch> matches;
    matches.reserve(found.size());
    for (const auto& [address, match] : found) {
      matches.push_back(match);
    }
    return matches;
  }

  // Whether the libraries have such a name, but only of places within functions: what jumps there
  // says nothing of a function.
  [[nodiscard]] bool is_label(SignatureText name) const {
    const auto definitions = index_.definitions(name);
    return !definitions.empty() && std::ranges::none_of(definitions, [&](std::uint32_t symbol) {
      const SignatureSymbol& defined = set_.symbols[symbol];
      return index_.begins_function(defined.section, defined.offset);
    });
  }

  // Functions whose code is not that of the libraries, but that these call by name.
  void add_called(std::map<Address, SignatureMatch>& found) const {
    for (const auto& named : evidence_.named_places()) {
      const bool own = !index_.definitions(named.name).empty();
      if (!named.is_code || named.voices < (own ? 2U : 1U) || !program_.is_code(named.address) ||
          program_.is_stub(named.address) || !is_free(named.address, named.address + 1) ||
          is_label(named.name)) {
        continue;
      }
      const auto [entry, is_new] =
          found.emplace(named.address, SignatureMatch{{named.address, named.address}, named.name});
      const std::string_view old = set_.text(entry->second.name);
      const std::string_view name = set_.text(named.name);
      if (!is_new && std::pair(name.size(), name) < std::pair(old.size(), old)) {
        entry->second.name = named.name;
      }
    }
  }

  const SignatureIndex& index_;
  const SignatureSet& set_;
  SignatureProgram program_;
  SignatureEvidence evidence_;
  std::vector<Candidate> candidates_;  // ascending by address
  std::vector<Address> reach_;         // the farthest end of each one and those before it
  std::map<std::uint32_t, std::vector<std::uint32_t>> places_of_;
  AcceptedSections accepted_;
  std::set<std::uint32_t> is_linked_;  // sections: each is linked once
  std::set<std::pair<std::uint32_t, Address>> tried_;
  std::vector<std::pair<std::uint32_t, Address>> siblings_;
  std::set<std::pair<std::uint32_t, Address>> said_;  // all that siblings_ ever held
};

}  // namespace

std::vector<SignatureMatch> match_signatures(const ElfFile& file, const SignatureIndex& index) {
  return Matcher(file, index).run();
}

}  // namespace whocall
