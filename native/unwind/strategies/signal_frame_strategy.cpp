// The frame that the kernel builds when it calls a signal handler, recognised by the code of the
// trampoline that the handler returns to. Rules are made from the architecture's data, in the same
// form as glibc's unwind tables give them, so that C libraries without tables are covered too.
#include <deque>

#include "rules/dwarf.h"
#include "unwind/judge/signal_context.h"
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

void append_uleb(std::vector<std::byte>& out, std::uint64_t value) {
  do {
    const auto low = static_cast<std::uint8_t>(value & 0x7fU);
    value >>= 7U;
    out.push_back(std::byte(value != 0 ? low | 0x80U : low));
  } while (value != 0);
}

class SignalFrameStrategy final : public Strategy {
 public:
  explicit SignalFrameStrategy(const Architecture& arch) : arch_(arch) {
    for (const SignalTrampoline& trampoline : arch.os.signal_trampolines) {
      rows_.push_back(row_for(trampoline));
    }
  }

  [[nodiscard]] std::string_view name() const override { return "signal-frame"; }
  [[nodiscard]] Trust trust() const override { return Trust::context; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const bool unread = context.process.memory->run_at(callee.pc).empty();
    const SignalTrampoline* found =
        callee.interrupted && unread ? nullptr : trampoline_at(callee.pc, context.process);
    return found != nullptr
               ? &rows_[static_cast<std::size_t>(found - arch_.os.signal_trampolines.data())]
               : nullptr;
  }

  [[nodiscard]] bool hangs_on_pc(const Activation& /*callee*/,
                                 const WalkContext& /*context*/) override {
    return true;
  }

  [[nodiscard]] std::string explain(const Activation& /*callee*/, const UnwindRow& /*row*/,
                                    const WalkContext& /*context*/) const override {
    return "the handler returns to the kernel's signal trampoline, and the registers that the "
           "kernel saved there";
  }

 private:
  UnwindRow row_for(const SignalTrampoline& trampoline) {
    UnwindRow row;
    row.signal_frame = true;
    row.return_address = arch_.registers.pc;
    for (const SavedRegister& saved : trampoline.registers) {
      const auto offset = static_cast<std::int64_t>(saved.offset);
      if (saved.number == arch_.registers.sp) {
        row.cfa = {CfaRule::Kind::expression, 0, 0, locate(trampoline, offset, true)};
      }
      row.rules.push_back(
          {saved.number, RegisterRule::stored_at(locate(trampoline, offset, false))});
    }
    return row;
  }

  // The address of a saved register, or what is stored there, as a DWARF expression.
  ByteView locate(const SignalTrampoline& trampoline, std::int64_t offset, bool load) {
    std::vector<std::byte>& code = expressions_.emplace_back();
    code.push_back(std::byte(dw::OP_breg0 + arch_.registers.sp));
    code.push_back(std::byte{0});
    append_plus(code, trampoline.context_offset);
    if (trampoline.context_is_pointer) {
      code.push_back(std::byte{dw::OP_deref});
    }
    append_plus(code, offset);
    if (load) {
      code.push_back(std::byte{dw::OP_deref});
    }
    return {code, arch_.abi.endian};
  }

  static void append_plus(std::vector<std::byte>& code, std::int64_t offset) {
    code.push_back(std::byte{dw::OP_plus_uconst});
    append_uleb(code, static_cast<std::uint64_t>(offset));
  }

  const Architecture& arch_;
  std::deque<std::vector<std::byte>> expressions_;  // rows hold views into these
  std::vector<UnwindRow> rows_;                     // as arch_.os.signal_trampolines
};

}  // namespace

std::unique_ptr<Strategy> make_signal_frame_strategy(const Architecture& arch) {
  return std::make_unique<SignalFrameStrategy>(arch);
}

}  // namespace whocall
