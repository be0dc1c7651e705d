// RISC-V of 64 bits: the RISC-V ELF psABI; <asm/ptrace.h> and <asm/sigcontext.h> of Linux.
#include "arch/riscv/facts.h"

#include <algorithm>
#include <array>

#include "arch/fixed_width.h"
#include "arch/named_addresses.h"
#include "arch/riscv/addresses.h"
#include "arch/riscv/code.h"
#include "arch/riscv/decoder.h"
#include "arch/riscv/fields.h"
#include "arch/riscv/linkage.h"
#include "arch/riscv/value_reader.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

constexpr std::array kRiscvGdbNames = {"riscv"sv, "riscv:rv64"sv};
constexpr std::array kRiscvHosts = {"riscv64"sv};
constexpr std::array<Register, 12> kRiscvCalleeSaved = {8,  9,  18, 19, 20, 21,
                                                        22, 23, 24, 25, 26, 27};
constexpr std::array<Register, 8> kRiscvArguments = {10, 11, 12, 13, 14, 15, 16, 17};

// The general registers by their numbers, and the pc.
constexpr auto kRiscvNames = [] {
  std::array<std::string_view, riscv::kPc + 1> names{};
  std::ranges::copy(riscv::kNames, names.begin());
  names[riscv::kPc] = "pc";
  return names;
}();

// struct user_regs_struct, which begins with the pc where x0 would stand.
template <std::uint32_t Base>
constexpr auto kRiscvSaved = [] {
  std::array<SavedRegister, 32> registers{};
  registers[0] = {riscv::kPc, Base};
  for (std::uint32_t number = 1; number < registers.size(); ++number) {
    registers[number] = {static_cast<Register>(number), Base + 8U * number};
  }
  return registers;
}();

// At the trampoline sp stands at siginfo (128 bytes); in the ucontext behind it the registers begin
// at the next multiple of 16 behind the signal mask's 128 bytes. uc_flags and uc_link are zero.
constexpr std::uint32_t kRiscvContext = 128 + 176;
constexpr std::array<ContextMark, 2> kRiscvMarks = {
    {{128, 8, ~std::uint64_t{0}, 0}, {136, 8, ~std::uint64_t{0}, 0}}};
constexpr std::array<SignalTrampoline, 1> kRiscvTrampolines = {
    {{"rt_sigreturn", riscv::kRtSigreturn, 0, false, kRiscvSaved<kRiscvContext>, kRiscvMarks}}};

// li a7,__NR_clone, or __NR_clone3; ecall; li a7,__NR_exit; ecall
constexpr std::array<std::uint8_t, 8> kRiscvClone = {0x93, 0x08, 0xc0, 0x0d,
                                                     0x73, 0x00, 0x00, 0x00};
constexpr std::array<std::uint8_t, 8> kRiscvClone3 = {0x93, 0x08, 0x30, 0x1b,
                                                      0x73, 0x00, 0x00, 0x00};
constexpr std::array<std::uint8_t, 8> kRiscvExit = {0x93, 0x08, 0xd0, 0x05, 0x73, 0x00, 0x00, 0x00};
constexpr std::array<ThreadStart, 2> kRiscvThreadStarts = {
    {{kRiscvClone, kRiscvExit}, {kRiscvClone3, kRiscvExit}}};

constexpr FixedWidth kRiscvForm{.width = riscv::kCompressed,
                                .function_alignment = riscv::kCompressed,
                                .sp = riscv::kSp,
                                .link = riscv::kRa};
using RiscvCode = FixedWidthCode<riscv::Decoder, kRiscvForm>;
using RiscvAddresses = NamedAddresses<riscv::Decoder, riscv::Addresses, riscv::kCompressed>;

std::unique_ptr<InstructionDecoder> make_riscv_decoder(const CodeReader& around) {
  return std::make_unique<riscv::Decoder>(around);
}

StartFeatures riscv_features_at_start(ByteView code, std::uint64_t at) {
  StartFeatures found = RiscvCode::features_at_start(code, at);
  found.behind_end = riscv::flow_ends(code.slice(0, at).value_or(ByteView()));
  return found;
}

void append_riscv_start_marks(ByteView code, Address address, StartMarks& marks) {
  RiscvCode::append_start_marks(code, address, marks);
  riscv::append_starts_behind_calls(code, address, marks.prologues);
  RiscvAddresses::append_taken_code(code, address, marks.address_taken);
}

Architecture riscv64() {
  Architecture arch;
  arch.name = "riscv64";
  arch.family = "riscv";
  arch.gdb_names = kRiscvGdbNames;
  arch.abi = {.elf_machine = riscv::kElfMachine,
              .pointer_size = 8,
              .host_names = kRiscvHosts,
              .image_name = "riscv64"};
  arch.registers = {.names = kRiscvNames,
                    .size = 8,
                    .pc = riscv::kPc,
                    .sp = riscv::kSp,
                    .fp = riscv::kFp,
                    .return_address = riscv::kRa,
                    .link = riscv::kRa,
                    .callee_saved = kRiscvCalleeSaved,
                    .thread_pointer = riscv::kTp,
                    .arguments = kRiscvArguments};
  arch.frame.chain = FrameChain{.kind = FrameChain::Kind::frame_pointer,
                                .base = riscv::kFp,
                                .link_offset = riscv::kLinkBelowFrame,
                                .return_address_offset = riscv::kReturnBelowFrame};
  arch.code = RiscvCode::model();
  arch.code.make_decoder = make_riscv_decoder;
  arch.code.make_value_reader = riscv::make_value_reader;
  arch.code.call_before = riscv::call_before;
  arch.code.flow_ends = riscv::flow_ends;
  arch.code.features_at_start = riscv_features_at_start;
  arch.code.longest_call = 2 * riscv::kWidth;
  arch.code.append_start_marks = append_riscv_start_marks;
  arch.code.append_constant_addresses = RiscvAddresses::append_constant_addresses;
  arch.code.append_named_addresses = RiscvAddresses::append_named_addresses;
  arch.os = {.prstatus = {.size = 376,
                          .lwp_offset = 32,
                          .registers_offset = 112,
                          .registers_size = 256,
                          .registers = kRiscvSaved<0>},
             .signal_trampolines = kRiscvTrampolines,
             .thread_starts = kRiscvThreadStarts};
  arch.linkage = {.jump_stub = riscv::jump_stub,
                  .startup = riscv::startup,
                  .global_pointer = riscv::global_pointer};
  return arch;
}

}  // namespace

const Architecture kRiscv64 = riscv64();

}  // namespace whocall
