#include "symbols/symbol_facts.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "symbols/fact_bytes.h"

namespace whocall {
namespace {

constexpr unsigned kWord = 8;  // bytes of an address
constexpr unsigned kHalf = 4;  // of a size, or a set of evidence

}  // namespace

std::vector<std::byte> encode(std::span<const FunctionStart> starts) {
  std::vector<std::byte> bytes;
  bytes.reserve(starts.size() * (kWord + kHalf));
  for (const FunctionStart& start : starts) {
    put_number(bytes, start.address, kWord);
    put_number(bytes, start.evidence.bits(), kHalf);
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
    put_number(bytes, name.function, kWord);
    put_number(bytes, static_cast<std::uint8_t>(name.source), 1);
    put_text(bytes, name.name);
    put_text(bytes, name.proof);
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
    name.name = read_text(reader);
    name.proof = read_text(reader);
  }
  const bool ascend = std::ranges::is_sorted(names, {}, &InferredName::function);
  return reader.ok() && known && ascend ? std::optional(std::move(names)) : std::nullopt;
}

std::vector<std::byte> encode(std::span<const DirectJump> jumps) {
  std::vector<std::byte> bytes;
  bytes.reserve(jumps.size() * 2 * kWord);
  for (const DirectJump& jump : jumps) {
    put_number(bytes, jump.source, kWord);
    put_number(bytes, jump.target, kWord);
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

std::vector<std::byte> encode(const PanicPlaces& places) {
  std::vector<std::byte> bytes;
  put_number(bytes, places.files.size(), kHalf);
  for (const std::string& file : places.files) {
    put_text(bytes, file);
  }
  for (const PanicPlace& place : places.places) {
    put_number(bytes, place.at, kWord);
    put_number(bytes, place.file, kHalf);
    put_number(bytes, place.line, kHalf);
    put_number(bytes, place.column, kHalf);
  }
  return bytes;
}

std::optional<PanicPlaces> decode_panic_places(std::span<const std::byte> bytes) {
  PanicPlaces found;
  ByteReader reader(ByteView(bytes, Endian::little));
  const std::uint32_t files = reader.u32();
  for (std::uint32_t i = 0; i < files && reader.ok(); ++i) {
    found.files.push_back(read_text(reader));
  }
  bool known = true;
  while (!reader.at_end()) {
    PanicPlace& place = found.places.emplace_back();
    place.at = reader.u64();
    place.file = reader.u32();
    place.line = reader.u32();
    place.column = reader.u32();
    known = known && place.file < files;
  }
  if (!reader.ok() || !known || !std::ranges::is_sorted(found.places, {}, &PanicPlace::at)) {
    return std::nullopt;
  }
  found.sort();
  return found;
}

}  // namespace whocall
