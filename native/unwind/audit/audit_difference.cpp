#include "unwind/audit/audit_difference.h"

#include <algorithm>
#include <deque>

namespace whocall {
namespace {

constexpr std::size_t kLinesBefore = 3;  // of the code around a difference
constexpr std::size_t kLinesBehind = 2;

std::string rule_text(const UnwindRow& row, const Architecture& arch) {
  std::string text = to_string(row.cfa, arch);
  for (const NamedRule& named : row.rules) {
    if (named.rule.kind == RegisterRule::Kind::same_value) {
      continue;
    }
    const std::string name = named.number == row.return_address ? "ra"
                             : named.number < arch.registers.names.size()
                                 ? std::string(arch.registers.names[named.number])
                                 : "r" + std::to_string(named.number);
    text += ", " + name + " " + to_string(named.rule, arch);
  }
  return text;
}

}  // namespace

AuditDifference difference_at(std::span<const AuditPlace> places, std::size_t at, AuditClass which,
                              const AuditedFunction& function, InstructionDecoder& decoder,
                              const ElfFile& file) {
  const AuditPlace& place = places[at];
  std::deque<std::vector<std::byte>> arena;
  const auto ours = place.state != nullptr
                        ? place.state->row(arena, {place.guessed, place.doubtful, place.is_call()})
                        : std::nullopt;
  AuditDifference difference{place.outcome,
                             which,
                             place.range.begin,
                             function.range.begin,
                             place.is_call(),
                             rule_text(*place.row, function.arch),
                             ours ? rule_text(*ours, function.arch) : std::string(),
                             {}};
  const std::size_t first = at - std::min(at, kLinesBefore);
  const std::size_t end = std::min(at + kLinesBehind + 1, places.size());
  for (std::size_t line = first; line < end; ++line) {
    const Address address = places[line].range.begin;
    difference.code.emplace_back(address, decoder.text(file.at(address), address));
  }
  return difference;
}

}  // namespace whocall
