#include "report/causes/causes.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/hex.h"
#include "report/causes/fault_access.h"
#include "report/causes/faults.h"
#include "report/causes/handled_fault.h"
#include "report/causes/jumps.h"
#include "report/causes/null_origin.h"
#include "report/causes/stack_end.h"

namespace whocall {
namespace {

bool starts_with_one(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view each) { return text.starts_with(each); });
}

std::string quoted_instruction(const Scene& scene) { return "`" + scene.instruction() + "`"; }

// The register that holds the null pointer which the instruction follows; empty where another
// address than its own distance was added to it, or it is not zero.
std::string_view null_base(const Scene& scene) {
  const auto& operation = scene.operation();
  if (!operation) {
    return {};
  }
  const auto is_memory = [](const Operand& each) { return each.kind == Operand::Kind::memory; };
  const auto& operands = operation->operands;
  const auto found = std::ranges::find_if(operands, is_memory);
  if (found == operands.end() || !found->index.empty() || found->segment ||
      std::ranges::count_if(operands, is_memory) != 1 ||
      static_cast<Address>(found->value) != scene.fault()->address) {
    return {};
  }
  return register_value(scene.arch(), scene.registers(), found->reg) == 0 ? found->reg
                                                                          : std::string_view();
}

// The fault's address is in the first page.
std::optional<Fact> null_access(const Scene& scene) {
  const auto& fault = scene.fault();
  if (!fault || fault->address >= kNearNull || !scene.is_code(scene.pc())) {
    return std::nullopt;
  }
  const auto access = fault_access(scene);
  const std::string_view base = access ? null_base(scene) : std::string_view();
  std::string text = access_sentence(scene);
  if (fault->address == 0) {
    text = !access ? "it followed a null pointer"
                   : text + ", by " + (base.empty() ? "a null pointer" : "the null pointer in ");
    text += base;
  } else if (!base.empty()) {
    ((text += ", ") += std::to_string(fault->address)) += " bytes past the null pointer in ";
    text += base;
  } else {
    text += ", " + std::to_string(fault->address) +
            " bytes from null, as by a member of a null pointer";
  }
  std::string proof = fault->proof;
  if (const std::string origin = base.empty() ? std::string() : null_origin(scene, base);
      !origin.empty()) {
    text += origin;
    proof += "; the instructions before the fault show where it came from";
  }
  return Fact{"null-access", std::move(text), std::move(proof)};
}

std::string place_text(const Scene& scene, Address address) {
  const Mapping* const mapping = scene.image().mapping_at(address);
  if (mapping == nullptr) {
    return {};
  }
  const std::string known =
      mapping->permissions_known ? " (" + permissions(*mapping) + ")" : std::string();
  return "; that is in " + (mapping->path.empty() ? "memory without a file" : mapping->path) +
         known;
}

// Why x86 has no address to tell, where the instruction and the registers do; empty where they do
// not.
std::string untold(const Scene& scene) {
  // Of those with operands in memory, the ones that need them aligned by their size.
  constexpr std::string_view kAligned[] = {"movap",  "movdqa",  "movnt",
                                           "vmovap", "vmovdqa", "vmovnt"};
  if (!scene.operation()) {
    return {};
  }
  const auto access = operand_in_memory(scene.image(), scene.registers(), *scene.operation());
  if (!access) {
    return {};
  }
  const std::string told =
      quoted_instruction(scene) + " " + access_predicate(*access) + " " + hex(access->address);
  if (!scene.is_canonical(access->address)) {
    return told + ", which no pointer can be";
  }
  if (access->size > 8 && access->address % access->size != 0 &&
      starts_with_one(scene.instruction(), kAligned)) {
    return told + ", which is not a multiple of " + std::to_string(access->size) +
           " as it has to be";
  }
  return {};
}

// Which of two faults of a division that x86 does not tell apart, where the divisor does; else
// empty.
std::string division(const Scene& scene) {
  constexpr std::string_view kDivisions[] = {"div ", "idiv "};
  if (!is_x86(scene.arch()) || scene.signal() != "SIGFPE" ||
      scene.code().value_or(kIntegerDivision) != kIntegerDivision ||
      !starts_with_one(scene.instruction(), kDivisions)) {
    return {};
  }
  const auto divisor = scene.operand();
  if (!divisor) {
    return {};
  }
  return *divisor == 0 ? "an integer was divided by zero"
                       : "the quotient of a division by " + hex(*divisor) + " has no room";
}

// A fault of which no si_code is told: only what the instruction and the registers show.
std::optional<Fact> unexplained(const Scene& scene) {
  if (scene.signal() == "SIGFPE") {
    std::string divided = division(scene);
    if (divided.empty() || scene.operand() != 0) {
      return std::nullopt;
    }
    return Fact{"fault", std::move(divided),
                "the instruction is " + quoted_instruction(scene) + ", and that is 0"};
  }
  if (!scene.is_memory_fault() || scene.was_sent()) {
    return std::nullopt;
  }
  if (const auto& fault = scene.fault()) {
    return Fact{"fault", access_sentence(scene) + place_text(scene, fault->address), fault->proof};
  }
  std::string text = untold(scene);
  return text.empty() ? std::nullopt
                      : std::optional(Fact{"fault", std::move(text),
                                           "the registers and the instruction tell the address"});
}

// What the kernel says of the fault, or, where no si_code is told, what its own address and the map
// of the memory say.
std::optional<Fact> told_fault(const Scene& scene) {
  if (!scene.code()) {
    return unexplained(scene);
  }
  std::string told = division(scene);
  told = told.empty() ? std::string(scene.meaning()) : told;
  if (told.empty()) {
    return std::nullopt;
  }
  std::string proof = "the kernel's si_code is " + std::to_string(*scene.code());
  if (const auto& fault = scene.fault()) {
    return Fact{"fault", access_sentence(scene) + ": " + told + place_text(scene, fault->address),
                std::move(proof)};
  }
  if (*scene.code() == kFromKernel && !scene.instruction().empty()) {
    const std::string seen = untold(scene);
    told = seen.empty() ? quoted_instruction(scene) + " faulted; " + told : seen;
  }
  return Fact{"fault", std::move(told), std::move(proof)};
}

std::optional<std::size_t> level_of_abort(const Scene& scene) {
  constexpr std::size_t kDeepest = 64;  // frames: as far as runtimes have theirs there
  for (std::size_t level = 0; level < std::min(kDeepest, scene.walk().size()); ++level) {
    const std::string_view name = scene.walk()[level].function();
    if (name == "abort" || name == "__GI_abort") {
      return level;
    }
  }
  return std::nullopt;
}

// Another process, or the program itself, sent the signal.
std::optional<Fact> sent(const Scene& scene) {
  const auto level = scene.signal() == "SIGABRT" ? level_of_abort(scene) : std::nullopt;
  if (!scene.was_sent() && !(level && !scene.code())) {
    return std::nullopt;
  }
  const std::string code =
      scene.code() ? "the kernel's si_code is " + std::to_string(*scene.code()) : std::string();
  const std::string proof = scene.code() ? code + ", with that sender"
                                         : "the dump gives the process itself as the sender";
  const auto sender = scene.sender();
  if (!sender && !level) {
    return Fact{"sent", "the signal was sent, by a process that the dump does not name", code};
  }
  if (sender == 0U) {
    return Fact{"sent",
                "a process sent the signal whose number is not known here, as of another container",
                code + ", and the sender's number is 0"};
  }
  if (sender && std::int64_t{*sender} != scene.image().pid) {
    return Fact{"sent", "process " + std::to_string(*sender) + " sent the signal", proof};
  }
  if (level) {
    return Fact{"abort", "abort() was called",
                "#" + std::to_string(*level) + " is abort, and " +
                    (sender ? "the process sent itself the signal" : "the signal is SIGABRT")};
  }
  return Fact{"sent", "the program sent " + std::string(scene.signal()) + " to itself", proof};
}

// What the handler was for in which the thread ended the program.
std::optional<Fact> handled_by_ending(const Scene& scene) {
  const auto sender = scene.sender();
  const bool was_itself = sender && std::int64_t{*sender} == scene.image().pid;
  return was_itself ? handled_fault(scene) : std::nullopt;
}

// An instruction that compilers put where control must not arrive.
std::optional<Fact> trap(const Scene& scene) {
  constexpr std::pair<std::string_view, std::string_view> kTraps[] = {
      {"SIGILL", "ud0"}, {"SIGILL", "ud1"},  {"SIGILL", "ud2"},
      {"SIGILL", "udf"}, {"SIGTRAP", "brk"},
  };
  constexpr std::byte kInt3{0xcc};
  if (scene.was_sent()) {
    return std::nullopt;
  }
  const std::string_view text = scene.instruction();
  const std::pair told(scene.signal(), text.substr(0, text.find(' ')));
  if (std::ranges::find(kTraps, told) != std::end(kTraps)) {
    return Fact{"trap",
                "it ran into " + quoted_instruction(scene) +
                    ", which compilers put where control must not come (a failed check, "
                    "`__builtin_trap`, `unreachable`)",
                "the bytes at the program counter are that instruction"};
  }
  // x86 tells of this one when it is done; what follows it may be `ud2`, which was not reached.
  std::array<std::byte, 1> before{};
  if (scene.signal() == "SIGTRAP" && is_x86(scene.arch()) &&
      scene.image().memory->read(scene.pc() - 1, before) == 1 && before[0] == kInt3) {
    return Fact{"trap", "it ran into `int3`, a breakpoint of a debugger's or the program's own",
                "the byte in front of the program counter is that instruction"};
  }
  return std::nullopt;
}

// Whether another fact says the same and more.
bool is_told_by(std::string_view kind, std::string_view other) {
  constexpr std::string_view kTellFault[] = {
      "stack-overflow", "null-access",    "null-call", "wild-call",
      "wild-jump",      "smashed-return", "trap"};
  if (kind == "fault") {
    return std::ranges::find(kTellFault, other) != std::end(kTellFault);
  }
  return (kind == "abort" || kind == "sent") && other == "stack-overflow";
}

}  // namespace

std::vector<Fact> causes(const Scene& scene) {
  using Cause = std::optional<Fact> (*)(const Scene&);
  constexpr Cause kCauses[] = {
      jump_to_no_code, return_to_no_code, stack_overflow, trap,
      null_access,     told_fault,        sent,           handled_by_ending};
  std::vector<Fact> found;
  for (const Cause cause : kCauses) {
    if (auto fact = cause(scene)) {
      found.push_back(std::move(*fact));
    }
  }
  const std::vector<Fact> all = found;
  std::erase_if(found, [&](const Fact& fact) {
    return std::ranges::any_of(
        all, [&](const Fact& other) { return is_told_by(fact.kind, other.kind); });
  });
  return found;
}

}  // namespace whocall
