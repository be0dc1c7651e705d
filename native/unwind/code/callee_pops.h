// Functions that drop their own arguments from the stack when they return.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "arch/instruction.h"
#include "process/process_image.h"
#include "unwind/code/code_map.h"
#include "unwind/code/no_return.h"

namespace whocall {

// Folklore. Situation: a function leaves the stack pointer higher than calls do. Example: i386 code
// that returns a structure ends in `ret $4`, and stdcall functions in `ret $N`; behind the call the
// caller's stack is that much less deep. Remedy: how the called function returns is looked up.
class CalleePops {
 public:
  // All must outlive the object.
  CalleePops(const ProcessImage& process, CodeMap& code, NoReturn& no_return);

  // How many bytes of arguments a call to `target` (a function or a jump stub, runtime address)
  // drops: what all returns that are found say; a miss where they do not agree or there is none.
  std::optional<std::int64_t> popped_by(Address target);

 private:
  static constexpr int kDeepest = 4;           // jumps followed into other functions
  static constexpr std::size_t kSteps = 2000;  // instructions looked at in one function

  struct Answer {
    std::optional<std::int64_t> bytes{};
    bool agree = true;

    void add(std::int64_t more) {
      agree = agree && (!bytes || *bytes == more);
      bytes = more;
    }
  };
  void follow(Address target, int depth, Answer& answer);
  void follow_function(const AddressRange& function, Address target, int depth, Answer& answer);

  const ProcessImage& process_;
  CodeMap& code_;
  NoReturn& no_return_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::unordered_map<Address, std::optional<std::int64_t>> answers_;  // by target
};

}  // namespace whocall
