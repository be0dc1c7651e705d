#include "report/causes/operand_use.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace whocall {
namespace {

using Words = std::span<const std::string_view>;

// The library's word is not asked on x86: Capstone 4 takes what `vmovdqu ymmword ptr [rdi], ymm0`
// writes for read. Of the instructions of x86's that have an operand in memory first:
constexpr std::string_view kX86Changing[] = {
    "add", "adc", "and",  "btc", "btr",  "bts", "cmpxchg", "cmpxchg16b", "cmpxchg8b", "dec",
    "inc", "neg", "not",  "or",  "rcl",  "rcr", "rol",     "ror",        "sal",       "sar",
    "sbb", "shl", "shld", "shr", "shrd", "sub", "xadd",    "xchg",       "xor",
};
constexpr std::string_view kX86ReadingExactly[] = {
    "bt",      "call",  "clflush", "clflushopt", "clwb",    "cmp",      "comisd", "comiss", "div",
    "fbld",    "fldcw", "fldenv",  "frstor",     "fxrstor", "idiv",     "imul",   "jmp",    "lcall",
    "ldmxcsr", "ljmp",  "mul",     "push",       "test",    "vldmxcsr", "xrstor",
};
// x87 works on its own stack with what is read; those that store have other names.
constexpr std::string_view kX86Reading[] = {
    "cmps",  "fadd",  "fcom", "fdiv", "fiadd", "ficom", "fidiv", "fild",
    "fimul", "fisub", "fld",  "fmul", "fsub",  "lods",  "outs",  "scas",
};
constexpr std::string_view kX86Writing[] = {
    "extractps", "fbstp",      "fist",    "fnsave",    "fnstcw",    "fnstenv",  "fnstsw",
    "fst",       "fxsave",     "ins",     "mov",       "pextr",     "pop",      "set",
    "sgdt",      "sidt",       "stmxcsr", "stos",      "vcvtps2ph", "vextract", "vmaskmov",
    "vmov",      "vpcompress", "vpextr",  "vpmaskmov", "vpscatter", "vscatter", "vstmxcsr",
    "kmov",      "vcompress",  "vpmov",
};
// What has an operand in memory and leaves that alone, or counts further from it, or writes where
// no operand tells.
constexpr std::string_view kX86Naming[] = {"lea", "nop", "prefetch", "cldemote"};
constexpr std::string_view kX86Odd[] = {"movdir", "enqcmd", "bnd", "xsave", "monitor", "inv"};

// AArch64's atomic instructions; `stadd` and its like are `ldadd` that forgets what it read.
constexpr std::string_view kAtomic[] = {
    "cas",   "ldadd", "ldclr", "ldeor", "ldset", "ldsm", "ldum",
    "stadd", "stclr", "steor", "stset", "stsm",  "stum", "swp",
};
constexpr std::string_view kStoring[] = {"st", "vst", "push", "sw", "sb", "sh", "sd", "fsw", "fsd"};
constexpr std::string_view kLoading[] = {"l", "vl", "pop", "flw", "fld"};

bool is_one_of(std::string_view text, Words words) {
  return std::ranges::find(words, text) != words.end();
}

bool begins_as_one_of(std::string_view text, Words beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view each) { return text.starts_with(each); });
}

Use use_on_x86(const Operation& operation, std::size_t number) {
  const std::string_view name = bare_mnemonic(operation);
  if (name != "leave" && begins_as_one_of(name, kX86Naming)) {
    return Use::nothing;
  }
  if (begins_as_one_of(name, kX86Odd)) {
    return Use::unknown;
  }
  if (name == "xchg" || (number == 0 && is_one_of(name, kX86Changing))) {
    return Use::changes;
  }
  if (number != 0 || is_one_of(name, kX86ReadingExactly) || begins_as_one_of(name, kX86Reading)) {
    return Use::reads;
  }
  return begins_as_one_of(name, kX86Writing) ? Use::writes : Use::unknown;
}

Use use_elsewhere(const Architecture& arch, const Operation& operation, std::size_t number) {
  constexpr std::string_view kCompressed = "c.";
  std::string_view name = operation.mnemonic;
  const bool is_compressed = arch.family == "riscv" && name.starts_with(kCompressed);
  name.remove_prefix(is_compressed ? kCompressed.size() : 0);
  const bool is_arm = arch.family == "arm";
  if (name.starts_with("prfm") || name.starts_with("pld")) {
    return Use::nothing;
  }
  if ((arch.name.starts_with("aarch64") && begins_as_one_of(name, kAtomic)) ||
      (is_arm && name.starts_with("swp"))) {
    return Use::changes;
  }
  if (begins_as_one_of(name, kStoring)) {  // such sets load and store
    return Use::writes;
  }
  if (begins_as_one_of(name, kLoading)) {
    return Use::reads;
  }
  const Operand& operand = operation.operands[number];
  return operand.written ? (operand.read ? Use::changes : Use::writes)
         : operand.read  ? Use::reads
                         : Use::unknown;
}

// Bytes of a register of AArch64's, by its name. The library calls x29 and x30 `fp` and `lr` since
// its version 5.
std::uint64_t size_of_register(std::string_view name) {
  if (name == "fp" || name == "lr") {
    return 8;
  }
  constexpr std::pair<char, std::uint64_t> kSizes[] = {{'w', 4}, {'x', 8}, {'b', 1}, {'h', 2},
                                                       {'s', 4}, {'d', 8}, {'q', 16}};
  for (const auto& [letter, size] : kSizes) {
    const bool is_whole = name == "xzr" || name == "wzr" ||
                          name.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (name.size() > 1 && name[0] == letter && is_whole) {
      return size;
    }
  }
  return 0;
}

}  // namespace

std::string_view bare_mnemonic(const Operation& operation) {
  const std::string_view name = operation.mnemonic;
  return name.substr(name.rfind(' ') + 1);
}

Use operand_use(const Architecture& arch, const Operation& operation, std::size_t number) {
  return arch.family == "x86" ? use_on_x86(operation, number)
                              : use_elsewhere(arch, operation, number);
}

std::uint64_t aarch64_access_size(const Operation& operation) {
  constexpr std::string_view kPlain[] = {"ldr",   "ldur", "ldtr", "ldar", "ldapr", "ldlar", "ldxr",
                                         "ldaxr", "str",  "stur", "sttr", "stlr",  "stllr"};
  constexpr std::string_view kPairs[] = {"ldp", "ldnp", "stp", "stnp"};
  constexpr std::pair<std::string_view, std::uint64_t> kParts[] = {{"", 0},  {"b", 1},  {"sb", 1},
                                                                   {"h", 2}, {"sh", 2}, {"sw", 4}};
  const std::string_view name = operation.mnemonic;
  if (operation.operands.empty() || operation.operands.front().kind != Operand::Kind::reg) {
    return 0;
  }
  const std::uint64_t whole = size_of_register(operation.operands.front().reg);
  if (is_one_of(name, kPairs)) {
    return 2 * whole;
  }
  for (const std::string_view plain : kPlain) {
    const std::string_view rest = name.starts_with(plain) ? name.substr(plain.size()) : "-";
    const auto part =
        std::ranges::find(kParts, rest, &std::pair<std::string_view, std::uint64_t>::first);
    if (part != std::end(kParts)) {
      return part->second == 0 ? whole : part->second;
    }
  }
  return 0;
}

}  // namespace whocall
