#include "runtime/xz.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "rules/byte_cursor.h"
#include "runtime/lzma.h"

namespace whocall::runtime {
namespace {

constexpr unsigned char kSignature[] = {0xfd, '7', 'z', 'X', 'Z', 0};
constexpr std::size_t kHeader = 12;  // bytes, also of the footer
constexpr std::uint64_t kLzma2 = 0x21;
constexpr std::size_t kLargest = std::size_t{256} << 20U;  // bytes of symbols

void* memory_for(std::size_t size) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// The list of blocks at the end of the file; empty where there is none.
rules::ByteSpan index_of(const rules::ByteSpan& file) {
  if (file.size < 3 * kHeader || std::memcmp(file.bytes, kSignature, sizeof kSignature) != 0 ||
      std::memcmp(file.bytes + file.size - 2, "YZ", 2) != 0) {
    return {};
  }
  std::uint32_t quarters = 0;
  std::memcpy(&quarters, file.bytes + file.size - 8, sizeof quarters);
  if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
    quarters = __builtin_bswap32(quarters);
  }
  const std::uint64_t size = (std::uint64_t{quarters} + 1) * 4;
  return size > file.size - 2 * kHeader ? rules::ByteSpan{}
                                        : file.part(file.size - kHeader - size, size);
}

struct Block {
  std::uint64_t size = 0;      // bytes in the file, without padding
  std::uint64_t unpacked = 0;  // bytes
};

// How many bytes all blocks unpack to; 0 where that is nothing that can be.
std::uint64_t size_unpacked(const rules::ByteSpan& index) {
  rules::ByteCursor cursor(index);
  cursor.skip(1);
  std::uint64_t total = 0;
  for (std::uint64_t left = cursor.uleb(); left != 0 && cursor.ok(); --left) {
    cursor.uleb();
    const std::uint64_t more = cursor.uleb();
    if (more > kLargest || total + more > kLargest) {
      return 0;
    }
    total += more;
  }
  return cursor.ok() ? total : 0;
}

bool unpack_block(Lzma2Decoder& decoder, const rules::ByteSpan& bytes, std::uint8_t* output,
                  std::uint64_t size) {
  rules::ByteCursor cursor(bytes);
  const std::uint64_t header = (std::uint64_t{cursor.take<std::uint8_t>()} + 1) * 4;
  const unsigned flags = cursor.take<std::uint8_t>();
  if ((flags & 0x40U) != 0) {
    cursor.uleb();
  }
  if ((flags & 0x80U) != 0) {
    cursor.uleb();
  }
  const bool one_filter = (flags & 3U) == 0 && cursor.uleb() == kLzma2;
  if (!cursor.ok() || !one_filter || header >= bytes.size) {
    return false;
  }
  std::size_t used = 0;
  return decoder.decode(reinterpret_cast<const std::uint8_t*>(bytes.bytes + header),
                        bytes.size - header, output, size, used);
}

bool unpack_all(Lzma2Decoder& decoder, const rules::ByteSpan& file, const rules::ByteSpan& index,
                std::uint8_t* output) {
  rules::ByteCursor records(index);
  records.skip(1);
  std::uint64_t at = kHeader;
  std::uint64_t done = 0;
  for (std::uint64_t left = records.uleb(); left != 0; --left) {
    Block block;
    block.size = records.uleb();
    block.unpacked = records.uleb();
    const rules::ByteSpan bytes = file.part(at, block.size);
    if (!records.ok() || bytes.size != block.size ||
        !unpack_block(decoder, bytes, output + done, block.unpacked)) {
      return false;
    }
    done += block.unpacked;
    at += (block.size + 3) & ~std::uint64_t{3};
  }
  return true;
}

}  // namespace

Unpacked unpack_xz(const std::byte* bytes, std::size_t size) {
  const rules::ByteSpan file{bytes, 0, size};
  const rules::ByteSpan index = index_of(file);
  const std::uint64_t wanted = size_unpacked(index);
  void* const output = wanted == 0 ? nullptr : memory_for(wanted);
  void* const scratch = output == nullptr ? nullptr : memory_for(sizeof(Lzma2Decoder));
  if (scratch == nullptr) {
    return {};
  }
  auto* const decoder = new (scratch) Lzma2Decoder;
  const bool good = unpack_all(*decoder, file, index, static_cast<std::uint8_t*>(output));
  munmap(scratch, sizeof(Lzma2Decoder));
  if (!good) {
    munmap(output, wanted);
    return {};
  }
  return {static_cast<const std::byte*>(output), static_cast<std::size_t>(wanted)};
}

}  // namespace whocall::runtime
