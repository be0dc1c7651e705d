// The analysis at the scale of a process: which code a function has, where its flow enters, which
// calls come back; results are kept by function.
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/instruction.h"
#include "process/process_image.h"
#include "unwind/analysis/function_analysis.h"
#include "unwind/code/callee_pops.h"
#include "unwind/code/code_map.h"
#include "unwind/code/landing_pads.h"
#include "unwind/code/no_return.h"

namespace whocall {

class FunctionAnalyser {
 public:
  // Both must outlive the object.
  FunctionAnalyser(const ProcessImage& process, CodeMap& code);

  // The rule at `pc` (pass an activation's lookup_pc; runtime address). Rows live as long as the
  // analyser. Null where the function is not known or the analysis lost the frame.
  const UnwindRow* row_at(Address pc);

  // The rule of the frame that is to go on at `return_address`, should the function have called on
  // another stack: see return_flow.h. Lives as long as the analyser; null where it did not.
  const UnwindRow* row_behind_call(Address return_address);

  // The rule of the frame at `pc`, by what its code does from there to the return: see
  // return_flow.h. Lives as long as the analyser; null where no way to a return was found.
  const UnwindRow* row_to_return(Address pc);

  // All rules of a function (runtime range, as CodeMap tells it); null where row_at is for all of
  // it.
  const AnalysedFunction* rows_of(const AddressRange& function);

  // The points of a function (runtime range), not kept.
  FollowedFunction follow(const AddressRange& function);
  // The same of one that calls are known to enter at its first byte: nobody else's code is looked
  // at for jumps into it.
  FollowedFunction follow_entered(const AddressRange& function) {
    return follow(function, std::vector<FunctionExit>());
  }

  // The rules of the function that begins at `target` (runtime) where it jumps to a place that a
  // register tells, with its frame still standing; small functions alone are looked at.
  const std::vector<UnwindRow>& rows_at_jumps(Address target);

  // Whether the function at `target` is known to call nothing and to jump nowhere else.
  bool is_leaf(Address target) { return written_by(target).has_value(); }

  // Whether no path from `target`, a function or a jump stub (runtime address), returns.
  bool never_returns(Address target) { return no_return_.never_returns(target); }

  // Bytes of code that were followed so far: what the analysis has cost.
  [[nodiscard]] std::uint64_t followed() const { return followed_; }

  [[nodiscard]] InstructionDecoder* decoder() { return decoder_.get(); }

 private:
  [[nodiscard]] std::vector<std::byte> bytes_of(const AddressRange& range) const;
  FollowedFunction follow(const AddressRange& function, int depth);
  FollowedFunction follow(const AddressRange& function, std::vector<FunctionExit> entries);
  std::vector<FunctionExit> entries_from_outside(const AddressRange& function, int depth);
  // How parts that the exits lead to jump back into the function.
  std::vector<FunctionExit> returns_from_parts(const AddressRange& function,
                                               const std::vector<FunctionExit>& exits);
  std::optional<std::bitset<kRegisterLimit>> written_by(Address target);
  void complete_entries(Address start, std::vector<FunctionExit>& entries) const;
  std::vector<FunctionExit> linkage_entries(const AddressRange& function);

  const ProcessImage& process_;
  CodeMap& code_;
  std::uint64_t followed_ = 0;
  NoReturn no_return_;
  CalleePops callee_pops_;
  LandingPads landing_pads_;
  std::unique_ptr<InstructionDecoder> decoder_;         // null: the architecture has none
  std::unordered_map<Address, AnalysedFunction> rows_;  // by function start
  std::unordered_map<Address, AnalysedFunction> rows_at_jumps_;
  std::unordered_map<Address, AnalysedFunction> rows_behind_calls_;  // by return address
  std::unordered_map<Address, AnalysedFunction> rows_to_return_;     // by pc
  // By called address; see FunctionReader::written_by.
  std::unordered_map<Address, std::optional<std::bitset<kRegisterLimit>>> written_by_;
};

}  // namespace whocall
