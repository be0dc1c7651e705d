// A difference between the analysis and an unwind table, as it is shown.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/instruction.h"
#include "base/address.h"
#include "object/elf_file.h"
#include "unwind/audit/audit_class.h"
#include "unwind/audit/audit_outcome.h"

namespace whocall {

struct AuditDifference {
  AuditOutcome outcome = AuditOutcome::agrees;
  AuditClass which{};
  Address address = 0;   // link address of the instruction
  Address function = 0;  // link address of its function's start
  bool is_call = false;
  std::string table;     // the table's rule: "rsp+16, ra c-8, rbx c-16"
  std::string analysis;  // ours; empty where there is none
  std::vector<std::pair<Address, std::string>> code;  // the instructions around, as text
};

// At places[at], which are those of `function`; `which` is its class.
AuditDifference difference_at(std::span<const AuditPlace> places, std::size_t at, AuditClass which,
                              const AuditedFunction& function, InstructionDecoder& decoder,
                              const ElfFile& file);

}  // namespace whocall
