#include "process/told_modules.h"

#include <utility>

#include "base/byte_reader.h"

namespace whocall {
namespace {

constexpr std::string_view kOwner = "WHOCALL";
constexpr std::uint32_t kModules = 0x574d4f44;
constexpr std::uint32_t kNames = 0x574e414d;
constexpr std::uint32_t kSignal = 0x57534947;
constexpr std::uint32_t kPartialMap = 0x574d4150;

std::string as_hex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes.bytes()) {
    const auto value = std::to_integer<unsigned>(byte);
    text += kDigits[value >> 4U];
    text += kDigits[value & 15U];
  }
  return text;
}

}  // namespace

bool is_module_note(const ElfNote& note) { return note.owner == kOwner && note.type == kModules; }

bool is_name_note(const ElfNote& note) { return note.owner == kOwner && note.type == kNames; }

bool is_signal_note(const ElfNote& note) { return note.owner == kOwner && note.type == kSignal; }

bool is_partial_map_note(const ElfNote& note) {
  return note.owner == kOwner && note.type == kPartialMap;
}

std::optional<SignalInfo> parse_signal_note(ByteView contents) {
  constexpr unsigned kWord = 8;
  ByteReader words(contents);
  const std::uint64_t told = words.fixed(kWord);
  const std::uint64_t code = words.fixed(kWord);
  const std::uint64_t address = words.fixed(kWord);
  const std::uint64_t pid = words.fixed(kWord);
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

std::vector<ToldModule> parse_module_note(ByteView contents) {
  constexpr unsigned kWord = 8;
  constexpr std::uint64_t kRow = 5 * kWord;
  ByteReader rows(contents);
  const std::uint64_t version = rows.fixed(kWord);
  const std::uint64_t count = rows.fixed(kWord);
  std::vector<ToldModule> modules;
  if (!rows.ok() || version != 1 || count > rows.remaining() / kRow) {
    return modules;
  }
  ByteView texts = contents.from(2 * kWord + count * kRow);
  const auto take = [&texts](std::uint64_t size) {
    const auto part = texts.slice(0, size);
    texts = texts.from(size);
    return part;
  };
  for (std::uint64_t row = 0; row < count; ++row) {
    ToldModule module;
    module.range.begin = rows.fixed(kWord);
    module.range.end = rows.fixed(kWord);
    module.is_executable = rows.fixed(kWord) == 1;
    const std::uint64_t id_size = rows.fixed(kWord);
    const auto id = take(id_size);
    const auto path = take(rows.fixed(kWord));
    if (!id || !path) {
      break;
    }
    module.build_id = as_hex(*id);
    module.path.assign(reinterpret_cast<const char*>(path->bytes().data()), path->size());
    if (!module.range.empty()) {
      modules.push_back(std::move(module));
    }
  }
  return modules;
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

}  // namespace whocall
