// The files that are loaded in this process.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

#include "rules/frame_tables.h"

namespace whocall::runtime {

struct Module {
  std::uintptr_t begin = 0;  // of its mappings
  std::uintptr_t end = 0;
  std::uintptr_t bias = 0;      // runtime address minus link address
  const char* path = "";        // as the dynamic linker has it; the program's is ""
  rules::FrameTables tables{};  // `header` is 0 where it has none
};

struct BuildId {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
};

// False where `address` lies in no file. Takes no lock.
bool find_module(std::uintptr_t address, Module& module);

// Range, bias and tables of the file whose first byte lies at `begin`, by its program headers.
// False where nothing of it is loaded.
bool read_parts(const ElfW(Phdr) * parts, std::size_t count, std::uintptr_t begin, Module& module);

// Of the file that was loaded, out of its notes in memory.
BuildId build_id(const Module& module);

// For C libraries that list their files under a lock alone: notes them for find_module().
void list_modules();
// Calls `visit` for each module of that list.
void for_each_listed(void (*visit)(const Module& module));

// Calls `visit(module, data)` for each that the dynamic linker's list or ours has, in memory alone:
// nothing is opened. The list may be what is damaged, or just be changed.
void for_each_linked(void (*visit)(const Module& module, void* data), void* data);

}  // namespace whocall::runtime
