#include "symbols/external/name_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "base/long_work.h"
#include "base/text_lines.h"
#include "symbols/external/list_formats.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kHead = 4096;    // bytes that are looked at for what is no text
constexpr std::size_t kRowsOfNm = 64;  // lines among which one row has to stand
constexpr std::size_t kExcerpt = 40;   // characters of a file that nobody knows
constexpr std::string_view kBom = "\xef\xbb\xbf";
constexpr std::string_view kKnown =
    "Give a linker map (-Map), the output of nm, objdump -t or readelf -sW, a Breakpad .sym file, "
    "or "
    "CSV or JSON with names and addresses";

enum class Format : std::uint8_t { breakpad, json, gnu_map, lld_map, dump, csv, nm, unknown };

std::string_view beginning_without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

bool is_lld_heading(std::string_view line) {
  for (const std::string_view word : {"VMA", "Size", "Align", "Out", "In", "Symbol"}) {
    if (line.find(word) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

// "\n.text  0x0000000000001050  0x11d". Not by the headings, which ld translates.
bool has_output_section(std::string_view text) {
  constexpr std::string_view kSection = "\n.text ";
  for (std::size_t at = text.find(kSection); at != std::string_view::npos;
       at = text.find(kSection, at + 1)) {
    std::string_view rest = text.substr(at + kSection.size());
    std::string_view line = take_line(rest);
    const std::string_view address = take_word(line);
    const std::string_view size = take_word(line);
    if (has_hex_prefix(address) && hexadecimal(address) && has_hex_prefix(size) &&
        hexadecimal(size)) {
      return true;
    }
  }
  return false;
}

bool has_nm_row(std::string_view text) {
  for (std::size_t i = 0; i < kRowsOfNm && !text.empty(); ++i) {
    if (is_nm_row(take_line(text))) {
      return true;
    }
  }
  return false;
}

Format format_of(std::string_view text) {
  const std::string_view begin = beginning_without_blanks(text);
  std::string_view rest = begin;
  const std::string_view first = take_line(rest);
  const std::string_view head = text.substr(0, kHead);
  if (begin.starts_with("MODULE ")) {
    return Format::breakpad;
  }
  if (begin.starts_with('{') || begin.starts_with('[')) {
    return Format::json;
  }
  if (is_lld_heading(first)) {
    return Format::lld_map;
  }
  if (head.find("\nSYMBOL TABLE:") != std::string_view::npos ||
      head.find("Symbol table '.") != std::string_view::npos) {
    return Format::dump;
  }
  if (is_csv_heading(first)) {
    return Format::csv;
  }
  if (has_nm_row(begin)) {
    return Format::nm;
  }
  return has_output_section(text) ? Format::gnu_map : Format::unknown;
}

std::string excerpt_of(std::string_view text) {
  std::string_view rest = beginning_without_blanks(text);
  std::string excerpt;
  for (const char c : take_line(rest).substr(0, kExcerpt)) {
    excerpt += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  }
  return excerpt;
}

void require_text(const std::string& path, std::string_view text) {
  struct Magic {
    std::string_view bytes;
    std::string_view what;
    std::string_view remedy;
  };
  static constexpr std::array kMagics = {
      Magic{"\177ELF"sv, "is an ELF file and not a list of names",
            "Give what `nm` prints of it, or, for a file of debug information, its directory as a "
            "debug directory"},
      Magic{"\x1f\x8b"sv, "is compressed", "Unpack it with `gzip -d`"},
      Magic{"\xfd\x37zXZ"sv, "is compressed", "Unpack it with `xz -d`"},
      Magic{"\x28\xb5\x2f\xfd"sv, "is compressed", "Unpack it with `zstd -d`"},
      Magic{"PK\3\4"sv, "is compressed", "Unpack it with `unzip`"},
      Magic{"\xff\xfe"sv, "is text in UTF-16", "Convert it with `iconv -f UTF-16 -t UTF-8`"},
      Magic{"\xfe\xff"sv, "is text in UTF-16", "Convert it with `iconv -f UTF-16 -t UTF-8`"},
      Magic{"JiTD"sv, "is a dump of a JIT compiler",
            "It is found by itself when the process maps it, or in a directory to search"},
      Magic{"DTiJ"sv, "is a dump of a JIT compiler",
            "It is found by itself when the process maps it, or in a directory to search"},
  };
  for (const Magic& magic : kMagics) {
    if (text.starts_with(magic.bytes)) {
      throw Error(path, std::string(magic.what), std::string(magic.remedy));
    }
  }
  if (beginning_without_blanks(text).empty()) {
    throw Error(path, "is empty", std::string(kKnown));
  }
  if (text.substr(0, kHead).find('\0') != std::string_view::npos) {
    throw Error(path, "is not text: there are NUL bytes in it", std::string(kKnown));
  }
  if (text.size() > kLargestNameFile) {
    throw Error(path, "is larger than 2 GiB",
                "Take out what is not of this module, with grep for instance");
  }
}

struct Opened {
  std::shared_ptr<const MappedFile> file;
  std::string_view text;
  Format format;
};

Opened open(const std::string& path) {
  auto file = MappedFile::open(path);
  std::string_view text = as_text(file->bytes());
  require_text(path, text);
  if (text.starts_with(kBom)) {
    text.remove_prefix(kBom.size());
  }
  const std::string_view begin = beginning_without_blanks(text);
  // lld's heading begins with blanks that count.
  const Format format = format_of(text);
  if (format == Format::unknown) {
    throw Error(
        path, "is no list of names that whocall knows: it begins with \"" + excerpt_of(text) + "\"",
        std::string(kKnown));
  }
  if (format == Format::csv || format == Format::breakpad || format == Format::lld_map) {
    text = begin;
  }
  return {std::move(file), text, format};
}

}  // namespace

ListedNames examine_name_file(const std::string& path) {
  const Opened opened = open(path);
  ListedNames list;
  if (opened.format == Format::breakpad) {
    std::string_view rest = opened.text;
    read_breakpad(take_line(rest), list);
  }
  return list;
}

ListedNames read_name_file(const std::string& path) {
  const LongWork work("Reading", path);
  Opened opened = open(path);
  ListedNames list;
  list.file = std::move(opened.file);
  std::string trouble;
  switch (opened.format) {
    case Format::breakpad:
      read_breakpad(opened.text, list);
      break;
    case Format::json:
      trouble = read_name_json(opened.text, list);
      break;
    case Format::gnu_map:
      read_gnu_map(opened.text, list);
      break;
    case Format::lld_map:
      read_lld_map(opened.text, list);
      break;
    case Format::dump:
      read_symbol_dump(opened.text, list);
      break;
    case Format::csv:
      read_name_csv(opened.text, list);
      break;
    case Format::nm:
      read_nm_text(opened.text, list);
      break;
    case Format::unknown:
      break;
  }
  if (!trouble.empty()) {
    throw Error(path, trouble, "Export it anew");
  }
  return list;
}

}  // namespace whocall
