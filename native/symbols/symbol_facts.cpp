#include "symbols/symbol_facts.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/byte_reader.h"

namespace whocall {
namespace {

constexpr unsigned kWord = 8;  // bytes of an address
constexpr unsigned kHalf = 4;  // of a size, or a set of evidence

void put(std::vector<std::byte>& bytes, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) {
    bytes.push_back(static_cast<std::byte>(value >> (8U * i)));
  }
}

void put(std::vector<std::byte>& bytes, std::string_view text) {
  put(bytes, text.size(), kHalf);
  const auto raw = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

std::string text(ByteReader& reader) {
  const std::uint32_t size = reader.u32();
  const auto part = reader.view().slice(reader.offset(), size);
  reader.skip(size);
  return part && reader.ok()
             ? std::string(reinterpret_cast<const char*>(part->bytes().data()), size)
             : std::string();
}

}  // namespace

std::vector<std::byte> encode(std::span<const FunctionStart> starts) {
  std::vector<std::byte> bytes;
  bytes.reserve(starts.size() * (kWord + kHalf));
  for (const FunctionStart& start : starts) {
    put(bytes, start.address, kWord);
    put(bytes, start.evidence.bits(), kHalf);
  }
  return bytes;
}

std::optional<std::vector<FunctionStart>> decode_starts(std::span<const std::byte> bytes) {
  std::vector<FunctionStart> starts;
  starts.reserve(bytes.size() / (kWord + kHalf));
  ByteReader reader(ByteView(bytes, Endian::little));
  while (!reader.at_end()) {
    const Address address = reader.u64();
    starts.push_back({address, StartEvidenceSet::of_bits(reader.u32())});
  }
  const bool ascend = std::ranges::is_sorted(starts, {}, &FunctionStart::address);
  return reader.ok() && ascend ? std::optional(std::move(starts)) : std::nullopt;
}

std::vector<std::byte> encode(std::span<const InferredName> names) {
  std::vector<std::byte> bytes;
  for (const InferredName& name : names) {
    put(bytes, name.function, kWord);
    put(bytes, static_cast<std::uint8_t>(name.source), 1);
    put(bytes, name.name);
    put(bytes, name.proof);
  }
  return bytes;
}

std::optional<std::vector<InferredName>> decode_names(std::span<const std::byte> bytes) {
  std::vector<InferredName> names;
  ByteReader reader(ByteView(bytes, Endian::little));
  bool known = true;
  while (!reader.at_end()) {
    InferredName& name = names.emplace_back();
    name.function = reader.u64();
    const std::uint8_t source = reader.u8();
    known = known && source < static_cast<std::uint8_t>(NameSource::none);
    name.source = static_cast<NameSource>(source);
    name.name = text(reader);
    name.proof = text(reader);
  }
  const bool ascend = std::ranges::is_sorted(names, {}, &InferredName::function);
  return reader.ok() && known && ascend ? std::optional(std::move(names)) : std::nullopt;
}

std::vector<std::byte> encode(std::span<const DirectJump> jumps) {
  std::vector<std::byte> bytes;
  bytes.reserve(jumps.size() * 2 * kWord);
  for (const DirectJump& jump : jumps) {
    put(bytes, jump.source, kWord);
    put(bytes, jump.target, kWord);
  }
  return bytes;
}

std::optional<std::vector<DirectJump>> decode_jumps(std::span<const std::byte> bytes) {
  std::vector<DirectJump> jumps;
  jumps.reserve(bytes.size() / (2 * kWord));
  ByteReader reader(ByteView(bytes, Endian::little));
  while (!reader.at_end()) {
    const Address source = reader.u64();
    jumps.push_back({source, reader.u64()});
  }
  const bool ascend = std::ranges::is_sorted(jumps, {}, &DirectJump::target);
  return reader.ok() && ascend ? std::optional(std::move(jumps)) : std::nullopt;
}

}  // namespace whocall
