#include "symbols/discovery/part_parents.h"

#include <algorithm>
#include <utility>

#include "arch/instruction.h"
#include "object/call_frame_info.h"
#include "object/elf_decoder.h"
#include "object/lsda.h"
#include "object/mini_debug_info.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

// Whether an unwind table says where what begins there ends.
bool is_delimited(StartEvidenceSet evidence) { return evidence.has(StartEvidence::fde); }

// Where exceptions of the function at `function` land.
std::vector<LandingPad> landing_pads_at(const ElfFile& file, Address function, std::size_t& left) {
  for (const CallFrameInfo* tables : frame_tables_of(file)) {
    if (const auto entry = tables != nullptr ? tables->find(function) : std::nullopt) {
      return landing_pads_of(file, *entry, left);
    }
  }
  return {};
}

}  // namespace

PartParents::PartParents(const ElfFile& file, const Architecture& arch,
                         const FunctionStarts& starts, std::span<const Address> wanted)
    : file_(file),
      arch_(arch),
      starts_(starts),
      depths_(file, arch),
      table_calls_left_(kMostTableCalls) {
  std::size_t functions = 0;
  std::size_t aligned = 0;
  for (const FunctionStart& start : starts.all()) {
    if (start.evidence.is_function()) {
      ++functions;
      aligned += start.address % arch.code.function_alignment == 0 ? 1 : 0;
    }
  }
  functions_are_aligned_ = 4 * aligned >= 3 * functions;
  if (arch.code.append_direct_jumps != nullptr) {
    find_jumps(wanted);
  }
}

bool PartParents::may_hold_parts(Address start) const {
  const StartEvidenceSet evidence = starts_.evidence_at(start);
  return !evidence.is_function() || !is_delimited(evidence);
}

void PartParents::find_jumps(std::span<const Address> wanted) {
  AddressRange hull{~Address{0}, 0};
  for (const Address start : wanted) {
    const auto range = starts_.function_at(start);
    if (range && may_hold_parts(start)) {
      entries_.try_emplace(start);
      hull = {std::min(hull.begin, range->begin), std::max(hull.end, range->end)};
    }
  }
  if (hull.empty()) {
    return;
  }
  std::vector<DirectJump> jumps;
  for (const AddressRange& area : code_areas(file_)) {
    const ByteView code = file_.at(area.begin);
    if (const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()))) {
      arch_.code.append_direct_jumps(*inside, area.begin, hull, jumps);
    }
  }
  for (const DirectJump& jump : jumps) {
    const auto to = starts_.function_at(jump.target);
    const auto known = to ? entries_.find(to->begin) : entries_.end();
    const auto from = known != entries_.end() ? starts_.function_at(jump.source) : std::nullopt;
    if (from && *from != *to) {
      known->second.sources[jump.target].insert(from->begin);
      known->second.only_at_start = known->second.only_at_start && jump.target == to->begin;
    }
  }
}

std::set<Address> PartParents::Entries::all_sources() const {
  std::set<Address> all;
  for (const auto& [target, from] : sources) {
    all.insert(from.begin(), from.end());
  }
  return all;
}

// Right before them only calls stand that never return.
std::set<Address> PartParents::Entries::targets() const {
  std::set<Address> all;
  for (const auto& [target, from] : sources) {
    all.insert(target);
  }
  return all;
}

PartOwner PartParents::owner_of(const PlaceInPart& place) {
  const Address start = place.start;
  const auto found = entries_.find(start);
  if (found == entries_.end() || found->second.sources.empty()) {
    return {PartKind::function, start};
  }
  const Entries& entries = found->second;
  if (const auto proven = proven_owner(place, entries)) {
    return *proven;
  }
  if (starts_.evidence_at(start).is_function()) {
    return {PartKind::function, start};
  }
  const std::set<Address> sources = entries.all_sources();
  if (sources.size() != 1) {
    return {entries.only_at_start ? PartKind::function : PartKind::unclear, start};
  }
  if (entries.only_at_start && is_straight(*sources.begin(), start)) {
    return {PartKind::function, start};
  }
  const bool is_part = is_delimited(starts_.evidence_at(start)) &&
                       !(entries.only_at_start && may_be_function(start));
  return is_part ? PartOwner{PartKind::part, *sources.begin()}
                 : PartOwner{PartKind::unclear, start};
}

bool PartParents::may_be_function(Address start) const {
  return !functions_are_aligned_ || start % arch_.code.function_alignment == 0;
}

// By the nearest entry before the call to which somebody really jumps.
std::optional<PartOwner> PartParents::proven_owner(const PlaceInPart& place,
                                                   const Entries& entries) {
  const bool is_function = starts_.evidence_at(place.start).is_function();
  auto next = entries.sources.upper_bound(place.site);
  while (next != entries.sources.begin()) {
    const auto& [entry, sources] = *--next;
    if (is_function && (entry == place.start || goes_on_to(place.start, entry, entries))) {
      return std::nullopt;
    }
    const std::set<Address> jumping = really_jumping(entry, sources);
    if (jumping.empty()) {
      continue;  // bytes of other instructions
    }
    const auto owner =
        leads_to(entry, place, entries) ? proven_source(entry, place, jumping) : std::nullopt;
    const bool whole = !is_function && entries.all_sources().size() == 1;
    return owner ? std::optional(PartOwner{PartKind::part, *owner, whole}) : std::nullopt;
  }
  return std::nullopt;
}

std::set<Address> PartParents::jumping_to(Address start) {
  std::set<Address> all;
  const auto found = entries_.find(start);
  if (found != entries_.end()) {
    for (const auto& [entry, sources] : found->second.sources) {
      all.merge(really_jumping(entry, sources));
    }
  }
  return all;
}

// Without those whose code has that jump only among the bytes of other instructions.
std::set<Address> PartParents::really_jumping(Address entry, const std::set<Address>& sources) {
  std::set<Address> jumping;
  for (const Address source : sources) {
    const JumpsOut& jumps = jumps_of(source);
    if (jumps.depths.contains(entry) || !jumps.complete) {
      jumping.insert(source);
    }
  }
  return jumping;
}

std::optional<Address> PartParents::proven_source(Address entry, const PlaceInPart& place,
                                                  const std::set<Address>& sources) {
  if (sources.size() != 1) {
    return std::nullopt;
  }
  const JumpsOut& jumps = jumps_of(*sources.begin());
  const auto jump = jumps.depths.find(entry);
  if (jump == jumps.depths.end()) {
    return std::nullopt;
  }
  const bool leaves_something = jump->second && *jump->second != 0;
  const bool only_fails = place.never_returns && is_straight(entry, place.site) &&
                          !is_straight(*sources.begin(), entry);
  return leaves_something || only_fails ? std::optional(*sources.begin()) : std::nullopt;
}

// Whether the code of the function at `start` itself reaches `entry`, a place inside it.
bool PartParents::goes_on_to(Address start, Address entry, const Entries& entries) {
  const auto range = starts_.function_at(start);
  const JumpsOut jumps = depths_.follow(start, *range, entries.targets());
  return jumps.reached.contains(entry) || !jumps.complete;
}

bool PartParents::leads_to(Address entry, const PlaceInPart& place, const Entries& entries) {
  const auto range = starts_.function_at(place.start);
  return depths_.follow(entry, *range, entries.targets()).reached.contains(place.site);
}

// Whether what begins at `entry` goes to `site` and nowhere else, without a call before it.
bool PartParents::is_straight(Address entry, Address site) const {
  constexpr unsigned kLongest = 64;  // instructions
  const auto decoder = decoder_for(file_, arch_);
  Address at = entry;
  for (unsigned steps = 0; at != site && steps < kLongest; ++steps) {
    const auto instruction = decoder->decode(file_.at(at), at);
    if (!instruction) {
      return false;
    }
    if (instruction->flow == Instruction::Flow::jump) {
      at = *instruction->target;
    } else if (instruction->flow == Instruction::Flow::next) {
      at += instruction->size;
    } else {
      return false;
    }
  }
  return at == site;
}

// Folklore. Situation: no jump leads to where an exception lands. Example: gcc has each part of a
// function land within itself, so the landing pad of the hot part is a jump to the cold one, behind
// the function's last return. Remedy: the code is followed from there as well, the stack unknown.
const JumpsOut& PartParents::jumps_of(Address function) {
  const auto known = jumps_.find(function);
  if (known != jumps_.end()) {
    return known->second;
  }
  const auto range = starts_.function_at(function);
  JumpsOut found = range ? depths_.follow(function, *range, {}) : JumpsOut();
  if (range) {
    for (const LandingPad& pad : landing_pads_at(file_, function, table_calls_left_)) {
      if (range->contains(pad.address) && !found.reached.contains(pad.address)) {
        JumpsOut landed = depths_.follow(pad.address, *range, {});
        for (const auto& [target, depth] : landed.depths) {
          found.depths.try_emplace(target);
        }
        found.reached.merge(landed.reached);
        found.complete = found.complete && landed.complete;
      }
    }
  }
  found.complete = found.complete && table_calls_left_ != 0;
  return jumps_.emplace(function, std::move(found)).first->second;
}

}  // namespace whocall
