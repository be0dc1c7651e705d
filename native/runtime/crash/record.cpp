#include "runtime/crash/record.h"

#include <link.h>

#include <cstring>

#include "runtime/machine.h"

namespace whocall::runtime {
namespace {

constexpr char kMagic[] = "WHOCRASH";
constexpr std::size_t kChecksumAt = offsetof(RecordHeader, checksum);

std::size_t aligned(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

std::uint32_t add_bytes(std::uint32_t sum, const unsigned char* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) {
      sum = sum >> 1U ^ ((sum & 1U) != 0 ? 0xedb88320U : 0U);
    }
  }
  return sum;
}

}  // namespace

std::uint32_t checksum(const void* bytes, std::size_t size) {
  constexpr unsigned char kZeros[sizeof(RecordHeader::checksum)] = {};
  const auto* const all = static_cast<const unsigned char*>(bytes);
  const std::size_t behind = kChecksumAt + sizeof kZeros;
  std::uint32_t sum = add_bytes(~std::uint32_t{0}, all, kChecksumAt);
  sum = add_bytes(sum, kZeros, sizeof kZeros);
  return ~add_bytes(sum, all + behind, size - behind);
}

std::uint64_t sequence_of(const void* bytes, std::size_t room) {
  RecordHeader header;
  if (room < sizeof header) {
    return 0;
  }
  std::memcpy(&header, bytes, sizeof header);
  const bool whole = std::memcmp(header.magic, kMagic, sizeof header.magic) == 0 &&
                     header.version == kRecordVersion && header.size >= sizeof header &&
                     header.size <= room && header.checksum == checksum(bytes, header.size);
  return whole ? header.sequence : 0;
}

void RecordWriter::begin(void* place, std::size_t room) {
  header_ = static_cast<RecordHeader*>(place);
  room_ = room & ~std::size_t{7};
  size_ = sizeof(RecordHeader);
  *header_ = {};
  std::memcpy(header_->magic, kMagic, sizeof header_->magic);
  header_->byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  header_->address_size = sizeof(void*);
  header_->version = kRecordVersion;
  header_->machine = kElfMachine;
}

void* RecordWriter::add(SectionKind kind, std::size_t size) {
  const std::size_t needed = sizeof(SectionHeader) + aligned(size);
  if (header_ == nullptr || needed > room()) {
    if (header_ != nullptr) {
      header_->flags |= record_cut;
    }
    return nullptr;
  }
  auto* const section =
      reinterpret_cast<SectionHeader*>(reinterpret_cast<std::byte*>(header_) + size_);
  std::memset(static_cast<void*>(section), 0, needed);
  section->kind = static_cast<std::uint32_t>(kind);
  section->size = static_cast<std::uint32_t>(size);
  size_ += needed;
  return section + 1;
}

std::size_t RecordWriter::finish() {
  header_->size = static_cast<std::uint32_t>(size_);
  header_->checksum = checksum(header_, size_);
  return size_;
}

}  // namespace whocall::runtime
