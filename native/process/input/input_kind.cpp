#include "process/input/input_kind.h"

#include <elf.h>

#include "base/byte_view.h"
#include "base/text_lines.h"
#include "packing/packing.h"

namespace whocall {
namespace {

constexpr std::string_view kReportBegin = "ProblemType:";

// ET_* of an ELF header; 0 where it is none.
unsigned elf_type_of(std::span<const std::byte> head) {
  if (head.size() <= EI_DATA || !as_text(head).starts_with(ELFMAG)) {
    return ET_NONE;
  }
  const bool is_big = std::to_integer<unsigned>(head[EI_DATA]) == ELFDATA2MSB;
  const ByteView view(head, is_big ? Endian::big : Endian::little);
  return view.read<std::uint16_t>(EI_NIDENT).value_or(ET_NONE);
}

}  // namespace

std::string_view input_kind(std::span<const std::byte> head) {
  const std::string_view text = as_text(head);
  if (text.starts_with(ELFMAG)) {
    return elf_type_of(head) == ET_CORE ? kCoreKind : "elf";
  }
  if (text.starts_with(kMinidumpMark)) {
    return kMinidumpKind;
  }
  if (text.starts_with(kReportBegin)) {
    return kReportKind;
  }
  if (text.find(kMicrodumpMark) != std::string_view::npos ||
      text.find(kMicrodumpTag) != std::string_view::npos) {
    return kMicrodumpKind;
  }
  const auto packing = packing_of(head);
  return packing ? name_of(*packing) : "";
}

std::string_view described_input(std::span<const std::byte> head) {
  const std::string_view kind = input_kind(head);
  if (kind != "elf") {
    return kind.empty() ? "in no format that is known here" : kind;
  }
  switch (elf_type_of(head)) {
    case ET_REL:
      return "an object file";
    case ET_EXEC:
      return "an executable";
    case ET_DYN:
      return "a shared library or an executable";
    default:
      return "an ELF file of another kind";
  }
}

}  // namespace whocall
