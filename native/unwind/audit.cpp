#include "unwind/audit.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "object/call_frame_info.h"
#include "object/elf_architecture.h"
#include "process/file_image.h"
#include "unwind/cfi_program.h"
#include "unwind/function_analyser.h"
#include "unwind/witness.h"

namespace whocall {
namespace {

std::string describe(const UnwindRow& row, const Architecture& arch) {
  std::string text = to_string(row.cfa, arch);
  for (const NamedRule& named : row.rules) {
    if (named.rule.kind == RegisterRule::Kind::same_value) {
      continue;
    }
    const std::string name = named.number == row.return_address ? "ra"
                             : named.number < arch.register_names.size()
                                 ? std::string(arch.register_names[named.number])
                                 : "r" + std::to_string(named.number);
    text += ", " + name + " " + to_string(named.rule, arch);
  }
  return text;
}

class Auditor {
 public:
  Auditor(const std::shared_ptr<const ElfFile>& file, const AuditOptions& options)
      : file_(*file),
        arch_(architecture_of(*file)),
        options_(options),
        image_(image_of_file(file, arch_)),
        symbolizer_(*image_),
        cfi_(*image_),
        code_(*image_, cfi_, symbolizer_),
        analyser_(*image_, code_) {}

  Audit run() {
    bool found = false;
    for (const auto& info :
         {CallFrameInfo::of_eh_frame(file_), CallFrameInfo::of_debug_frame(file_)}) {
      if (info == nullptr) {
        continue;
      }
      std::uint64_t number = 0;
      info->for_each([&](const Fde& fde) {
        found = true;
        if (number++ % options_.every == 0) {
          audit_function(fde);
        }
      });
    }
    if (!found) {
      throw Error(file_.path(), "has no unwind tables to compare with",
                  "Audit a file that has them, built by the same compiler");
    }
    return std::move(audit_);
  }

 private:
  void audit_function(const Fde& fde) {
    if (options_.check_interrupt) {
      options_.check_interrupt();
    }
    const auto rows = compile(fde);
    if (file_.at(fde.range.begin).empty() || rows.empty() || fde.cie->signal_frame) {
      return;
    }
    ++audit_.functions;
    reported_ = false;
    InstructionDecoder& decoder = *analyser_.decoder();
    const auto points = analyser_.follow(fde.range).points;
    auto point = points.begin();
    for (Address at = fde.range.begin; at < fde.range.end;) {
      while (point != points.end() && point->range.begin < at) {
        ++point;
      }
      const bool reached = point != points.end() && point->range.begin == at;
      const auto instruction = reached ? std::nullopt : decoder.decode(file_.at(at), at);
      const bool padding = instruction && instruction->padding;
      const std::uint64_t size = reached       ? point->range.size()
                                 : instruction ? instruction->size
                                               : arch_.code_alignment;
      if (reached || (instruction && !padding)) {
        const bool is_call =
            reached ? point->is_call : instruction->flow == Instruction::Flow::call;
        const UnwindRow* row = row_at(rows, at);
        if (row != nullptr) {
          judge(*row, reached ? &point->state : nullptr, at, fde.range.begin, is_call);
        }
      }
      at += size;
    }
  }

  static const UnwindRow* row_at(const std::vector<UnwindRow>& rows, Address at) {
    const auto after = std::ranges::upper_bound(
        rows, at, {}, [](const UnwindRow& row) { return row.range.begin; });
    return after != rows.begin() && std::prev(after)->range.contains(at) ? &*std::prev(after)
                                                                         : nullptr;
  }

  void judge(const UnwindRow& row, const AbstractState* state, Address at, Address function,
             bool is_call) {
    const AuditOutcome outcome =
        state == nullptr ? AuditOutcome::unreached : compare_with_table(*state, row, at, arch_);
    count(audit_.instructions, audit_.outcomes, outcome);
    if (is_call) {
      count(audit_.calls, audit_.call_outcomes, outcome);
    }
    if (outcome == AuditOutcome::agrees || reported_ ||
        audit_.differences.size() >= options_.difference_limit) {
      return;
    }
    reported_ = true;
    std::deque<std::vector<std::byte>> arena;
    const auto ours = state != nullptr ? state->row(arena) : std::nullopt;
    audit_.differences.push_back({outcome, at, function, is_call, describe(row, arch_),
                                  ours ? describe(*ours, arch_) : std::string()});
  }

  static void count(AuditCount& counts, std::array<std::uint64_t, 6>& outcomes,
                    AuditOutcome outcome) {
    ++counts.places;
    ++outcomes[static_cast<std::size_t>(outcome)];
    counts.cfa += outcome <= AuditOutcome::return_address_differs ? 1U : 0U;
    counts.return_address += outcome <= AuditOutcome::registers_differ ? 1U : 0U;
    counts.registers += outcome == AuditOutcome::agrees ? 1U : 0U;
  }

  const ElfFile& file_;
  const Architecture& arch_;
  const AuditOptions& options_;
  std::unique_ptr<ProcessImage> image_;
  Symbolizer symbolizer_;
  CfiTables cfi_;
  CodeMap code_;
  FunctionAnalyser analyser_;
  Audit audit_;
  bool reported_ = false;  // a difference of the present function
};

}  // namespace

std::string_view to_string(AuditOutcome outcome) {
  switch (outcome) {
    case AuditOutcome::agrees:
      return "agrees";
    case AuditOutcome::registers_differ:
      return "registers-differ";
    case AuditOutcome::return_address_differs:
      return "return-address-differs";
    case AuditOutcome::cfa_differs:
      return "cfa-differs";
    case AuditOutcome::cfa_unknown:
      return "cfa-unknown";
    case AuditOutcome::unreached:
      break;
  }
  return "unreached";
}

Audit audit_file(const std::shared_ptr<const ElfFile>& file, const AuditOptions& options) {
  return Auditor(file, options).run();
}

}  // namespace whocall
