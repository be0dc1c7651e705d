#include "symbols/inferred/function_traits.h"

#include <elf.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "arch/instruction.h"
#include "base/interrupt.h"
#include "object/elf_decoder.h"
#include "object/elf_imports.h"
#include "object/elf_symbols.h"
#include "object/global_offset_table.h"
#include "object/open_files.h"
#include "symbols/discovery/data_words.h"
#include "symbols/inferred/constant_arguments.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

constexpr std::size_t kShortestText = 4;
constexpr std::size_t kLongestTraitText = 200;                 // bytes that are told
constexpr std::size_t kMostImports = 12;                       // that are told
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20U;  // of one function

bool contains(const std::vector<AddressRange>& ranges, Address address) {
  return std::ranges::any_of(ranges,
                             [&](const AddressRange& each) { return each.contains(address); });
}

// All calls and jumps of a file whose targets its code names, by target.
struct DirectCalls {
  std::vector<DirectJump> calls;
};

DirectCalls find_calls(const ElfFile& file, const Architecture& arch) {
  DirectCalls found;
  const std::vector<AddressRange> areas = code_areas(file);
  const AddressRange hull =
      areas.empty() ? AddressRange() : AddressRange{areas.front().begin, areas.back().end};
  for (const AddressRange& area : areas) {
    const ByteView code = file.at(area.begin);
    const std::uint64_t size = std::min<std::uint64_t>(area.size(), code.size());
    for (std::uint64_t at = arch.code.alignment; at <= size; at += arch.code.alignment) {
      check_interrupt_at(at, kManyBytes);
      const std::uint64_t before = std::min<std::uint64_t>(at, arch.code.longest_call);
      const auto bytes = code.slice(at - before, before);
      const auto call = bytes ? arch.code.call_before(*bytes, area.begin + at) : std::nullopt;
      if (call && call->target && hull.contains(*call->target)) {
        found.calls.push_back({area.begin + at - call->size, *call->target});
      }
    }
    const auto inside = code.slice(0, size);
    if (inside && arch.code.append_direct_jumps != nullptr) {
      arch.code.append_direct_jumps(*inside, area.begin, hull, found.calls);
    }
  }
  std::ranges::sort(found.calls, {}, &DirectJump::target);
  return found;
}

class TraitFinder {
 public:
  TraitFinder(const ElfFile& file, const Architecture& arch,
              const std::vector<AddressRange>& ranges)
      : file_(file), arch_(arch), ranges_(ranges), decoder_(decoder_for(file, arch)) {}

  FunctionTraits run() {
    FunctionTraits traits;
    if (decoder_ != nullptr && !ranges_.empty()) {
      traits.imports = imports();
      traits.only_text = only_text();
      traits.only_caller = only_caller();
    }
    return traits;
  }

 private:
  [[nodiscard]] std::vector<std::string> imports() const {
    const auto known = imported_functions(file_);
    const GlobalTable got = global_table(file_);
    std::vector<std::string> found;
    for (const AddressRange& range : ranges_) {
      const Address end = range.begin + std::min(range.size(), kMostBytes);
      for (Address at = range.begin; at < end && found.size() < kMostImports;) {
        const auto instruction = decoder_->decode(file_.at(at), at);
        const Address behind = at + (instruction ? instruction->size : arch_.code.alignment);
        const bool leaves = instruction && (instruction->flow == Instruction::Flow::call ||
                                            instruction->flow == Instruction::Flow::jump);
        const auto slot = leaves ? slot_of(*instruction, at, behind, got) : std::nullopt;
        const auto name = slot ? known.find(*slot) : known.end();
        if (name != known.end() && std::ranges::find(found, name->second) == found.end()) {
          found.emplace_back(name->second);
        }
        at = behind;
      }
    }
    return found;
  }

  // The word that holds the address of what is called: behind a stub, or named by the call.
  [[nodiscard]] std::optional<Address> slot_of(const Instruction& call, Address at, Address behind,
                                               const GlobalTable& got) const {
    if (call.target) {
      const auto stub = arch_.linkage.stub_at(file_.at(*call.target), *call.target);
      if (stub && stub->slot_behind_got && got.address != 0) {
        return (got.address + *stub->slot_behind_got) & arch_.address_mask();
      }
      return stub ? stub->slot : std::nullopt;
    }
    const auto bytes = file_.at(at).slice(0, behind - at);
    const auto site = bytes && arch_.code.call_before != nullptr
                          ? arch_.code.call_before(*bytes, behind)
                          : std::nullopt;
    return site ? site->slot : std::nullopt;
  }

  [[nodiscard]] std::string_view text_at(Address address) const {
    const ByteView bytes = file_.at(address);
    const auto near = bytes.slice(0, std::min<std::uint64_t>(bytes.size(), kLongestTraitText));
    const std::string_view text =
        near ? near->c_string(0).value_or(std::string_view()) : std::string_view();
    const bool printable = std::ranges::all_of(
        text, [](char each) { return (each >= ' ' && each <= '~') || each == '\n'; });
    return printable && text.size() >= kShortestText ? text : std::string_view();
  }

  // The longest text that no other code and no word of the data names.
  [[nodiscard]] std::string only_text() const {
    std::vector<std::pair<std::string_view, Address>> texts;
    AddressRange hull{~Address{0}, 0};
    for (const AddressRange& range : ranges_) {
      for (const ConstantAddress& each : constant_addresses(file_, arch_, range, range)) {
        if (const std::string_view text = text_at(each.value); !text.empty()) {
          texts.emplace_back(text, each.value);
          hull = {std::min(hull.begin, each.value), std::max(hull.end, each.value + 1)};
        }
      }
    }
    if (texts.empty()) {
      return {};
    }
    const std::vector<Address> elsewhere = named_elsewhere(hull);
    std::string_view longest;
    for (const auto& [text, address] : texts) {
      if (text.size() > longest.size() && !std::ranges::binary_search(elsewhere, address)) {
        longest = text;
      }
    }
    return std::string(longest);
  }

  // The addresses in `wanted` that other code or the data name, ascending.
  [[nodiscard]] std::vector<Address> named_elsewhere(const AddressRange& wanted) const {
    const GlobalTable got = global_table(file_);
    std::vector<Address> found;
    std::vector<ConstantAddress> taken;
    for (const AddressRange& area : code_areas(file_)) {
      check_interrupt();
      const ByteView code = file_.at(area.begin);
      if (const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()))) {
        arch_.code.append_constant_addresses(*inside, area.begin, got, file_.type() == ET_EXEC,
                                             wanted, taken);
      }
    }
    for (const ConstantAddress& each : taken) {
      if (!contains(ranges_, each.at)) {
        found.push_back(each.value);
      }
    }
    const std::vector<AddressRange> asked = {wanted};
    const std::vector<Address> pointed = pointed_to(file_, asked);
    found.insert(found.end(), pointed.begin(), pointed.end());
    std::ranges::sort(found);
    return found;
  }

  // Of the exported function that holds the only calls and jumps to this one.
  [[nodiscard]] std::string only_caller() const {
    const Address start = ranges_.front().begin;
    if (arch_.code.call_before == nullptr || is_pointed_to(start)) {
      return {};
    }
    std::optional<ElfSymbol> caller;
    for (const Address site : sites_that_enter(start)) {
      const auto holder = exported_at(site);
      if (!holder || (caller && caller->value != holder->value)) {
        return {};
      }
      caller = holder;
    }
    return caller ? std::string(caller->name) : std::string();
  }

  // Whether code or data keeps its address, to call it from elsewhere.
  [[nodiscard]] bool is_pointed_to(Address start) const {
    const std::vector<Address> named = named_elsewhere({start, start + 1});
    return !named.empty();
  }

  [[nodiscard]] std::vector<Address> sites_that_enter(Address start) const {
    std::vector<Address> sites;
    const auto append = [&](const std::vector<DirectJump>& calls) {
      auto call = std::ranges::lower_bound(calls, start, {}, &DirectJump::target);
      for (; call != calls.end() && call->target == start; ++call) {
        sites.push_back(call->source);
      }
    };
    if (const auto knowledge = knowledge_of(file_)) {
      append(knowledge->get<DirectCalls>([this] { return find_calls(file_, arch_); }).calls);
    } else {
      append(find_calls(file_, arch_).calls);
    }
    std::erase_if(sites, [&](Address site) { return contains(ranges_, site); });
    return sites;
  }

  // The exported function around a call; the calls of the function's own parts do not count.
  [[nodiscard]] std::optional<ElfSymbol> exported_at(Address site) const {
    for (const ElfSymbol& each : dynamic_symbols(file_)) {
      const bool holds = each.type == STT_FUNC && each.section != SHN_UNDEF && each.value <= site &&
                         site - each.value < each.size;
      if (holds) {
        return each;
      }
    }
    return std::nullopt;
  }

  const ElfFile& file_;
  const Architecture& arch_;
  const std::vector<AddressRange>& ranges_;
  std::unique_ptr<InstructionDecoder> decoder_;
};

}  // namespace

FunctionTraits function_traits(const ElfFile& file, const Architecture& arch,
                               const std::vector<AddressRange>& ranges) {
  return arch.code.append_constant_addresses != nullptr ? TraitFinder(file, arch, ranges).run()
                                                        : FunctionTraits();
}

}  // namespace whocall
