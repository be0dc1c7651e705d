// A `.sig` file is a header, numbers in it little-endian, and a tree, numbers in it big-endian and
// as long as they need. A node of the tree has bytes that all below it begin with; a leaf has
// modules, those with the same check sum behind each other.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/text_lines.h"
#include "symbols/flirt/flirt_file.h"

namespace whocall {
namespace {

constexpr std::string_view kMagic = "IDASGN";
constexpr unsigned kOldestVersion = 5;
constexpr unsigned kNewestVersion = 10;
constexpr std::uint8_t kOldPattern = 32;  // bytes, before the header said how many
constexpr std::uint16_t kOnly32 = 0x100;
constexpr std::uint16_t kOnly64 = 0x200;
constexpr std::uint16_t kPacked = 0x10;
constexpr std::size_t kLargestTree = std::size_t{1} << 28U;      // bytes
constexpr std::uint32_t kLargestPart = std::uint32_t{1} << 24U;  // bytes of a module

// What stands behind a name: what follows.
constexpr std::uint8_t kMoreNames = 0x01;
constexpr std::uint8_t kBytes = 0x02;
constexpr std::uint8_t kReferences = 0x04;
constexpr std::uint8_t kSameSum = 0x08;
constexpr std::uint8_t kOtherSum = 0x10;
// What stands before one.
constexpr std::uint8_t kFirstLetter = 0x20;
constexpr std::uint8_t kLocal = 0x02;
constexpr std::uint8_t kPlain = 0;

struct Header {
  unsigned version = 0;
  std::uint16_t features = 0;
  std::uint16_t pattern_size = kOldPattern;
};

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// Empty where it is damaged or too large. Old versions leave out zlib's own header.
std::vector<std::byte> inflated(std::span<const std::byte> packed, bool has_header) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  z_stream stream = {};
  if (inflateInit2(&stream, has_header ? MAX_WBITS : -MAX_WBITS) != Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size(), kLargestTree));
  std::vector<std::byte> tree;
  int status = Z_OK;
  while (status == Z_OK && tree.size() < kLargestTree) {
    check_interrupt();
    const std::size_t before = tree.size();
    tree.resize(before + kPiece);
    stream.next_out = reinterpret_cast<Bytef*>(tree.data() + before);
    stream.avail_out = kPiece;
    status = inflate(&stream, Z_NO_FLUSH);
    tree.resize(before + kPiece - stream.avail_out);
  }
  return status == Z_STREAM_END ? tree : std::vector<std::byte>();
}

class TreeReader {
 public:
  TreeReader(std::span<const std::byte> tree, const Header& header, FlirtSet& set)
      : reader_(ByteView(tree, Endian::big)), header_(header), set_(set) {}

  // False where the tree is damaged.
  bool run() {
    read_nodes();
    return reader_.ok() && is_right_;
  }

 private:
  [[nodiscard]] bool goes_on() const { return reader_.ok() && is_right_ && set_.has_room(); }

  std::uint32_t short_number() {
    const std::uint32_t first = reader_.u8();
    return (first & 0x80U) == 0 ? first : (first & 0x7fU) << 8U | reader_.u8();
  }

  std::uint32_t long_number() {
    const std::uint32_t first = reader_.u8();
    if ((first & 0x80U) == 0) {
      return first;
    }
    if ((first & 0x40U) == 0) {
      return (first & 0x7fU) << 8U | reader_.u8();
    }
    if ((first & 0x20U) == 0) {
      const std::uint32_t second = reader_.u8();
      return (first & 0x3fU) << 24U | second << 16U | reader_.u16();
    }
    return reader_.u32();
  }

  // Version 9 made room for larger modules.
  std::uint32_t offset_number() { return header_.version >= 9 ? long_number() : short_number(); }

  void read_nodes() {
    const std::uint32_t nodes = long_number();
    if (nodes == 0) {
      read_leaf();
      return;
    }
    for (std::uint32_t i = 0; i < nodes && goes_on(); ++i) {
      check_interrupt_at(read_++, kManyEntries);
      const std::size_t before = size_;
      const std::uint64_t varies_before = varies_;
      read_node();
      if (goes_on()) {
        read_nodes();
      }
      size_ = before;
      varies_ = varies_before;
    }
  }

  void read_node() {
    const std::size_t size = reader_.u8();
    is_right_ = is_right_ && size != 0 && size_ + size <= kLongestFlirtPattern;
    if (!goes_on()) {
      return;
    }
    const std::uint64_t mask = variant_mask(size);
    for (std::size_t i = 0; i < size; ++i, ++size_) {
      const bool varies = (mask >> (size - 1 - i) & 1U) != 0;
      varies_ |= std::uint64_t{varies} << size_;
      pattern_[size_] = varies ? std::byte{} : static_cast<std::byte>(reader_.u8());
    }
  }

  std::uint64_t variant_mask(std::size_t size) {
    if (size < 0x10) {
      return short_number();
    }
    const std::uint64_t first = long_number();
    return size <= 0x20 ? first : first << 32U | long_number();
  }

  void read_leaf() {
    FlirtPattern pattern;
    pattern.bytes = static_cast<std::uint32_t>(set_.bytes.size());
    pattern.varies = varies_;
    pattern.size = static_cast<std::uint8_t>(size_);
    pattern.first_module = static_cast<std::uint32_t>(set_.modules.size());
    set_.bytes.insert(set_.bytes.end(), pattern_.begin(), pattern_.begin() + size_);
    std::uint8_t follows = 0;
    do {
      FlirtModule module;
      module.checked = header_.pattern_size;
      module.sum_size = reader_.u8();
      module.sum = reader_.u16();
      do {
        check_interrupt_at(read_++, kManyEntries);
        follows = read_module(module);
      } while ((follows & kSameSum) != 0 && goes_on());
    } while ((follows & kOtherSum) != 0 && goes_on());
    pattern.modules = static_cast<std::uint32_t>(set_.modules.size()) - pattern.first_module;
    set_.patterns.push_back(pattern);
  }

  // `module` has the check sum. Returns what follows.
  std::uint8_t read_module(FlirtModule module) {
    module.size = offset_number();
    module.first_name = static_cast<std::uint32_t>(set_.names.size());
    module.first_run = static_cast<std::uint32_t>(set_.runs.size());
    module.first_reference = static_cast<std::uint32_t>(set_.references.size());
    std::uint8_t follows = 0;
    std::uint32_t offset = 0;
    do {
      follows = read_name(offset);
    } while ((follows & kMoreNames) != 0 && goes_on());
    if ((follows & kBytes) != 0) {
      read_bytes(module.checked + module.sum_size);
    }
    if ((follows & kReferences) != 0) {
      read_references();
    }
    module.names = static_cast<std::uint32_t>(set_.names.size()) - module.first_name;
    module.runs = static_cast<std::uint32_t>(set_.runs.size()) - module.first_run;
    module.references = static_cast<std::uint32_t>(set_.references.size()) - module.first_reference;
    is_right_ = is_right_ && module.size != 0 && module.size <= kLargestPart;
    set_.modules.push_back(module);
    return follows;
  }

  // Names have no end of their own: what follows is said by what is no letter. One that its maker
  // could not tell from another, or whose mark we do not know, is not told.
  std::uint8_t read_name(std::uint32_t& offset) {
    const std::uint32_t further = offset_number();
    is_right_ = is_right_ && further <= kLargestPart && offset <= kLargestPart;
    offset += further;
    std::uint8_t mark = kPlain;
    std::uint8_t next = reader_.u8();
    if (next < kFirstLetter) {
      mark = next;
      next = reader_.u8();
    }
    std::string name;
    for (; next >= kFirstLetter && goes_on(); next = reader_.u8()) {
      if (name.size() <= kLongestFlirtName) {
        name += static_cast<char>(next);
      }
    }
    const bool is_told = (mark == kPlain || mark == kLocal) && name != "?" && !name.empty() &&
                         name.size() <= kLongestFlirtName;
    if (goes_on()) {
      set_.names.push_back({is_told ? set_.add_text(name) : 0, offset, mark == kLocal || !is_told});
    }
    return next;
  }

  // Until version 8 there was one.
  std::uint32_t count() { return header_.version >= 8 ? reader_.u8() : 1; }

  void read_bytes(std::uint32_t behind) {
    const std::uint32_t bytes = count();
    for (std::uint32_t i = 0; i < bytes && goes_on(); ++i) {
      const std::uint32_t offset = offset_number();
      is_right_ = is_right_ && offset <= kLargestPart;
      set_.runs.push_back({behind + offset, static_cast<std::uint32_t>(set_.bytes.size()), 1});
      set_.bytes.push_back(static_cast<std::byte>(reader_.u8()));
    }
  }

  void read_references() {
    const std::uint32_t references = count();
    for (std::uint32_t i = 0; i < references && goes_on(); ++i) {
      const std::uint32_t offset = offset_number();
      std::uint32_t size = reader_.u8();
      if (size == 0) {
        size = long_number();
      }
      const std::string_view name = as_text(reader_.block(size).bytes());
      // A NUL at its end says that the offset lies before the module.
      if (goes_on() && offset <= kLargestPart && !name.empty() && name.back() != '\0' &&
          name.size() <= kLongestFlirtName) {
        set_.references.push_back({set_.add_text(name), offset});
      }
    }
  }

  ByteReader reader_;
  Header header_;
  FlirtSet& set_;
  std::array<std::byte, kLongestFlirtPattern> pattern_{};
  std::size_t size_ = 0;
  std::uint64_t varies_ = 0;
  std::uint64_t read_ = 0;
  bool is_right_ = true;
};

Header read_header(ByteReader& reader, FlirtSet& set) {
  Header header;
  reader.skip(kMagic.size());
  header.version = reader.u8();
  set.processor = reader.u8();
  reader.skip(4 + 2);  // kinds of files, systems
  const std::uint16_t programs = reader.u16();
  header.features = reader.u16();
  reader.skip(2 + 2 + 12);  // functions, check sum, letters
  const std::uint8_t name_size = reader.u8();
  reader.skip(2);  // check sum of the letters
  if (header.version >= 6) {
    reader.skip(4);  // functions
  }
  if (header.version >= 8) {
    header.pattern_size = reader.u16();
  }
  if (header.version >= 10) {
    reader.skip(2);
  }
  set.library = as_text(reader.block(name_size).bytes());
  set.only_32_bits = (programs & kOnly32) != 0 && (programs & kOnly64) == 0;
  set.only_64_bits = (programs & kOnly64) != 0 && (programs & kOnly32) == 0;
  return header;
}

}  // namespace

Error too_large_flirt_file(const std::string& path) {
  return {path, "holds more than the FLIRT file of any library", "Take it out of the list"};
}

bool is_flirt_tree(std::span<const std::byte> bytes) { return as_text(bytes).starts_with(kMagic); }

FlirtSet read_flirt_tree(std::span<const std::byte> bytes, const std::string& path) {
  FlirtSet set;
  ByteReader reader(ByteView(bytes, Endian::little));
  const Header header = read_header(reader, set);
  if (reader.ok() && (header.version < kOldestVersion || header.version > kNewestVersion)) {
    throw Error(path,
                "is a FLIRT file of version " + std::to_string(header.version) +
                    ", and this whocall reads versions 5 to 10",
                "Take it out of the list");
  }
  std::span<const std::byte> tree = reader.view().from(reader.offset()).bytes();
  std::vector<std::byte> unpacked;
  if ((header.features & kPacked) != 0) {
    unpacked = inflated(tree, header.version >= 7);
    tree = unpacked;
  }
  const bool is_right = reader.ok() && header.pattern_size <= kLongestFlirtPattern &&
                        TreeReader(tree, header, set).run();
  if (!set.has_room()) {
    throw too_large_flirt_file(path);
  }
  if (!is_right) {
    throw Error(path, "is a damaged FLIRT file", "Fetch or make it again");
  }
  return set;
}

}  // namespace whocall
