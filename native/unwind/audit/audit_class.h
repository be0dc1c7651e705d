// Why the analysis and an unwind table differ at a place: told by the instructions that lead there,
// never by names of files or functions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/instruction.h"
#include "unwind/analysis/abstract_state.h"
#include "unwind/audit/audit_outcome.h"
#include "unwind/rows/row.h"

namespace whocall {

enum class AuditClass : std::uint8_t {
  plt,                     // the stubs of a procedure linkage table
  unknown_instruction,     // the decoder does not know what stands before
  entered_by_jump,         // a part of a function that others jump into
  landing_pad,             // nothing but the exception tables leads there
  jump_table,              // entered by the function's indirect jump
  called_inside,           // a part that the function itself calls
  computed_stack_pointer,  // the stack pointer was set to what cannot be followed
  joined_paths,            // paths of different depth meet
  kept_over_call,          // the frame's address is kept in a register that calls may change
  call_without_return,     // the table tells of another path behind a call
  another_stack,           // the table tells of a frame that is not on this stack
  table_late,              // the table follows an instruction later
  table_early,             // the table moves on before the instructions do
  table_incomplete,        // the table does not tell what the instructions do
  saved_register,          // only where a register was saved differs
  unreached,               // the analysis did not get there
};
inline constexpr std::size_t kAuditClasses = static_cast<std::size_t>(AuditClass::unreached) + 1;
std::string_view to_string(AuditClass which);  // "plt", "unknown-instruction", ...

// An instruction that a table covers.
struct AuditPlace {
  AddressRange range;  // link addresses
  std::optional<Instruction> instruction{};
  const UnwindRow* row = nullptr;        // the table's
  const AbstractState* state = nullptr;  // ours before the instruction; null: not reached
  AuditOutcome outcome = AuditOutcome::agrees;
  bool guessed = false;   // how deep the stack is there
  bool doubtful = false;  // and several depths are known

  [[nodiscard]] bool differs() const { return outcome != AuditOutcome::agrees; }
  [[nodiscard]] bool is_call() const {
    return instruction && instruction->flow == Instruction::Flow::call;
  }
};

// What else the classes are told by.
struct AuditedFunction {
  const Architecture& arch;
  AddressRange range;  // link addresses
  bool in_plt = false;
  std::function<bool(Address)> is_jumped_into;       // from other functions
  std::function<bool(AddressRange)> is_all_decoded;  // no unknown instruction lies there
};

// The class of each place, without meaning where nothing differs. `places` are ascending. A
// difference goes on along the flow; its class is that of the place where it began.
std::vector<AuditClass> classify(std::span<const AuditPlace> places,
                                 const AuditedFunction& function);

}  // namespace whocall
