#include "files/supplementary_file.h"

#include <elf.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/error.h"
#include "object/open_files.h"

namespace whocall {
namespace {

struct Link {
  std::string name;
  std::string build_id;  // lower-case hex
};

std::string lower_hex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes.bytes()) {
    const auto value = std::to_integer<unsigned>(byte);
    text += {kDigits[value >> 4U], kDigits[value & 15U]};
  }
  return text;
}

std::optional<Link> make_link(std::string_view name, ByteView id) {
  const bool usable = !name.empty() && id.size() >= 2;
  return usable ? std::optional(Link{std::string(name), lower_hex(id)}) : std::nullopt;
}

// gdb's manual, "Separate Debug Files": the name with its NUL, then the build id.
std::optional<Link> alternate_link(ByteView contents) {
  const auto name = contents.c_string(0);
  return name ? make_link(*name, contents.from(name->size() + 1)) : std::nullopt;
}

// DWARF 5, section 7.3.6: the version, whether this is the supplementary file itself, its name, and
// the length and bytes of its check sum, which is the build id where dwz wrote it.
std::optional<Link> supplementary_link(ByteView contents) {
  constexpr std::uint64_t kName = 3;
  const auto itself = contents.read<std::uint8_t>(2);
  const auto name = contents.c_string(kName);
  if (itself != 0 || !name) {
    return std::nullopt;
  }
  ByteReader reader(contents.from(kName + name->size() + 1));
  const std::uint64_t size = reader.uleb();
  const auto id = contents.from(kName + name->size() + 1).from(reader.offset()).slice(0, size);
  return reader.ok() && id ? make_link(*name, *id) : std::nullopt;
}

std::optional<Link> link_of(const ElfFile& file) {
  for (const bool alternate : {true, false}) {
    const ElfSection* section = file.section(alternate ? ".gnu_debugaltlink" : ".debug_sup");
    const auto contents = section != nullptr ? file.contents(*section) : std::nullopt;
    if (contents) {
      return alternate ? alternate_link(*contents) : supplementary_link(*contents);
    }
  }
  return std::nullopt;
}

// dwz gives its note no SHF_ALLOC, so that ElfFile does not take it for the file's.
bool has_build_id(const ElfFile& file, const std::string& wanted) {
  const ElfSection* section = file.section(".note.gnu.build-id");
  const auto contents = section != nullptr ? file.contents(*section) : std::nullopt;
  for (const ElfNote& note : contents ? parse_notes(*contents, 4) : std::vector<ElfNote>()) {
    if (note.type == NT_GNU_BUILD_ID && lower_hex(note.contents) == wanted) {
      return true;
    }
  }
  return false;
}

std::shared_ptr<const ElfFile> try_open(const std::filesystem::path& path,
                                        const std::string& build_id) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return nullptr;
  }
  try {
    auto found = open_shared(path.string());
    return has_build_id(*found, build_id) ? found : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

// In the order of asking.
std::vector<std::filesystem::path> candidates(const ElfFile& file, const Link& link,
                                              const FileSearch& search) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  const auto canonical = std::filesystem::canonical(file.path(), error);
  if (link.name.starts_with('/')) {
    if (!search.sysroot.empty()) {
      paths.emplace_back(search.sysroot + link.name);
    }
    paths.emplace_back(link.name);
  } else if (!error) {
    paths.push_back(canonical.parent_path() / link.name);
  }
  const std::string hashed =
      ".build-id/" + link.build_id.substr(0, 2) + "/" + link.build_id.substr(2) + ".debug";
  for (const std::string& directory : search.debug_directories) {
    if (!search.sysroot.empty()) {
      paths.push_back(std::filesystem::path(search.sysroot + "/" + directory) / hashed);
    }
    paths.push_back(std::filesystem::path(directory) / hashed);
  }
  for (const std::string& directory : search.directories) {
    paths.push_back(std::filesystem::path(directory) / hashed);
    paths.push_back(std::filesystem::path(directory) / std::filesystem::path(link.name).filename());
  }
  return paths;
}

}  // namespace

std::shared_ptr<const ElfFile> find_supplementary_file(const ElfFile& file,
                                                       const FileSearch& search) {
  const auto link = link_of(file);
  if (!link) {
    return nullptr;
  }
  for (const std::filesystem::path& path : candidates(file, *link, search)) {
    if (auto found = try_open(path, link->build_id)) {
      return found;
    }
  }
  return nullptr;
}

}  // namespace whocall
