// By what the code itself does: rules computed from the instructions of the function, where no
// unwind table has any.
#include <unordered_map>
#include <utility>

#include "arch/instruction.h"
#include "base/hex.h"
#include "unwind/function_analysis.h"
#include "unwind/strategies.h"

namespace whocall {
namespace {

// A function larger than this is data, or code whose start was guessed wrong.
constexpr std::uint64_t kLargestFunction = 1U << 20U;

class AnalysisStrategy final : public Strategy {
 public:
  explicit AnalysisStrategy(const Architecture& arch)
      : arch_(arch), decoder_(arch.make_decoder != nullptr ? arch.make_decoder() : nullptr) {}

  [[nodiscard]] std::string_view name() const override { return "analysis"; }
  [[nodiscard]] Trust trust() const override { return Trust::analysis; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const auto range = context.code.function_at(callee.lookup_pc());
    if (decoder_ == nullptr || !range || range->size() > kLargestFunction) {
      return nullptr;
    }
    auto [found, fresh] = functions_.try_emplace(range->begin);
    if (fresh) {
      std::vector<std::byte> code(range->size());
      code.resize(context.process.memory->read(range->begin, code));
      found->second =
          analyse_function(ByteView(code, arch_.endian), range->begin, arch_, *decoder_);
    }
    return found->second.row_at(callee.lookup_pc());
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const auto range = context.code.function_at(callee.lookup_pc());
    return "no unwind table covers the frame below; the instructions of the function at " +
           hex(range ? range->begin : callee.pc) + " (CFA " + to_string(row.cfa, arch_) + ")";
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }

 private:
  const Architecture& arch_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::unordered_map<Address, AnalysedFunction> functions_;  // by start, runtime
};

}  // namespace

std::unique_ptr<Strategy> make_analysis_strategy(const Architecture& arch) {
  return std::make_unique<AnalysisStrategy>(arch);
}

}  // namespace whocall
