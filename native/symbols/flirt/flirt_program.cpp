#include "symbols/flirt/flirt_program.h"

#include <algorithm>

#include "object/elf_decoder.h"
#include "object/elf_imports.h"
#include "symbols/discovery/function_starts.h"
#include "symbols/table/code_areas.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {
namespace {

// What stands before the word that linking writes, in a call or jump of an instruction set whose
// instructions are of any length: one or two bytes (x86: e8, e9, 0f 8x).
constexpr std::uint64_t kLongestOpcode = 2;

constexpr std::uint64_t kLongestPadding = 64;                       // bytes, between functions
constexpr std::uint64_t kLongestDecoded = std::uint64_t{1} << 16U;  // bytes, of a module

}  // namespace

FlirtProgram::FlirtProgram(const ElfFile& file, const Architecture& arch,
                           const Companions& companions)
    : file_(file),
      arch_(arch),
      areas_(code_areas(file)),
      // Lives as long as the table, which this object keeps: nobody has to own the file.
      table_(SymbolTable::from_elf(
          std::shared_ptr<const ElfFile>(std::shared_ptr<const ElfFile>(), &file), companions)),
      imports_(imported_functions(file)),
      decoder_(decoder_for(file, arch)) {
  const FunctionStarts starts(file, arch, *table_);
  for (const FunctionStart& each : starts.all()) {
    const bool counts = each.evidence.certain() || each.evidence.is_function();
    if (counts && !is_in_plt(file, each.address)) {
      starts_.push_back(each.address);
    }
  }
}

Address FlirtProgram::end_of(Address start, Address end) const {
  const auto next = std::ranges::upper_bound(starts_, start);
  return next == starts_.end() ? end : std::min(end, *next);
}

bool FlirtProgram::flows_out(Address start, Address end) const {
  Address at = start;
  auto last = Instruction::Flow::stop;
  while (at < end) {
    const auto instruction = decoder_->decode(code_at(at), at);
    if (!instruction) {
      return false;  // constants: nothing is known
    }
    last = instruction->padding ? last : instruction->flow;
    at += instruction->size;
  }
  // No function ends in the middle of an instruction.
  return at > end || (last != Instruction::Flow::stop && last != Instruction::Flow::jump &&
                      last != Instruction::Flow::indirect_jump);
}

bool FlirtProgram::may_end_at(Address start, Address end) const {
  if (decoder_ == nullptr || end - start > kLongestDecoded || !flows_out(start, end)) {
    return true;
  }
  // Files tell the bytes of a function's first part alone: behind that another one may differ.
  Address next = end;
  auto instruction = decoder_->decode(code_at(next), next);
  while (instruction && instruction->padding && next - end < kLongestPadding) {
    next += instruction->size;
    instruction = decoder_->decode(code_at(next), next);
  }
  return code_at(next).empty() || std::ranges::binary_search(starts_, next);
}

ByteView FlirtProgram::code_at(Address address) const {
  const auto next = std::ranges::upper_bound(areas_, address, {}, &AddressRange::begin);
  if (next == areas_.begin() || !std::prev(next)->contains(address)) {
    return {};
  }
  const ByteView rest = file_.at(address);
  return *rest.slice(0, std::min<std::uint64_t>(rest.size(), std::prev(next)->end - address));
}

std::uint64_t FlirtProgram::code_size() const {
  std::uint64_t size = 0;
  for (const AddressRange& area : areas_) {
    size += area.size();
  }
  return size;
}

std::optional<Address> FlirtProgram::branch_target(Address place) const {
  const std::uint64_t most = arch_.code.alignment > 1 || decoder_ == nullptr ? 0 : kLongestOpcode;
  for (std::uint64_t opcode = most == 0 ? 0 : 1; opcode <= most; ++opcode) {
    const auto instruction = decoder_ == nullptr
                                 ? std::nullopt
                                 : decoder_->decode(code_at(place - opcode), place - opcode);
    const bool fits = instruction && instruction->target &&
                      (most == 0 || instruction->size == opcode + sizeof(std::uint32_t));
    if (fits) {
      return *instruction->target & arch_.code.pointer_mask;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> FlirtProgram::names_at(Address address) const {
  std::vector<std::string_view> names;
  const std::uint32_t found = table_->find(address);
  if (found != SymbolTable::kNone && table_->symbols().start(found) == address) {
    for (const Symbol& symbol : table_->aliases(found)) {
      if (!symbol.name.empty() && !is_inferred(symbol.source)) {
        names.push_back(symbol.name);
      }
    }
  }
  return names;
}

std::string_view FlirtProgram::import_at(Address address) const {
  const auto stub = arch_.linkage.stub_at(code_at(address), address);
  const auto import = stub && stub->slot ? imports_.find(*stub->slot) : imports_.end();
  return import == imports_.end() ? std::string_view() : import->second;
}

}  // namespace whocall
