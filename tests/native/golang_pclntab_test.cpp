// Function tables of Go, written down field by field in each of the four formats; and what damage
// does to them.
#include "golang/go_pclntab.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "base/byte_view.h"

namespace whocall {
namespace {

constexpr Address kText = 0x401000;

struct Format {
  GoFormat format;
  std::uint32_t magic;
  unsigned pointer;  // bytes
  Endian endian;
};

class Writer {
 public:
  explicit Writer(const Format& format) : format_(format) {}

  Writer& fixed(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned at = format_.endian == Endian::little ? i : size - 1 - i;
      bytes.push_back(static_cast<std::byte>(value >> (8 * at)));
    }
    return *this;
  }
  Writer& u32(std::uint64_t value) { return fixed(value, 4); }
  Writer& word(std::uint64_t value) { return fixed(value, format_.pointer); }
  Writer& append(const std::vector<std::byte>& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  Writer& text(const std::string& characters) {
    for (const char character : characters) {
      fixed(static_cast<unsigned char>(character), 1);
    }
    return fixed(0, 1);
  }
  Writer& raw(std::initializer_list<unsigned> list) {
    for (const unsigned value : list) {
      fixed(value, 1);
    }
    return *this;
  }

  std::vector<std::byte> bytes;

 private:
  Format format_;
};

// Two functions: main.first, 0x20 bytes at kText, 24 bytes deep from its byte 4 to 0x1c, line 10,
// from its byte 8 on line 12; main.second, 0x10 bytes at kText + 0x40.
struct Parts {
  std::vector<std::byte> names;
  std::vector<std::byte> paths;
  std::vector<std::byte> values;
  std::uint32_t second_name = 0;
  std::array<std::uint32_t, 4> tables{};  // depth, file, line of the first; depth of the second
};

Parts parts_of(const Format& format) {
  Parts parts;
  Writer names(format);
  names.text("main.first");
  parts.second_name = static_cast<std::uint32_t>(names.bytes.size());
  parts.names = names.text("main.second").bytes;
  parts.paths = Writer(format).text("/src/a.go").bytes;
  Writer values(format);
  values.raw({0});  // no table begins at 0
  const auto begin = [&](std::size_t which) {
    parts.tables.at(which) = static_cast<std::uint32_t>(values.bytes.size());
  };
  begin(0);
  values.raw({2, 4, 48, 0x18, 47, 4, 0});  // 0 up to 4, 24 up to 0x1c, 0 up to 0x20
  begin(1);
  values.raw({format.format == GoFormat::go12 ? 4U : 2U, 0x20, 0});  // number 1, or 0
  begin(2);
  values.raw({22, 8, 4, 0x18, 0});  // 10 up to 8, 12 up to 0x20
  begin(3);
  values.raw({2, 0x10, 0});
  parts.values = values.bytes;
  return parts;
}

std::vector<std::byte> record(const Format& format, std::uint64_t entry, std::uint32_t name,
                              std::span<const std::uint32_t> tables) {
  Writer out(format);
  const bool relative = format.format >= GoFormat::go118;
  relative ? out.u32(entry) : out.word(kText + entry);
  out.u32(name).u32(0).u32(0);
  for (const std::uint32_t table : tables) {
    out.u32(table);
  }
  out.u32(0);  // no further tables
  if (format.format == GoFormat::go12) {
    return out.u32(0).bytes;
  }
  out.u32(0);  // the unit's first file
  if (format.format == GoFormat::go120) {
    out.u32(9);  // the function's first line
  }
  return out.raw({0, 2, 0, 0}).bytes;  // it says that it sets sp as it likes
}

std::vector<std::byte> later_table(const Format& format) {
  const Parts parts = parts_of(format);
  const bool relative = format.format >= GoFormat::go118;
  const std::array<std::uint32_t, 3> own = {parts.tables[3], 0, 0};
  const auto first = record(format, 0, 0, std::span(parts.tables).first(3));
  const auto second = record(format, 0x40, parts.second_name, own);
  const unsigned half = relative ? 4 : format.pointer;
  Writer functions(format);
  const std::uint64_t records = 5 * half + (half == 8 ? 0 : 4);
  functions.fixed(relative ? 0 : kText, half).fixed(records, half);
  functions.fixed((relative ? 0 : kText) + 0x40, half).fixed(records + first.size(), half);
  functions.fixed((relative ? 0 : kText) + 0x60, half);
  functions.bytes.resize(records);
  functions.append(first).append(second);
  const std::vector<std::byte> units = Writer(format).u32(0).bytes;
  Writer out(format);
  out.u32(format.magic).raw({0, 0, 1, format.pointer}).word(2).word(1);
  if (relative) {
    out.word(kText);
  }
  std::uint64_t at = out.bytes.size() + 5 * format.pointer;
  const std::array<std::vector<std::byte>, 5> in_order = {parts.names, units, parts.paths,
                                                          parts.values, functions.bytes};
  for (const auto& part : in_order) {
    out.word(at);
    at += part.size();
  }
  for (const auto& part : in_order) {
    out.append(part);
  }
  return out.bytes;
}

std::vector<std::byte> first_table(const Format& format) {
  Parts parts = parts_of(format);
  const std::uint64_t head = 8 + 6 * std::uint64_t{format.pointer} + 4;
  const std::uint64_t files = head;  // a count, and one offset
  const std::uint64_t names = files + 8;
  const std::uint64_t paths = names + parts.names.size();
  const std::uint64_t values = paths + parts.paths.size();
  for (std::uint32_t& table : parts.tables) {
    table += static_cast<std::uint32_t>(values);
  }
  const auto name = [&](std::uint64_t offset) {
    return static_cast<std::uint32_t>(names + offset);
  };
  const std::array<std::uint32_t, 3> own = {parts.tables[3], 0, 0};
  const auto first = record(format, 0, name(0), std::span(parts.tables).first(3));
  const auto second = record(format, 0x40, name(parts.second_name), own);
  const std::uint64_t records = values + parts.values.size();
  Writer out(format);
  out.u32(format.magic).raw({0, 0, 1, format.pointer}).word(2);
  out.word(kText).word(records).word(kText + 0x40).word(records + first.size());
  out.word(kText + 0x60).u32(files);
  out.u32(2).u32(paths).append(parts.names).append(parts.paths).append(parts.values);
  return out.append(first).append(second).bytes;
}

std::vector<std::byte> table_in(const Format& format) {
  return format.format == GoFormat::go12 ? first_table(format) : later_table(format);
}

std::vector<Format> formats() {
  std::vector<Format> all;
  for (const unsigned pointer : {4U, 8U}) {
    for (const Endian endian : {Endian::little, Endian::big}) {
      all.push_back({GoFormat::go12, 0xfffffffb, pointer, endian});
      all.push_back({GoFormat::go116, 0xfffffffa, pointer, endian});
      all.push_back({GoFormat::go118, 0xfffffff0, pointer, endian});
      all.push_back({GoFormat::go120, 0xfffffff1, pointer, endian});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a function table of Go is read in every format, byte order and word size") {
  for (const Format& format : formats()) {
    CAPTURE(format.magic);
    CAPTURE(format.pointer);
    const auto bytes = table_in(format);
    const auto table = GoPclntab::parse(ByteView(bytes, format.endian), 0x500000, 0);
    REQUIRE(table);
    CHECK(table->format() == format.format);
    CHECK(table->count() == 2);
    const auto first = table->find(kText + 0x1f);
    REQUIRE(first);
    CHECK(first->name == "main.first");
    CHECK(first->range == AddressRange{kText, kText + 0x20});
    CHECK(first->sp_write == (format.format != GoFormat::go12));
    CHECK_FALSE(first->top_frame);
    CHECK(table->value_at(first->sp_table, kText, kText + 3) == 0);
    CHECK(table->value_at(first->sp_table, kText, kText + 4) == 24);
    CHECK(table->value_at(first->sp_table, kText, kText + 0x1c) == 0);
    CHECK(table->value_at(first->line_table, kText, kText + 7) == 10);
    CHECK(table->value_at(first->line_table, kText, kText + 8) == 12);
    const auto file = table->value_at(first->file_table, kText, kText);
    REQUIRE(file);
    CHECK(table->file_name(*first, *file) == "/src/a.go");
    CHECK_FALSE(table->find(kText - 1));
    CHECK_FALSE(table->find(kText + 0x20));  // padding
    const auto second = table->find(kText + 0x40);
    REQUIRE(second);
    CHECK(second->name == "main.second");
    CHECK_FALSE(table->find(kText + 0x60));
  }
}

TEST_CASE("where the header does not tell the start of the code, it is given") {
  const Format format{GoFormat::go120, 0xfffffff1, 8, Endian::little};
  auto bytes = table_in(format);
  const auto table = GoPclntab::parse(ByteView(bytes, format.endian), 0x500000, 0x700000);
  REQUIRE(table);
  CHECK(table->entry(0) == 0x700000);
}

TEST_CASE("damaged tables of Go are refused or read in bounds") {
  std::mt19937 random(20231121);
  for (const Format& format : formats()) {
    const auto whole = table_in(format);
    for (int round = 0; round < 400; ++round) {
      auto bytes = whole;
      for (int change = 0; change < 1 + round % 4; ++change) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
      if (round % 3 == 0) {
        bytes.resize(random() % bytes.size());
      }
      const auto table = GoPclntab::parse(ByteView(bytes, format.endian), 0x500000, 0);
      for (std::uint64_t i = 0; table && i < std::min<std::uint64_t>(table->count(), 8); ++i) {
        const auto function = table->function(i);
        if (!function) {
          continue;
        }
        CHECK(function->range.end >= function->range.begin);
        const Address start = function->range.begin;
        for (const Address link : {start, start + 5, function->range.end}) {
          const auto step = table->step_at(function->sp_table, start, link);
          CHECK((!step || step->range.contains(link)));
          const auto file = table->value_at(function->file_table, start, link);
          CHECK(table->file_name(*function, file.value_or(-1)).size() < bytes.size());
          const auto found = table->find(link);
          CHECK((!found || found->range.contains(link)));
        }
      }
    }
  }
}

}  // namespace whocall
