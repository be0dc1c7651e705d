#include "unwind/audit/audit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "object/elf_architecture.h"
#include "object/exidx.h"
#include "object/mini_debug_info.h"
#include "process/file_image.h"
#include "unwind/analysis/function_analyser.h"
#include "unwind/audit/row_equivalence.h"
#include "unwind/rows/exidx_program.h"
#include "unwind/rows/fde_rows.h"

namespace whocall {
namespace {

const UnwindRow* row_at(const std::vector<UnwindRow>& rows, Address at) {
  const auto after =
      std::ranges::upper_bound(rows, at, {}, [](const UnwindRow& row) { return row.range.begin; });
  return after != rows.begin() && std::prev(after)->range.contains(at) ? &*std::prev(after)
                                                                       : nullptr;
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
        analyser_(*image_, code_) {
    audit_.architecture = arch_.name;
  }

  Audit run() {
    bool found = false;
    for (const CallFrameInfo* info : frame_tables_of(file_)) {
      if (info == nullptr || analyser_.decoder() == nullptr) {
        continue;
      }
      std::uint64_t number = 0;
      info->for_each([&](const Fde& fde) {
        found = true;
        if (number++ % options_.every == 0) {
          audit_entry(fde);
        }
      });
    }
    found = audit_exceptions() || found;
    if (analyser_.decoder() == nullptr) {
      throw Error(file_.path(), "is " + std::string(arch_.name) + " code, which is not decoded yet",
                  "Audit a file for " + architecture_names([](const Architecture& arch) {
                    return arch.code.make_decoder != nullptr;
                  }));
    }
    if (!found) {
      throw Error(file_.path(), "has no unwind tables to compare with",
                  "Audit a file that has them, built by the same compiler");
    }
    return std::move(audit_);
  }

 private:
  void check_options_interrupt() const {
    if (options_.check_interrupt) {
      options_.check_interrupt();
    }
  }

  void audit_entry(const Fde& fde) {
    check_options_interrupt();
    const auto rows = compile(fde);
    if (rows.empty() || fde.cie->signal_frame) {
      return;
    }
    // A damaged table may cover more than there is, and again and again. No analysis goes further.
    const std::uint64_t there = file_.at(fde.range.begin).size();
    const std::uint64_t size = std::min({fde.range.size(), there, std::uint64_t{1} << 20U});
    if (size != 0 && file_.budget().draw(Cost::audited, size)) {
      audit_function({fde.range.begin, fde.range.begin + size}, rows);
    }
  }

  // Tables for exceptions hold at calls only, and one entry may stand for several functions. Those
  // of which a table for debuggers tells are left to that. False: there is no such table.
  bool audit_exceptions() {
    const Exidx* index = exception_index_of(file_);
    if (index == nullptr || analyser_.decoder() == nullptr) {
      return false;
    }
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < index->size(); ++i) {
      const ExidxEntry entry = index->at(i);
      const auto row = compile(entry, arch_);
      for (Address at = entry.range.begin; row && at < entry.range.end;) {
        const auto known = code_.function_at(at);
        const AddressRange function{at, std::min(entry.range.end, known ? known->end : at)};
        if (function.empty()) {
          break;
        }
        if (number++ % options_.every == 0 && !cfi_.covers(at)) {
          check_options_interrupt();
          audit_function(function, {*row}, true);
        }
        at = function.end;
      }
    }
    return index->size() != 0;
  }

  void audit_function(const AddressRange& function, const std::vector<UnwindRow>& rows,
                      bool only_calls = false) {
    ++audit_.functions;
    const auto points = analyser_.follow(function).points;
    std::vector<AuditPlace> places = places_of(function, points, rows);
    for (std::size_t i = 0; only_calls && i < places.size(); ++i) {
      if (!calls_[i]) {
        places[i].outcome = AuditOutcome::agrees;  // nothing is claimed there
      }
    }
    std::vector<AuditClass> classes(places.size());
    const auto differing = std::ranges::find_if(places, &AuditPlace::differs);
    if (differing != places.end()) {
      for (AuditPlace& place : places) {
        place.instruction = decode(place.range.begin);
      }
      const AuditedFunction described = describe_function(function);
      classes = classify(places, described);
      if (audit_.differences.size() < options_.difference_limit) {
        const auto at = static_cast<std::size_t>(differing - places.begin());
        audit_.differences.push_back(
            difference_at(places, at, classes[at], described, *analyser_.decoder(), file_));
      }
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!only_calls || calls_[i]) {
        audit_.instructions.add(places[i].outcome, classes[i]);
      }
      if (calls_[i]) {
        audit_.calls.add(places[i].outcome, classes[i]);
      }
    }
  }

  // The instructions that the table covers: those that the analysis reached, and between them what
  // decodes and is no padding. Which are calls goes to `calls_`. Most functions have no difference:
  // so what the analysis has decoded is not decoded again before there is one to explain.
  std::vector<AuditPlace> places_of(const AddressRange& function,
                                    const std::vector<AnalysedPoint>& points,
                                    const std::vector<UnwindRow>& rows) {
    std::vector<AuditPlace> places;
    places.reserve(points.size());
    calls_.clear();
    constants_.reset();
    auto point = points.begin();
    for (Address at = function.begin; at < function.end;) {
      while (point != points.end() && point->range.begin < at) {
        ++point;
      }
      const UnwindRow* row = row_at(rows, at);
      if (point != points.end() && point->range.begin == at) {
        if (row != nullptr) {
          places.push_back({point->range, {}, row, &point->state});
          places.back().guessed = point->guessed;
          places.back().doubtful = point->doubtful;
          places.back().outcome = outcome_of(places, at);
          calls_.push_back(point->is_call);
        }
        at = point->range.end;
        continue;
      }
      if (const Address behind = behind_constant(points, at); behind != at) {
        at = behind;
        continue;
      }
      const auto instruction = decode(at);
      const Address end = at + (instruction ? instruction->size : arch_.code.alignment);
      if (row != nullptr && instruction && !instruction->padding) {
        places.push_back({{at, end}, {}, row, nullptr, AuditOutcome::unreached});
        calls_.push_back(instruction->flow == Instruction::Flow::call);
      }
      at = end;
    }
    return places;
  }

  // Where the constant ends that an instruction of `points` reads at `at`; else `at`. What the
  // analysis did not reach is rare: so constants are looked for then only.
  Address behind_constant(const std::vector<AnalysedPoint>& points, Address at) {
    if (!constants_) {
      constants_.emplace();
      for (const AnalysedPoint& point : points) {
        const Address begin = point.range.begin;
        if (const auto read = analyser_.decoder()->constants(file_.at(begin), begin);
            !read.empty()) {
          constants_->emplace(read.begin, read.end);
        }
      }
    }
    const auto found = constants_->find(at);
    return found == constants_->end() ? at : found->second;
  }

  // Of the last place. Most instructions do nothing that a frame hangs on: then its outcome is that
  // of the place before.
  AuditOutcome outcome_of(const std::vector<AuditPlace>& places, Address at) const {
    const AuditPlace& place = places.back();
    if (places.size() > 1) {
      const AuditPlace& before = places[places.size() - 2];
      if (before.row == place.row && before.guessed == place.guessed && before.state != nullptr &&
          !asks_for_pc(*place.row) && before.state->is_same(*place.state)) {
        return before.outcome;
      }
    }
    return compare_with_table(*place.state, *place.row, at, arch_, {place.guessed, place.doubtful});
  }

  // Expressions may, as those of linkage tables do.
  static bool asks_for_pc(const UnwindRow& row) {
    return row.cfa.kind == CfaRule::Kind::expression ||
           std::ranges::any_of(row.rules, [](const NamedRule& named) {
             return named.rule.kind == RegisterRule::Kind::at_expression ||
                    named.rule.kind == RegisterRule::Kind::value_expression ||
                    named.rule.kind == RegisterRule::Kind::in_register;
           });
  }

  AuditedFunction describe_function(const AddressRange& function) {
    const ElfSection* section = file_.section_at(function.begin);
    const bool in_plt = section != nullptr && section->name.starts_with(".plt");
    return {arch_, function, in_plt,
            [this](Address at) {
              return !code_.functions_jumping_into({at, at + 1}).empty();
            },
            [this](AddressRange range) { return is_all_decoded(range); }};
  }

  bool is_all_decoded(const AddressRange& range) {
    for (Address at = range.begin; at < range.end;) {
      const auto instruction = decode(at);
      if (!instruction) {
        return false;
      }
      at += instruction->size;
    }
    return true;
  }

  std::optional<Instruction> decode(Address at) {
    return analyser_.decoder()->decode(file_.at(at), at);
  }

  const ElfFile& file_;
  const Architecture& arch_;
  const AuditOptions& options_;
  std::unique_ptr<ProcessImage> image_;
  Symbolizer symbolizer_;
  CfiTables cfi_;
  CodeMap code_;
  FunctionAnalyser analyser_;
  // Of the function that is just audited: where constants begin, and end.
  std::optional<std::map<Address, Address>> constants_;
  std::vector<bool> calls_;  // of the function that is just audited, by place
  Audit audit_;
};

}  // namespace

void AuditCount::add(AuditOutcome outcome, AuditClass which) {
  ++places;
  ++outcomes.at(static_cast<std::size_t>(outcome));
  cfa += outcome <= AuditOutcome::return_address_differs ? 1U : 0U;
  return_address += outcome <= AuditOutcome::registers_differ ? 1U : 0U;
  registers += outcome == AuditOutcome::agrees ? 1U : 0U;
  if (outcome != AuditOutcome::agrees) {
    ++classes.at(static_cast<std::size_t>(which));
  }
}

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
