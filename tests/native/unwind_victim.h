// A program for searches of its stack: two functions with unwind tables, which may call, and code
// in no module, which nothing is known of.
#pragma once

#include "unwind_process.h"

namespace whocall::test {

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x7ffc0000;
constexpr AddressRange kMain{0x401000, 0x401100};
constexpr AddressRange kCaller{0x401100, 0x401200};
constexpr Address kThird = 0x401200;  // the begin of a third function with tables
constexpr Address kBlind = 0x402000;

// kMain and kCaller keep 16 bytes of locals: CFA = sp + 24. The third function does so too, if it
// has `third_locals`.
inline TestProcess victim(const Architecture& arch, std::uint64_t third_size, bool third_locals) {
  FrameTable table(arch);
  const auto cie = table.usual_cie();
  const Bytes locals = Bytes{0x0e}.uleb(3U * arch.abi.pointer_size);  // DW_CFA_def_cfa_offset
  table.fde(cie, kMain, locals);
  table.fde(cie, kCaller, locals);
  table.fde(cie, {kThird, kThird + third_size}, third_locals ? locals : Bytes());
  TestProcess process(arch);
  process.code(kCode, 0x1000);
  process.code(kBlind, 0x1000);
  process.module("/bin/victim", {{kCode, kCode + 0x1000}, 0, table.bytes()}, true);
  return process;
}

}  // namespace whocall::test
