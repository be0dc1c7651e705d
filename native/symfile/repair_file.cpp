#include "symfile/repair_file.h"

#include <algorithm>

#include "arch/elf_machine.h"
#include "object/elf_decoder.h"
#include "object/exidx.h"
#include "symfile/frame_writer.h"
#include "unwind/walk/outermost.h"

namespace whocall {
namespace {

// Collects the rules of one module's functions.
class RowCollector {
 public:
  RowCollector(const Module& module, Walker& walker, const RepairFileRequest& request)
      : module_(module),
        walker_(walker),
        request_(request),
        // Folklore. Situation: a debugger takes long over tables that are made for exceptions, and
        // errs where none can be thrown. Example: gdb 13 needs 5 ms a frame for .ARM.exidx. Remedy:
        // functions that only such a table covers get rules.
        has_frame_tables_(!request.choice.own_names && exception_index_of(*module.file) == nullptr),
        seen_(request.known) {}

  void add_wanted() {
    for (const Address runtime : request_.wanted) {
      if (module_.range.contains(runtime)) {
        add_function_at(runtime);
      }
    }
  }

  void add_ends() {
    const Architecture& arch = *walker_.process().arch;
    for (const Address runtime : request_.ends) {
      if (module_.range.contains(runtime) && !walker_.code().has_exact_bounds(runtime)) {
        const Address link = module_.link_address(runtime);
        const AddressRange place{link, link + 1};
        UnwindRow row;
        row.range = place;
        row.cfa = CfaRule::at(arch.registers.sp, 0);
        row.rules.push_back({arch.registers.return_address, RegisterRule::undefined()});
        ends_.push_back({place, {std::move(row)}});
      }
    }
  }

  // Whether none is left over.
  bool add_others(const FunctionStarts& starts) {
    for (const FunctionStart& start : starts.all()) {
      if (has_frame_tables_ && start.evidence.has(StartEvidence::fde)) {
        continue;  // its table has the rules
      }
      if (spent_ >= request_.budget && !seen_.contains(start.address) && is_uncovered(start)) {
        return false;
      }
      add_function_at(module_.runtime_address(start.address));
    }
    return true;
  }

  // Ascending.
  std::vector<FunctionRows> take() {
    std::ranges::sort(functions_, {}, [](const auto& function) { return function.range.begin; });
    return std::move(functions_);
  }
  std::vector<FunctionRows> take_ends() { return std::move(ends_); }

 private:
  [[nodiscard]] bool is_uncovered(const FunctionStart& start) {
    const Address runtime = module_.runtime_address(start.address);
    return !is_covered(runtime) && walker_.code().function_at(runtime);
  }

  // Whether the debugger has a rule in the module's own tables.
  [[nodiscard]] bool is_covered(Address runtime) {
    return !request_.choice.own_names && walker_.code().has_exact_bounds(runtime);
  }

  void add_function_at(Address runtime) {
    if (is_covered(runtime)) {
      return;
    }
    const auto function = walker_.code().function_at(runtime);
    if (!function || !seen_.insert(module_.link_address(function->begin)).second) {
      return;
    }
    if (request_.check_interrupt) {
      request_.check_interrupt();
    }
    spent_ += function->size();
    FunctionRows rows{{module_.link_address(function->begin), module_.link_address(function->end)},
                      {}};
    if (const AnalysedFunction* analysed = walker_.analyser().rows_of(*function)) {
      rows.rows = analysed->rows;
    }
    for (UnwindRow& row : rows.rows) {
      row.range = {module_.link_address(row.range.begin), module_.link_address(row.range.end)};
    }
    if (rows.rows.empty() && request_.choice.own_names) {
      rows.rows = tabled_rows(*function);
    }
    end_stacks_at_entry(*function, rows);
    functions_.push_back(std::move(rows));
  }

  // Folklore. Situation: nobody has the module's file, so that neither its code nor its tables are
  // there. Example: a Breakpad symbol file stands in for it. Remedy: a debugger gets the rows of
  // that.
  std::vector<UnwindRow> tabled_rows(const AddressRange& function) {
    std::vector<UnwindRow> rows;
    for (Address at = function.begin; at < function.end;) {
      const auto found = walker_.cfi().row_at(at);
      const Address next = found ? module_.runtime_address(found->row->range.end) : at;
      if (next <= at) {
        break;
      }
      rows.push_back(*found->row);
      at = next;
    }
    return rows;
  }

  // Nobody called the entry point: there the rule for the return address is "undefined".
  void end_stacks_at_entry(const AddressRange& function, FunctionRows& rows) {
    const Architecture& arch = *walker_.process().arch;
    Activation activation;
    activation.pc = function.begin;
    activation.interrupted = true;
    if (!outermost_function(activation, walker_.process(), walker_.code())) {
      return;
    }
    for (UnwindRow& row : rows.rows) {
      std::erase_if(row.rules, [&](const NamedRule& rule) {
        return rule.number == arch.registers.return_address;
      });
      row.rules.push_back({arch.registers.return_address, RegisterRule::undefined()});
    }
  }

  const Module& module_;
  Walker& walker_;
  const RepairFileRequest& request_;
  bool has_frame_tables_;
  std::unordered_set<Address> seen_;  // link addresses of starts
  std::vector<FunctionRows> functions_;
  std::vector<FunctionRows> ends_;
  std::uint64_t spent_ = 0;  // bytes of code
};

}  // namespace

RepairFile make_repair_file(const Module& module, FileSymbols& names, Walker& walker,
                            const RepairFileRequest& request) {
  RepairFile file;
  file.complete = true;
  std::vector<std::byte> debug_frame;
  if (request.rows) {
    RowCollector collector(module, walker, request);
    collector.add_wanted();
    collector.add_ends();
    const FunctionStarts* starts = names.starts();
    file.complete = starts == nullptr || collector.add_others(*starts);
    std::vector<FunctionRows> functions = collector.take();
    for (const FunctionRows& function : functions) {
      file.functions.push_back(function.range);
    }
    std::ranges::move(collector.take_ends(), std::back_inserter(functions));
    debug_frame =
        functions.empty() ? debug_frame : write_debug_frame(functions, *walker.process().arch);
  }
  FunctionSymbols chosen;
  if (request.names) {
    SymbolChoice choice = request.choice;
    choice.own_names |= request.repeat_names && (!file.complete || !debug_frame.empty());
    chosen = function_symbols(names, choice);
    file.named = chosen.named;
    file.unnamed = chosen.symbols.size() - chosen.named;
  }
  if (!chosen.symbols.empty() || !debug_frame.empty()) {
    if (elf_machine(module.file->machine()).function_mode_bits != 0) {
      chosen.symbols.set_mode_bits(*decoder_for(*module.file, *walker.process().arch));
    }
    file.bytes =
        write_debug_file(*module.file, chosen.symbols, {.frame = debug_frame}, request.place);
  }
  return file;
}

}  // namespace whocall
