// Answers about source lines, kept for other processes: a few addresses of a large file are asked
// for again and again, and each first one costs the reading of all its debug info.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/address.h"
#include "object/elf_file.h"
#include "object/source_line.h"

namespace whocall {

// By link address, innermost inlined call first; empty where the debug info has no line.
using LineAnswers = std::map<Address, std::vector<SourceLine>>;

std::vector<std::byte> encode(const LineAnswers& answers);
// A miss when the bytes are not whole, or not in order.
std::optional<LineAnswers> decode_line_answers(std::span<const std::byte> bytes);

class KeptLines {
 public:
  // Keeps nothing.
  KeptLines() = default;
  // The answers of `debug_info`, which tells of the code of `file`: the file itself or its debug
  // file. They hang on both as they are now and on the plugin that reads them. Nothing is kept of
  // small files, and of those whose debug info lies in further files.
  KeptLines(const ElfFile& file, const ElfFile& debug_info);

  [[nodiscard]] const std::vector<SourceLine>* find(Address link);
  void add(Address link, const std::vector<SourceLine>& lines);
  // Writes what was added. Never throws.
  void save() noexcept;

 private:
  [[nodiscard]] LineAnswers read() const;

  std::optional<std::string> key_;    // a miss: nothing is kept
  std::optional<LineAnswers> known_;  // read when first asked for
  LineAnswers fresh_;
};

inline constexpr std::size_t kMostKeptLines = 4096;  // addresses of one file

}  // namespace whocall
