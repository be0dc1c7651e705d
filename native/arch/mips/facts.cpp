// MIPS of the System V psABI as Linux and gcc use it: o32, n64 and n32, in both byte orders.
//
// Sources: arch/mips of Linux (asm/elf.h, asm/sigcontext.h, kernel/signal.c, signal_n32.c,
// signal_o32.c); MIPSpro N32 ABI Handbook; System V ABI, MIPS RISC Processor Supplement.
#include "arch/mips/facts.h"

#include <elf.h>

#include <algorithm>

#include "arch/fixed_width.h"
#include "arch/mips/constants.h"
#include "arch/mips/decoder.h"
#include "arch/mips/linkage.h"
#include "arch/mips/relocations.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t kMicroMips = 0x02000000;  // EF_MIPS_MICROMIPS: other code altogether
constexpr std::uint32_t kRelease6Of32 = 0x90000000;
constexpr std::uint32_t kRelease6Of64 = 0xa0000000;

bool is_decoded(std::uint32_t flags) {
  const std::uint32_t set = flags & EF_MIPS_ARCH;
  return (flags & kMicroMips) == 0 && set != kRelease6Of32 && set != kRelease6Of64;
}
bool is_o32(std::uint32_t flags) { return is_decoded(flags) && (flags & EF_MIPS_ABI2) == 0; }
bool is_n32(std::uint32_t flags) { return is_decoded(flags) && (flags & EF_MIPS_ABI2) != 0; }

// The number of the pc is nobody's: 32 to 63 are floating point, 64 and 65 hi and lo.
constexpr Register kPc = 66;
constexpr std::array<std::string_view, 67> with_pc(
    const std::array<std::string_view, 32>& general) {
  std::array<std::string_view, 67> names{};
  std::ranges::copy(general, names.begin());
  names[kPc] = "pc";
  return names;
}
constexpr auto kOldNames = with_pc(mips::kOldNames);
constexpr auto kNewNames = with_pc(mips::kNewNames);

constexpr std::array<Register, 9> kCalleeSaved = {16, 17, 18, 19, 20, 21, 22, 23, mips::kFp};
constexpr std::array<Register, 10> kNewCalleeSaved = {16, 17, 18, 19,        20,
                                                      21, 22, 23, mips::kGp, mips::kFp};
constexpr std::array<Register, 4> kArguments = {4, 5, 6, 7};
constexpr std::array<Register, 8> kNewArguments = {4, 5, 6, 7, 8, 9, 10, 11};

// Registers 1 to 31 that lie `Size` bytes apart from `First` on, and the pc. The low word of a wide
// place is the second one in big-endian order, which is where registers of `Kept` bytes are.
template <std::uint32_t First, std::uint32_t Pc, std::uint8_t Size, std::uint8_t Kept, Endian Order>
constexpr auto kSaved = [] {
  constexpr std::uint32_t kLow = Order == Endian::big ? Size - Kept : 0;
  std::array<SavedRegister, 32> registers{};
  for (Register number = 1; number < 32; ++number) {
    registers[number - 1U] = {number, First + std::uint32_t{Size} * number + kLow, Kept};
  }
  registers[31] = {kPc, Pc + kLow, Kept};
  return registers;
}();

template <std::uint16_t Number, Endian Order>
constexpr std::array<std::uint8_t, 8> kSystemCall = mips::system_call(Number, Order == Endian::big);

// clone, and exit behind the thread's function.
template <std::uint16_t Clone, std::uint16_t Exit, Endian Order>
constexpr std::array<ThreadStart, 1> kThreadStarts = {
    {{kSystemCall<Clone, Order>, kSystemCall<Exit, Order>}}};

// The kernel saves the register that is always zero as well.
template <std::uint32_t First>
constexpr std::array<ContextMark, 1> kZeroSaved = {{{First, 8, ~std::uint64_t{0}, 0}}};

// Four words of arguments and two of a trampoline, then struct sigcontext, or siginfo (128 bytes)
// and ucontext. struct sigcontext of o32 begins with two words, the pc, and the registers.
template <std::uint32_t At, Endian Order>
constexpr auto kOldContext = kSaved<At + 16, At + 8, 8, 4, Order>;
constexpr std::uint32_t kOldSignal = 24;
constexpr std::uint32_t kOldRealTime = 24 + 128 + 24;

template <Endian Order>
constexpr std::array<SignalTrampoline, 2> kOldTrampolines = {
    {{"sigreturn", kSystemCall<mips::kSigreturn, Order>, 0, false, kOldContext<kOldSignal, Order>,
      kZeroSaved<kOldSignal + 16>},
     {"rt_sigreturn", kSystemCall<mips::kRtSigreturn, Order>, 0, false,
      kOldContext<kOldRealTime, Order>, kZeroSaved<kOldRealTime + 16>}}};

// That of n64 and n32: the registers, those of floating point, four times hi and lo, the pc.
constexpr std::uint32_t kPcInContext = 2 * 32 * 8 + 8 * 8;
template <std::uint16_t Number, std::uint32_t At, Endian Order>
constexpr std::array<SignalTrampoline, 1> kNewTrampoline = {
    {{"rt_sigreturn", kSystemCall<Number, Order>, 0, false,
      kSaved<At, At + kPcInContext, 8, 8, Order>, kZeroSaved<At>}}};
constexpr std::uint32_t kN64Context = 24 + 128 + 40;
constexpr std::uint32_t kN32Context = 24 + 128 + 24;

// Compilers align functions to an instruction.
constexpr FixedWidth kForm{.width = 4,
                           .function_alignment = 4,
                           .sp = mips::kSp,
                           .link = mips::kRa,
                           .global_pointer = mips::kGp};

// gdb names the instruction set only: all of its programs' ABIs and byte orders have one name.
constexpr std::array kGdbNames = {
    "mips"sv,         "mips:3000"sv,    "mips:6000"sv,    "mips:4000"sv,    "mips:8000"sv,
    "mips:mips5"sv,   "mips:isa32"sv,   "mips:isa32r2"sv, "mips:isa32r3"sv, "mips:isa32r5"sv,
    "mips:isa64"sv,   "mips:isa64r2"sv, "mips:isa64r3"sv, "mips:isa64r5"sv, "mips:octeon"sv,
    "mips:octeon+"sv, "mips:octeon2"sv, "mips:octeon3"sv};

// Kernels of 64 bits run the programs of all ABIs; of those with narrow pointers uname cannot tell
// two apart, and n32's are rare.
constexpr std::array kHostNames = {"mips"sv, "mips64"sv};
constexpr std::array kWideHostNames = {"mips64"sv};

// What the ABIs differ in.
struct Convention {
  Endian endian = Endian::little;
  bool wide_registers = false;  // 8 bytes
  bool wide_pointers = false;
  bool (*accepts)(std::uint32_t e_flags) = nullptr;
  unsigned call_alignment = 0;  // bytes
  std::span<const std::string_view> host_names{};
  std::string_view image_name{};
  std::span<const std::string_view> names{};
  std::span<const Register> callee_saved{};
  std::span<const Register> arguments{};
  PrstatusLayout prstatus{};
  std::span<const SignalTrampoline> signal_trampolines{};
  std::span<const ThreadStart> thread_starts{};
};

template <Endian Order>
constexpr Convention kO32 = {.endian = Order,
                             .wide_registers = false,
                             .wide_pointers = false,
                             .accepts = is_o32,
                             .call_alignment = 8,
                             .host_names = kHostNames,
                             .image_name = Order == Endian::big ? "mips" : "mipsle",
                             .names = kOldNames,
                             .callee_saved = kCalleeSaved,
                             .arguments = kArguments,
                             .prstatus = {.size = 256,
                                          .lwp_offset = 24,
                                          .registers_offset = 72,
                                          .registers_size = 180,
                                          .registers = kSaved<6 * 4, 40 * 4, 4, 4, Order>},
                             .signal_trampolines = kOldTrampolines<Order>,
                             .thread_starts = kThreadStarts<4120, 4001, Order>};
template <Endian Order>
constexpr Convention kN64 = {
    .endian = Order,
    .wide_registers = true,
    .wide_pointers = true,
    .accepts = is_decoded,
    .call_alignment = 16,
    .host_names = kWideHostNames,
    .image_name = Order == Endian::big ? "mips64" : "mips64le",
    .names = kNewNames,
    .callee_saved = kNewCalleeSaved,
    .arguments = kNewArguments,
    .prstatus = {.size = 480,
                 .lwp_offset = 32,
                 .registers_offset = 112,
                 .registers_size = 360,
                 .registers = kSaved<0, 34 * 8, 8, 8, Order>},
    .signal_trampolines = kNewTrampoline<mips::kRtSigreturnN64, kN64Context, Order>,
    .thread_starts = kThreadStarts<5055, 5058, Order>};
template <Endian Order>
constexpr Convention kN32 = {
    .endian = Order,
    .wide_registers = true,
    .wide_pointers = false,
    .accepts = is_n32,
    .call_alignment = 16,
    .names = kNewNames,
    .callee_saved = kNewCalleeSaved,
    .arguments = kNewArguments,
    .prstatus = {.size = 440,
                 .lwp_offset = 24,
                 .registers_offset = 72,
                 .registers_size = 360,
                 .registers = kSaved<0, 34 * 8, 8, 8, Order>},
    .signal_trampolines = kNewTrampoline<mips::kRtSigreturnN32, kN32Context, Order>,
    .thread_starts = kThreadStarts<6055, 6058, Order>};

// What the decoder alone does not answer.
template <class Decoder, const Convention& Of>
struct Questions {
  static constexpr mips::Dialect kDialect = {Of.wide_registers, Of.wide_pointers, Of.endian};

  static StartFeatures features_at_start(ByteView code, std::uint64_t at) {
    StartFeatures found = FixedWidthCode<Decoder, kForm>::features_at_start(code, at);
    found.prologue = found.prologue || mips::begins_with_own_distance(kDialect, code.from(at));
    return found;
  }
  static void append_jump_tables(ByteView code, std::vector<Address>& tables) {
    mips::append_jump_tables(kDialect, code, tables);
  }
  static void append_constant_addresses(ByteView code, Address address, const GlobalTable& got,
                                        bool fixed, AddressRange wanted,
                                        std::vector<ConstantAddress>& found) {
    mips::append_constant_addresses(kDialect, code, address, got, fixed, wanted, found);
  }
  static void append_named_addresses(ByteView code, Address address, const GlobalTable& got,
                                     bool fixed, AddressRange wanted, std::vector<Address>& found) {
    mips::append_named_addresses(kDialect, code, address, got, fixed, wanted, found);
  }

  static constexpr CodeModel model() {
    CodeModel code = FixedWidthCode<Decoder, kForm>::model();
    code.features_at_start = features_at_start;
    code.append_jump_tables = append_jump_tables;
    code.append_constant_addresses = append_constant_addresses;
    code.append_named_addresses = append_named_addresses;
    code.callee = mips::kT9;
    return code;
  }
};

template <const Convention& Of>
Architecture row(std::string_view name) {
  Architecture arch;
  arch.name = name;
  arch.family = "mips";
  arch.gdb_names = kGdbNames;
  arch.abi = {.elf_machine = mips::kElfMachine,
              .pointer_size = Of.wide_pointers ? 8 : 4,
              .endian = Of.endian,
              .accepts = Of.accepts,
              .call_alignment = Of.call_alignment,
              .host_names = Of.host_names,
              .image_name = Of.image_name,
              .flirt_processor = 12};
  arch.registers = {.names = Of.names,
                    .size = Of.wide_registers ? 8 : 4,
                    .pc = kPc,
                    .sp = mips::kSp,
                    .fp = mips::kFp,
                    .return_address = mips::kRa,
                    .link = mips::kRa,
                    .callee_saved = Of.callee_saved,
                    .arguments = Of.arguments};
  using Decoder = mips::DecoderOf<Of.wide_registers, Of.wide_pointers, Of.endian>;
  arch.code = Questions<Decoder, Of>::model();
  arch.os = {.prstatus = Of.prstatus,
             .signal_trampolines = Of.signal_trampolines,
             .thread_starts = Of.thread_starts};
  arch.linkage = {.switches_count_from = ".got",
                  .switches_offset = mips::kGpBehindTable,
                  .jump_stub = mips::jump_stub,
                  .startup = mips::startup,
                  .entry_name = "__start",
                  .relocations = [] { return mips::relocations(Of.endian); },
                  .got_target = mips::got_target};
  return arch;
}

}  // namespace

const Architecture kMips = row<kO32<Endian::big>>("mips");
const Architecture kMipsel = row<kO32<Endian::little>>("mipsel");
const Architecture kMips64 = row<kN64<Endian::big>>("mips64");
const Architecture kMips64el = row<kN64<Endian::little>>("mips64el");
const Architecture kMipsN32 = row<kN32<Endian::big>>("mipsn32");
const Architecture kMipsN32el = row<kN32<Endian::little>>("mipsn32el");

}  // namespace whocall
