#include "object/elf_decompress.h"

#include <elf.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/byte_reader.h"
#include "base/interrupt.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

namespace whocall {
namespace {

// Room for `size` bytes, not yet touched: pages come only as output really arrives, so a lie about
// the size costs address space and no memory.
std::optional<OwnedBytes> room_for(std::uint64_t size, std::uint64_t compressed_size,
                                   Budget& budget) {
  if (size > kLargestSection || (size > kSmallSection && size / kLargestRatio > compressed_size)) {
    return std::nullopt;
  }
  if (!budget.draw(Cost::unpacked, size)) {
    return std::nullopt;
  }
  try {
    OwnedBytes output;
    output.data = std::make_unique_for_overwrite<std::byte[]>(size);
    output.size = static_cast<std::size_t>(size);
    return output;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* each) const { libdeflate_free_decompressor(each); }
};

// In one go, which takes a third of zlib's time and cannot be interrupted.
bool inflate_at_once(std::span<const std::byte> input, OwnedBytes& output) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> inflater(
      libdeflate_alloc_decompressor());
  std::size_t taken = 0;
  std::size_t given = 0;
  // Several streams may follow one another (gold and old gas wrote such sections).
  while (inflater != nullptr && given < output.size && taken < input.size()) {
    std::size_t in = 0;
    std::size_t out = 0;
    if (libdeflate_zlib_decompress_ex(inflater.get(), input.data() + taken, input.size() - taken,
                                      output.data.get() + given, output.size - given, &in,
                                      &out) != LIBDEFLATE_SUCCESS) {
      return false;
    }
    taken += in;
    given += out;
  }
  return given == output.size;
}

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// zlib counts in 32 bits: feed it in pieces. They are small, as it takes seconds for a gigabyte.
bool inflate_all(std::span<const std::byte> input, OwnedBytes& output) {
  z_stream stream = {};
  if (inflateInit(&stream) != Z_OK) {
    return false;
  }
  const std::unique_ptr<z_stream, EndInflate> end(&stream);  // also when Ctrl-C ends it
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::size_t taken = 0;
  std::size_t given = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    check_interrupt();
    const std::size_t in = std::min(kPiece, input.size() - taken);
    const std::size_t out = std::min(kPiece, output.size - given);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(output.data.get() + given);
    stream.avail_out = static_cast<uInt>(out);
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    given += out - stream.avail_out;
    if (status == Z_STREAM_END && given < output.size && taken < input.size()) {
      status = inflateReset(&stream);
    }
  }
  return given == output.size && status == Z_STREAM_END;  // the end holds the checksum
}

std::optional<OwnedBytes> inflate_zlib(ByteView input, std::uint64_t size, Budget& budget) {
  constexpr std::uint64_t kAtOnce = std::uint64_t{8} << 20U;  // bytes, 10 ms
  auto output = room_for(size, input.size(), budget);
  if (!output || size == 0) {
    return output;
  }
  const bool whole = size <= kAtOnce ? inflate_at_once(input.bytes(), *output)
                                     : inflate_all(input.bytes(), *output);
  return whole ? std::move(output) : std::nullopt;
}

std::optional<OwnedBytes> inflate_zstd(ByteView input, std::uint64_t size, Budget& budget) {
  auto output = room_for(size, input.size(), budget);
  if (!output) {
    return std::nullopt;
  }
  const std::size_t result =
      ZSTD_decompress(output->data.get(), output->size, input.bytes().data(), input.size());
  return ZSTD_isError(result) == 0 && result == output->size ? std::move(output) : std::nullopt;
}

}  // namespace

std::optional<OwnedBytes> decompress_section(ByteView contents, unsigned pointer_size,
                                             Budget& budget) {
  ByteReader reader(contents);
  const std::uint32_t method = reader.u32();
  if (pointer_size == 8) {
    reader.u32();  // ch_reserved
  }
  const std::uint64_t size = reader.fixed(pointer_size);
  reader.fixed(pointer_size);  // ch_addralign
  if (!reader.ok()) {
    return std::nullopt;
  }
  const ByteView input = contents.from(reader.offset());
  switch (method) {
    case ELFCOMPRESS_ZLIB:
      return inflate_zlib(input, size, budget);
    case ELFCOMPRESS_ZSTD:
      return inflate_zstd(input, size, budget);
    default:
      return std::nullopt;
  }
}

std::optional<OwnedBytes> decompress_zdebug(ByteView contents, Budget& budget) {
  ByteReader reader(ByteView(contents.bytes(), Endian::big));
  constexpr std::uint32_t kMagic = 0x5a4c4942;  // "ZLIB"
  const std::uint32_t magic = reader.u32();
  const std::uint64_t size = reader.u64();
  if (!reader.ok() || magic != kMagic) {
    return std::nullopt;
  }
  return inflate_zlib(contents.from(reader.offset()), size, budget);
}

}  // namespace whocall
