#include "arch_invented.h"

#include <array>

#include "arch/fixed_width.h"

namespace whocall::test {
namespace {

constexpr Register kSp = InventedCode::kSp;
constexpr Register kLink = InventedCode::kLinkInTables;
constexpr Register kPc = 16;
constexpr std::uint8_t kWidth = 4;

class Decoder final : public InstructionDecoder {
 public:
  std::optional<Instruction> decode(ByteView code, Address address) override {
    Instruction out;
    const auto word = word_at(code, 0);
    if (!word || !read(*word, address, out)) {
      return std::nullopt;
    }
    out.size = kWidth;
    const bool has_slot = out.flow != Instruction::Flow::next && *word >> 24U != kIllegal;
    if (!has_slot) {
      return out;
    }
    Instruction slot;
    const auto behind = word_at(code, kWidth);
    if (!behind || !read(*behind, address + kWidth, slot) || slot.flow != Instruction::Flow::next) {
      return std::nullopt;
    }
    out.size = 2 * kWidth;
    for (const Effect& effect : slot.list()) {
      out.add(effect);
    }
    return out;
  }
  std::string text(ByteView code, Address /*address*/) override {
    return word_at(code, 0) ? "invented" : "";
  }

 private:
  static constexpr std::uint32_t kIllegal = 0xff;

  // Instructions are big-endian, whatever the data are.
  static std::optional<std::uint32_t> word_at(ByteView code, std::uint64_t at) {
    return ByteView(code.from(at).bytes(), Endian::big).read<std::uint32_t>(0);
  }

  // As tables number the register of a field.
  static Register number_of(std::uint32_t field) {
    return field == InventedCode::kLink ? kLink : static_cast<Register>(field);
  }

  static bool read(std::uint32_t word, Address address, Instruction& out) {
    using Flow = Instruction::Flow;
    const Register a = number_of(word >> 20U & 0xfU);
    const Register b = number_of(word >> 16U & 0xfU);
    const std::int64_t value = static_cast<std::int16_t>(word);
    const std::int64_t distance = static_cast<std::int32_t>(word << 8U) / 256 * 4;
    const auto go = [&](Flow flow) {
      out.flow = flow;
      out.target = address + static_cast<Address>(distance);
      return true;
    };
    switch (word >> 24U) {
      case 0x00:
        out.padding = true;
        return true;
      case 0x01:
        out.add({Effect::Kind::set, a, b, value});
        return true;
      case 0x02:
        out.add({Effect::Kind::load, a, b, value});
        return true;
      case 0x03:
        out.add({Effect::Kind::store, b, a, value});
        return true;
      case 0x05:
        out.add({Effect::Kind::store, b, a, value});
        out.add({Effect::Kind::set, b, b, value});
        return true;
      case 0x10:
        return go(Flow::call);
      case 0x11:
        return go(Flow::jump);
      case 0x12:
        return go(Flow::branch);
      case 0x13:
        out.flow = a == kLink ? Flow::stop : Flow::indirect_jump;
        out.returns = a == kLink;
        return true;
      case 0x14:
        out.flow = Flow::call;
        return true;
      case 0x20:
        out.add({Effect::Kind::clobber, 0});
        return true;
      default:
        return false;
    }
  }
};

constexpr auto kNames = [] {
  std::array<std::string_view, kLink + 1> names{"r0", "r1", "r2", "r3",  "r4",  "r5", "r6",
                                                "r7", "r8", "r9", "r10", "r11", "fp", "sp"};
  names[kPc] = "pc";
  names[kLink] = "lr";
  return names;
}();
// Those of the instructions' fields, the field of the link register unused.
constexpr Register kFields = 16;
constexpr std::array<Register, 1> kBeyond = {kLink};
constexpr std::array<Register, 7> kCalleeSaved = {4, 5, 6, 7, 8, 9, InventedCode::kFp};
constexpr std::array<Register, 2> kArguments = {0, 1};
constexpr std::array<std::string_view, 1> kGdbNames = {"invented"};

// Behind the stack pointer of the trampoline: a word, the registers in the order of their numbers,
// the pc, and a word of flags.
constexpr auto kContext = [] {
  std::array<SavedRegister, 16> registers{};
  for (Register number = 0; number < 15; ++number) {
    registers[number] = {number, 4U + 4U * number, 4};
  }
  registers[InventedCode::kLink].number = kLink;
  registers[15] = {kPc, 4 + 4 * 15, 4};
  return registers;
}();
constexpr std::array<ContextMark, 1> kMarks = {{{4 + 4 * 16, 4, 0xffffffff, 0x00005555}}};
constexpr std::array<std::uint8_t, 4> kReturn = {0x20, 0x00, 0x00, 0x77};
constexpr std::array<SignalTrampoline, 1> kTrampolines = {
    {{"sigreturn", kReturn, 0, false, kContext, kMarks}}};

constexpr FixedWidth kForm{.width = kWidth, .sp = kSp, .link = kLink};

}  // namespace

const Architecture kInvented = {
    .name = "invented",
    .family = "invented",
    .gdb_names = kGdbNames,
    .abi = {.elf_machine = 0xfe0f, .pointer_size = 4, .endian = Endian::big, .call_alignment = 8},
    .registers = {.names = kNames,
                  .size = 4,
                  .pc = kPc,
                  .sp = kSp,
                  .fp = InventedCode::kFp,
                  .return_address = kLink,
                  .link = kLink,
                  .callee_saved = kCalleeSaved,
                  .arguments = kArguments,
                  .followed = FollowedRegisters(kFields, kBeyond)},
    .frame = {.cfa_on_entry = 8,
              .chain = FrameChain{.kind = FrameChain::Kind::back_chain,
                                  .base = kSp,
                                  .cfa_offset = 8,
                                  .link_offset = 0,
                                  .return_address_offset = 4}},
    .code = FixedWidthCode<Decoder, kForm>::model(),
    .os = {.signal_trampolines = kTrampolines},
};

}  // namespace whocall::test
