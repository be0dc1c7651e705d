#include "runtime/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <atomic>

#include "runtime/readable.h"

// In glibc since 2.35; the reference is weak, as what it is linked with need not have it.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
// NOLINTNEXTLINE(readability-redundant-declaration): it makes the reference weak
extern "C" decltype(_dl_find_object) _dl_find_object __attribute__((weak));
#endif

// The dynamic linker's, for debuggers; static programs and other C libraries have none.
// NOLINTNEXTLINE(readability-redundant-declaration): it makes the reference weak
extern decltype(_r_debug) _r_debug __attribute__((weak));

namespace whocall::runtime {
namespace {

constexpr std::size_t kMostListed = 1024;
#ifdef __arm__
constexpr auto kTables = PT_ARM_EXIDX;
constexpr bool kCounted = true;  // entries of 8 bytes
#else
constexpr auto kTables = PT_GNU_EH_FRAME;
constexpr bool kCounted = false;
#endif

struct List {
  std::size_t count = 0;
  Module modules[kMostListed];
};

std::atomic<const List*> listed{nullptr};

rules::FrameTables tables_in(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t header,
                             std::uintptr_t entries) {
  return {.mapped = {reinterpret_cast<const std::byte*>(begin), begin, end - begin},
          .header = header,
          .entries = entries,
          .word_size = sizeof(void*)};
}

bool find_listed(std::uintptr_t address, Module& module) {
  const List* const list = listed.load(std::memory_order_acquire);
  for (std::size_t i = 0; list != nullptr && i < list->count; ++i) {
    const Module& each = list->modules[i];
    if (address >= each.begin && address < each.end) {
      module = each;
      return true;
    }
  }
  return false;
}

// By the C library. It knows of a static program's code alone, and not of its tables: that is not
// taken.
bool find_asked([[maybe_unused]] std::uintptr_t address, [[maybe_unused]] Module& module) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object found;
  if (_dl_find_object == nullptr ||
      _dl_find_object(reinterpret_cast<void*>(address), &found) != 0) {
    return false;
  }
  const auto header = reinterpret_cast<std::uintptr_t>(found.dlfo_eh_frame);
  module.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  module.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  module.bias = found.dlfo_link_map->l_addr;
  module.path = found.dlfo_link_map->l_name;
  std::uintptr_t entries = 0;
#if DLFO_STRUCT_HAS_EH_COUNT
  entries = static_cast<std::uintptr_t>(found.dlfo_eh_count);
#endif
  module.tables = tables_in(module.begin, module.end, header, entries);
  return header == 0 || (header >= module.begin && header < module.end);
#else
  return false;
#endif
}

// Of a file whose bias is known.
bool read_parts_at(const ElfW(Phdr) * parts, std::size_t count, Module& module) {
  std::uintptr_t header = 0;
  std::uintptr_t entries = 0;
  module.begin = ~std::uintptr_t{0};
  module.end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ElfW(Phdr)& each = parts[i];
    const std::uintptr_t at = module.bias + each.p_vaddr;
    if (each.p_type == PT_LOAD) {
      module.begin = at < module.begin ? at : module.begin;
      module.end = at + each.p_memsz > module.end ? at + each.p_memsz : module.end;
    } else if (each.p_type == kTables) {
      header = at;
      entries = kCounted ? each.p_memsz / 8 : 0;
    }
  }
  module.tables = tables_in(module.begin, module.end, header, entries);
  return module.begin < module.end;
}

int note_module(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  List& list = *static_cast<List*>(data);
  if (list.count == kMostListed) {
    return 1;
  }
  Module module{.bias = info->dlpi_addr, .path = info->dlpi_name};
  if (read_parts_at(info->dlpi_phdr, info->dlpi_phnum, module)) {
    list.modules[list.count++] = module;
  }
  return 0;
}

// Where the C library does not tell of modules without a lock, as in static programs: what is
// loaded at the start.
[[gnu::constructor]] void list_first_modules() {
  Module self;
  if (!find_asked(reinterpret_cast<std::uintptr_t>(&list_modules), self)) {
    list_modules();
  }
}

}  // namespace

bool find_module(std::uintptr_t address, Module& module) {
  return find_asked(address, module) || find_listed(address, module);
}

bool read_parts(const ElfW(Phdr) * parts, std::size_t count, std::uintptr_t begin, Module& module) {
  for (std::size_t i = 0; i < count; ++i) {
    if (parts[i].p_type == PT_LOAD) {
      module.bias = begin - (parts[i].p_vaddr - parts[i].p_offset);
      return read_parts_at(parts, count, module);
    }
  }
  return false;
}

BuildId build_id(const Module& module) {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(module.begin);
  if (module.end - module.begin < sizeof *header || header->e_ident[EI_MAG0] != ELFMAG0 ||
      header->e_ident[EI_MAG1] != 'E' || header->e_phentsize != sizeof(ElfW(Phdr))) {
    return {};
  }
  const rules::ByteSpan& mapped = module.tables.mapped;
  for (std::size_t i = 0; i < header->e_phnum; ++i) {
    ElfW(Phdr) part;
    rules::ByteCursor entry(
        mapped.part(module.begin + header->e_phoff + i * sizeof part, sizeof part));
    part = entry.take<ElfW(Phdr)>();
    if (part.p_type != PT_NOTE) {
      continue;
    }
    rules::ByteCursor notes(mapped.part(module.bias + part.p_vaddr, part.p_memsz));
    while (entry.ok() && !notes.at_end()) {
      const auto note = notes.take<ElfW(Nhdr)>();
      notes.skip((note.n_namesz + 3U) & ~3U);
      const rules::ByteSpan description = notes.rest();
      if (notes.ok() && note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          note.n_descsz <= description.size) {
        return {reinterpret_cast<const unsigned char*>(description.bytes), note.n_descsz};
      }
      notes.skip((note.n_descsz + 3U) & ~3U);
    }
  }
  return {};
}

void list_modules() {
  void* const memory =
      mmap(nullptr, sizeof(List), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return;
  }
  // The list before may be in use elsewhere: it stays.
  auto* const list = new (memory) List;
  dl_iterate_phdr(note_module, list);
  listed.store(list, std::memory_order_release);
}

void for_each_listed(void (*visit)(const Module& module)) {
  const List* const list = listed.load(std::memory_order_acquire);
  for (std::size_t i = 0; list != nullptr && i < list->count; ++i) {
    visit(list->modules[i]);
  }
}

void for_each_linked(void (*visit)(const Module& module, void* data), void* data) {
  std::size_t count = 0;
  // Where it cannot be taken as it is, each look at it is one that might fail.
  const link_map* each = &_r_debug == nullptr ? nullptr : _r_debug.r_map;
  for (; count < kMostListed && readable(reinterpret_cast<std::uintptr_t>(each)); ++count) {
    Module module;
    if (find_module(reinterpret_cast<std::uintptr_t>(each->l_ld), module)) {
      visit(module, data);
    }
    each = each->l_next;
  }
  const List* const list = listed.load(std::memory_order_acquire);
  for (std::size_t i = 0; count == 0 && list != nullptr && i < list->count; ++i) {
    visit(list->modules[i], data);
  }
}

}  // namespace whocall::runtime
