#include "symbols/signatures/signature_gaps.h"

#include <algorithm>

namespace whocall {
namespace {

constexpr Address kLargestGap = 4096;  // bytes
constexpr std::size_t kLongestRow = 8;
constexpr unsigned kMostSteps = 64;
// Sections without contents may raise the alignment of what follows up to this, as a rule.
constexpr Address kUsualAlignment = 16;
constexpr Address kLargestAlignment = 64;

Address aligned(Address address, Address alignment) {
  return (address + alignment - 1) & ~(alignment - 1);
}

}  // namespace

struct SignatureGaps::Search {
  Address end = 0;            // where the neighbour behind begins
  Address end_alignment = 1;  // its alignment
  std::uint32_t before = 0;   // the sections of the neighbours
  std::uint32_t behind = 0;
  unsigned steps = 0;
  Row row{};
  std::vector<Row> rows{};        // all that fill the room
  std::vector<Row> continuing{};  // of these, those that go on with the neighbours' members
};

SignatureGaps::SignatureGaps(const SignatureIndex& index, const SignatureProgram& program,
                             const SignatureEvidence& evidence,
                             const std::set<std::uint32_t>& linked)
    : index_(index), set_(index.set()), program_(program), evidence_(evidence), linked_(linked) {
  for (std::uint32_t i = 0; i < set_.sections.size(); ++i) {
    const auto fixed = index_.fixed(i);
    if (set_.sections[i].is_shared || linked.contains(i)) {
      continue;
    }
    if (!fixed.empty() && fixed.front().begin == 0) {
      by_first_byte_[std::to_integer<std::size_t>(set_.bytes[set_.sections[i].code])].push_back(i);
    } else {
      others_.push_back(i);
    }
  }
}

std::vector<SignaturePlace> SignatureGaps::fill(const AcceptedSections& accepted) const {
  std::vector<SignaturePlace> found;
  for (auto before = accepted.begin(); before != accepted.end(); ++before) {
    const auto behind = std::next(before);
    if (behind == accepted.end()) {
      break;
    }
    const Address begin = before->second.end;
    Search search;
    search.end = behind->first;
    search.end_alignment = set_.sections[behind->second.section].alignment;
    search.before = before->second.section;
    search.behind = behind->second.section;
    if (begin >= search.end || search.end - begin > kLargestGap ||
        !index_.stay_together(search.before, search.behind)) {
      continue;
    }
    extend(search, begin);
    if (const Row* row = best_of(search)) {
      found.insert(found.end(), row->begin(), row->end());
    }
  }
  return found;
}

const SignatureGaps::Row* SignatureGaps::best_of(const Search& search) {
  if (search.steps >= kMostSteps) {
    return nullptr;
  }
  return search.rows.size() == 1         ? &search.rows.front()
         : search.continuing.size() == 1 ? &search.continuing.front()
                                         : nullptr;
}

bool SignatureGaps::is_contradicted(const SignaturePlace& place) const {
  const auto references = program_.references(place.section, place.address);
  return evidence_.agreement(place, references).other != 0 ||
         !calls_are_proved(program_, evidence_, references);
}

// A member is linked as a whole, but for sections that nothing refers to.
// Folklore. Situation: the part of a function that the compiler took for unlikely is one call.
// Example: "call abort" of any function fits wherever another one's should stand. Remedy: something
// else of the same member has to be known.
bool SignatureGaps::are_of_linked_members(const Row& row) const {
  return std::ranges::all_of(row, [&](const SignaturePlace& place) {
    const auto siblings = index_.sections_of(set_.sections[place.section].member);
    return siblings.size() == 1 || std::ranges::any_of(siblings, [&](std::uint32_t each) {
             return each != place.section &&
                    (linked_.contains(each) ||
                     std::ranges::find(row, each, &SignaturePlace::section) != row.end());
           });
  });
}

// Sections of one member follow each other in the set as they do in the member.
bool SignatureGaps::goes_on(const Search& search) const {
  std::uint32_t last = search.before;
  const auto member = [&](std::uint32_t section) { return set_.sections[section].member; };
  for (const SignaturePlace& place : search.row) {
    const bool of_before = member(place.section) == member(search.before) && place.section > last;
    const bool of_behind = member(place.section) == member(search.behind) &&
                           place.section < search.behind &&
                           (member(last) != member(search.behind) || place.section > last);
    if (!of_before && !of_behind) {
      return false;
    }
    last = place.section;
  }
  return true;
}

void SignatureGaps::extend(Search& search, Address at) const {
  if (search.end >= at && program_.is_padding({at, search.end}) &&
      (aligned(at, search.end_alignment) == search.end ||
       aligned(at, kUsualAlignment) == search.end)) {
    if (!search.row.empty() && are_of_linked_members(search.row)) {
      search.rows.push_back(search.row);
      if (goes_on(search)) {
        search.continuing.push_back(search.row);
      }
    }
    return;
  }
  if (search.row.size() >= kLongestRow) {
    return;
  }
  Address last = ~Address{0};
  for (Address alignment = 1; alignment <= kLargestAlignment; alignment *= 2) {
    const Address place = aligned(at, alignment);
    const auto first = place < search.end ? program_.byte_at(place) : std::nullopt;
    if (first && place != last && program_.is_padding({at, place})) {
      try_sections(search, by_first_byte_[*first], at, place);
      try_sections(search, others_, at, place);
    }
    last = place;
  }
}

void SignatureGaps::try_sections(Search& search, const std::vector<std::uint32_t>& sections,
                                 Address at, Address place) const {
  for (const std::uint32_t section : sections) {
    const SignatureSection& wanted = set_.sections[section];
    const Address alignment = wanted.alignment;
    const bool may_stand = aligned(at, alignment) == place ||
                           aligned(at, std::max(alignment, kUsualAlignment)) == place;
    if (!may_stand || place + wanted.size > search.end ||
        !index_.stay_together(section, search.behind) ||
        std::ranges::find(search.row, section, &SignaturePlace::section) != search.row.end()) {
      continue;
    }
    const auto found = program_.place_at(section, place);
    if (!found || is_contradicted(*found) || ++search.steps >= kMostSteps) {
      continue;
    }
    search.row.push_back(*found);
    extend(search, place + wanted.size);
    search.row.pop_back();
  }
}

}  // namespace whocall
