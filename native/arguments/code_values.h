// What is known of values and parameters of the functions of a process: by their code alone, so
// that it is found once for all frames and threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "arguments/function_values.h"
#include "arguments/parameters.h"
#include "unwind/walk/walker.h"

namespace whocall {

class CodeValues final : private KnownParameters {
 public:
  // The walker must outlive it.
  explicit CodeValues(Walker& walker);
  CodeValues(const CodeValues&) = delete;
  CodeValues& operator=(const CodeValues&) = delete;
  ~CodeValues() override;

  // Whether values are followed in the instruction set.
  bool usable();
  [[nodiscard]] Walker& walker() { return walker_; }
  [[nodiscard]] const ProcessImage& process() const { return walker_.process(); }
  [[nodiscard]] const Architecture& arch() const { return *walker_.process().arch; }

  // The function at `pc` (an address to look up), entered by calls or not; null where none is
  // known.
  FunctionValues* function_at(Address pc, bool entered);
  // Whether what begins at `start` may be a function that is entered as calls do, and no part of
  // one: it looks like that, and stands at the start of a frame.
  bool may_be_entered(Address start);
  // Whether `called`, or a jump of the function that begins there, enters `function` behind its
  // first byte.
  bool leads_inside(Address called, const AddressRange& function);
  // Null where nothing is known.
  const Parameters* parameters_at(Address start);

 private:
  // Of a call to `target`, and of all that it calls.
  //
  // Folklore. Situation: a caller leaves values in registers that calls do not preserve, as what it
  // calls writes none of them. Example: gcc's -fipa-ra (at -O2): f(a, b) calls a small function of
  // its file, and reads b from rsi afterwards. Remedy: the registers that a called function writes
  // are looked for, as far as direct calls go.
  WrittenRegisters written_by(Address target);
  WrittenRegisters written_in(const AddressRange& range);
  const Parameters* taken_at(const FunctionValues::Step& call, Address next) override;

  Walker& walker_;
  std::unique_ptr<ValueReader> reader_;  // null: nobody asked, or the instruction set is not read
  std::unique_ptr<InstructionDecoder> decoder_;
  // By start, and whether entered there.
  std::map<std::pair<Address, bool>, std::unique_ptr<FunctionValues>> functions_;
  // By start, and by how deep the question is: the deeper, the less is asked of what is called.
  std::map<std::pair<Address, int>, std::optional<Parameters>> parameters_;
  std::map<Address, WrittenRegisters> written_;
  int calls_ = 0;           // that written_by() is in
  std::uint64_t read_ = 0;  // bytes of code
  int depth_ = 0;           // of questions for the parameters of functions that are called
};

}  // namespace whocall
