#include "symbols/inferred/part_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/interrupt.h"
#include "object/call_frame_info.h"
#include "object/elf_decoder.h"
#include "object/exception_table.h"
#include "rules/dwarf.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

constexpr int kHexadecimal = 16;
// Bytes of code, in one file: of the largest program's functions with parts, some megabytes.
constexpr std::uint64_t kMostDecoded = std::uint64_t{64} << 20U;

std::optional<Fde> table_entry(const ElfFile& file, Address start) {
  for (const CallFrameInfo* tables : {eh_frame_of(file), debug_frame_of(file)}) {
    const auto entry = tables != nullptr ? tables->find(start) : std::nullopt;
    if (entry && entry->range.begin == start) {
      return entry;
    }
  }
  return std::nullopt;
}

class PartFinder {
 public:
  explicit PartFinder(const NameEvidence& evidence)
      : evidence_(evidence), decoder_(decoder_for(evidence.file, evidence.arch)) {}

  void find(std::vector<InferredName>& names) {
    find_parts();
    if (parts_.empty() || decoder_ == nullptr) {
      return;
    }
    look_at_jumps();
    look_at_exceptions();
    for (const auto& [start, part] : parts_) {
      if (part.sources.size() == 1 && *part.sources.begin() != kUnknown) {
        names.push_back({start, spelled(*part.sources.begin()), NameSource::part,
                         "the jumps and exceptions that lead there"});
      }
    }
  }

 private:
  struct Part {
    Address end = 0;
    std::set<Address> sources;  // starts of functions that go on there
  };
  static constexpr Address kUnknown = ~Address{0};

  static std::string spelled(Address function) {
    std::array<char, 2 * sizeof(Address)> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), function, kHexadecimal).ptr;
    return {digits.data(), end};
  }

  void find_parts() {
    const SymbolRange symbols = evidence_.table.symbols();
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      check_interrupt_at(i, kManyEntries);
      if (symbols.source(i) == NameSource::fde &&
          begins_within_frame(evidence_.file, symbols.start(i))) {
        parts_[symbols.start(i)].end = symbols.range(i).end;
      }
    }
  }

  void look_at_jumps() {
    if (evidence_.arch.code.append_direct_jumps == nullptr) {
      return;
    }
    const AddressRange hull{parts_.begin()->first, parts_.rbegin()->second.end};
    std::vector<DirectJump> jumps;
    for (const AddressRange& area : code_areas(evidence_.file)) {
      check_interrupt();
      const ByteView code = evidence_.file.at(area.begin);
      if (const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()))) {
        evidence_.arch.code.append_direct_jumps(*inside, area.begin, hull, jumps);
      }
    }
    for (const DirectJump& jump : jumps) {
      add_source(jump.source, jump.target, true);
    }
  }

  void look_at_exceptions() {
    for (const CallFrameInfo* tables :
         {eh_frame_of(evidence_.file), debug_frame_of(evidence_.file)}) {
      if (tables == nullptr) {
        continue;
      }
      tables->for_each([&](const Fde& entry) {
        if (entry.exception_table) {
          for (const LandingPad& pad : landing_pads_of(evidence_.file, entry)) {
            add_source(entry.range.begin, pad.address, false);
          }
        }
      });
    }
  }

  // `source` goes on at `target`, if it is an instruction (`is_jump`: that is not known).
  void add_source(Address source, Address target, bool is_jump) {
    Part* const part = part_at(target);
    if (part == nullptr || part_at(source) != nullptr) {
      return;
    }
    const std::uint32_t index = evidence_.table.find(source);
    if (index == SymbolTable::kNone) {
      part->sources.insert(kUnknown);
      return;
    }
    const Address function = evidence_.table.symbols().start(index);
    if (is_jump && source - function > left_) {
      part->sources.insert(kUnknown);
    } else if (!is_jump || is_instruction(function, source)) {
      part->sources.insert(function);
    }
  }

  Part* part_at(Address address) {
    const auto behind = parts_.upper_bound(address);
    const auto found = behind != parts_.begin() ? std::prev(behind) : parts_.end();
    return found != parts_.end() && address < found->second.end ? &found->second : nullptr;
  }

  // Whether one begins there, as they follow each other from the function's first on.
  bool is_instruction(Address function, Address wanted) {
    Address& at = decoded_to_.try_emplace(function, function).first->second;
    at = at > wanted ? function : at;
    left_ -= wanted - at;
    Address next = at;
    while (next < wanted) {
      const auto instruction = decoder_->decode(evidence_.file.at(next), next);
      next += instruction ? instruction->size : 1;
    }
    at = next;
    return at == wanted;
  }

  const NameEvidence& evidence_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::map<Address, Part> parts_;          // by start
  std::map<Address, Address> decoded_to_;  // of functions, from which jumps lead to parts
  std::uint64_t left_ = kMostDecoded;
};

}  // namespace

bool begins_within_frame(const ElfFile& file, Address start) {
  const auto entry = table_entry(file, start);
  if (!entry || entry->cie == nullptr || entry->cie->signal_frame ||
      entry->instructions.size == 0) {
    return false;
  }
  switch (std::to_integer<std::uint8_t>(*entry->instructions.bytes)) {
    case dw::CFA_def_cfa:
    case dw::CFA_def_cfa_offset:
    case dw::CFA_def_cfa_expression:
      return true;
    default:
      return false;
  }
}

void infer_part_names(const NameEvidence& evidence, std::vector<InferredName>& names) {
  PartFinder(evidence).find(names);
}

Address function_of_part(std::string_view name) {
  Address function = 0;
  std::from_chars(name.data(), name.data() + name.size(), function, kHexadecimal);
  return function;
}

}  // namespace whocall
