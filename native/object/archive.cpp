#include "object/archive.h"

#include <ar.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/byte_reader.h"
#include "base/error.h"

namespace whocall {
namespace {

constexpr std::string_view kThinMagic = "!<thin>\n";
constexpr std::string_view kElfMagic = "\177ELF";

std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.size()};
}

std::string_view without_padding(std::string_view field) {
  const auto last = field.find_last_not_of(' ');
  return last == std::string_view::npos ? std::string_view() : field.substr(0, last + 1);
}

std::optional<std::uint64_t> header_number(std::string_view field) {
  field = without_padding(field);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size() ? std::optional(value)
                                                                    : std::nullopt;
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw Error(path, reason, "Build the library again, or take an undamaged copy");
}

class Reader {
 public:
  Reader(const std::string& path, ByteView bytes) : path_(path), reader_(bytes, SARMAG) {}

  std::vector<ArchiveMember> run() {
    std::vector<ArchiveMember> members;
    while (!reader_.at_end()) {
      const std::uint64_t begin = reader_.offset();
      const std::string_view header = text_of(reader_.block(sizeof(ar_hdr)));
      if (!reader_.ok() || header.substr(offsetof(ar_hdr, ar_fmag)) != ARFMAG) {
        refuse(path_, "is a damaged archive: no member begins at byte " + std::to_string(begin));
      }
      const auto size =
          header_number(header.substr(offsetof(ar_hdr, ar_size), sizeof(ar_hdr::ar_size)));
      const ByteView contents = reader_.block(size.value_or(~std::uint64_t{0}));
      if (!reader_.ok()) {
        refuse(path_,
               "is a damaged archive: the member at byte " + std::to_string(begin) + " is cut off");
      }
      if (reader_.offset() % 2 != 0 && !reader_.at_end()) {
        reader_.skip(1);
      }
      add(without_padding(header.substr(0, sizeof(ar_hdr::ar_name))), contents, members);
    }
    return members;
  }

 private:
  // GNU's names end in a slash, long ones are "/OFFSET" in the member "//"; the BSDs put a long
  // name, "#1/LENGTH", before the contents.
  void add(std::string_view name, ByteView contents, std::vector<ArchiveMember>& members) {
    if (name == "//") {
      long_names_ = text_of(contents);
    } else if (name.starts_with("#1/")) {
      const auto length = header_number(name.substr(3)).value_or(0);
      const auto text = contents.slice(0, length);
      const std::string_view own = text ? text_of(*text) : std::string_view();
      add_file(own.substr(0, own.find('\0')), contents.from(length), members);
    } else if (name.size() > 1 && name[0] == '/' && name[1] >= '0' && name[1] <= '9') {
      const auto at = header_number(name.substr(1)).value_or(long_names_.size());
      const auto from = long_names_.substr(std::min<std::size_t>(at, long_names_.size()));
      add_file(from.substr(0, from.find("/\n")), contents, members);
    } else if (name != "/" && name != "/SYM64/" && !name.starts_with("__.SYMDEF")) {
      add_file(name.substr(0, name.find('/')), contents, members);
    }
  }

  static void add_file(std::string_view name, ByteView contents,
                       std::vector<ArchiveMember>& members) {
    members.push_back({std::string(name), contents});
  }

  const std::string& path_;
  ByteReader reader_;
  std::string_view long_names_;
};

}  // namespace

Archive::Archive(const std::string& path) : file_(MappedFile::open(path)) {
  const ByteView bytes(file_->bytes(), Endian::little);
  const std::string_view text = text_of(bytes);
  if (text.starts_with(kElfMagic)) {
    members_.push_back({path.substr(path.rfind('/') + 1), bytes});
  } else if (text.starts_with(kThinMagic)) {
    throw Error(path, "is a thin archive: its members lie in other files",
                "Make a whole one of it: ar -M, with CREATE, ADDLIB and SAVE");
  } else if (text.starts_with(ARMAG)) {
    members_ = Reader(path, bytes).run();
  } else {
    throw Error(path, "is no static library", "Give an archive of object files, such as libc.a");
  }
}

}  // namespace whocall
