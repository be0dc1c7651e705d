#include "symbols/signatures/signature_places.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "object/elf_decoder.h"
#include "symbols/table/code_areas.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {
namespace {

// Comparing costs no more than this many bytes for each byte of the program, and then ends: only a
// file that was made for it has an anchor that stands at every second address.
constexpr std::uint64_t kMostCompared = 64;
// What stands in more places than this says nothing by standing there.
constexpr std::uint32_t kMostPlaces = 64;
constexpr std::size_t kMostPlacesOfAll = std::size_t{1} << 20;

// psABI: the table begins with the part that holds the slots of functions, where there is one.
std::optional<Address> got_of_file(const ElfFile& file) {
  for (const std::string_view name : {".got.plt", ".got"}) {
    if (const ElfSection* section = file.section(name)) {
      return section->address;
    }
  }
  return std::nullopt;
}

}  // namespace

SignatureProgram::SignatureProgram(const ElfFile& file, const SignatureIndex& index)
    : file_(file),
      index_(index),
      set_(index.set()),
      areas_(code_areas(file)),
      got_(got_of_file(file)),
      decoder_(decoder_for(file, *set_.arch)) {}

std::vector<SignaturePlace> SignatureProgram::find_places() const {
  std::vector<SignaturePlace> places;
  std::vector<std::uint32_t> count(set_.sections.size());
  for (const AddressRange& area : areas_) {
    const ByteView view = file_.at(area.begin);
    const auto code = view.bytes().first(std::min<std::uint64_t>(area.size(), view.size()));
    std::uint64_t left = code.size() * kMostCompared;
    for (std::size_t at = 0; at + kSignatureAnchorSize <= code.size(); ++at) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, code.data() + at, sizeof(bytes));
      if (!index_.may_be_anchor(bytes)) {
        continue;
      }
      for (const std::uint32_t section : index_.anchored(bytes)) {
        const std::uint64_t cost = set_.sections[section].size;
        if (at < set_.sections[section].anchor || cost > left || count[section] > kMostPlaces ||
            places.size() >= kMostPlacesOfAll) {
          continue;
        }
        left -= cost;
        if (auto place = place_at(section, area.begin + at - set_.sections[section].anchor)) {
          places.push_back(*place);
          ++count[section];
        }
      }
    }
  }
  std::erase_if(places,
                [&](const SignaturePlace& each) { return count[each.section] > kMostPlaces; });
  std::ranges::sort(
      places, {}, [](const SignaturePlace& each) { return std::pair(each.address, each.section); });
  return places;
}

Address SignatureProgram::code_end(Address address) const {
  const auto next = std::ranges::upper_bound(areas_, address, {}, &AddressRange::begin);
  return next != areas_.begin() && std::prev(next)->contains(address) ? std::prev(next)->end : 0;
}

bool SignatureProgram::is_stub(Address address) const {
  const auto stub = set_.arch->linkage.stub_at(file_.at(address), address);
  return (stub && !stub->target) || is_in_plt(file_, address);
}

// Folklore. Situation: a branch does not lead to its symbol. Example: b.w memset in T32, where
// memset is A32, leads to `bx pc; nop; b memset`, which the linker made. Remedy: a branch to what
// is nothing but a jump says nothing; the symbol may be either.
bool SignatureProgram::is_veneer(Address address) const {
  const auto stub = set_.arch->linkage.stub_at(file_.at(address), address);
  return stub && stub->target;
}

bool SignatureProgram::is_padding(AddressRange range) const {
  const auto bytes = file_.at(range.begin).slice(0, range.size());
  if (range.empty()) {
    return true;
  }
  if (!bytes || decoder_ == nullptr) {
    return false;
  }
  if (std::ranges::all_of(bytes->bytes(), [](std::byte byte) { return byte == std::byte{0}; })) {
    return true;
  }
  std::uint64_t at = 0;
  while (at < range.size()) {
    const auto instruction = decoder_->decode(bytes->from(at), range.begin + at);
    if (!instruction || !instruction->padding || instruction->size == 0) {
      return false;
    }
    at += instruction->size;
  }
  return true;
}

bool SignatureProgram::has_code(std::uint32_t section, Address address) const {
  const SignatureSection& wanted = set_.sections[section];
  if (address % wanted.alignment != 0) {
    return false;
  }
  const Address end = code_end(address);
  const auto code = end == 0 || end - address < wanted.size
                        ? std::nullopt
                        : file_.at(address).slice(0, wanted.size);
  if (!code) {
    return false;
  }
  const std::byte* there = code->bytes().data();
  const std::byte* ours = set_.bytes.data() + wanted.code;
  return std::ranges::all_of(index_.fixed(section), [&](const FixedBytes& part) {
    return std::memcmp(there + part.begin, ours + part.begin, part.end - part.begin) == 0;
  });
}

std::optional<SignaturePlace> SignatureProgram::place_at(std::uint32_t section,
                                                         Address address) const {
  if (!has_code(section, address)) {
    return std::nullopt;
  }
  SignaturePlace place{section, address, index_.weight(section)};
  for (const SignatureReference& each : references(section, address)) {
    const SignatureSymbol& symbol = set_.symbols[each.symbol];
    const bool is_own = symbol.name == 0 && symbol.section != kNoSignature;
    if (is_own && each.is_direct && !has_code(symbol.section, each.target - symbol.offset)) {
      return std::nullopt;
    }
    if (symbol.expected_size == 0 || !each.is_direct) {
      continue;
    }
    const auto found = file_.at(each.target).slice(0, symbol.expected_size);
    if (!found || std::memcmp(found->bytes().data(), set_.bytes.data() + symbol.expected,
                              symbol.expected_size) != 0) {
      return std::nullopt;
    }
    place.weight += symbol.expected_size;
  }
  return place;
}

bool SignatureProgram::leads_to_definition(const SignatureReference& reference,
                                           std::uint32_t weight) const {
  const auto definitions = index_.definitions(set_.symbols[reference.symbol].name);
  return std::ranges::any_of(definitions, [&](std::uint32_t symbol) {
    const SignatureSymbol& definition = set_.symbols[symbol];
    const auto place = place_at(definition.section, reference.target - definition.offset);
    return place && place->weight >= weight;
  });
}

std::optional<Address> SignatureProgram::got_of(const SignatureSection& section, ByteView code,
                                                Address address) const {
  for (std::uint32_t i = 0; i < section.relocations; ++i) {
    const SignatureRelocation& each = set_.relocations[section.first_relocation + i];
    const RelocationForm* form = form_of(*set_.arch, each.type);
    const auto value = code.read<std::uint32_t>(each.offset);
    if (form != nullptr && form->kind == RelocationKind::got_base && value) {
      return (address + each.offset + static_cast<Address>(static_cast<std::int32_t>(*value)) -
              static_cast<Address>(each.addend)) &
             set_.arch->address_mask();
    }
  }
  return got_;
}

std::optional<SignatureReference> SignatureProgram::follow(const SignatureRelocation& relocation,
                                                           const RelocatedPlace& place) const {
  const RelocationForm* form = form_of(*set_.arch, relocation.type);
  if (form == nullptr || form->kind == RelocationKind::opaque ||
      form->kind == RelocationKind::got_base) {
    return std::nullopt;
  }
  const bool is_field = form->kind == RelocationKind::branch_field;
  SignatureReference found{.symbol = relocation.symbol,
                           .is_branch = is_field || form->kind == RelocationKind::branch};
  if (is_field || form->kind == RelocationKind::got_slot) {
    const auto target = set_.arch->linkage.got_target == nullptr
                            ? RelocatedTarget()
                            : set_.arch->linkage.got_target(place);
    found.is_direct = target.symbol.has_value();
    const auto word = target.slot && file_.type() == ET_EXEC
                          ? file_.at(*target.slot).read_unsigned(0, set_.arch->abi.pointer_size)
                          : std::nullopt;
    if (!target.symbol && !word) {
      return std::nullopt;
    }
    found.target = target.symbol ? *target.symbol : *word;
    return is_field && is_veneer(found.target) ? std::nullopt : std::optional(found);
  }
  const auto value = place.code.read_unsigned(place.offset, form->size);
  if (!value || (form->kind == RelocationKind::got_offset && !place.got)) {
    return std::nullopt;
  }
  const Address extended =
      form->size == 4 ? static_cast<Address>(static_cast<std::int32_t>(*value)) : *value;
  const Address base = form->kind == RelocationKind::absolute     ? 0
                       : form->kind == RelocationKind::got_offset ? *place.got
                                                                  : place.address + place.offset;
  found.target = (base + extended - static_cast<Address>(place.addend)) & set_.arch->address_mask();
  // A pointer to code may have bits that are no address (ARM: T32).
  const Address masked = found.target & set_.arch->code.pointer_mask;
  if (set_.symbols[relocation.symbol].expected_size == 0 && code_end(masked) != 0) {
    found.target = masked;
  }
  return found;
}

std::vector<SignatureReference> SignatureProgram::references(std::uint32_t section,
                                                             Address address) const {
  const SignatureSection& wanted = set_.sections[section];
  const ByteView code = file_.at(address);
  RelocatedPlace place{.code = code, .address = address};
  place.got = got_of(wanted, code, address);
  std::vector<SignatureReference> found;
  std::uint32_t covered = 0;  // by relocations that rewrite what follows
  for (std::uint32_t i = 0; i < wanted.relocations; ++i) {
    const SignatureRelocation& each = set_.relocations[wanted.first_relocation + i];
    place.offset = each.offset;
    place.type = each.type;
    place.addend = each.addend;
    const auto reference = each.offset < covered ? std::nullopt : follow(each, place);
    if (reference && reference->target != 0) {
      found.push_back(*reference);
    }
    const RelocationForm* form = form_of(*set_.arch, each.type);
    if (form != nullptr && form->kind == RelocationKind::opaque) {
      covered = each.offset + static_cast<std::uint32_t>(form->last);
    }
  }
  return found;
}

}  // namespace whocall
