#include "report/causes/accesses.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "base/low_bytes.h"
#include "report/causes/faults.h"

namespace whocall {
namespace {

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

// Whether it is 32 bits of a register of x86-64's: an address that it is part of has no more.
bool is_half(std::string_view name) {
  const auto part = name == "eip" ? std::nullopt : x86_part(name, 'r');
  return name == "eip" || (part && part->size == 4);
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
  const bool is_narrow = is_x86(*image.arch) && image.arch->registers.size == 8 &&
                         (is_half(operand.reg) || is_half(operand.index));
  return is_narrow ? low_bytes(total, 4) : total & image.arch->address_mask();
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
  // A prefix makes it two bytes.
  const bool is_word = std::ranges::all_of(operation.operands, [&](const Operand& each) {
    return each.kind == Operand::Kind::immediate || each.size == word;
  });
  if (name == "pushal") {  // eight of them
    return Access{(*sp - 8 * word) & arch.address_mask(), 8 * word, Use::writes};
  }
  if (operation.flow == Operation::Flow::call || name.starts_with("push") ||
      name.starts_with("enter")) {
    return Access{(*sp - word) & arch.address_mask(), word, Use::writes, is_word};
  }
  if (operation.flow == Operation::Flow::leave || name.starts_with("pop")) {
    return Access{*sp, word, Use::reads, is_word};
  }
  return name == "leave" && fp ? std::optional(Access{*fp, word, Use::reads}) : std::nullopt;
}

// What x86 counts up or down in turns: all that is left of them.
Access repeated(const Architecture& arch, const Registers& registers, const Operation& operation,
                Access first) {
  constexpr std::uint64_t kDown = 1U << 10U;  // the direction flag
  const std::string_view name = operation.mnemonic;
  if (!is_x86(arch) || !name.starts_with("rep")) {
    return first;
  }
  const bool is_64 = arch.registers.size == 8;
  const auto turns = register_value(arch, registers, is_64 ? "rcx" : "ecx");
  const auto flags = arch.register_named("eflags");
  const auto value = flags ? registers.get(*flags) : std::nullopt;
  first.is_whole = false;
  if (!turns || *turns == 0 || !value || first.size == 0 ||
      *turns > arch.address_mask() / first.size) {
    return first;
  }
  if ((*value & kDown) != 0) {
    first.address = (first.address - (*turns - 1) * first.size) & arch.address_mask();
  }
  first.size *= *turns;
  return first;
}

// Whether the operand's address counts from another one than its registers say now.
bool is_moved(const Architecture& arch, const Operation& operation, const Operand& operand) {
  if (!is_x86(arch)) {
    return false;
  }
  const std::string_view name = bare_mnemonic(operation);
  // A bit's number may lead far from there.
  const bool bits = (name == "bt" || name == "btc" || name == "btr" || name == "bts") &&
                    operation.operands.back().kind == Operand::Kind::reg;
  return bits || (name == "pop" && (operand.reg == "rsp" || operand.reg == "esp"));
}

// AArch64's registers of floating point and vectors are known by their names alone.
std::uint64_t size_of(const Architecture& arch, const Operation& operation,
                      const Operand& operand) {
  return arch.family == "aarch64" ? aarch64_access_size(operation) : operand.size;
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

std::optional<bool> Access::written() const {
  return use == Use::unknown ? std::nullopt
                             : std::optional(use == Use::writes || use == Use::changes);
}

Accesses accesses(const ProcessImage& image, const Registers& registers,
                  const Operation& operation) {
  Accesses found;
  const Architecture& arch = *image.arch;
  if (is_x86(arch)) {
    const std::string_view name = bare_mnemonic(operation);
    if (const auto access = access_of_stack(arch, registers, operation, name)) {
      found.known.push_back(*access);
    }
  }
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    const Operand& operand = operation.operands[i];
    const Use use =
        operand.kind == Operand::Kind::memory ? operand_use(arch, operation, i) : Use::nothing;
    if (use == Use::nothing) {
      continue;
    }
    const auto address = operand.segment || is_moved(arch, operation, operand)
                             ? std::nullopt
                             : address_of(image, registers, operation, operand);
    if (!address) {
      found.elsewhere.push_back(use);
      continue;
    }
    const std::uint64_t size = size_of(arch, operation, operand);
    const Access one{*address, size != 0 ? size : arch.registers.size, use, size != 0};
    found.known.push_back(repeated(arch, registers, operation, one));
  }
  return found;
}

std::optional<bool> writes_operand(const Architecture& arch, const Operation& operation,
                                   std::size_t number) {
  return Access{.use = operand_use(arch, operation, number)}.written();
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
  const auto number = static_cast<std::size_t>(operand - operation.operands.begin());
  const auto address = address_of(image, registers, operation, *operand);
  return address ? std::optional(
                       Access{*address, operand->size, operand_use(*image.arch, operation, number)})
                 : std::nullopt;
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
