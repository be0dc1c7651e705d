// Hostile unwind tables as libwhocall reads them in a process: whatever they say, nothing beyond
// them is read, and every walk by them ends. The first byte chooses the table, the second the
// machine, the next eight are an address or what a common entry states.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz.h"
#include "mutators.h"
#include "rules/arm_index.h"
#include "rules/cfi_rule.h"
#include "rules/debug_frame.h"
#include "rules/frame_tables.h"
#include "rules/mips_prologue.h"

namespace {

using namespace whocall;

constexpr std::uint64_t kBase = 0x10000;
constexpr rules::FrameRegisters kMachines[] = {
    {.sp = 7, .fp = 6},                // x86-64
    {.sp = 4, .fp = 5},                // i386
    {.sp = 31, .fp = 29, .link = 30},  // AArch64
    {.sp = 13, .fp = 11, .link = 14},  // ARM
    {.sp = 29, .fp = 30, .link = 31},  // MIPS
};

// Words of a stack that lead upwards, with gaps.
bool read_word(std::uintptr_t address, std::uintptr_t& value) {
  value = address + (address >> 3U) % 64;
  return address % 13 != 0;
}

void apply(const rules::FrameRule& rule, bool has_link) {
  rules::FramePoint point;
  point.sp = 0x7000;
  point.fp = 0x7100;
  point.link_known = has_link;
  const rules::FramePoint before = point;
  if (rules::step(rule, ~std::uintptr_t{0}, read_word, point)) {
    fuzz::demand(point.sp >= before.sp);
  }
  rules::ShortRule kept;
  if (rules::shortened(rule, kept)) {
    fuzz::demand(rules::lengthened(kept) == rule);
  }
}

void run_instructions(const rules::FrameRegisters& machine, std::uint64_t stated,
                      const std::vector<std::byte>& bytes) {
  rules::WholeDescription description;
  description.fde.begin = 0x1000;
  description.fde.end = 0x1800;
  description.cie.code_alignment = stated % 8;
  description.cie.data_alignment = static_cast<std::int64_t>(stated) >> 8U;
  description.cie.return_address = machine.link.value_or(16);
  const std::uint64_t split = bytes.size() / 4;
  const std::vector<std::byte> own(bytes.begin() + static_cast<std::ptrdiff_t>(split), bytes.end());
  description.cie.instructions = {bytes.data(), 0, split};
  description.fde.instructions = {own.data(), 0, own.size()};
  for (const std::uint64_t address : {0x1000, 0x1010, 0x17ff}) {
    apply(rules::rule_at(description, machine, address), machine.link.has_value());
  }
}

void run_tables(const rules::FrameRegisters& machine, unsigned word_size, std::uint64_t address,
                const std::vector<std::byte>& bytes) {
  const rules::FrameTables tables{
      .mapped = {bytes.data(), kBase, bytes.size()}, .header = kBase, .word_size = word_size};
  rules::WholeDescription found;
  for (const std::uint64_t at : {address, kBase + address % 0x1000, std::uint64_t{0}}) {
    if (rules::find_description(tables, at, found)) {
      fuzz::demand(at >= found.fde.begin && at < found.fde.end);
      apply(rules::rule_at(found, machine, at), machine.link.has_value());
    }
  }
}

void run_section(const rules::FrameRegisters& machine, unsigned word_size, bool debug,
                 const std::vector<std::byte>& bytes) {
  rules::DebugFrame frames;
  frames.entries = {
      .bytes = {bytes.data(), 0, bytes.size()}, .word_size = word_size, .debug = debug};
  std::vector<rules::IndexedDescription> index(rules::count_entries(frames.entries));
  fuzz::demand(index.size() <= bytes.size() / 4);
  frames.count = rules::make_index(frames.entries, index.data(), index.size());
  frames.index = index.data();
  rules::WholeDescription found;
  for (std::size_t i = 0; i < frames.count && i < 50; ++i) {
    if (rules::find_description(frames, index[i].begin, found)) {
      apply(rules::rule_at(found, machine, index[i].begin), machine.link.has_value());
    }
  }
}

void run_arm(std::uint64_t stated, const std::vector<std::byte>& bytes) {
  const rules::ArmIndex index{
      .mapped = {bytes.data(), kBase, bytes.size()}, .begin = kBase, .entries = stated % 64};
  for (const std::uint64_t address : {kBase, kBase - 0x100, stated >> 8U & 0xffffffffU}) {
    rules::ArmInstructions instructions;
    if (rules::find_instructions(index, address, instructions)) {
      fuzz::demand(instructions.next <= instructions.end &&
                   instructions.end <= instructions.words.size);
      rules::ArmRegisters registers;
      registers.known = 0xffff;
      registers.values[rules::kArmSp] = 0x7000;
      (void)rules::unwind(instructions, read_word, registers);
    }
  }
}

void run_mips(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> code(bytes.size() / 4);
  if (code.empty()) {
    return;
  }
  std::memcpy(code.data(), bytes.data(), code.size() * 4);
  const std::uint32_t* const end = code.data() + code.size();
  const std::uint32_t* const begin = rules::mips_frame_before(code.data(), end);
  fuzz::demand(begin == nullptr || (begin >= code.data() && begin < end));
  apply(rules::mips_rule(begin == nullptr ? code.data() : begin, end), true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.byte() % 6;
  const unsigned choice = input.byte();
  const rules::FrameRegisters& machine = kMachines[choice % std::size(kMachines)];
  const unsigned word_size = (choice & 0x80U) != 0 ? 4 : 8;
  const std::uint64_t stated = input.number(8);
  const std::vector<std::byte> rest = input.copy();
  switch (kind) {
    case 0:
      run_instructions(machine, stated, rest);
      break;
    case 1:
      run_tables(machine, word_size, stated, rest);
      break;
    case 2:
      run_arm(stated, rest);
      break;
    case 3:
      run_mips(rest);
      break;
    default:
      run_section(machine, word_size, kind == 4, rest);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return whocall::fuzz::mutate_frames(data, size, most, seed, 10);
}
