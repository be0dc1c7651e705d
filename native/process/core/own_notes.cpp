#include "process/core/own_notes.h"

#include <elf.h>

#include <utility>

#include "base/byte_reader.h"
#include "base/byte_sink.h"
#include "base/hex.h"
#include "base/joined_ranges.h"
#include "base/text_lines.h"

namespace whocall {
namespace {

constexpr unsigned kNoteWord = 8;
constexpr std::uint64_t kHeldFlag = 256;

std::vector<std::byte> bytes_of_hex(std::string_view digits) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 2 <= digits.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(number(digits.substr(at, 2), 16).value_or(0)));
  }
  return bytes;
}

}  // namespace

bool is_own(const ElfNote& note, std::uint32_t type) {
  return note.owner == kOwnNotes && note.type == type;
}

std::vector<ElfSegment> parse_segment_note(ByteView contents) {
  ByteReader words(contents);
  std::vector<ElfSegment> segments;
  if (words.fixed(kNoteWord) != 1) {
    return segments;
  }
  while (words.remaining() >= 3 * kNoteWord) {
    ElfSegment segment;
    segment.type = PT_LOAD;
    segment.address = words.fixed(kNoteWord);
    const Address end = words.fixed(kNoteWord);
    const std::uint64_t flags = words.fixed(kNoteWord);
    segment.memory_size = AddressRange{segment.address, end}.size();
    segment.flags = flags & (PF_R | PF_W | PF_X);
    segment.file_size = (flags & kHeldFlag) != 0 ? segment.memory_size : 0;
    segments.push_back(segment);
  }
  return segments;
}

std::vector<std::byte> segment_note(std::span<const ElfSegment> segments, Endian endian) {
  ByteSink words(endian, kNoteWord);
  words.word(1);
  for (const ElfSegment& segment : segments) {
    if (segment.type == PT_LOAD) {
      const std::uint64_t held = segment.file_size != 0 ? kHeldFlag : 0;
      words.word(segment.address).word(segment.address + segment.memory_size);
      words.word((segment.flags & (PF_R | PF_W | PF_X)) | held);
    }
  }
  return std::move(words).take();
}

std::vector<AddressRange> parse_blank_note(ByteView contents) {
  ByteReader numbers(contents);
  std::vector<AddressRange> ranges;
  Address end = 0;
  while (numbers.remaining() != 0) {
    const Address begin = end + numbers.uleb();
    const std::uint64_t size = numbers.uleb();
    if (!numbers.ok() || begin < end || size > ~begin) {
      break;
    }
    end = begin + size;
    ranges.push_back({begin, end});
  }
  return ranges;
}

std::vector<AddressRange> blanks_of(std::span<const ElfNote> notes) {
  std::vector<AddressRange> blanks;
  for (const ElfNote& note : notes) {
    if (is_own(note, kBlankNote)) {
      const auto more = parse_blank_note(note.contents);
      blanks.insert(blanks.end(), more.begin(), more.end());
    }
  }
  return JoinedRanges(std::move(blanks)).ranges();
}

std::vector<std::byte> blank_note(std::span<const AddressRange> ranges, Endian endian) {
  ByteSink numbers(endian, kNoteWord);
  Address end = 0;
  for (const AddressRange& range : ranges) {
    numbers.uleb(range.begin - end).uleb(range.size());
    end = range.end;
  }
  return std::move(numbers).take();
}

std::optional<SignalInfo> parse_signal_note(ByteView contents) {
  ByteReader words(contents);
  const std::uint64_t told = words.fixed(kNoteWord);
  const std::uint64_t code = words.fixed(kNoteWord);
  const std::uint64_t address = words.fixed(kNoteWord);
  const std::uint64_t pid = words.fixed(kNoteWord);
  if (!words.ok()) {
    return std::nullopt;
  }
  SignalInfo info;
  if ((told & 1U) != 0) {
    info.code = static_cast<std::int32_t>(code);
  }
  if ((told & 2U) != 0) {
    info.address = address;
  }
  if ((told & 4U) != 0) {
    info.pid = static_cast<std::uint32_t>(pid);
  }
  return info;
}

std::vector<std::byte> signal_note(const SignalInfo& info, Endian endian) {
  ByteSink words(endian, kNoteWord);
  words.word((info.code ? 1U : 0U) | (info.address ? 2U : 0U) | (info.pid ? 4U : 0U));
  words.word(static_cast<std::uint64_t>(std::int64_t{info.code.value_or(0)}));
  words.word(info.address.value_or(0)).word(info.pid.value_or(0));
  return std::move(words).take();
}

std::vector<ToldModule> parse_module_note(ByteView contents) {
  constexpr std::uint64_t kRow = 5 * kNoteWord;
  ByteReader rows(contents);
  const std::uint64_t version = rows.fixed(kNoteWord);
  const std::uint64_t count = rows.fixed(kNoteWord);
  std::vector<ToldModule> modules;
  if (!rows.ok() || version != 1 || count > rows.remaining() / kRow) {
    return modules;
  }
  ByteView texts = contents.from(2 * kNoteWord + count * kRow);
  const auto take = [&texts](std::uint64_t size) {
    const auto part = texts.slice(0, size);
    texts = texts.from(size);
    return part;
  };
  for (std::uint64_t row = 0; row < count; ++row) {
    ToldModule module;
    module.range.begin = rows.fixed(kNoteWord);
    module.range.end = rows.fixed(kNoteWord);
    module.is_executable = rows.fixed(kNoteWord) == 1;
    const std::uint64_t id_size = rows.fixed(kNoteWord);
    const auto id = take(id_size);
    const auto path = take(rows.fixed(kNoteWord));
    if (!id || !path) {
      break;
    }
    module.build_id = hex_digits(id->bytes());
    module.path.assign(reinterpret_cast<const char*>(path->bytes().data()), path->size());
    if (!module.range.empty()) {
      modules.push_back(std::move(module));
    }
  }
  return modules;
}

std::vector<std::byte> module_note(std::span<const ToldModule> modules, Endian endian) {
  ByteSink rows(endian, kNoteWord);
  ByteSink texts(endian, kNoteWord);
  rows.word(1).word(modules.size());
  for (const ToldModule& module : modules) {
    const auto id = bytes_of_hex(module.build_id);
    rows.word(module.range.begin).word(module.range.end).word(module.is_executable ? 1U : 0U);
    rows.word(id.size()).word(module.path.size());
    texts.append(id).append(std::as_bytes(std::span(module.path)));
  }
  rows.append(texts.bytes());
  return std::move(rows).take();
}

std::vector<ToldName> parse_name_note(ByteView contents) {
  ByteReader reader(contents);
  std::vector<ToldName> names;
  while (reader.remaining() > 8) {
    const auto lwp = static_cast<std::int64_t>(reader.fixed(8));
    std::string name(reader.c_string());
    if (!reader.ok()) {
      break;
    }
    names.push_back({lwp, std::move(name)});
  }
  return names;
}

std::vector<std::byte> name_note(std::span<const ToldName> names, Endian endian) {
  ByteSink note(endian, kNoteWord);
  for (const ToldName& each : names) {
    std::string name = each.name;
    std::erase(name, '\0');
    note.word(static_cast<std::uint64_t>(each.lwp)).text(name);
  }
  return std::move(note).take();
}

}  // namespace whocall
