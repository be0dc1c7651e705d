#include "symbols/kept_lines.h"

#include <exception>
#include <utility>

#include "base/byte_reader.h"
#include "object/dwarf_library.h"
#include "symbols/fact_bytes.h"
#include "symbols/fact_cache.h"

namespace whocall {
namespace {

constexpr const char* kKind = "lines";
constexpr std::uint64_t kSmallestKept = std::uint64_t{1} << 18U;  // bytes
constexpr std::uint32_t kMostLevels = 1024;                       // of inlining at one address

// What dwz shared lies in another file, and .debug_addr belongs to code whose debug info may lie in
// files of its own: nothing here would tell when those change.
bool stands_alone(const ElfFile& debug_info) {
  return debug_info.section(".gnu_debugaltlink") == nullptr &&
         debug_info.section(".debug_addr") == nullptr;
}

}  // namespace

std::vector<std::byte> encode(const LineAnswers& answers) {
  std::vector<std::byte> bytes;
  for (const auto& [link, lines] : answers) {
    put_number(bytes, link, 8);
    put_number(bytes, lines.size(), 4);
    for (const SourceLine& line : lines) {
      put_text(bytes, line.function);
      put_text(bytes, line.file);
      put_number(bytes, line.line, 4);
      put_text(bytes, line.directory);
    }
  }
  return bytes;
}

std::optional<LineAnswers> decode_line_answers(std::span<const std::byte> bytes) {
  LineAnswers answers;
  ByteReader reader(ByteView(bytes, Endian::little));
  while (!reader.at_end()) {
    const Address link = reader.u64();
    const std::uint32_t levels = reader.u32();
    if (!reader.ok() || levels > kMostLevels ||
        (!answers.empty() && link <= answers.rbegin()->first)) {
      return std::nullopt;
    }
    std::vector<SourceLine>& lines = answers[link];
    for (std::uint32_t i = 0; i < levels && reader.ok(); ++i) {
      SourceLine& line = lines.emplace_back();
      line.function = read_text(reader);
      line.file = read_text(reader);
      line.line = reader.u32();
      line.directory = read_text(reader);
    }
  }
  return reader.ok() ? std::optional(std::move(answers)) : std::nullopt;
}

KeptLines::KeptLines(const ElfFile& file, const ElfFile& debug_info) {
  const std::string plugin = DwarfLibrary::path();
  if (debug_info.bytes().size() >= kSmallestKept && stands_alone(debug_info) && !plugin.empty()) {
    key_ = facts_key(file, &debug_info == &file ? nullptr : &debug_info, plugin);
  }
}

const std::vector<SourceLine>* KeptLines::find(Address link) {
  if (!key_) {
    return nullptr;
  }
  if (!known_) {
    known_ = read();
  }
  const auto found = known_->find(link);
  return found == known_->end() ? nullptr : &found->second;
}

void KeptLines::add(Address link, const std::vector<SourceLine>& lines) {
  if (key_ && lines.size() <= kMostLevels && fresh_.size() < kMostKeptLines) {
    fresh_.emplace(link, lines);
  }
}

// Others may have written in between; of too many answers theirs go.
void KeptLines::save() noexcept {
  if (!key_ || fresh_.empty()) {
    return;
  }
  try {
    LineAnswers all = std::exchange(fresh_, {});
    LineAnswers before = read();
    for (auto& [link, lines] : before) {
      if (all.size() >= kMostKeptLines) {
        break;
      }
      all.emplace(link, std::move(lines));
    }
    keep_facts(*key_, kKind, encode(all));
    known_ = std::move(all);
  } catch (const std::exception&) {
    fresh_.clear();  // without memory for it nothing is kept
  }
}

LineAnswers KeptLines::read() const {
  const auto bytes = find_facts(*key_, kKind);
  auto answers = bytes ? decode_line_answers(*bytes) : std::nullopt;
  return answers ? std::move(*answers) : LineAnswers();
}

}  // namespace whocall
