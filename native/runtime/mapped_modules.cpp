#include "runtime/mapped_modules.h"

#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "runtime/lines_of_file.h"
#include "runtime/readable.h"

namespace whocall::runtime {
namespace {

// One line: "begin-end rwxp offset device inode   path".
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t offset = 0;
  bool executable = false;
  const char* path = "";
};

const char* behind_word(const char* text) {
  while (*text != '\0' && *text != ' ') {
    ++text;
  }
  while (*text == ' ') {
    ++text;
  }
  return text;
}

Mapping parse(const char* text) {
  Mapping mapping;
  mapping.begin = leading_number(text);
  const char* const dash = std::strchr(text, '-');
  if (dash == nullptr) {
    return {};
  }
  mapping.end = leading_number(dash + 1);
  const char* const rights = behind_word(text);
  mapping.executable = rights[0] != '\0' && rights[1] != '\0' && rights[2] == 'x';
  const char* const offset = behind_word(rights);
  mapping.offset = leading_number(offset);
  mapping.path = behind_word(behind_word(behind_word(offset)));
  return mapping;
}

// The path in memory that stays: a page for each file that was ever asked for.
const char* kept(const char* path) {
  struct Path {
    const Path* next = nullptr;
    char text[1] = {};  // and as many more as it has
  };
  static std::atomic<const Path*> all{nullptr};
  const Path* first = all.load(std::memory_order_acquire);
  for (const Path* each = first; each != nullptr; each = each->next) {
    if (std::strcmp(each->text, path) == 0) {
      return each->text;
    }
  }
  const std::size_t size = std::strlen(path) + 1;
  void* const memory = mmap(nullptr, offsetof(Path, text) + size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return "";
  }
  auto* const made = static_cast<Path*>(memory);
  std::memcpy(made->text, path, size);
  do {
    made->next = first;
  } while (!all.compare_exchange_weak(first, made, std::memory_order_acq_rel));
  return made->text;
}

bool read_header(std::uintptr_t begin, Module& module) {
  constexpr std::uintptr_t kPage = 4096;  // bytes: the header and its list lie in the first
  if (!readable(begin)) {
    return false;
  }
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(begin);
  const std::size_t list = header.e_phnum * sizeof(ElfW(Phdr));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phoff > kPage ||
      list > kPage - header.e_phoff) {
    return false;
  }
  const auto* const parts = reinterpret_cast<const ElfW(Phdr)*>(begin + header.e_phoff);
  return read_parts(parts, header.e_phnum, begin, module);
}

}  // namespace

std::uintptr_t leading_number(const char* text) {
  std::uintptr_t number = 0;
  for (;; ++text) {
    const char letter = *text;
    if (letter >= '0' && letter <= '9') {
      number = number << 4U | static_cast<std::uintptr_t>(letter - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      number = number << 4U | static_cast<std::uintptr_t>(letter - 'a' + 10);
    } else {
      return number;
    }
  }
}

bool find_mapped_module(std::uintptr_t address, Module& module) {
  LinesOfFile lines("/proc/self/maps");
  std::uintptr_t begin = 0;  // of the last mapping of a file's beginning
  while (const char* const text = lines.next()) {
    const Mapping mapping = parse(text);
    if (mapping.offset == 0 && mapping.path[0] == '/') {
      begin = mapping.begin;
    }
    if (address < mapping.begin || address >= mapping.end) {
      continue;
    }
    if (begin == 0 || mapping.path[0] != '/' || !read_header(begin, module) ||
        address >= module.end) {
      return false;
    }
    module.path = kept(mapping.path);
    return true;
  }
  return false;
}

bool find_made_code(std::uintptr_t address, std::uintptr_t& begin, std::uintptr_t& end) {
  LinesOfFile lines("/proc/self/maps");
  while (const char* const text = lines.next()) {
    const Mapping mapping = parse(text);
    if (address >= mapping.begin && address < mapping.end) {
      begin = mapping.begin;
      end = mapping.end;
      return mapping.executable;
    }
  }
  return false;
}

}  // namespace whocall::runtime
