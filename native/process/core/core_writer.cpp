#include "process/core/core_writer.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/interrupt.h"
#include "base/long_work.h"

namespace whocall {
namespace {

constexpr std::uint64_t kMemoryAlignment = 16;  // bytes, in the file

// The sizes of the headers of one class of ELF.
struct HeaderSizes {
  std::uint16_t file;
  std::uint16_t segment;
  std::uint16_t section;
};
constexpr HeaderSizes kWideHeaders = {sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr), sizeof(Elf64_Shdr)};
constexpr HeaderSizes kSmallHeaders = {sizeof(Elf32_Ehdr), sizeof(Elf32_Phdr), sizeof(Elf32_Shdr)};

class CoreHeaders {
 public:
  explicit CoreHeaders(const Architecture& arch)
      : arch_(arch),
        wide_(arch.abi.pointer_size == 8),
        sizes_(wide_ ? kWideHeaders : kSmallHeaders),
        out_(arch.abi.endian, arch.abi.pointer_size) {}

  // Headers and notes; the memory follows.
  std::vector<std::byte> write(const std::vector<std::byte>& notes,
                               const std::vector<CoreSegment>& segments) && {
    const std::uint64_t count = segments.size() + 1;
    const bool is_large = count >= PN_XNUM;
    const std::uint64_t sections = sizes_.file + count * sizes_.segment;
    const std::uint64_t start = sections + (is_large ? sizes_.section : 0);
    put_file_header(count, is_large ? sections : 0);
    // gdb and the kernel agree that notes stand right behind the headers.
    put_segment(PT_NOTE, start, {0, 0, notes.size(), 0, 0});
    std::uint64_t place =
        (start + notes.size() + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    for (const CoreSegment& segment : segments) {
      put_segment(PT_LOAD, place, segment);
      place += segment.held;
    }
    if (is_large) {
      put_large_count(count);
    }
    out_.append(notes).align(kMemoryAlignment);
    return std::move(out_).take();
  }

 private:
  // `sections` is where the one section header stands, which exists for large counts.
  void put_file_header(std::uint64_t count, std::uint64_t sections) {
    out_.append(std::as_bytes(std::span(ELFMAG, SELFMAG)));
    out_.u8(wide_ ? ELFCLASS64 : ELFCLASS32);
    out_.u8(arch_.abi.endian == Endian::little ? ELFDATA2LSB : ELFDATA2MSB);
    out_.u8(EV_CURRENT).align(EI_NIDENT);
    out_.u16(ET_CORE).u16(arch_.abi.elf_machine).u32(EV_CURRENT);
    out_.word(0).word(sizes_.file).word(sections).u32(0);
    out_.u16(sizes_.file).u16(sizes_.segment).u16(std::min<std::uint64_t>(count, PN_XNUM));
    out_.u16(sections != 0 ? sizes_.section : 0U).u16(sections != 0 ? 1U : 0U).u16(0);
  }

  void put_segment(std::uint32_t type, std::uint64_t offset, const CoreSegment& segment) {
    constexpr std::uint64_t kAlignment = 4;
    const std::uint64_t most = arch_.address_mask();
    out_.u32(type);
    if (wide_) {
      out_.u32(segment.flags);
    }
    out_.word(offset).word(segment.address).word(0).word(segment.held);
    out_.word(std::min(segment.size, most));
    if (!wide_) {
      out_.u32(segment.flags);
    }
    out_.word(kAlignment);
  }

  // The section header whose sh_info is the true count of segments.
  void put_large_count(std::uint64_t count) {
    out_.u32(0).u32(0).word(0).word(0).word(0).word(0).u32(0).u32(count).word(0).word(0);
  }

  const Architecture& arch_;
  bool wide_;
  HeaderSizes sizes_;
  ByteSink out_;
};

// 0, or errno.
int put_bytes(int file, std::uint64_t place, std::span<const std::byte> bytes) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 24U;
  while (!bytes.empty()) {
    check_interrupt();
    const ssize_t written =
        ::pwrite(file, bytes.data(), std::min(bytes.size(), kAtOnce), static_cast<off_t>(place));
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    const auto done = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    bytes = bytes.subspan(done);
    place += done;
  }
  return 0;
}

}  // namespace

std::uint64_t held_bytes(const std::vector<CoreSegment>& segments) {
  std::uint64_t sum = 0;
  for (const CoreSegment& segment : segments) {
    sum += segment.held;
  }
  return sum;
}

void append_note(ByteSink& out, std::string_view owner, std::uint32_t type,
                 std::span<const std::byte> contents) {
  out.u32(owner.size() + 1).u32(contents.size()).u32(type).text(owner).align(4);
  out.append(contents).align(4);
}

int write_core(int file, const Architecture& arch, const std::vector<std::byte>& notes,
               const std::vector<CoreSegment>& segments, ByteView memory) {
  LongWork work("Writing", "the core");
  const auto head = CoreHeaders(arch).write(notes, segments);
  std::uint64_t place = head.size();
  if (const int error = put_bytes(file, 0, head); error != 0) {
    return error;
  }
  for (std::size_t at = 0; at < segments.size(); ++at) {
    work.reached(at, segments.size());
    const auto bytes = memory.slice(segments[at].place, segments[at].held);
    if (const int error = bytes ? put_bytes(file, place, bytes->bytes()) : 0; error != 0) {
      return error;
    }
    place += segments[at].held;
  }
  return ::ftruncate(file, static_cast<off_t>(place)) == 0 ? 0 : errno;
}

}  // namespace whocall
