#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "object/call_frame_info.h"
#include "object/encoded_pointer.h"
#include "object/frame_entries.h"
#include "object_elf_images.h"
#include "unwind/rows/fde_rows.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

// Writes unwind sections entry by entry; lengths are filled in when an entry ends.
class SectionWriter {
 public:
  Bytes bytes;

  template <typename T>
  SectionWriter& add(T value) {
    append(bytes, &value, sizeof value);
    return *this;
  }
  SectionWriter& text(const char* letters) {
    append(bytes, letters, std::strlen(letters) + 1);
    return *this;
  }
  std::size_t begin(std::uint32_t id) {
    const std::size_t start = bytes.size();
    add<std::uint32_t>(0).add(id);
    return start;
  }
  // An FDE of .eh_frame points back to its CIE from its own second word.
  std::size_t begin_fde(std::size_t cie) {
    return begin(static_cast<std::uint32_t>(bytes.size() + 4 - cie));
  }
  void end(std::size_t start) {
    while (bytes.size() % 4 != 0) {
      add<std::uint8_t>(0);
    }
    put(bytes, start, static_cast<std::uint32_t>(bytes.size() - start - 4));
  }
  std::size_t cie(const char* letters, std::vector<std::uint8_t> data, std::uint32_t id = 0) {
    const std::size_t start = begin(id);
    add<std::uint8_t>(1).text(letters);
    if (std::string_view(letters) == "eh") {
      add<std::uint64_t>(0x1234);
    }
    add<std::uint8_t>(1).add<std::uint8_t>(0x78).add<std::uint8_t>(16);
    for (const std::uint8_t byte : data) {
      add(byte);
    }
    add<std::uint8_t>(0x0c).add<std::uint8_t>(7).add<std::uint8_t>(8);  // DW_CFA_def_cfa
    end(start);
    return start;
  }
};

constexpr Address kSection = 0x2000;

CallFrameInfo eh_frame(const Bytes& bytes, unsigned pointer_size = 8) {
  return {CallFrameInfo::Format::eh_frame,
          {ByteView(bytes, Endian::little), kSection},
          std::nullopt,
          pointer_size};
}

std::vector<Fde> all(const CallFrameInfo& info) {
  std::vector<Fde> fdes;
  info.for_each([&](const Fde& fde) { fdes.push_back(fde); });
  return fdes;
}

// Whether what covers code is the same, looked for by itself.
bool ranges_are_those_of_all(const CallFrameInfo& info) {
  std::vector<AddressRange> ranges;
  for (const Fde& fde : all(info)) {
    if (!fde.range.empty()) {
      ranges.push_back(fde.range);
    }
  }
  return ranges == info.ranges();
}

void add_pcrel_fde(SectionWriter& writer, std::size_t cie, Address begin, std::uint32_t size) {
  const std::size_t fde = writer.begin_fde(cie);
  const Address field = kSection + writer.bytes.size();
  writer.add(static_cast<std::uint32_t>(begin - field)).add(size).add<std::uint8_t>(0);
  writer.end(fde);
}

}  // namespace

TEST_CASE("eh_frame: augmentation zPLRSB, pc-relative starts") {
  SectionWriter writer;
  // size 7: personality (absolute, 4 bytes), LSDA encoding, pointer encoding
  const std::size_t cie = writer.cie("zPLRSB", {7, 0x03, 1, 2, 3, 4, 0x1b, 0x1b});
  add_pcrel_fde(writer, cie, 0x1000, 0x20);
  writer.add<std::uint32_t>(0);  // a terminator in the middle
  add_pcrel_fde(writer, cie, 0x1040, 0x10);
  add_pcrel_fde(writer, cie, 0x1030, 0);
  const CallFrameInfo info = eh_frame(writer.bytes);
  REQUIRE(all(info).size() == 3);
  const auto fde = info.find(0x101f);
  REQUIRE(fde.has_value());
  CHECK(fde->range == AddressRange{0x1000, 0x1020});
  CHECK(fde->cie->signal_frame);
  CHECK(fde->cie->signed_return_address);
  CHECK(fde->cie->data_alignment == -8);
  CHECK(fde->cie->return_address == 16);
  CHECK(std::to_integer<int>(fde->cie->instructions.bytes[0]) == 0x0c);
  CHECK_FALSE(info.find(0x1020));
  CHECK_FALSE(info.find(0x1030));  // covers nothing
  CHECK_FALSE(info.find(0x0fff));
  CHECK(info.find(0x104f)->range.begin == 0x1040);
}

TEST_CASE("eh_frame: DW_CFA_set_loc is encoded as the FDE's start is") {
  SectionWriter writer;
  const std::size_t cie = writer.cie("zR", {1, 0x1b});
  const std::size_t fde_start = writer.begin_fde(cie);
  const auto relative_to_here = [&](Address address) {
    return static_cast<std::uint32_t>(address - (kSection + writer.bytes.size()));
  };
  writer.add(relative_to_here(0x1000)).add<std::uint32_t>(0x20).add<std::uint8_t>(0);
  writer.add<std::uint8_t>(0x01);  // DW_CFA_set_loc
  writer.add(relative_to_here(0x1008));
  writer.end(fde_start);
  const CallFrameInfo info = eh_frame(writer.bytes);
  const auto fde = info.find(0x1000);
  REQUIRE(fde.has_value());
  CHECK(compile(*fde).front().range == AddressRange{0x1000, 0x1008});
}

TEST_CASE("eh_frame: old and unknown augmentations") {
  SectionWriter writer;
  const auto add_fde = [&](std::size_t cie, Address begin) {
    const std::size_t fde = writer.begin_fde(cie);
    writer.add<std::uint64_t>(begin).add<std::uint64_t>(0x10);
    writer.end(fde);
  };
  add_fde(writer.cie("eh", {}), 0x1000);
  add_fde(writer.cie("q", {}), 0x1100);  // cannot be read
  add_fde(writer.cie("", {}), 0x1200);
  const CallFrameInfo info = eh_frame(writer.bytes);
  CHECK(info.find(0x1000).has_value());
  CHECK_FALSE(info.find(0x1100));
  CHECK(info.find(0x120f).has_value());
}

TEST_CASE("eh_frame: a long length has a short id") {
  SectionWriter writer;
  const std::size_t cie = writer.cie("", {});
  writer.add<std::uint32_t>(0xffffffffU).add<std::uint64_t>(4 + 16);
  writer.add(static_cast<std::uint32_t>(writer.bytes.size() - cie));
  writer.add<std::uint64_t>(0x5000).add<std::uint64_t>(0x10);
  CHECK(eh_frame(writer.bytes).find(0x5008).has_value());
}

TEST_CASE("eh_frame: 32-bit addresses wrap") {
  SectionWriter writer;
  const std::size_t cie = writer.cie("zR", {1, 0x1b});
  add_pcrel_fde(writer, cie, 0xfffff000, 0x1000);
  const CallFrameInfo info = eh_frame(writer.bytes, 4);
  const auto fde = info.find(0xffffffff);
  REQUIRE(fde.has_value());
  CHECK(fde->range == AddressRange{0xfffff000, 0x100000000});
}

TEST_CASE("eh_frame: functions that the linker threw away are left out") {
  SectionWriter writer;
  const std::size_t cie = writer.cie("", {});
  for (const Address begin : {Address{0}, Address{0x1000}}) {
    const std::size_t fde = writer.begin_fde(cie);
    writer.add<std::uint64_t>(begin).add<std::uint64_t>(0x10);
    writer.end(fde);
  }
  FrameContext context;
  context.code = {0x1000, 0x2000};
  const CallFrameInfo info(CallFrameInfo::Format::eh_frame,
                           {ByteView(writer.bytes, Endian::little), kSection}, std::nullopt, 8,
                           context);
  CHECK(all(info).size() == 1);
  CHECK_FALSE(info.find(8));
}

TEST_CASE("debug_frame: versions 1 and 4, both formats") {
  SectionWriter writer;
  const std::size_t old = writer.cie("", {}, 0xffffffffU);
  const std::size_t fde = writer.begin(static_cast<std::uint32_t>(old));
  writer.add<std::uint64_t>(0x1000).add<std::uint64_t>(0x10);
  writer.end(fde);
  const std::size_t wide = writer.bytes.size();
  writer.add<std::uint32_t>(0xffffffffU).add<std::uint64_t>(8 + 7).add(~std::uint64_t{0});
  writer.add<std::uint8_t>(4).text("").add<std::uint8_t>(4).add<std::uint8_t>(2);  // sizes
  writer.add<std::uint8_t>(4).add<std::uint8_t>(0x7c).add<std::uint8_t>(14);
  writer.add<std::uint32_t>(0xffffffffU).add<std::uint64_t>(8 + 2 + 8).add<std::uint64_t>(wide);
  writer.add<std::uint16_t>(0).add<std::uint32_t>(0x8000).add<std::uint32_t>(0x20);
  const CallFrameInfo info(CallFrameInfo::Format::debug_frame,
                           {ByteView(writer.bytes, Endian::little), 0}, std::nullopt, 8);
  CHECK(info.find(0x100f)->cie->return_address == 16);
  const auto found = info.find(0x801f);
  REQUIRE(found.has_value());
  CHECK(found->range == AddressRange{0x8000, 0x8020});
  CHECK(found->cie->code_alignment == 4);
  CHECK(found->cie->address_size == 4);
}

TEST_CASE("eh_frame_hdr: the table is used, and not believed") {
  SectionWriter writer;
  const std::size_t cie = writer.cie("zR", {1, 0x1b});
  std::vector<std::size_t> places;
  for (Address begin = 0x1000; begin < 0x1100; begin += 0x20) {
    places.push_back(writer.bytes.size());
    add_pcrel_fde(writer, cie, begin, 0x20);
  }
  constexpr Address kHeader = 0x9000;
  SectionWriter header;
  header.add<std::uint8_t>(1).add<std::uint8_t>(0x1b).add<std::uint8_t>(0x03);
  header.add<std::uint8_t>(0x3b).add(static_cast<std::uint32_t>(kSection - kHeader - 4));
  std::size_t listed = places.size();
  SUBCASE("whole") {}
  SUBCASE("incomplete") { listed = 3; }
  SUBCASE("empty") { listed = 0; }
  std::size_t shift = 0;
  SUBCASE("wrong places") { shift = 1; }
  header.add(static_cast<std::uint32_t>(listed));
  for (std::size_t i = 0; i < listed; ++i) {
    header.add(static_cast<std::uint32_t>(0x1000 + i * 0x20 - kHeader));
    header.add(static_cast<std::uint32_t>(kSection + places[i] + shift - kHeader));
  }
  SUBCASE("another encoding") { header.bytes[3] = std::byte{0x1b}; }
  SUBCASE("cut off") { header.bytes.resize(header.bytes.size() - 5); }
  const CallFrameInfo info(CallFrameInfo::Format::eh_frame,
                           {ByteView(writer.bytes, Endian::little), kSection},
                           LoadedPart{ByteView(header.bytes, Endian::little), kHeader}, 8);
  for (Address address = 0x1000; address < 0x1100; ++address) {
    const auto fde = info.find(address);
    REQUIRE(fde.has_value());
    CHECK(fde->range.begin == address / 0x20 * 0x20);
  }
  CHECK_FALSE(info.find(0x1100));
  CHECK_FALSE(info.find(0xfff));
}

TEST_CASE("call frame info: header and index agree on a real program") {
  const auto file = ElfFile::open("/proc/self/exe");
  const auto through_header = CallFrameInfo::of_eh_frame(*file);
  const CallFrameInfo through_index(CallFrameInfo::Format::eh_frame, *file->eh_frame(),
                                    std::nullopt, file->pointer_size());
  REQUIRE(through_header != nullptr);
  std::size_t count = 0;
  through_header->for_each([&](const Fde& fde) {
    const auto found = through_index.find(fde.range.begin);
    CHECK((fde.range.empty() || (found && found->offset == fde.offset)));
    CHECK((fde.range.empty() || through_header->find(fde.range.end - 1)->offset == fde.offset));
    ++count;
  });
  CHECK(count > 100);
  CHECK(ranges_are_those_of_all(*through_header));
}

TEST_CASE("pointer encodings") {
  const Bytes bytes = {std::byte{0xff}, std::byte{0x7f}, std::byte{0xfe}, std::byte{0xff},
                       std::byte{0xff}, std::byte{0xff}, std::byte{0},    std::byte{0},
                       std::byte{0x08}, std::byte{0},    std::byte{0},    std::byte{0},
                       std::byte{0},    std::byte{0},    std::byte{0},    std::byte{0}};
  const PointerBases bases{0x1000, 0x200, 0x300, 8};
  const auto read = [&](std::uint8_t encoding, std::uint64_t offset) {
    ByteReader reader(ByteView(bytes, Endian::little), offset);
    return read_encoded_pointer(reader, encoding, bases);
  };
  CHECK(read(0x02, 0) == 0x7fff);
  CHECK(read(0x01, 0) == 0x3fff);
  CHECK(read(0x09, 0) == ~Address{0});
  CHECK(read(0x0a, 2) == ~Address{1});
  CHECK(read(0x1b, 2) == 0x1002 - 2);
  CHECK(read(0x2a, 2) == 0x200 - 2);
  CHECK(read(0x3a, 2) == 0x300 - 2);
  CHECK(read(0x50, 2) == 8);   // aligned to the next 8 bytes
  CHECK_FALSE(read(0x9a, 8));  // the word that it points to lies outside
  CHECK_FALSE(read(0x40, 0));
  CHECK_FALSE(read(0x05, 0));
  CHECK_FALSE(read(0x04, 12));
}

TEST_CASE("eh_frame: random bytes never lead out of bounds nor astray for long") {
  SectionWriter writer;
  const std::size_t cie = writer.cie("zPLR", {7, 0x03, 1, 2, 3, 4, 0x1b, 0x1b});
  for (Address begin = 0x1000; begin < 0x1400; begin += 0x20) {
    add_pcrel_fde(writer, cie, begin, 0x20);
  }
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes = writer.bytes;
    for (int i = 0; i < 8; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    const CallFrameInfo info = eh_frame(bytes, random() % 2 == 0 ? 8 : 4);
    for (const Fde& fde : all(info)) {
      CHECK(fde.cie != nullptr);
    }
    CHECK(ranges_are_those_of_all(info));
    (void)info.find(0x1010);
  }
}
