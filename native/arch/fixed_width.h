// What code tells where every instruction is one aligned word: all that x86 has to search for at
// every byte follows from the decoder.
//
// An instruction with a delay slot is decoded as one unit with what stands in the slot: its size is
// that of both, and the slot's effects come first.
#pragma once

#include <vector>

#include "arch/code_model.h"
#include "arch/instruction.h"

namespace whocall {

struct FixedWidth {
  std::uint8_t width = 4;            // of an instruction, bytes
  unsigned function_alignment = 16;  // what compilers align functions to, bytes
  Register sp = 0;
  std::optional<Register> link{};
  // Where position-independent functions keep the address of their own data: they begin by setting
  // it (MIPS: lui gp,HIGH; addiu gp,gp,LOW; addu gp,gp,t9).
  std::optional<Register> global_pointer{};

  // Each answers the question of CodeModel by the same name.
  std::optional<CallSite> call_before(InstructionDecoder& decoder, ByteView before,
                                      Address return_address) const;
  void append_start_marks(InstructionDecoder& decoder, ByteView code, Address address,
                          StartMarks& marks) const;
  StartFeatures features_at_start(InstructionDecoder& decoder, ByteView code,
                                  std::uint64_t at) const;
  bool flow_ends(InstructionDecoder& decoder, ByteView before) const;
  void append_direct_jumps(InstructionDecoder& decoder, ByteView code, Address address,
                           AddressRange wanted, std::vector<DirectJump>& jumps) const;

 private:
  // The unit that ends at the end of `before`.
  std::optional<Instruction> unit_before(InstructionDecoder& decoder, ByteView before,
                                         Address end) const;
  bool is_prologue(const Instruction& instruction) const;
  bool begins_behind_call(const Instruction& instruction) const;
};

// The code model of an instruction set whose decoder is `Decoder`.
template <class Decoder, const FixedWidth& Form>
struct FixedWidthCode {
  static std::optional<CallSite> call_before(ByteView before, Address return_address) {
    return Form.call_before(decoder(), before, return_address);
  }
  static void append_start_marks(ByteView code, Address address, StartMarks& marks) {
    Form.append_start_marks(decoder(), code, address, marks);
  }
  static StartFeatures features_at_start(ByteView code, std::uint64_t at) {
    return Form.features_at_start(decoder(), code, at);
  }
  static bool flow_ends(ByteView before) { return Form.flow_ends(decoder(), before); }
  static void append_direct_jumps(ByteView code, Address address, AddressRange wanted,
                                  std::vector<DirectJump>& jumps) {
    Form.append_direct_jumps(decoder(), code, address, wanted, jumps);
  }
  static std::unique_ptr<InstructionDecoder> make_decoder(const CodeReader& /*around*/) {
    return std::make_unique<Decoder>();
  }

  // One a thread, as making one may take longer than what is asked of it.
  static Decoder& decoder() {
    thread_local Decoder decoder;
    return decoder;
  }

  static constexpr CodeModel model() {
    CodeModel code;
    code.alignment = Form.width;
    code.function_alignment = Form.function_alignment;
    code.call_before = call_before;
    code.longest_call = 2 * Form.width;
    code.append_start_marks = append_start_marks;
    code.features_at_start = features_at_start;
    code.flow_ends = flow_ends;
    code.append_direct_jumps = append_direct_jumps;
    code.make_decoder = make_decoder;
    return code;
  }
};

}  // namespace whocall
