// Writes a function's prologue, as PE files of x86-64 tell it, in the words of DWARF's tables.
#pragma once

#include <cstdint>
#include <vector>

#include "object/pe_functions.h"

namespace whocall {

// Call frame instructions of one function (DWARF 5, section 6.4.2; code alignment 1, data alignment
// -8), its rows in the order of addresses.
//
//   RVA               row
//   begin             CFA = rsp + 8
//   behind a push     CFA = rsp + 16, the register at CFA - 16
//   behind `lea`      CFA = frame register + what was on the stack - the offset
class PeFrameWriter {
 public:
  explicit PeFrameWriter(const std::vector<PeOperation>& operations);

  // The rows of the prologue, and of the body, which has the last of them.
  void write_prologue();
  // The rows of an epilogue: `begins` where the stack pointer stands at the last register that was
  // pushed (bytes from the function's beginning), `pops` behind each pop, `ends` behind the
  // instruction that leaves. What comes behind is of the body again.
  void write_epilogue(std::uint32_t begins, const std::vector<std::uint32_t>& pops,
                      std::uint32_t ends);

  [[nodiscard]] const std::vector<std::byte>& instructions() const { return out_; }
  // Whether the frame is one that an interrupt made: the pc of its caller is exact.
  [[nodiscard]] bool is_interrupt() const { return interrupt_; }
  // Registers in the order of their pushes, where nothing but pushes, and then one allocation,
  // moves the stack pointer: else there are no epilogues to be known by their bytes.
  [[nodiscard]] const std::vector<unsigned>& pushed() const { return pushed_; }
  [[nodiscard]] bool is_plain() const { return plain_; }
  [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
  [[nodiscard]] bool has_frame_register() const { return frame_register_ != kNone; }

 private:
  static constexpr unsigned kNone = 0;  // rax, which is no frame register

  void sum_up(const std::vector<PeOperation>& operations);
  void write_interrupt();
  void apply(const PeOperation& operation);
  void advance_to(std::uint32_t at);
  void write_cfa();
  void write_saved(unsigned reg, std::int64_t offset);
  void byte(unsigned value) { out_.push_back(static_cast<std::byte>(value)); }
  void uleb(std::uint64_t value);
  void sleb(std::int64_t value);

  const std::vector<PeOperation>& operations_;
  std::vector<std::byte> out_;
  std::vector<unsigned> pushed_;
  std::uint64_t whole_ = 0;      // bytes below the return address, where the prologue is over
  std::uint64_t allocated_ = 0;  // of these
  std::uint64_t at_set_ = 0;     // when the frame register was set
  std::uint64_t frame_offset_ = 0;
  unsigned frame_register_ = kNone;
  bool interrupt_ = false;
  bool plain_ = true;

  std::uint64_t stack_ = 0;  // bytes below the return address, so far
  bool set_ = false;         // whether the frame register is, so far
  std::uint32_t at_ = 0;     // where the next row begins
};

}  // namespace whocall
