#include "unwind/code/anonymous_code.h"

#include <algorithm>

namespace whocall {
namespace {

// Folklore. Situation: some programs' code lies among their data, in heaps of gigabytes that are
// executable as a whole. Example: SBCL's dynamic space. Remedy: of larger mappings a part around
// the address is read, and some bytes before and behind it for the functions at its edges.
constexpr std::uint64_t kLargestWhole = std::uint64_t{16} << 20U;  // bytes, as all of these
constexpr std::uint64_t kPart = std::uint64_t{2} << 20U;
constexpr std::uint64_t kMargin = std::uint64_t{128} << 10U;
// A recursion through one such heap may stand anywhere in it; this much of a process is read.
constexpr std::uint64_t kMostRead = std::uint64_t{128} << 20U;

// What is looked at of a mapping for the sake of an address in it: without its margins.
AddressRange part_around(Address address, const AddressRange& mapping) {
  if (mapping.size() <= kLargestWhole) {
    return mapping;
  }
  const Address begin = mapping.begin + (address - mapping.begin) / kPart * kPart;
  return {begin, begin + std::min(kPart, mapping.end - begin)};
}

AddressRange with_margins(const AddressRange& part, const AddressRange& mapping) {
  return {part.begin - std::min(kMargin, part.begin - mapping.begin),
          part.end + std::min(kMargin, mapping.end - part.end)};
}

void keep_distinct(std::vector<Address>& addresses) {
  std::ranges::sort(addresses);
  const auto last = std::unique(addresses.begin(), addresses.end());
  addresses.erase(last, addresses.end());
}

// Folklore. Situation: compilers that run in the process call through registers, as their code may
// lie farther from its target than a call reaches. Example: mov $0x7f31d2c40100,%rax; call *%rax.
// Remedy: the address stands in the code, at any offset.
void append_constants(ByteView code, const AddressRange& range, unsigned pointer_size,
                      std::vector<Address>& found) {
  for (std::uint64_t at = 0; at + pointer_size <= code.size(); ++at) {
    const std::optional<Address> word = pointer_size == 8
                                            ? code.read<std::uint64_t>(at)
                                            : std::optional<Address>(code.read<std::uint32_t>(at));
    if (word && range.contains(*word)) {
      found.push_back(*word);
    }
  }
}

// Folklore. Situation: such compilers leave memory between functions as they got it. Example: zeros
// behind `ret` up to the next multiple of 16; decoded, two of them swallow the first byte of the
// function. Remedy: behind a return, zeros are padding.
void append_behind_zeros(ByteView code, Address address, const Architecture& arch,
                         std::vector<Address>& found) {
  constexpr std::uint64_t kBefore = 16;  // bytes that are asked whether the flow ends there
  const std::uint64_t alignment = arch.code.function_alignment;
  const std::uint64_t width = arch.code.alignment;
  for (std::uint64_t at = alignment; at < code.size(); at += alignment) {
    std::uint64_t end = at;
    while (end > at - alignment + 1 && code.read<std::uint8_t>(end - 1) == 0) {
      --end;
    }
    end = (end + width - 1) / width * width;
    const auto before = code.slice(end >= kBefore ? end - kBefore : 0, std::min(end, kBefore));
    if (end != at && code.read<std::uint8_t>(at) != 0 && before && arch.code.flow_ends != nullptr &&
        arch.code.flow_ends(*before)) {
      found.push_back(address + at);
    }
  }
}

}  // namespace

AnonymousCode::AnonymousCode(const ProcessImage& process) : process_(process), unread_(kMostRead) {}

const AnonymousCode::Region* AnonymousCode::region_at(Address address) {
  const Mapping* mapping = process_.mapping_at(address);
  if (mapping == nullptr || !mapping->executable ||
      process_.arch->code.append_start_marks == nullptr ||
      process_.arch->code.features_at_start == nullptr) {
    return nullptr;
  }
  const AddressRange part = part_around(address, mapping->range);
  auto& region = regions_[part.begin];
  if (region == nullptr) {
    region = std::make_unique<const Region>(read_region(mapping->range, part));
  }
  return region->range.contains(address) ? region.get() : nullptr;
}

AnonymousCode::Region AnonymousCode::read_region(const AddressRange& mapping,
                                                 const AddressRange& part) {
  const Architecture& arch = *process_.arch;
  const AddressRange wanted = with_margins(part, mapping);
  std::vector<std::byte> bytes(std::min(wanted.size(), unread_));
  bytes.resize(process_.memory->read(wanted.begin, bytes));
  unread_ -= bytes.size();
  const ByteView code(bytes, arch.abi.endian);
  Region region{{wanted.begin, wanted.begin + bytes.size()}, {}, {}};
  if (wanted.begin == mapping.begin) {
    region.starts.push_back(mapping.begin);
  }
  StartMarks marks;
  arch.code.append_start_marks(code, wanted.begin, marks);
  append_constants(code, region.range, arch.abi.pointer_size, marks.address_taken);
  for (const auto* targets : {&marks.call_targets, &marks.landing_pads, &marks.address_taken}) {
    for (const Address target : *targets) {
      const StartFeatures features = arch.code.features_at_start(code, target - wanted.begin);
      if (features.behind_end || features.prologue || features.landing_pad) {
        region.targets.push_back(target);
      }
    }
  }
  keep_distinct(region.targets);
  append_behind_zeros(code, wanted.begin, arch, marks.aligned);
  for (const auto* starts : {&region.targets, &marks.prologues, &marks.aligned}) {
    region.starts.insert(region.starts.end(), starts->begin(), starts->end());
  }
  keep_distinct(region.starts);
  return region;
}

std::optional<AddressRange> AnonymousCode::function_at(Address address) {
  const Region* region = region_at(address);
  if (region == nullptr) {
    return std::nullopt;
  }
  const auto next = std::ranges::upper_bound(region->starts, address);
  if (next == region->starts.begin()) {
    return std::nullopt;
  }
  return AddressRange{*std::prev(next), next == region->starts.end() ? region->range.end : *next};
}

bool AnonymousCode::is_called(Address address) {
  const Region* region = region_at(address);
  return region != nullptr && std::ranges::binary_search(region->targets, address);
}

// Frida has one trampoline for each function, the others one for all.
bool stands_beside(Address pc, Address planted, const ProcessImage& process) {
  return pc == planted || (process.module_at(planted) == nullptr &&
                           process.mapping_at(pc) == process.mapping_at(planted));
}

}  // namespace whocall
