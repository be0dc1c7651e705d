#include "report/accesses.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "base/low_bytes.h"
#include "report/faults.h"

namespace whocall {
namespace {

// Instructions of x86's that only read their first operand; of x87's those that store are others.
constexpr std::string_view kX86Reading[] = {
    "cmp",     "test",   "push",    "call",     "jmp",   "lcall",   "ljmp",   "mul",
    "imul",    "div",    "idiv",    "ucomis",   "comis", "vucomis", "vcomis", "ptest",
    "vptest",  "vtest",  "fld",     "fild",     "fbld",  "fadd",    "fiadd",  "fsub",
    "fisub",   "fmul",   "fimul",   "fdiv",     "fidiv", "fcom",    "ficom",  "frstor",
    "fxrstor", "xrstor", "ldmxcsr", "vldmxcsr", "lgdt",
};
// What has an operand in memory, and leaves that alone.
constexpr std::string_view kOnlyNaming[] = {"lea", "nop", "prefetch"};
constexpr std::string_view kStoring[] = {"st", "vst", "push", "sw", "sb", "sh", "sd"};
constexpr std::string_view kLoading[] = {"l", "vl", "pop"};

bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view each) { return text.starts_with(each); });
}

std::string_view without(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// A register's name and the bytes of it.
struct Part {
  std::string whole;
  unsigned size;
};

// rax, eax, ax, al; r8, r8d, r8w, r8b; ah and its like are not among them. `wide` is what the whole
// register begins with, r or e.
std::optional<Part> x86_part(std::string_view name, char wide) {
  const auto is_old = [](std::string_view bare) {
    constexpr std::string_view kOld[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
    return std::ranges::find(kOld, bare) != std::end(kOld);
  };
  const auto old = [&](std::string_view bare, unsigned size) {
    return Part{wide + std::string(bare), size};
  };
  if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e') && is_old(name.substr(1))) {
    return old(name.substr(1), name[0] == 'r' ? 8 : 4);
  }
  if (name.size() == 2 && is_old(name)) {
    return old(name, 2);
  }
  if (name.ends_with('l') && name.size() == 2) {
    const std::string bare = {name[0], 'x'};
    return is_old(bare) ? std::optional(old(bare, 1)) : std::nullopt;
  }
  if (name.ends_with('l') && name.size() == 3 && is_old(name.substr(0, 2))) {
    return old(name.substr(0, 2), 1);
  }
  if (name.size() < 2 || name[0] != 'r' || name[1] < '1' || name[1] > '9') {
    return std::nullopt;
  }
  const std::size_t end = std::min(name.find_first_not_of("0123456789", 1), name.size());
  const std::string_view tail = name.substr(end);
  const unsigned size = tail.empty() ? 8 : tail == "d" ? 4 : tail == "w" ? 2 : tail == "b" ? 1 : 0;
  return size == 0 ? std::nullopt : std::optional(Part{std::string(name.substr(0, end)), size});
}

// As an operand of an address.
std::optional<std::uint64_t> address_part(const Architecture& arch, const Registers& registers,
                                          std::string_view name) {
  if (arch.family != "arm") {
    return register_value(arch, registers, name);
  }
  constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
      {"sb", "r9"}, {"sl", "r10"}, {"fp", "r11"}, {"ip", "r12"}};
  for (const auto& [other, own] : kOtherNames) {
    name = name == other ? own : name;
  }
  // The pc is ahead of the instruction.
  return name == "pc" ? std::nullopt : register_value(arch, registers, name);
}

std::optional<Address> address_of(const ProcessImage& image, const Registers& registers,
                                  const Operation& operation, const Operand& operand) {
  auto total = static_cast<Address>(operand.value);
  if (operand.reg == "rip" || operand.reg == "eip") {
    total += operation.address + operation.size;
  } else if (!operand.reg.empty()) {
    const auto base = address_part(*image.arch, registers, operand.reg);
    if (!base) {
      return std::nullopt;
    }
    total += *base;
  }
  if (!operand.index.empty()) {
    const auto index = address_part(*image.arch, registers, operand.index);
    if (!index || operand.scale == 0) {
      return std::nullopt;
    }
    total += *index * operand.scale;
  }
  return total & image.arch->address_mask();
}

// What x86 pushes and takes off the stack.
std::optional<Access> access_of_stack(const Architecture& arch, const Registers& registers,
                                      const Operation& operation, std::string_view name) {
  const std::uint64_t word = arch.registers.size;
  const auto sp = registers.get(arch.registers.sp);
  const auto fp = registers.get(arch.registers.fp);
  if (!sp) {
    return std::nullopt;
  }
  if (operation.flow == Operation::Flow::call || name.starts_with("push") ||
      name.starts_with("enter")) {
    return Access{(*sp - word) & arch.address_mask(), word, true};
  }
  if (operation.flow == Operation::Flow::leave || name.starts_with("pop")) {
    return Access{*sp, word, false};
  }
  return name == "leave" && fp ? std::optional(Access{*fp, word, false}) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> register_value(const Architecture& arch, const Registers& registers,
                                            std::string_view name) {
  if (!is_x86(arch)) {
    const auto known = arch.register_named(name);
    return known ? registers.get(*known) : std::nullopt;
  }
  const auto part = x86_part(name, arch.registers.size == 8 ? 'r' : 'e');
  const auto known = part ? arch.register_named(part->whole) : std::nullopt;
  const auto value = known ? registers.get(*known) : std::nullopt;
  return value ? std::optional(low_bytes(*value, part->size)) : std::nullopt;
}

std::vector<Access> accesses(const ProcessImage& image, const Registers& registers,
                             const Operation& operation) {
  std::vector<Access> found;
  const std::string_view name = without(without(operation.mnemonic, "bnd "), "lock ");
  if (is_x86(*image.arch)) {
    if (const auto access = access_of_stack(*image.arch, registers, operation, name)) {
      found.push_back(*access);
    }
  }
  if (starts_with_any(name, kOnlyNaming)) {
    return found;
  }
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    const Operand& operand = operation.operands[i];
    if (operand.kind != Operand::Kind::memory || operand.segment) {
      continue;
    }
    if (const auto address = address_of(image, registers, operation, operand)) {
      const std::uint64_t size = operand.size != 0 ? operand.size : image.arch->registers.size;
      found.push_back({*address, size, writes_operand(*image.arch, operation, i)});
    }
  }
  return found;
}

std::optional<bool> writes_operand(const Architecture& arch, const Operation& operation,
                                   std::size_t number) {
  const std::string_view name = operation.mnemonic;
  if (is_x86(arch)) {
    // What is written comes first. The library's word is not asked: Capstone 4 takes what
    // `vmovdqu ymmword ptr [rdi], ymm0` writes for read.
    const std::string_view bare = name.substr(name.rfind(' ') + 1);
    const bool reads =
        bare == "bt" || (starts_with_any(bare, kX86Reading) && !bare.starts_with("cmpxchg"));
    return bare == "xchg" || bare == "xadd" || (number == 0 && !reads);
  }
  if (starts_with_any(name, kStoring)) {  // such sets load and store
    return true;
  }
  if (starts_with_any(name, kLoading)) {
    return false;
  }
  const Operand& operand = operation.operands[number];
  return operand.read || operand.written ? std::optional(operand.written) : std::nullopt;
}

std::optional<Access> operand_in_memory(const ProcessImage& image, const Registers& registers,
                                        const Operation& operation) {
  constexpr unsigned kLargest = 64;  // bytes
  if (!is_x86(*image.arch) || operation.mnemonic == "lea") {
    return std::nullopt;
  }
  const auto operand = std::ranges::find(operation.operands, Operand::Kind::memory, &Operand::kind);
  if (operand == operation.operands.end() || operand->segment || operand->size > kLargest ||
      !std::has_single_bit(operand->size)) {
    return std::nullopt;
  }
  const auto address = address_of(image, registers, operation, *operand);
  return address ? std::optional(Access{*address, operand->size, {}}) : std::nullopt;
}

std::optional<std::uint64_t> value_of_operand(const ProcessImage& image, const Registers& registers,
                                              const Operation& operation) {
  if (operation.operands.size() != 1) {
    return std::nullopt;
  }
  if (operation.operands.front().kind == Operand::Kind::reg) {
    return register_value(*image.arch, registers, operation.operands.front().reg);
  }
  const auto place = operand_in_memory(image, registers, operation);
  return place && place->size <= 8
             ? image.memory->read_unsigned(place->address, static_cast<unsigned>(place->size),
                                           image.arch->abi.endian)
             : std::nullopt;
}

}  // namespace whocall
