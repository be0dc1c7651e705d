// Calls that the Go compiler inlined: the trees that the Go runtime prints them from.
#pragma once

#include <span>
#include <vector>

#include "golang/go_pclntab.h"
#include "object/elf_file.h"
#include "object/source_line.h"

namespace whocall {

// The words of the runtime's struct moduledata are tried as the base that inlining trees count
// from, as its place differs between versions; the trees that are found there prove it. 0 where
// none does.
Address find_inline_base(const GoPclntab& table, const ElfFile& file,
                         std::span<const std::uint64_t> module);

// The source lines of a Go program. The file must outlive the table.
class GoLines final : public LineTable {
 public:
  GoLines(const GoPclntab& table, const ElfFile& file, Address inline_base)
      : table_(table), file_(file), inline_base_(inline_base) {}

  [[nodiscard]] std::vector<SourceLine> lines_at(Address link) const override;

 private:
  [[nodiscard]] SourceLine position(const GoFunction& function, Address link) const;

  GoPclntab table_;
  const ElfFile& file_;
  Address inline_base_;
};

}  // namespace whocall
